"""Linear CRFs, without and with feature induction, beside TreeCRF (dissertation, table 3.5).

Cross-validation within the training data chooses the prior variance, and with induction also the number of iterations;
without induction a linear CRF is trained until it converges. TreeCRF is the published algorithm with the settings that
shrinkage.py chose. The papers do not say whether weights belong to single labels or to pairs of labels: --pairs.

python experiments/linear.py
python experiments/linear.py --pairs --tasks hyphen
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
    train_test_pairs,
)

VARIANCES = (1.0, 5.0, 10.0, 20.0)
MAX_ITERATIONS = 200  # with induction
CONVERGED = 1000  # iterations at most without induction; a fit converges earlier
N_FOLDS = 5
N_FOLDS_EACH = 3  # where each file is left out once; then only one fold is dev data, to save time

# (λ, rounds) of marginal decoding in shrinkage.py; on the Perl FAQ, where each file has its own, the same for all.
TREECRF = {
    "protein": (40.0, 147),
    "stress": (40.0, 121),
    "hyphen": (5.0, 122),
    "perlfaq": (20.0, 200),
    "quick": (20.0, 5),
}

# Accuracy, iterations and CPU seconds of table 3.5. The published FAQ data cannot be obtained.
PUBLISHED = {
    "protein": {"linear": (62.44, 66, 32.8), "induced": (64.43, 123, 786.9), "TreeCRF": (64.52, 142, 419.6)},
    "stress": {"linear": (82.81, 34, 13.7), "induced": (85.94, 167, 941.4), "TreeCRF": (85.20, 169, 454.6)},
    "hyphen": {"linear": (88.86, 47, 8.8), "induced": (92.10, 69, 66.4), "TreeCRF": (92.20, 58, 39.2)},
}


def candidates(method: str, window: int, pairs: bool, quick: bool) -> list[hr.LinearCRF]:
    shared: dict[str, Any] = {"window": window, "n_jobs": 1, "random_state": 0}
    if method == "induced":
        shared["induce"] = "mccallum"
    return [
        hr.LinearCRF(l2=1 / (2 * variance), edge_features=pairs, **shared)
        for variance in (VARIANCES[:2] if quick else VARIANCES)
    ]


def named(part: Split) -> Split:
    """Turn lines of booleans into the names of those that are true, and one name that always is."""
    bags = [[["always", *(name for name, holds in line.items() if holds)] for line in x] for x in part.X]
    return Split(bags, part.y, part.family)


@dataclass(frozen=True)
class Outcome:
    """One method and decoding on one task; several choices and fits where each file is left out once."""

    choices: list[Choice]
    predicted: list[Any]
    iterations: list[int]
    n_features: list[int]
    seconds: float

    @property
    def promised(self) -> float:
        return float(np.mean([choice.accuracy for choice in self.choices]))

    @property
    def variances(self) -> str:
        return span([round(1 / (2 * float(choice.candidate.l2))) for choice in self.choices])


Candidate = dict[str, dict[Decode, Outcome]]  # by method and decoding


def tested(choices: list[Choice], pairs: list[tuple[Split, Split]]) -> Outcome:
    predicted: list[Any] = []
    iterations, n_features, seconds = [], [], 0.0
    for choice, (train, test) in zip(choices, pairs, strict=True):
        began = time.process_time()
        model = fit(choice.candidate, choice.n_rounds, train)
        seconds += time.process_time() - began
        predicted += model.predict(test.X, decode=choice.decode)
        iterations.append(len(model.training_log_))
        if isinstance(model, hr.LinearCRF):
            n_features.append(len(model.state_features_))
    return Outcome(choices, predicted, iterations, n_features, seconds)


def run(name: str, task: Task, with_pairs: bool, quick: bool) -> tuple[list[Any], Candidate]:
    """Return the gold labels of the test data, and the outcome of each method and decoding."""
    pairs = train_test_pairs(task)
    n_folds, n_used = (N_FOLDS, None) if len(pairs) == 1 else (N_FOLDS_EACH, 1)
    gold = [labels for _, test in pairs for labels in test.y]
    l2, n_rounds = TREECRF[name]
    papers = hr.TreeCRF.published(l2=l2, window=task.window, n_jobs=1)
    found = {"TreeCRF": {d: tested([Choice(papers, d, n_rounds, np.nan)] * len(pairs), pairs) for d in DECODINGS}}
    if name == "perlfaq":
        pairs = [(named(train), named(test)) for train, test in pairs]
    for method in ("linear", "induced"):
        most = CONVERGED if method == "linear" else 20 if quick else MAX_ITERATIONS
        chosen = []
        for i, (train, _) in enumerate(pairs):
            log(f"  {method}, split {i + 1} of {len(pairs)}")
            tried = candidates(method, task.window, with_pairs, quick)
            chosen.append(choose(tried, most, train, n_folds, n_used, to_the_end=method == "linear"))
        found[method] = {d: tested([best[d] for best in chosen], pairs) for d in DECODINGS}
    return gold, found


def preferred(found: dict[Decode, Outcome]) -> Decode:
    """Return the decoding that cross-validation prefers; the dissertation uses the one that is better on test data."""
    return max(DECODINGS, key=lambda decode: found[decode].promised)


def p_value(gold: list[Any], one: Outcome, other: Outcome) -> str:
    return f"{max(hr.significance.mcnemar(gold, one.predicted, other.predicted).p_value, 1e-99):.2g}"


def span(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


def rows_of_accuracy(task: Task, gold: list[Any], found: Candidate) -> list[list[str]]:
    rows = []
    for decode in DECODINGS:
        linear, induced, trees = (found[method][decode] for method in ("linear", "induced", "TreeCRF"))
        accuracy = percent(gold, induced.predicted)
        rows.append(
            [
                task.title,
                decode,
                f"{percent(gold, linear.predicted):.2f}",
                f"{accuracy:.2f}",
                f"{percent(gold, trees.predicted):.2f}",
                f"{standard_error(accuracy, sum(map(len, gold))):.2f}",
                p_value(gold, induced, linear),
                p_value(gold, induced, trees),
                " / ".join(f"{100 * outcome.promised:.2f}" for outcome in (linear, induced)),
            ]
        )
    return rows


def rows_of_3_5(name: str, task: Task, gold: list[Any], found: Candidate) -> list[list[str]]:
    rows = []
    for method in ("linear", "induced"):
        decode = preferred(found[method])
        best = found[method][decode]
        row = [
            task.title, method, decode, f"{percent(gold, best.predicted):.2f}", best.variances,
            span(best.iterations), span(best.n_features), f"{best.seconds:.2f}",
        ]  # fmt: skip
        if name in PUBLISHED:
            accuracy, iterations, seconds = PUBLISHED[name][method]
            row += [f"{accuracy:.2f}", str(iterations), f"{seconds:.1f}", f"{seconds / best.seconds:.0f}x"]
        else:
            row += ["none", "none", "none", ""]
        rows.append(row)
    return rows


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--pairs", action="store_true", help="weights of attributes for pairs of labels")
    options = parser.parse_args()
    print_machine()
    tasks = {"quick": QUICK} if options.quick else {name: TASKS[name] for name in options.tasks}
    accuracies, table = [], []
    for name, task in tasks.items():
        log(task.title)
        gold, found = run(name, task, options.pairs, options.quick)
        accuracies += rows_of_accuracy(task, gold, found)
        table += rows_of_3_5(name, task, gold, found)
    print_table(
        ["set", "decoding", "linear", "induced", "TreeCRF", "s.e.", "p, linear", "p, TreeCRF", "held-out"], accuracies
    )
    print_table(
        ["set", "method", "decoding", "accuracy", "variance", "iterations", "features", "CPU seconds", "published",
         "iterations", "CPU seconds", "faster"],
        table,
    )  # fmt: skip


if __name__ == "__main__":
    main()
