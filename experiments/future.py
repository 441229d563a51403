"""Sliding windows, MEMMs, CRFs and FutureMEMM where labels depend on later positions (dissertation, 5.4 and 5.5).

python experiments/future.py

A column of a table is a function from the data to the accuracy on test data. Validation data choose the size of the
trees and the number of rounds; for FF-MEMM, the printed algorithm, also the bounds of its steps. FutureMEMM has its
defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

import hedgerow as hr
from common import Decode, Split, arguments, describe, folds, log, percent, print_machine, print_table

ORDERS = (1, 2, 3, 4)
SIZES = (400, 200, 100)  # sequences for training, validation and test
LENGTH = 30
LEAVES = (10, 30, 50)
PRINTED_LEAVES = (10,)  # of the printed algorithm on the synthetic sets
MAX_ROUNDS = 100
Kind: TypeAlias = Literal["xor", "or", "extra"]
KINDS: tuple[Kind, ...] = get_args(Kind)

# Upper bounds of the steps of the printed algorithm, among those that table 5.3 reports.
MAX_ALPHA, MAX_BETA, MAX_ETA = (20.0, 60.0), (5e3, 1e5, 1e6), (10.0, 40.0)

SYNTHETIC_BAG = 6
NETTALK_BAGS = (2, 4)
PUBLISHED_5_4 = {
    "xor": {"SW": 51.6, "MEMM-1": 50.7, "CRF-1": 56.0, "CRF-2": 57.3, "CRF-3": 57.6, "CRF-4": 58.4, "FF-MEMM-0": 100},
    "or": {"SW": 67.5, "MEMM-1": 66.5, "CRF-1": 76.6, "CRF-2": 85.9, "CRF-3": 91.1, "CRF-4": 93.9, "FF-MEMM-0": 100},
    "extra": {"SW": 84.4, "MEMM-1": 84.9, "CRF-1": 87.1, "CRF-2": 90.2, "CRF-3": 92.5, "CRF-4": 92.9, "FF-MEMM-0": 100},
}
PUBLISHED_5_5 = {
    "SW": 84.2,
    **dict(zip([f"MEMM-{k}" for k in ORDERS], (85.7, 87.1, 88.9, 89.0), strict=True)),
    **dict(zip([f"CRF-{k}" for k in ORDERS], (85.7, 90.4, 91.8, 91.4), strict=True)),
    **dict(zip([f"FF-MEMM, bag 2-{k}" for k in ORDERS], (89.4, 90.4, 90.6, 90.3), strict=True)),
    **dict(zip([f"FF-MEMM, bag 4-{k}" for k in ORDERS], (88.9, 89.6, 90.5, 89.23), strict=True)),
}


@dataclass(frozen=True)
class Data:
    """Training, validation and test data; the chosen model is trained on `all_training`."""

    train: Split
    validation: Split
    test: Split
    all_training: Split


Column: TypeAlias = Callable[[Data], float]


def synthetic(kind: Kind, seed: int, sizes: tuple[int, ...] = SIZES) -> Data:
    train, validation, test = (
        Split.of(hr.datasets.future(kind, n, LENGTH, seed=3 * seed + part)) for part, n in enumerate(sizes)
    )
    return Data(train, validation, test, train)


def nettalk() -> Data:
    """NETtalk with two labels; a quarter of the training words is validation data."""
    train, test = (Split.of(hr.datasets.load("nettalk-binary", split)) for split in ("train", "test"))
    kept, validation = next(iter(folds(train, 4)))
    return Data(kept, validation, test, train)


def tuned(make: Callable[[int], Any]) -> Column:
    """A column: test accuracy of the model whose size and number of rounds are best on validation data."""

    def column(data: Data) -> float:
        best, chosen = -1.0, None
        for leaves in LEAVES:
            model = make(leaves).set_params(n_rounds=MAX_ROUNDS, early_stopping="accuracy", n_jobs=1)
            model.fit(data.train.X, data.train.y, X_dev=data.validation.X, y_dev=data.validation.y)
            curve = [record["dev_accuracy"] for record in model.training_log_]
            if max(curve) > best:
                best, chosen, rounds = max(curve), model, int(np.argmax(curve)) + 1
        assert chosen is not None
        if data.all_training is not data.train:
            chosen.set_params(n_rounds=rounds, early_stopping=None).fit(data.all_training.X, data.all_training.y)
        accuracy = percent(data.test.y, chosen.predict(data.test.X))
        log(f"    {describe(chosen)}, {rounds} rounds: {100 * best:.1f}, on test {accuracy:.1f}")
        return accuracy

    return column


def memm(order: int, decode: Decode = "viterbi") -> Column:
    """A MEMM with the papers' trees: first-order residuals, step 1, only the number of leaves is limited."""
    return tuned(
        lambda leaves: hr.MEMM(order=order, newton=False, learning_rate=1.0, l2=0.0, max_leaves=leaves, decode=decode)
    )


def crf(order: int) -> Column:
    return tuned(lambda leaves: hr.TreeCRF.published(order=order, l2=0.0, max_leaves=leaves, decode="marginal"))


