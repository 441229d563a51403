"""Virtual evidence boosting (Liao, Choudhury, Fox and Kautz, 2007) beside the published TreeCRF.

Folds within the training data choose the setting and the number of rounds of each method, separately for each
decoding. McNemar's test compares the labels of the test data with those of TreeCRF.published.

python experiments/virtual_evidence.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import hedgerow as hr
from common import (
    DECODINGS,
    PLAIN_TREES,
    QUICK,
    TASKS,
    Choice,
    Decode,
    Model,
    Task,
    arguments,
    choose,
    log,
    percent,
    predict_test,
    print_machine,
    print_table,
    standard_error,
    stars,
    train_test_pairs,
)

N_FOLDS = 3
MAX_ROUNDS = 150
MAX_STUMPS = 400  # rounds of trees with two leaves
PRINTED = "published"
EVIDENCE: dict[str, Any] = {"objective": "virtual-evidence"}


@dataclass(frozen=True)
class Method:
    """Candidates that differ in one parameter, and the largest number of rounds."""

    make: Callable[..., hr.TreeCRF]
    parameter: str
    values: tuple[float, ...]
    n_rounds: int = MAX_ROUNDS

    def candidates(self, window: int, quick: bool) -> list[Model]:
        values = self.values[-1:] if quick else self.values
        return [self.make(**{self.parameter: value}, window=window, n_jobs=1, random_state=0) for value in values]


def newton_trees(**parameters: Any) -> hr.TreeCRF:
    """Trees with Newton steps that test previous labels."""
    return hr.TreeCRF(**{**PLAIN_TREES, "transitions": "trees", **parameters})


METHODS = {
    PRINTED: Method(hr.TreeCRF.published, "l2", (5.0, 20.0, 80.0)),
    "published_2004": Method(hr.TreeCRF.published_2004, "max_leaves", (10, 30, 100)),
    "evidence, residual trees": Method(partial(hr.TreeCRF.published, **EVIDENCE), "l2", (5.0, 20.0, 80.0)),
    "evidence, Newton trees": Method(partial(newton_trees, **EVIDENCE), "max_leaves", (20, 100)),
    "evidence, Newton stumps": Method(
        partial(newton_trees, **EVIDENCE, max_leaves=2), "learning_rate", (0.3, 1.0), MAX_STUMPS
    ),
    "likelihood, Newton trees": Method(newton_trees, "max_leaves", (20, 100)),
}


def cell(gold: list[Any], predicted: list[Any], printed: list[Any]) -> list[str]:
    """The accuracy, with stars where it differs significantly from the printed algorithm, and the p-value."""
    accuracy = percent(gold, predicted)
    if predicted is printed:
        return [f"{accuracy:.2f}", "-"]
    p_value = hr.significance.mcnemar(gold, predicted, printed).p_value
    return [f"{accuracy:.2f}{stars(p_value)}", f"{p_value:.2g}"]


def rows(task: Task, quick: bool) -> list[list[str]]:
    ((train, test),) = train_test_pairs(task)
    printed: dict[Decode, list[Any]] = {}
    found = []
    for name, method in METHODS.items():
        log(f"  {name}")
        n_rounds = 4 if quick else method.n_rounds
        best: dict[Decode, Choice] = choose(method.candidates(task.window, quick), n_rounds, train, N_FOLDS)
        row = [task.title, name]
        for decode in DECODINGS:
            predicted = predict_test(best[decode], train, test)
            printed.setdefault(decode, predicted)
            row += cell(test.y, predicted, printed[decode])
        error = standard_error(percent(test.y, printed["marginal"]), test.n_positions)
        values = [getattr(best[decode].candidate, method.parameter) for decode in DECODINGS]
        chosen = [f"{value:g}, {best[decode].n_rounds}" for value, decode in zip(values, DECODINGS, strict=True)]
        found.append([*row, f"{error:.2f}", f"{method.parameter} {'; '.join(chosen)}"])
        log(*found[-1])
    return found


def main() -> None:
    options = arguments(__doc__, ("protein", "stress", "hyphen")).parse_args()
    print_machine()
    tasks = [QUICK] if options.quick else [TASKS[name] for name in options.tasks]
    found = []
    for task in tasks:
        log(task.title)
        found += rows(task, options.quick)
    accuracies = ["marginal", "McNemar p", "Viterbi", "McNemar p", "s.e."]
    print_table(["set", "method", *accuracies, "chosen: value, rounds; of marginal; of Viterbi"], found)


if __name__ == "__main__":
    main()
