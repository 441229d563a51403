"""Sampling and influence trimming (paper, end of section 3), by example and as the library does it by default.

The papers name both as means to save time and use neither. An example is a pair of a position and a label context: a
tree is fitted to a share of them, drawn anew for it, or to those whose absolute residual is not near 0. The defaults
draw whole sequences and trim positions, by the sum of their absolute residuals. The published algorithm with λ = 40,
100 leaves and 60 rounds, marginal decoding, one thread. Times are processor times of the whole fit. Nothing is chosen.

python experiments/sampling.py
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

import hedgerow as hr
from common import QUICK, TASKS, Split, Task, arguments, fit, log, percent, print_machine, print_table, train_test_pairs

SHARES = (0.75, 0.5, 0.25)
TRIMS = (0.01, 0.03, 0.1, 0.2)
N_RUNS = 3  # with seeds of their own; times are those of the fastest
N_ROUNDS = 60


@dataclass(frozen=True)
class Setting:
    title: str
    parameters: dict[str, Any]


def settings(quick: bool) -> Iterator[Setting]:
    shares, trims = (SHARES[-1:], TRIMS[-1:]) if quick else (SHARES, TRIMS)
    yield Setting("all examples", {})
    for kind in ("sequence", "example"):
        for share in shares:
            yield Setting(f"{share:.0%} of the {kind}s", {"subsample": share, "sample_by": kind})
    for kind in ("position", "example"):
        for trim in trims:
            yield Setting(f"{kind}s from {trim:g}", {"influence_trim": trim, "trim_by": kind})


@dataclass(frozen=True)
class Run:
    """A fit: milliseconds a round, the share of positions that a tree counts, and % right on the test data."""

    milliseconds: float
    counted: float
    accuracy: float

    @classmethod
    def of(cls, model: hr.TreeCRF, n_rounds: int, train: Split, test: Split) -> Run:
        start = process_time()
        fitted = fit(model, n_rounds, train)
        seconds = process_time() - start
        trees = fitted.model_.potential.trees  # type: ignore[attr-defined]
        roots = trees.nodes["count"][trees.starts[:-1]]
        return cls(
            1e3 * seconds / n_rounds,
            float(100 * roots.mean() / train.n_positions),
            percent(test.y, fitted.predict(test.X, decode="marginal")),
        )


def runs(setting: Setting, task: Task, n_rounds: int, train: Split, test: Split) -> list[Run]:
    shared: dict[str, Any] = {"l2": 40.0, "window": task.window, "n_jobs": 1}
    models = (hr.TreeCRF.published(**shared, **setting.parameters, random_state=i) for i in range(N_RUNS))
    return [Run.of(model, n_rounds, train, test) for model in models]


def row(setting: Setting, found: list[Run]) -> list[str]:
    accuracies = [run.accuracy for run in found]
    spread = f" ± {np.std(accuracies, ddof=1):.2f}" if "subsample" in setting.parameters else ""
    milliseconds = min(run.milliseconds for run in found)
    counted = np.mean([run.counted for run in found])
    return [setting.title, f"{counted:.0f}", f"{milliseconds:.2f}", f"{np.mean(accuracies):.2f}{spread}"]


def main() -> None:
    parser = arguments(__doc__, TASKS)
    parser.set_defaults(tasks=["protein", "stress", "hyphen"])
    options = parser.parse_args()
    print_machine()
    tasks = {"quick": QUICK} if options.quick else {name: TASKS[name] for name in options.tasks}
    for task in tasks.values():
        log(task.title)
        ((train, test),) = train_test_pairs(task)
        n_rounds = 3 if options.quick else N_ROUNDS
        print_table(
            [task.title, "% of positions in a tree", "CPU ms a round", "% right"],
            (row(setting, runs(setting, task, n_rounds, train, test)) for setting in settings(options.quick)),
        )


if __name__ == "__main__":
    main()
