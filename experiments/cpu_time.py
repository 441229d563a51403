"""Cumulative CPU seconds by iteration of TreeCRF, feature induction and the linear CRF (dissertation, figure 3.2).

TreeCRF is the published algorithm with 100 leaves and the λ that shrinkage.py chose. The linear CRFs have the prior
variance 10 and quasi-Newton steps. One thread; the first file is left out of the Perl FAQ. A linear CRF that converges
before the last iteration is shown up to there.

python experiments/cpu_time.py --figures docs/figures
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
import plots
from common import QUICK, TASKS, Floats, Model, Split, arguments, fit, log, print_machine, print_table, train_test_pairs
from linear import TREECRF, named

N_ITERATIONS = 200
SHOWN = (8, 25, 50, 100, 150, 200)
L2 = 1 / 20  # prior variance 10


def models(name: str, window: int) -> dict[str, Model]:
    linear: dict[str, Any] = {
        "l2": L2,
        "solver": "lbfgs",
        "window": window,
        "tol": 1e-9,
        "n_jobs": 1,
        "random_state": 0,
    }
    return {
        "TreeCRF": hr.TreeCRF.published(l2=TREECRF[name][0], window=window, n_jobs=1),
        "induction": hr.LinearCRF(induce="mccallum", **linear),
        "linear": hr.LinearCRF(**linear),
    }


def cumulative(model: Model, n_iterations: int, train: Split) -> Floats:
    """CPU seconds from the call of `fit` to the end of each iteration."""
    seconds: list[float] = []
    began = time.process_time()
    fit(model, n_iterations, train, [lambda _: seconds.append(time.process_time() - began)])
    return np.array(seconds)


def at_steps(seconds: Floats, steps: list[int]) -> list[str]:
    return [f"{seconds[step - 1]:.2f}" if step <= len(seconds) else "converged" for step in steps]


def plot(found: dict[str, dict[str, Floats]], folder: Path) -> None:
    def panels(axes: list[Any]) -> None:
        styles = dict(zip(("TreeCRF", "induction", "linear"), ("-C0", "--C1", ":C2"), strict=True))
        for panel, (title, by_model) in zip(axes, found.items(), strict=True):
            for kind, seconds in by_model.items():
                panel.plot(np.arange(1, len(seconds) + 1), seconds, styles[kind], label=kind, linewidth=1.5)
            panel.set(title=title, xlabel="iterations", ylabel="CPU seconds", ylim=(0, None))
        axes[0].legend(frameon=False, fontsize=8)

    plots.draw(folder / "cumulative.png", len(found), panels)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--figures", type=Path, help="folder for cumulative.png")
    options = parser.parse_args()
    print_machine()
    n_iterations = 30 if options.quick else N_ITERATIONS
    tasks = {"quick": QUICK} if options.quick else {name: TASKS[name] for name in options.tasks}
    shown = [step for step in SHOWN if step <= n_iterations]
    found: dict[str, dict[str, Floats]] = {}
    rows = []
    for name, task in tasks.items():
        (train, _), *_ = train_test_pairs(task)
        found[task.title] = {}
        for kind, model in models(name, task.window).items():
            log(f"  {task.title}, {kind}")
            data = named(train) if name == "perlfaq" and kind != "TreeCRF" else train
            found[task.title][kind] = seconds = cumulative(model, n_iterations, data)
            rows.append([task.title, kind, *at_steps(seconds, shown), f"{1e3 * seconds[-1] / len(seconds):.1f}"])
    print_table(["set", "method", *(f"{step} iterations, s" for step in shown), "ms an iteration"], rows)
    if options.figures:
        plot(found, options.figures)


if __name__ == "__main__":
    main()
