"""Time of a boosting round, and how it grows (dissertation, table 3.6 and figure 3.3; paper, table 3).

Inference is forward-backward. Growing makes the trees of the round and adds their leaves to the scores of the training
positions, which the papers count as inference. Beside it the linear CRF with feature induction and prior variance 20:
its inference is a whole quasi-Newton step, its growing a search for features, which comes after every eighth step.
Times are wall times of the training log. One thread, the published algorithm with 100 leaves and λ = 40 unless said;
run it on an idle machine.

python experiments/round_time.py --figures docs/figures
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
import plots
from common import TASKS, Model, Split, arguments, fit, log, print_machine, print_table, train_test_pairs
from linear import named

PUBLISHED = {"protein": (1.493, 1.433), "stress": (0.622, 2.049), "hyphen": (0.324, 0.332)}  # table 3.6
INDUCED = {"protein": (0.736, 48.889), "stress": (0.589, 25.983), "hyphen": (0.307, 4.621)}  # its columns MALLET
N_ITERATIONS = 64  # of feature induction: the first 24 are on some of the sequences and are not counted
PAPER_WINDOWS = {1: 0.8, 3: 1.11, 5: 1.2, 7: 1.4}  # table 3


@dataclass
class Cost:
    """Milliseconds of a round; with feature induction, of a quasi-Newton step and of a search for features."""

    inference: float = 0.0
    growing: float = 0.0

    @property
    def both(self) -> float:
        return self.inference + self.growing


def cost(model: Model, data: Split, n_steps: int, repeats: int) -> Cost:
    """Return the fastest of several runs: the one least disturbed."""
    cost_of = of_rounds if isinstance(model, hr.TreeCRF) else of_induction
    runs = [cost_of(fit(model, n_steps, data).training_log_) for _ in range(repeats)]
    return min(runs, key=lambda run: run.both)


def of_rounds(records: list[dict[str, Any]]) -> Cost:
    inference, growing = (np.mean([r[field] for r in records]) for field in ("inference_seconds", "growing_seconds"))
    return Cost(1e3 * float(inference), 1e3 * float(growing))


def of_induction(records: list[dict[str, Any]]) -> Cost:
    """The mean costs of steps and searches on all sequences."""
    whole = max(record["n_sequences"] for record in records)
    pairs = [(one, other) for one, other in pairwise(records) if one["n_sequences"] == whole] or [*pairwise(records)]
    steps = [other["seconds"] - one["seconds"] - other["growing_seconds"] for one, other in pairs]
    searches = [other["growing_seconds"] for _, other in pairs if other["growing_seconds"]]
    return Cost(1e3 * float(np.mean(steps)), 1e3 * float(np.mean(searches)) if searches else 0.0)


def papers(window: int, **others: Any) -> hr.TreeCRF:
    return hr.TreeCRF.published(l2=40, window=window, n_jobs=1, **others)


def induced(window: int) -> hr.LinearCRF:
    return hr.LinearCRF(induce="mccallum", l2=1 / 40, window=window, n_jobs=1, random_state=0)


def synthetic(length: int, n_sequences: int = 100) -> Split:
    return Split.of(hr.datasets.hmm_three(n_sequences, length, seed=0))


def with_labels(n_labels: int, n_sequences: int) -> Split:
    """The same observations for any number of labels: the forty labels are merged."""
    made = hr.datasets.hmm_forty(n_sequences, 100, kind="both", seed=0)
    merged = [np.array([f"l{int(label[1:]) % n_labels}" for label in labels]) for labels in made.y]
    return Split.of(replace(made, y=merged))


class Tables:
    """The tables; --quick makes them small."""

    def __init__(self, quick: bool) -> None:
        self.quick = quick
        self.n_sequences, self.n_rounds, self.repeats = (5, 2, 1) if quick else (100, 50, 3)

    def cost(self, model: Model, data: Split, n_steps: int | None = None) -> Cost:
        usual = self.n_rounds if isinstance(model, hr.TreeCRF) else 34 if self.quick else N_ITERATIONS
        return cost(model, data, n_steps or usual, self.repeats)

    def few(self, values: tuple[int, ...]) -> tuple[int, ...]:
        return values[:2] if self.quick else values

    def sets(self, names: list[str]) -> None:
        rows = []
        for name in names:
            task = TASKS[name]
            (train, _), *_ = train_test_pairs(task)
            log(task.title)
            found = self.cost(papers(task.window), train)
            of_linear = self.cost(induced(task.window), named(train) if name == "perlfaq" else train)
            row = [task.title, f"{train.n_positions / len(train.X):.0f}"]
            for method, printed in ((found, PUBLISHED), (of_linear, INDUCED)):
                row += [f"{method.inference:.2f}", f"{method.growing:.2f}"]
                row += [f"{1e3 * seconds:.0f}" for seconds in printed[name]] if name in printed else ["none", "none"]
            faster = f"{1e3 * sum(PUBLISHED[name]) / found.both:.0f}x" if name in PUBLISHED else ""
            rows.append([*row, faster])
        print_table(
            ["set", "average length", "TreeCRF: inference, ms a round", "growing", "published inference", "growing",
             "induction: a step, ms", "a search", "published inference", "search", "TreeCRF faster than published"],
            rows,
        )  # fmt: skip

    def windows(self, data: Split) -> None:
        rows = []
        for size in self.few((1, 3, 5, 7, 11, 21, 41)):
            found = self.cost(papers(size // 2), data)
            printed = PAPER_WINDOWS.get(size)
            rows.append([size, f"{found.both:.2f}", f"{1e3 * printed:.0f}" if printed else ""])
        print_table(["window size, protein", "ms a round", "published"], rows)

    def lengths(self, make: Callable[[int], Model]) -> dict[int, Cost]:
        lengths = self.few((10, 20, 40, 80, 160, 320, 640, 1280))
        return {length: self.cost(make(1), synthetic(length, self.n_sequences)) for length in lengths}

    def features(self, make: Callable[[int], Model]) -> dict[int, Cost]:
        """Costs by the number of features as the papers count them: 25 for each position of the window."""
        data = synthetic(100, self.n_sequences)
        return {25 * size: self.cost(make(size // 2), data) for size in self.few((3, 5, 7, 9, 11, 21, 41))}

    def leaves(self) -> dict[int, Cost]:
        data = synthetic(100, self.n_sequences)
        return {n: self.cost(papers(1, max_leaves=n), data) for n in self.few((2, 10, 30, 100, 300))}

    def labels(self, model: hr.TreeCRF) -> dict[int, Cost]:
        numbers = self.few((2, 5, 10, 20, 40))
        return {k: self.cost(model, with_labels(k, self.n_sequences), n_steps=2 if self.quick else 20) for k in numbers}

    def rounds(self) -> dict[int, Cost]:
        data = synthetic(100, self.n_sequences)
        return {n: self.cost(papers(1), data, n) for n in self.few((10, 50, 200, 800))}


def print_costs(what: str, costs: dict[int, Cost]) -> None:
    log(what)
    rows = [[at, f"{c.inference:.3f}", f"{c.growing:.2f}", f"{c.both:.2f}"] for at, c in costs.items()]
    print_table([what, "inference, ms a round", "growing", "both"], rows)


def print_both(what: str, trees: dict[int, Cost], linear: dict[int, Cost]) -> None:
    log(what)
    rows = [
        [at, f"{c.inference:.3f}", f"{c.growing:.2f}", f"{c.both:.2f}", *(f"{x:.2f}" for x in (i.inference, i.growing))]
        for (at, c), i in zip(trees.items(), linear.values(), strict=True)
    ]
    head = ["inference, ms a round", "growing", "both", "induction: a step, ms", "a search"]
    print_table([what, *head], rows)


Costs = tuple[dict[int, Cost], dict[int, Cost]]  # of TreeCRF, of feature induction


def plot(lengths: Costs, features: Costs, folder: Path) -> None:
    def panels(axes: list[Any]) -> None:
        for panel, (trees, linear), what in (
            (axes[0], lengths, "positions of a sequence"),
            (axes[1], features, "features"),
        ):
            at = list(trees)
            panel.plot(at, [c.inference for c in trees.values()], "o-C0", label="TreeCRF: inference", markersize=4)
            panel.plot(at, [c.growing for c in trees.values()], "s--C0", label="TreeCRF: growing", markersize=4)
            panel.plot(at, [c.inference for c in linear.values()], "o-C1", label="induction: a step", markersize=4)
            panel.plot(at, [c.growing for c in linear.values()], "s--C1", label="induction: a search", markersize=4)
            panel.set(xlabel=what, ylabel="ms", yscale="log", xscale="log")
        axes[0].legend(frameon=False, fontsize=8)

    plots.draw(folder / "growth.png", 2, panels)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--figures", type=Path, help="folder for growth.png")
    options = parser.parse_args()
    print_machine()
    tables = Tables(options.quick)
    if not options.quick:
        tables.sets(options.tasks)
    tables.windows(synthetic(10, 5) if options.quick else train_test_pairs(TASKS["protein"])[0][0])
    lengths, features = ((table(papers), table(induced)) for table in (tables.lengths, tables.features))
    print_both("positions of a sequence (100 sequences, window size 3)", *lengths)
    print_both("features (100 sequences of 100)", *features)
    print_costs("leaves (window size 3)", tables.leaves())
    print_costs("labels, transitions in trees", tables.labels(papers(1)))
    print_costs("labels, transitions in a table", tables.labels(papers(1).set_params(transitions="table")))
    print_costs("rounds (window size 3)", tables.rounds())
    if options.figures:
        plot(lengths, features, options.figures)


if __name__ == "__main__":
    main()
