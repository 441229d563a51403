"""Cost and accuracy by the order of the Markov model (paper, abstract: boosting "scales linearly in the order").

TreeCRF is the published algorithm with the λ and the number of rounds that shrinkage.py chose for order 1, on training
data; once its trees test the previous labels, and once a table has their scores. LinearCRF has the l2 that linear.py
chose. Times are wall times of the training log, with one thread. Labels are decoded by marginals.

python experiments/orders.py --figures docs/figures
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
import plots
from common import QUICK, TASKS, Split, arguments, log, percent, print_machine, print_table, train_test_pairs

ORDERS = (1, 2, 3, 4)
TASK_NAMES = ("stress", "hyphen")
SETTINGS = {"stress": (40.0, 121, 0.5), "hyphen": (5.0, 122, 0.1), "quick": (20.0, 3, 0.5)}  # λ, rounds, l2


@dataclass(frozen=True)
class Outcome:
    """Milliseconds of a step, in inference and in growing, and the accuracy on test data in %."""

    inference: float
    growing: float
    accuracy: float

    @property
    def both(self) -> float:
        return self.inference + self.growing


def models(name: str, window: int, order: int) -> dict[str, Any]:
    l2, n_rounds, linear_l2 = SETTINGS[name]
    shared: dict[str, Any] = {"window": window, "order": order, "n_jobs": 1, "decode": "marginal"}
    trees = {"l2": l2, "n_rounds": n_rounds, **shared}
    return {
        "trees": hr.TreeCRF.published(**trees),
        "table": hr.TreeCRF.published(**trees).set_params(transitions="table"),
        "linear": hr.LinearCRF(l2=linear_l2, solver="lbfgs", max_iter=20 if name == "quick" else 1000, **shared),
    }


def outcome(model: Any, train: Split, test: Split) -> Outcome:
    model.fit(train.X, train.y)
    records = model.training_log_
    if isinstance(model, hr.TreeCRF):
        inference, growing = (
            1e3 * float(np.mean([record[part] for record in records]))
            for part in ("inference_seconds", "growing_seconds")
        )
    else:
        inference = 1e3 * (records[-1]["seconds"] - records[0]["seconds"]) / max(len(records) - 1, 1)
        growing = 0.0
    return Outcome(inference, growing, percent(test.y, model.predict(test.X)))


def run(name: str, window: int, train: Split, test: Split, orders: tuple[int, ...]) -> dict[int, dict[str, Outcome]]:
    found: dict[int, dict[str, Outcome]] = {}
    for order in orders:
        log(f"  order {order}")
        found[order] = {kind: outcome(model, train, test) for kind, model in models(name, window, order).items()}
    return found


def print_results(title: str, n_labels: int, found: dict[int, dict[str, Outcome]]) -> None:
    rows = []
    for order, by_kind in found.items():
        row = [order, n_labels ** (order + 1)]
        for kind in ("trees", "table"):
            one = by_kind[kind]
            row += [f"{one.inference:.2f}", f"{one.growing:.2f}", f"{one.accuracy:.2f}"]
        rows.append([*row, f"{by_kind['linear'].inference:.2f}", f"{by_kind['linear'].accuracy:.2f}"])
    print_table(
        [f"{title}, {n_labels} labels: order", "scores at a position", "trees: inference, ms a round", "growing",
         "% right", "table: inference, ms a round", "growing", "% right", "linear: ms an iteration", "% right"],
        rows,
    )  # fmt: skip


def plot(found: dict[str, dict[int, dict[str, Outcome]]], folder: Path) -> None:
    def panels(axes: list[Any]) -> None:
        for panel, (title, by_order) in zip(axes, found.items(), strict=True):
            orders = list(by_order)
            for kind, colour in (("trees", "C0"), ("table", "C1")):
                growing, inference = ([getattr(one[kind], part) for one in by_order.values()] for part in
                                      ("growing", "inference"))  # fmt: skip
                panel.plot(orders, growing, f"s--{colour}", label=f"{kind}: growing", markersize=4)
                panel.plot(orders, inference, f"o-{colour}", label=f"{kind}: inference", markersize=4)
            panel.plot(
                orders, [one["linear"].inference for one in by_order.values()], "^:C2", label="linear", markersize=4
            )
            panel.set(title=title, xlabel="order", ylabel="ms a round or iteration", yscale="log", xticks=orders)
        axes[0].legend(frameon=False, fontsize=7, loc="upper left")

    plots.draw(folder / "orders.png", len(found), panels)


def main() -> None:
    parser = arguments(__doc__, TASK_NAMES)
    parser.add_argument("--figures", type=Path, help="folder for orders.png")
    options = parser.parse_args()
    print_machine()
    tasks = {"quick": QUICK} if options.quick else {name: TASKS[name] for name in options.tasks}
    found: dict[str, dict[int, dict[str, Outcome]]] = {}
    for name, task in tasks.items():
        log(task.title)
        ((train, test),) = train_test_pairs(task)
        found[task.title] = run(name, task.window, train, test, ORDERS[:2] if options.quick else ORDERS)
        n_labels = len({label for labels in train.y for label in labels})
        print_results(task.title, n_labels, found[task.title])
    if options.figures:
        plot(found, options.figures)


if __name__ == "__main__":
    main()
