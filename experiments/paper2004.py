"""Figures 1 to 4 of the paper of 2004 (Dietterich, Ashenfelter and Bulatov): TreeCRF beside an induced linear CRF.

Figure 1: accuracy on protein by round. Figures 2 to 4: accuracy against CPU time on FAQ files, for which the Perl FAQ
stands in, each file left out once. Folds within the training data choose the number of leaves, the prior variance of
the linear CRF, and the number of rounds.

python experiments/paper2004.py --figures docs/figures
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
import plots
from common import (
    QUICK,
    TASKS,
    Accuracies,
    Choice,
    Decode,
    Floats,
    Model,
    Split,
    Task,
    choose,
    fit,
    log,
    print_machine,
    print_table,
    standard_error,
    train_test_pairs,
)
from hedgerow.callbacks import TrainingRecord
from linear import named

LEAVES = (5, 10, 20, 30, 50, 75, 100)
LEAVES_EACH = (10, 30, 100)  # where each file is left out once
VARIANCES = (5.0, 10.0, 20.0)
N_FOLDS = 5
N_FOLDS_EACH = 3  # then only one fold is dev data, to save time
N_ROUNDS = 200
N_ITERATIONS = 150
PEAK_ROUND = 28  # of TreeCRF-FB in figure 1
# Peak accuracy and its round in figure 1.
PUBLISHED = {"TreeCRF-FB": (64.7, 28), "induced-V": (62.9, 145)}


@dataclass(frozen=True)
class Method:
    """A line of the figures."""

    make: Callable[[int, bool], list[Model]]  # candidates, from the window and whether each file is left out once
    decode: Decode
    n_rounds: int
    style: str


def trees(window: int, each: bool) -> list[Model]:
    values = LEAVES_EACH if each else LEAVES
    return [hr.TreeCRF.published_2004(max_leaves=n, window=window, n_jobs=1) for n in values]


def induced(window: int, each: bool) -> list[Model]:
    shared: dict[str, Any] = {"window": window, "induce": "mccallum", "random_state": 0, "n_jobs": 1}
    return [hr.LinearCRF(l2=1 / (2 * variance), **shared) for variance in VARIANCES]


METHODS = {
    "TreeCRF-FB": Method(trees, "marginal", N_ROUNDS, "-C0"),
    "TreeCRF-V": Method(trees, "viterbi", N_ROUNDS, ":C0"),
    "induced-V": Method(induced, "viterbi", N_ITERATIONS, ":C1"),
}


@dataclass(frozen=True)
class Course:
    """The chosen candidate on all training data: accuracy on test data and CPU seconds of learning, by round."""

    choice: Choice
    accuracy: Floats
    seconds: Floats
    n_positions: int


class Seconds:
    """A callback: CPU seconds of learning until each step, without those of the callbacks between `stop` and `go`."""

    def __init__(self) -> None:
        self._since = time.process_time()
        self._sum = 0.0
        self.until: list[float] = []

    def stop(self, _: TrainingRecord) -> None:
        self._sum += time.process_time() - self._since
        self.until.append(self._sum)

    def go(self, _: TrainingRecord) -> None:
        self._since = time.process_time()


def course(choice: Choice, n_rounds: int, train: Split, test: Split) -> Course:
    accuracies, seconds = Accuracies(test), Seconds()
    fit(choice.candidate, n_rounds, train, [seconds.stop, accuracies, seconds.go])
    curve = np.array(accuracies.curves[choice.decode])
    return Course(choice, 100 * curve, np.array(seconds.until), test.n_positions)


def courses(task: Task, quick: bool) -> dict[str, list[Course]]:
    """The courses of each method, one for each test part."""
    found: dict[str, list[Course]] = {}
    chosen: dict[tuple[Any, int], dict[Decode, Choice]] = {}  # TreeCRF-FB and TreeCRF-V share their cross-validation
    for name, method in METHODS.items():
        found[name] = []
        pairs = train_test_pairs(task)
        each = len(pairs) > 1
        for i, (train, test) in enumerate(pairs):
            log(f"  {name}, split {i + 1} of {len(pairs)}")
            n_rounds = 10 if quick else method.n_rounds
            if task.data == "perlfaq" and method.make is induced:
                train, test = named(train), named(test)
            if (method.make, i) not in chosen:
                candidates = method.make(task.window, each)[: 2 if quick else None]
                n_folds, n_used = (N_FOLDS_EACH, 1) if each else (N_FOLDS, None)
                chosen[method.make, i] = choose(candidates, n_rounds, train, n_folds, n_used)
            found[name].append(course(chosen[method.make, i][method.decode], n_rounds, train, test))
    return found


def at(curve: Floats, n_rounds: int) -> float:
    """The accuracy after a number of rounds; a fit may have ended before."""
    return float(curve[min(n_rounds, len(curve)) - 1])


def setting(model: Model) -> str:
    if isinstance(model, hr.TreeCRF):
        return f"{model.max_leaves} leaves"
    return f"variance {1 / (2 * float(model.l2)):g}"


def print_figure_1(found: dict[str, list[Course]]) -> None:
    rows = []
    for name, (one,) in found.items():
        peak = one.accuracy.max()
        error = standard_error(peak, one.n_positions)
        figures = {
            "peak": (peak, f" at {one.accuracy.argmax() + 1}"),
            f"round {PEAK_ROUND}": (at(one.accuracy, PEAK_ROUND), ""),
            "chosen": (at(one.accuracy, one.choice.n_rounds), f" at {one.choice.n_rounds}"),
        }
        printed = PUBLISHED.get(name)
        row = [name, setting(one.choice.candidate), *(f"{value:.2f}{text}" for value, text in figures.values())]
        row += [f"{error:.2f}", f"{printed[0]} at {printed[1]}" if printed else "none"]
        near = [] if printed is None else [k for k, (value, _) in figures.items() if abs(value - printed[0]) <= error]
        rows.append([*row, ", ".join(near) or "none" if printed else ""])
    head = ["method", "chosen", "peak on test data", f"after {PEAK_ROUND} rounds", "at the chosen round", "s.e."]
    print_table([*head, "published peak", "within one s.e."], rows)


def mean_course(parts: list[Course]) -> tuple[Floats, Floats]:
    """(accuracy on all test positions, CPU seconds of all fits) by round."""
    longest = max(len(part.accuracy) for part in parts)
    n = sum(part.n_positions for part in parts)
    rounds = range(1, longest + 1)
    accuracy = [sum(at(part.accuracy, r) * part.n_positions for part in parts) / n for r in rounds]
    return np.array(accuracy), np.array([sum(at(part.seconds, r) for part in parts) for r in rounds])


def print_figures_2_to_4(found: dict[str, list[Course]]) -> None:
    means = {name: mean_course(parts) for name, parts in found.items()}
    budgets = np.geomspace(0.02, 1.0, 6) * min(seconds[-1] for _, seconds in means.values())
    rows = []
    for name, (accuracy, seconds) in means.items():
        n_done = [int(np.searchsorted(seconds, budget, side="right")) for budget in budgets]
        reached = [f"{accuracy[n - 1]:.2f}" if n else "no round" for n in n_done]
        parts = found[name]
        chosen = sum(at(part.accuracy, part.choice.n_rounds) * part.n_positions for part in parts)
        n = sum(part.n_positions for part in parts)
        error = standard_error(chosen / n, n)
        rows.append(
            [name, *reached, f"{accuracy.max():.2f}", f"{chosen / n:.2f}", f"{error:.2f}", f"{seconds[-1]:.1f}"]
        )
    head = [f"after {budget:.2f} s" for budget in budgets]
    print_table(["method", *head, "peak", "at the chosen rounds", "s.e.", "CPU seconds of all rounds"], rows)


def draw(protein: dict[str, list[Course]], faq: dict[str, list[Course]], folder: Path) -> None:
    def panels(axes: list[Any]) -> None:
        for name, method in METHODS.items():
            curve = protein[name][0].accuracy
            axes[0].plot(np.arange(1, len(curve) + 1), curve, method.style, label=name)
            accuracy, seconds = mean_course(faq[name])
            axes[1].plot(seconds, accuracy, method.style, label=name)
        lowest = [min(line.get_ydata()[len(line.get_ydata()) // 10 :].min() for line in a.lines) for a in axes]
        axes[0].set(title="Protein", xlabel="rounds", ylabel="% right", ylim=(lowest[0], None))
        axes[1].set(title="Perl FAQ (stand-in)", xlabel="CPU seconds", xscale="log", ylim=(lowest[1], None))
        axes[0].legend(frameon=False, fontsize=8, loc="lower right")

    plots.draw(folder / "paper2004.png", 2, panels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small run on synthetic data, to see that it works")
    parser.add_argument("--figures", type=Path, help="folder for paper2004.png")
    options = parser.parse_args()
    print_machine()
    found = []
    for task in (QUICK, QUICK) if options.quick else (TASKS["protein"], TASKS["perlfaq"]):
        log(task.title)
        found.append(courses(task, options.quick))
    print_figure_1(found[0])
    print_figures_2_to_4(found[1])
    if options.figures:
        draw(found[0], found[1], options.figures)


if __name__ == "__main__":
    main()
