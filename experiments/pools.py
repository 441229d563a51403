"""Opinion pools when attributes are lost in the data to label (Sutton, Sindelar & McCallum 2006).

A model of all attributes, and pools of models over subsets of them, learn from complete data. Then they label test data
that are complete, that have lost values at random, or that have lost a column. Nothing is chosen: every base has its
default settings, and all pools are shown. A LinearCRF replaces a lost value by the most frequent one, a TreeCRF divides
the position between the branches.

python experiments/pools.py
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import hedgerow as hr
from common import QUICK, TASKS, Split, arguments, log, percent, print_machine, print_table, train_test_pairs
from hedgerow.errors import MissingColumnWarning

RATES = (0.2, 0.4)
N_DAMAGED = 3  # damaged test sets for each rate
N_SENTENCES = 2000  # of the training data of CoNLL-2000, the first ones
RANDOM = {"subsets": "random", "n_models": 4, "share": 0.5, "random_state": 0}

Sequences = list[list[dict[str, str]]]
Subsets = list[list[str | int]]

warnings.filterwarnings("ignore", category=MissingColumnWarning)  # columns are lost on purpose


@dataclass(frozen=True)
class Study:
    """A data set, its window, and the subsets of its pools."""

    title: str
    train: Split
    test: Split
    window: int
    pools: Mapping[str, Subsets | None]  # None for random subsets
    lost_columns: tuple[str, ...] = ()

    @property
    def is_chunking(self) -> bool:
        return self.lost_columns != ()


def as_columns(X: Any) -> Sequences:
    """The sequences as lists of dicts; a letter is a column of its own."""
    return [[position if isinstance(position, dict) else {"letter": str(position)} for position in x] for x in X]


def sides(window: int) -> Subsets:
    """The left half of a window, its middle and its right half; each has the position itself."""
    left, middle, right = range(-window, 1), range(-(window // 2), window // 2 + 1), range(window + 1)
    return [list(left), list(middle), list(right)]


def studies(names: list[str], quick: bool) -> Iterator[Study]:
    if quick:
        ((train, test),) = train_test_pairs(QUICK)
        yield Study("Synthetic", train, test, 1, {"left, middle, right": sides(1), "random": None})
        return
    for name in names:
        if name == "chunks":
            train, test = (Split.of(hr.datasets.load("conll2000", part)) for part in ("train", "test"))
            by_column: dict[str, Subsets | None] = {
                "word; tag": [["word"], ["pos"]],
                "word; tag; both": [["word"], ["pos"], ["word", "pos"]],
            }
            yield Study("CoNLL-2000", train.select(range(N_SENTENCES)), test, 2, by_column, ("word", "pos"))
            continue
        task = TASKS[name]
        (train, test), *_ = train_test_pairs(task)
        letters: Subsets = [["l3", "l2", "l1", "r1"], ["l2", "l1", "r1", "r2"], ["l1", "r1", "r2", "r3"]]
        subsets = letters if name == "hyphen" else sides(task.window)
        yield Study(task.title, train, test, task.window, {"left, middle, right": subsets, "random": None})


def bases(window: int, quick: bool) -> list[Any]:
    shared: dict[str, Any] = {"window": window, "random_state": 0}
    trees = hr.TreeCRF(n_rounds=3, **shared) if quick else hr.TreeCRF(**shared)
    return [hr.LinearCRF(**shared), trees]


def models(study: Study, base: Any) -> Iterator[tuple[str, Any]]:
    yield "all attributes", base
    for name, subsets in study.pools.items():
        own: dict[str, Any] = RANDOM if subsets is None else {"subsets": subsets}
        yield f"pool: {name}", hr.OpinionPool(base=base, **own)
    name, subsets = next(iter(study.pools.items()))
    yield f"pool by position: {name}", hr.OpinionPool(base=base, subsets=subsets, pool="position")


def lose(X: Sequences, rates: Mapping[str, float], seed: int) -> Sequences:
    """Make the values of columns missing at random, at the rate of each column."""
    rng = np.random.default_rng(seed)
    lost: Any = [
        [
            {column: None if rng.random() < rates.get(column, 0.0) else value for column, value in position.items()}
            for position in x
        ]
        for x in X
    ]
    found: Sequences = lost
    return found


def score(study: Study, model: Any, X: Sequences) -> float:
    predicted = [labels.tolist() for labels in model.predict(X)]
    if study.is_chunking:
        return 100 * hr.metrics.span_f1(study.test.y, predicted)
    return percent(study.test.y, predicted)


def scores(study: Study, model: Any, test: Sequences) -> Iterator[float]:
    """Complete test data, each rate, each lost column."""
    columns = list(test[0][0])
    yield score(study, model, test)
    for rate in RATES:
        rates = dict.fromkeys(columns, rate)
        yield float(np.mean([score(study, model, lose(test, rates, seed)) for seed in range(N_DAMAGED)]))
    for column in study.lost_columns:
        yield score(study, model, lose(test, {column: 1.0}, 0))


def run(study: Study, quick: bool) -> None:
    train, test = as_columns(study.train.X), as_columns(study.test.X)
    rows = []
    for base in bases(study.window, quick):
        kind = type(base).__name__
        for name, model in models(study, base):
            log(f"  {study.title}, {kind}, {name}")
            model.fit(train, study.train.y)
            found = scores(study, model, test)
            rows.append([kind, name, *(f"{value:.2f}" for value in found)])
    measure = "chunk F1" if study.is_chunking else "% right"
    head = ["complete", *(f"{rate:.0%} lost" for rate in RATES), *(f"no {name}" for name in study.lost_columns)]
    print_table([f"{study.title}: {measure}", "model", *head], rows)


def main() -> None:
    options = arguments(__doc__, ["protein", "stress", "hyphen", "chunks"]).parse_args()
    print_machine()
    for study in studies(options.tasks, options.quick):
        run(study, options.quick)


if __name__ == "__main__":
    main()
