"""Shared by the experiments: the tasks, and cross-validation within the training data.

Parameters and the number of rounds are chosen on training data only; test data are labelled once, at the end.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

import hedgerow as hr
from families import families
from hedgerow.callbacks import Callback, TrainingRecord
from hedgerow.datasets.dataset import Dataset
from hedgerow.errors import ConvergenceWarning, UnseenLabelWarning
from hedgerow.inference.decoding import best_labels

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))  # experiments and benchmarks print alike
from printing import PLAIN_TREES as PLAIN_TREES
from printing import log as log
from printing import print_machine as print_machine
from printing import print_table as print_table

Decode: TypeAlias = Literal["marginal", "viterbi"]
DECODINGS: tuple[Decode, ...] = ("marginal", "viterbi")
Floats = NDArray[np.float64]
Model: TypeAlias = hr.TreeCRF | hr.LinearCRF

# A rare label may be absent from a fold of the training data; it then counts as wrong, which is what we want.
warnings.filterwarnings("ignore", category=UnseenLabelWarning)


@dataclass(frozen=True)
class Split:
    """Sequences, their labels, and the family of each; folds keep families together."""

    X: Any  # a list, or hr.Sequences
    y: list[Any]
    family: list[int]

    @classmethod
    def of(cls, data: Dataset) -> Split:
        return cls(data.X, data.y, families(data.X) if data.name == "protein" else list(range(len(data))))

    def select(self, which: Iterable[int]) -> Split:
        chosen = list(which)
        X = self.X[chosen] if isinstance(self.X, hr.Sequences) else [self.X[i] for i in chosen]
        return Split(X, [self.y[i] for i in chosen], [self.family[i] for i in chosen])

    @property
    def n_positions(self) -> int:
        return sum(map(len, self.y))


@dataclass(frozen=True)
class Task:
    """A data set with the papers' window, and the names of its training and test data."""

    title: str
    data: str
    window: int
    train: str = "train"
    test: str = "test"


TASKS = {
    "protein": Task("Protein", "protein", 5),
    "stress": Task("NETtalk stress", "nettalk-stress", 6),
    "hyphen": Task("Hyphenation", "hyphen", 0),
    "perlfaq": Task("Perl FAQ (stand-in)", "perlfaq", 0, train="all", test="leave one out"),
}
QUICK = Task("Synthetic", "hmm_three", 1)


def train_test_pairs(task: Task) -> list[tuple[Split, Split]]:
    """Return (training, test) as in the papers: one pair, or one for each file that is left out."""
    if task is QUICK:
        made = [hr.datasets.hmm_three(20, 15, seed=seed) for seed in (0, 1)]
        return [(Split.of(made[0]), Split.of(made[1]))]
    if task.test == "leave one out":
        files = Split.of(hr.datasets.load(task.data, task.train))
        n = len(files.X)
        return [(files.select(j for j in range(n) if j != i), files.select([i])) for i in range(n)]
    train, test = (Split.of(hr.datasets.load(task.data, split)) for split in (task.train, task.test))
    return [(train, test)]


def fit(candidate: Model, n_rounds: int, train: Split, callbacks: Sequence[Callback] = ()) -> Model:
    """Fit a new estimator with the candidate's parameters and this number of rounds or iterations."""
    rounds = "n_rounds" if isinstance(candidate, hr.TreeCRF) else "max_iter"
    model: Model = type(candidate)(**{**candidate.get_params(), rounds: n_rounds})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of iterations is what is chosen
        return model.fit(train.X, train.y, callbacks=list(callbacks))


class Accuracies:
    """A callback: accuracy on dev data by each decoding, after every step of a fit."""

    def __init__(self, dev: Split) -> None:
        self._X, self._gold = dev.X, np.concatenate([np.asarray(labels) for labels in dev.y])
        self._encoded: Any = None
        self.curves: dict[Decode, list[float]] = {decode: [] for decode in DECODINGS}

    def __call__(self, record: TrainingRecord) -> None:
        model = record.model()
        if self._encoded is None:
            self._encoded = model.encode(self._X)
        blocks = list(model.answers_by_block(self._encoded))
        for decode, curve in self.curves.items():
            best = np.concatenate([best_labels(answers, decode) for answers in blocks])
            curve.append(float(np.mean(model.labels.classes[best] == self._gold)))