def bounded(leaves: Iterable[int] = PRINTED_LEAVES, **parameters: Any) -> list[hr.FutureMEMM]:
    """Return the candidates of the printed algorithm."""
    return [
        hr.FutureMEMM.published(
            max_leaves=n, max_alpha=alpha, max_beta=beta, max_eta=eta, n_rounds=MAX_ROUNDS, n_jobs=1, **parameters
        )
        for n, alpha, beta, eta in product(leaves, MAX_ALPHA, MAX_BETA, MAX_ETA)
    ]


def held_out(candidates: list[hr.FutureMEMM], data: Data) -> hr.FutureMEMM:
    """Return the candidate with the best number of iterations on validation data, of equals the fewest."""
    best = -1.0, 0
    for candidate in candidates:
        candidate.fit(data.train.X, data.train.y, X_dev=data.validation.X, y_dev=data.validation.y)
        for record in candidate.training_log_:
            found = record["dev_accuracy"], -record["iterations"]
            if found > best:
                best, chosen = found, candidate
    return chosen.set_params(n_rounds=-best[1]).fit(data.all_training.X, data.all_training.y)


def printed_future_memm(order: int, bag: int, leaves: tuple[int, ...] = LEAVES) -> Column:
    def column(data: Data) -> float:
        model = held_out(bounded(leaves, order=order, bag=bag), data)
        accuracy = percent(data.test.y, model.predict(data.test.X))
        shown = ("max_leaves", "max_alpha", "max_beta", "max_eta", "n_rounds")
        chosen = ", ".join(f"{name}={getattr(model, name):g}" for name in shown)
        log(f"    FF-MEMM-{order}, bag {bag}, {chosen}: {len(model.future_features_)} features, on test {accuracy:.1f}")
        return accuracy

    return column


def future_memm(order: int, bag: int) -> Column:
    """FutureMEMM with its defaults: with validation data, or where those are training data, a mean over five trials."""

    def column(data: Data) -> float:
        dev = {} if data.all_training is not data.train else {"X_dev": data.validation.X, "y_dev": data.validation.y}
        found = []
        for seed in range(1 if dev else 5):
            model = hr.FutureMEMM(order=order, bag=bag, n_jobs=1, random_state=seed)
            model.fit(data.all_training.X, data.all_training.y, **dev)
            found.append(percent(data.test.y, model.predict(data.test.X)))
            log(f"    bag {bag}, {len(model.future_features_)} features: on test {found[-1]:.2f}")
        return float(np.mean(found))

    return column


COLUMNS_5_4: dict[str, Column] = {
    "SW": memm(0),
    "MEMM-1": memm(1),
    "MEMM-1, marginal": memm(1, "marginal"),
    **{f"CRF-{k}": crf(k) for k in ORDERS},
    "FF-MEMM-0": printed_future_memm(0, SYNTHETIC_BAG, PRINTED_LEAVES),
    "FutureMEMM-0": future_memm(0, SYNTHETIC_BAG),
}
ROWS_5_5: dict[str, Callable[[int], Column]] = {
    "MEMM": memm,
    "MEMM, marginal": lambda order: memm(order, "marginal"),
    "CRF": crf,
    **{f"FF-MEMM, bag {bag}": partial(printed_future_memm, bag=bag) for bag in NETTALK_BAGS},
    **{f"FutureMEMM, bag {bag}": partial(future_memm, bag=bag) for bag in NETTALK_BAGS},
}


def print_5_4(kinds: list[Kind], seeds: range, sizes: tuple[int, ...], columns: dict[str, Column]) -> None:
    """Print means over the seeds ± the standard deviation of a single draw; the published figures are of one draw."""
    rows = []
    for kind in kinds:
        found: dict[str, list[float]] = {name: [] for name in columns}
        for seed in seeds:
            log(f"  {kind}, seed {seed}")
            data = synthetic(kind, seed, sizes)
            for name, column in columns.items():
                found[name].append(column(data))
        rows.append([kind.upper(), *(f"{np.mean(each):.1f} ± {np.std(each):.1f}" for each in found.values())])
        rows.append(["published", *(str(PUBLISHED_5_4[kind].get(name, "")) for name in columns)])
        log(*rows[-2:], sep="\n")
    print_table(["set", *columns], rows)


def print_5_5() -> None:
    data = nettalk()
    log("  NETtalk binary")
    rows = [["SW", f"{memm(0)(data):.1f} ({PUBLISHED_5_5['SW']})", "", "", ""]]
    for name, make in ROWS_5_5.items():
        cells = []
        for order in ORDERS:
            published = PUBLISHED_5_5.get(f"{name}-{order}")
            cells.append(f"{make(order)(data):.1f}" + ("" if published is None else f" ({published})"))
        rows.append([name, *cells])
        log(rows[-1])
    print_table(["model (published)", *(f"k = {k}" for k in ORDERS)], rows)


def main() -> None:
    parser = arguments(__doc__, [*KINDS, "nettalk"])
    parser.add_argument("--seeds", type=int, default=5, help="number of draws of the synthetic sets")
    options = parser.parse_args()
    print_machine()
    if options.quick:
        few = {name: column for name, column in COLUMNS_5_4.items() if not name.endswith(("3", "4"))}
        print_5_4(["or"], range(1), (20, 10, 10), few)
        return
    kinds = [kind for kind in KINDS if kind in options.tasks]
    if kinds:
        print_5_4(kinds, range(options.seeds), SIZES, COLUMNS_5_4)
    if "nettalk" in options.tasks:
        print_5_5()


if __name__ == "__main__":
    main()
