"""Time of a boosting round, and how it grows (dissertation, table 3.6 and figure 3.3; paper, table 3).

Inference is forward-backward. Growing makes the trees of the round and adds their leaves to the scores of the training
positions, which the papers count as inference. Times are wall times of the training log. One thread, the published
algorithm with 100 leaves and λ = 40 unless said; run it on an idle machine.

python experiments/round_time.py --figures docs/figures
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
import plots
from common import TASKS, Split, arguments, fit, log, print_machine, print_table, train_test_pairs

PUBLISHED = {"protein": (1.493, 1.433), "stress": (0.622, 2.049), "hyphen": (0.324, 0.332)}  # table 3.6
PAPER_WINDOWS = {1: 0.8, 3: 1.11, 5: 1.2, 7: 1.4}  # table 3


@dataclass
class Cost:
    """Milliseconds a round."""

    inference: float = 0.0
    growing: float = 0.0

    @property
    def both(self) -> float:
        return self.inference + self.growing


def cost(model: hr.TreeCRF, data: Split, n_rounds: int, repeats: int) -> Cost:
    """Return the fastest of several runs: the one least disturbed."""
    runs = []
    for _ in range(repeats):
        records = fit(model, n_rounds, data).training_log_
        inference, growing = (sum(r[field] for r in records) for field in ("inference_seconds", "growing_seconds"))
        runs.append(Cost(1e3 * inference / n_rounds, 1e3 * growing / n_rounds))
    return min(runs, key=lambda run: run.both)


def papers(window: int, **others: Any) -> hr.TreeCRF:
    return hr.TreeCRF.published(l2=40, window=window, n_jobs=1, **others)


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

    def cost(self, model: hr.TreeCRF, data: Split, n_rounds: int | None = None) -> Cost:
        return cost(model, data, n_rounds or self.n_rounds, self.repeats)

    def few(self, values: tuple[int, ...]) -> tuple[int, ...]:
        return values[:2] if self.quick else values

    def sets(self, names: list[str]) -> None:
        rows = []
        for name in names:
            task = TASKS[name]
            (train, _), *_ = train_test_pairs(task)
            log(task.title)
            found = self.cost(papers(task.window), train)
            row = [task.title, f"{train.n_positions / len(train.X):.0f}", f"{found.inference:.2f}"]
            row += [f"{found.growing:.2f}"]
            if name in PUBLISHED:
                inference, growing = PUBLISHED[name]
                row += [f"{1e3 * inference:.0f}", f"{1e3 * growing:.0f}"]
                row += [f"{1e3 * (inference + growing) / found.both:.0f}x"]
            else:
                row += ["none", "none", ""]
            rows.append(row)
        print_table(
            ["set", "average length", "inference, ms a round", "growing", "published inference", "growing", "faster"],
            rows,
        )

    def windows(self, data: Split) -> None:
        rows = []
        for size in self.few((1, 3, 5, 7, 11, 21, 41)):
            found = self.cost(papers(size // 2), data)
            printed = PAPER_WINDOWS.get(size)
            rows.append([size, f"{found.both:.2f}", f"{1e3 * printed:.0f}" if printed else ""])
        print_table(["window size, protein", "ms a round", "published"], rows)

    def lengths(self) -> dict[int, Cost]:
        lengths = self.few((10, 20, 40, 80, 160, 320, 640, 1280))
        return {length: self.cost(papers(1), synthetic(length, self.n_sequences)) for length in lengths}

    def features(self) -> dict[int, Cost]:
        """Costs by the number of features as the papers count them: 25 for each position of the window."""
        data = synthetic(100, self.n_sequences)
        return {25 * size: self.cost(papers(size // 2), data) for size in self.few((3, 5, 7, 9, 11, 21, 41))}

    def leaves(self) -> dict[int, Cost]:
        data = synthetic(100, self.n_sequences)
        return {n: self.cost(papers(1, max_leaves=n), data) for n in self.few((2, 10, 30, 100, 300))}

    def labels(self, model: hr.TreeCRF) -> dict[int, Cost]:
        numbers = self.few((2, 5, 10, 20, 40))
        return {
            k: self.cost(model, with_labels(k, self.n_sequences), n_rounds=2 if self.quick else 20) for k in numbers
        }

    def rounds(self) -> dict[int, Cost]:
        data = synthetic(100, self.n_sequences)
        return {n: self.cost(papers(1), data, n) for n in self.few((10, 50, 200, 800))}


def print_costs(what: str, costs: dict[int, Cost]) -> None:
    log(what)
    rows = [[at, f"{c.inference:.3f}", f"{c.growing:.2f}", f"{c.both:.2f}"] for at, c in costs.items()]
    print_table([what, "inference, ms a round", "growing", "both"], rows)


def plot(lengths: dict[int, Cost], features: dict[int, Cost], folder: Path) -> None:
    def panels(axes: list[Any]) -> None:
        for panel, costs, what in (
            (axes[0], lengths, "positions of a sequence"),
            (axes[1], features, "features"),
        ):
            panel.plot(list(costs), [c.inference for c in costs.values()], "o-", label="inference")
            panel.plot(list(costs), [c.growing for c in costs.values()], "s--", label="tree growing")
            panel.set(xlabel=what, ylabel="ms a round", ylim=(0, None), xlim=(0, None))
        axes[0].legend(frameon=False)

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
    lengths, features = tables.lengths(), tables.features()
    print_costs("positions of a sequence (100 sequences, window size 3)", lengths)
    print_costs("features (100 sequences of 100)", features)
    print_costs("leaves (window size 3)", tables.leaves())
    print_costs("labels, transitions in trees", tables.labels(papers(1)))
    print_costs("labels, transitions in a table", tables.labels(papers(1).set_params(transitions="table")))
    print_costs("rounds (window size 3)", tables.rounds())
    if options.figures:
        plot(lengths, features, options.figures)


if __name__ == "__main__":
    main()
