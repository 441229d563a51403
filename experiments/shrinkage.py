"""Shrinkage of leaves (λ) against a limit on their number, and training time (dissertation, tables 3.4 and 3.5).

python experiments/shrinkage.py
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

import hedgerow as hr
from common import (
    DECODINGS,
    QUICK,
    TASKS,
    Choice,
    Decode,
    Split,
    Task,
    arguments,
    choose,
    fit,
    log,
    percent,
    print_machine,
    print_table,
    standard_error,
    stars,
    train_test_pairs,
)

MAX_ROUNDS = 200
N_FOLDS = 5
N_FOLDS_EACH = 3  # where each file is left out once; then only one fold is dev data, to save time

# Table 3.4 (marginal, Viterbi) and the TreeCRF rows of table 3.5. The published FAQ data cannot be obtained.
PUBLISHED = {
    "protein": {"shrinkage": (64.52, 62.05), "leaf limit": (62.70, 59.20), "best": (64.52, 142, 419.6)},
    "stress": {"shrinkage": (85.18, 85.20), "leaf limit": (84.08, 84.18), "best": (85.20, 169, 454.6)},
    "hyphen": {"shrinkage": (92.20, 91.76), "leaf limit": (92.20, 92.07), "best": (92.20, 58, 39.2)},
}


def methods(window: int, quick: bool) -> dict[str, list[hr.TreeCRF]]:
    """Return the candidates of each of the two ways to keep trees small."""
    lambdas = (5, 80) if quick else (0, 5, 10, 20, 40, 80)
    leaves = (5,) if quick else (30, 50, 75, 100)
    shared: dict[str, Any] = {"window": window, "n_jobs": 1}
    return {
        "shrinkage": [hr.TreeCRF.published(l2=l2, max_leaves=100, **shared) for l2 in lambdas],
        "leaf limit": [hr.TreeCRF.published(l2=0, max_leaves=n, **shared) for n in leaves],
    }


@dataclass(frozen=True)
class Outcome:
    """One method and decoding on one task; several choices and fits where each file is left out once."""

    choices: list[Choice]
    gold: list[Any]
    predicted: list[Any]
    seconds: float

    @property
    def accuracy(self) -> float:
        return percent(self.gold, self.predicted)

    @property
    def rounds(self) -> str:
        return span([choice.n_rounds for choice in self.choices])


def span(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


def run(task: Task, quick: bool) -> dict[tuple[str, Decode], Outcome]:
    """Return the outcome on test data of each method and decoding."""
    pairs = train_test_pairs(task)
    n_folds, n_used = (N_FOLDS, None) if len(pairs) == 1 else (N_FOLDS_EACH, 1)
    outcomes: dict[tuple[str, Decode], Outcome] = {}
    for method, candidates in methods(task.window, quick).items():
        chosen = []
        for i, (train, _) in enumerate(pairs):
            log(f"  {method}, split {i + 1} of {len(pairs)}")
            chosen.append(choose(candidates, 5 if quick else MAX_ROUNDS, train, n_folds, n_used))
        for decode in DECODINGS:
            outcomes[method, decode] = tested([best[decode] for best in chosen], pairs)
    return outcomes


def tested(choices: list[Choice], pairs: list[tuple[Split, Split]]) -> Outcome:
    gold: list[Any] = []
    predicted: list[Any] = []
    seconds = 0.0
    for choice, (train, test) in zip(choices, pairs, strict=True):
        took = []
        for _ in range(3 if len(pairs) == 1 else 1):  # the fastest of three is the one least disturbed
            began = time.process_time()
            model = fit(choice.candidate, choice.n_rounds, train)
            took.append(time.process_time() - began)
        seconds += min(took)
        gold += test.y
        predicted += model.predict(test.X, decode=choice.decode)
    return Outcome(choices, gold, predicted, seconds)


def rows_of_3_4(name: str, task: Task, outcomes: dict[tuple[str, Decode], Outcome]) -> list[list[str]]:
    rows = []
    for i, decode in enumerate(DECODINGS):
        ours, other = outcomes["shrinkage", decode], outcomes["leaf limit", decode]
        test = hr.significance.mcnemar(ours.gold, ours.predicted, other.predicted)
        mark = stars(test.p_value)
        better = ours.accuracy > other.accuracy
        error = standard_error(ours.accuracy, sum(map(len, ours.gold)))
        printed = PUBLISHED.get(name)
        rows.append(
            [
                task.title,
                decode,
                f"{ours.accuracy:.2f}{mark if better else ''}",
                f"{other.accuracy:.2f}{'' if better else mark}",
                f"{error:.2f}",
                f"{test.p_value:.2g}",
                f"{printed['shrinkage'][i]:.2f} / {printed['leaf limit'][i]:.2f}" if printed else "none",
                f"λ {values(ours, 'l2')}, {ours.rounds} rounds",
                f"{values(other, 'max_leaves')} leaves, {other.rounds} rounds",
            ]
        )
    return rows


def values(outcome: Outcome, parameter: str) -> str:
    return span([int(getattr(choice.candidate, parameter)) for choice in outcome.choices])


def row_of_3_5(name: str, task: Task, outcomes: dict[tuple[str, Decode], Outcome]) -> list[str]:
    """Return the row of the decoding that cross-validation prefers; the dissertation prefers by test accuracy."""
    by_validation = {
        decode: np.mean([choice.accuracy for choice in outcomes["shrinkage", decode].choices]) for decode in DECODINGS
    }
    decode = max(DECODINGS, key=by_validation.__getitem__)
    best = outcomes["shrinkage", decode]
    row = [task.title, decode, f"{best.accuracy:.2f}", best.rounds, f"{best.seconds:.2f}"]
    if name not in PUBLISHED:
        return [*row, "none", "none", "none", ""]
    accuracy, rounds, seconds = PUBLISHED[name]["best"]
    return [*row, f"{accuracy:.2f}", str(rounds), f"{seconds:.1f}", f"{seconds / best.seconds:.0f}x"]


def main() -> None:
    options = arguments(__doc__).parse_args()
    print_machine()
    tasks = {"quick": QUICK} if options.quick else {name: TASKS[name] for name in options.tasks}
    shrinkage, treecrf = [], []
    for name, task in tasks.items():
        log(task.title)
        outcomes = run(task, options.quick)
        shrinkage += rows_of_3_4(name, task, outcomes)
        treecrf.append(row_of_3_5(name, task, outcomes))
        log(*shrinkage[-len(DECODINGS) :], treecrf[-1], sep="\n")  # so that an interrupted run has shown something
    print_table(
        [
            "set",
            "decoding",
            "shrinkage",
            "leaf limit",
            "s.e.",
            "McNemar p",
            "published",
            "chosen",
            "chosen, leaf limit",
        ],
        shrinkage,
    )
    print_table(
        ["set", "decoding", "accuracy", "rounds", "CPU seconds", "published", "rounds", "CPU seconds", "faster"],
        treecrf,
    )


if __name__ == "__main__":
    main()