def accuracy_by_round(candidate: Model, n_rounds: int, train: Split, dev: Split) -> dict[Decode, Floats]:
    """Return, for each decoding, the accuracy on dev data after 1, 2, ... rounds."""
    seen = Accuracies(dev)
    fit(candidate, n_rounds, train, [seen])
    # A fit may end early, at the optimum; the last accuracy then holds for the remaining rounds.
    return {decode: np.array(curve + curve[-1:] * (n_rounds - len(curve))) for decode, curve in seen.curves.items()}


def folds(data: Split, n_folds: int) -> Iterator[tuple[Split, Split]]:
    """Yield (training, dev) for each fold; the families are shuffled once, with a fixed seed."""
    shuffled = np.random.default_rng(0).permutation(sorted(set(data.family)))
    for fold in np.array_split(shuffled, n_folds):
        is_dev = np.isin(data.family, fold)
        yield data.select(np.flatnonzero(~is_dev)), data.select(np.flatnonzero(is_dev))


@dataclass(frozen=True)
class Choice:
    """The candidate and the number of rounds that cross-validation prefers for one decoding."""

    candidate: Model
    decode: Decode
    n_rounds: int
    accuracy: float  # of the cross-validation


def validate(
    candidate: Model, n_rounds: int, train: Split, n_folds: int, n_used: int | None = None, to_the_end: bool = False
) -> dict[Decode, Choice]:
    """Cross-validate a candidate, with `n_used` of the folds, for each decoding.

    The number of rounds is the one with the highest accuracy, or with `to_the_end` all of them.
    """
    right: dict[Decode, Floats] = {decode: np.zeros(n_rounds) for decode in DECODINGS}
    n_positions = 0
    for kept, dev in list(folds(train, n_folds))[:n_used]:
        n_positions += dev.n_positions
        for decode, curve in accuracy_by_round(candidate, n_rounds, kept, dev).items():
            right[decode] += curve * dev.n_positions
    best = {decode: n_rounds - 1 if to_the_end else int(counts.argmax()) for decode, counts in right.items()}
    found = {d: Choice(candidate, d, at + 1, right[d][at] / n_positions) for d, at in best.items()}
    shown = ", ".join(f"{d} {choice.accuracy:.2%} after {choice.n_rounds} rounds" for d, choice in found.items())
    log(f"    {describe(candidate)}: {shown}")
    return found


def choose(
    candidates: Sequence[Model],
    n_rounds: int,
    train: Split,
    n_folds: int,
    n_used: int | None = None,
    to_the_end: bool = False,
) -> dict[Decode, Choice]:
    """Return, for each decoding, the candidate and the number of rounds that are best in cross-validation."""
    found = [validate(candidate, n_rounds, train, n_folds, n_used, to_the_end) for candidate in candidates]
    return {decode: max((f[decode] for f in found), key=lambda choice: choice.accuracy) for decode in DECODINGS}


def predict_test(choice: Choice, train: Split, test: Split) -> list[NDArray[Any]]:
    """Train the chosen model on all training data and label the test data."""
    predicted: list[NDArray[Any]] = fit(choice.candidate, choice.n_rounds, train).predict(test.X, decode=choice.decode)
    return predicted


def describe(model: Model) -> str:
    """Return the parameters that differ from the defaults, without those that every candidate shares."""
    usual, parameters = type(model)().get_params(), model.get_params()
    kind = ""
    if isinstance(model, hr.TreeCRF) and not model.newton and model.learning_rate == 1 and model.transitions == "trees":
        usual, kind = hr.TreeCRF.published(l2=-1).get_params(), "published: "  # so that l2 is always shown
    shared = ("window", "n_rounds", "n_jobs", "random_state")
    shown = {name: value for name, value in parameters.items() if value != usual[name] and name not in shared}
    return kind + (", ".join(f"{name}={value}" for name, value in shown.items()) or "defaults")


def percent(y: list[Any], predicted: list[Any]) -> float:
    return 100 * hr.metrics.accuracy(y, predicted)


def standard_error(percentage: float, n: int) -> float:
    return float(np.sqrt(percentage * (100 - percentage) / n))


def stars(p_value: float) -> str:
    """Return the papers' marks of significance."""
    return "*" * sum(p_value < limit for limit in (0.025, 0.005, 0.001))


def arguments(description: str | None, tasks: Iterable[str] = TASKS) -> argparse.ArgumentParser:
    """Return a parser with --tasks, and --quick for a run of seconds on synthetic data."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = list(tasks)
    parser.add_argument("--tasks", nargs="*", choices=names, default=names)
    parser.add_argument("--quick", action="store_true", help="a small run on synthetic data, to see that it works")
    return parser
