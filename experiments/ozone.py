"""Real missing data: days of high ozone from 72 measurements, of which every twelfth is missing.

The data are one sequence of days. The likelihood of the last third of the training days chooses parameters and rounds;
then a model of all training days labels the test days once.

python experiments/ozone.py
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import hedgerow as hr
from common import PLAIN_TREES, describe, log, print_machine, print_table
from missing import OWN as METHODS

MAX_ROUNDS = 200
LEAVES = (4, 8, 20)
SMALLEST_LEAVES = (1, 20)
PENALTIES = (0.1, 1.0, 10.0, 100.0)
RARE = "ozone"
MONTH = 30  # days that are drawn together, because neighbouring days are alike
N_DRAWS = 1000

Estimator: TypeAlias = hr.TreeCRF | hr.LinearCRF | hr.HMM
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Days:
    """Measurements, labels, and the standardised measurements for linear models."""

    X: Floats
    y: NDArray[Any]
    scaled: Floats

    @classmethod
    def of(cls, X: Floats, y: NDArray[Any], known: Floats) -> Days:
        """Standardise with the mean and standard deviation of the training days, `known`."""
        return cls(X, y, (X - np.nanmean(known, axis=0)) / np.nanstd(known, axis=0))

    def input_of(self, model: Estimator) -> list[Floats]:
        return [self.scaled if isinstance(model, hr.LinearCRF) else self.X]


def split(X: Floats, y: NDArray[Any], at: int) -> tuple[Days, Days]:
    return Days.of(X[:at], y[:at], X[:at]), Days.of(X[at:], y[at:], X[:at])


def candidates(quick: bool) -> dict[str, list[Estimator]]:
    most = 3 if quick else MAX_ROUNDS
    tried: dict[str, list[Estimator]] = {}
    for method in METHODS:
        shared: dict[str, Any] = {"missing": method, "n_rounds": most, "n_jobs": 1, "random_state": 0}
        shapes = [(leaves, smallest) for leaves in LEAVES for smallest in SMALLEST_LEAVES]
        tried[f"TreeCRF, {method}"] = [
            hr.TreeCRF(**{**PLAIN_TREES, "max_leaves": n, "min_leaf": smallest}, **shared) for n, smallest in shapes
        ]
    tried["LinearCRF, impute"] = [hr.LinearCRF(missing="impute", l2=l2) for l2 in PENALTIES]
    tried["LinearCRF, indicator"] = [hr.LinearCRF(missing="indicator", l2=l2) for l2 in PENALTIES]
    tried["HMM"] = [hr.HMM()]
    return tried


def fitted(candidate: Estimator, train: Days, dev: Days | None = None) -> Estimator:
    model: Estimator = type(candidate)(**candidate.get_params())
    held: dict[str, Any] = {} if dev is None else {"X_dev": dev.input_of(model), "y_dev": [dev.y]}
    return model.fit(train.input_of(model), [train.y], **held)


def validated(candidate: Estimator, train: Days, dev: Days) -> tuple[float, Estimator]:
    """Return the log-likelihood of a dev day, and the candidate with the best number of rounds."""
    model = fitted(candidate, train, dev)
    if not isinstance(candidate, hr.TreeCRF):
        return likelihood(model, dev), candidate
    curve = [-record["dev_loss"] for record in model.training_log_]
    rounds = {"n_rounds": int(np.argmax(curve)) + 1}
    return max(curve) / len(dev.y), hr.TreeCRF(**{**candidate.get_params(), **rounds})


def likelihood(model: Estimator, days: Days) -> float:
    return float(model.log_likelihood(days.input_of(model), [days.y])[0] / len(days.y))


def roc_area(score: Floats, rare: NDArray[np.bool_]) -> float:
    """Return the probability that a rare day scores higher than another day; ties count one half."""
    difference = score[rare][:, None] - score[~rare][None, :]
    return float((difference > 0).mean() + (difference == 0).mean() / 2)


def average_precision(score: Floats, rare: NDArray[np.bool_]) -> float:
    """Return the mean, over rare days, of the share of rare days among those that score as high or higher."""
    return float(np.mean([rare[score >= at].mean() for at in score[rare]]))


def scores(model: Estimator, days: Days) -> Floats:
    """Return the probability of the rare label for each day."""
    (probability,) = model.predict_proba(days.input_of(model))
    return probability[:, list(model.classes_).index(RARE)].astype(np.float64)


def against(score: Floats, base: Floats, rare: NDArray[np.bool_]) -> str:
    """Return the difference in average precision to the base ± its standard deviation when months are resampled."""
    months = np.array_split(np.arange(len(rare)), len(rare) // MONTH)
    rng = np.random.default_rng(0)

    def difference(days: NDArray[np.intp]) -> float:
        return average_precision(score[days], rare[days]) - average_precision(base[days], rare[days])

    drawn = [np.concatenate([months[i] for i in rng.integers(len(months), size=len(months))]) for _ in range(N_DRAWS)]
    differences = [difference(days) for days in drawn if rare[days].any()]
    return f"{difference(np.arange(len(rare))):+.3f} ± {np.std(differences):.3f}"


def row(score: Floats, rare: NDArray[np.bool_]) -> list[str]:
    return [
        f"{100 * np.mean((score > 0.5) == rare):.2f}",
        f"{roc_area(score, rare):.3f}",
        f"{average_precision(score, rare):.3f}",
    ]


def without_measurements(train: Days, test: Days) -> list[str]:
    """Return the row of a model that predicts the training share of rare days for every day."""
    share, rare = np.mean(train.y == RARE), test.y == RARE
    day = np.where(rare, np.log(share), np.log(1 - share)).mean()
    return ["no measurements", f"{day:.4f}", *row(np.full(len(rare), share), rare), "", "", ""]


def data(quick: bool) -> tuple[Days, Days]:
    if not quick:
        loaded = hr.datasets.load("ozone", "all")
        first = len(hr.datasets.load("ozone", "train").y[0])
        return split(loaded.X[0], loaded.y[0], first)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.where(X[:, 0] + X[:, 1] > 1, RARE, "normal")
    X[rng.random(X.shape) < 0.1] = np.nan
    return split(X, y, 60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small run on synthetic data, to see that it works")
    options = parser.parse_args()
    print_machine()
    train, test = data(options.quick)
    kept, dev = split(train.X, train.y, len(train.y) * 2 // 3)
    rows, rare = [without_measurements(train, test)], test.y == RARE
    base = None
    for name, tried in candidates(options.quick).items():
        promised, best = max((validated(candidate, kept, dev) for candidate in tried), key=lambda found: found[0])
        model = fitted(best, train)
        score = scores(model, test)
        base = score if base is None else base
        compared = "" if score is base else against(score, base, rare)
        row_of = [name, f"{likelihood(model, test):.4f}", *row(score, rare), compared, f"{promised:.4f}", setting(best)]
        rows.append(row_of)
        log(*row_of)
    print_table(
        ["model", "log-likelihood a day", "accuracy", "ROC area", "average precision", "against weighting",
         "held-out log-likelihood", "chosen"],
        rows,
    )  # fmt: skip


def setting(model: Estimator) -> str:
    if isinstance(model, hr.HMM):
        return "defaults"
    rounds = f", {model.n_rounds} rounds" if isinstance(model, hr.TreeCRF) else ""
    return describe(model) + rounds


if __name__ == "__main__":
    main()
