"""Test accuracy after each round, for settings chosen on training data (dissertation, figure 3.1).

"published" is what shrinkage.py chose, "modern" what modern.py chose without random settings, "induction" a linear CRF
with feature induction and the prior variance that linear.py chose. On the Perl FAQ, where these scripts choose
parameters for each file, the settings are the same for all files: λ = 20, the defaults, and the variance 10.

python experiments/curves.py --figures docs/figures
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
import plots
from common import (
    PLAIN_TREES,
    QUICK,
    TASKS,
    Decode,
    Floats,
    Model,
    Task,
    accuracy_by_round,
    arguments,
    log,
    print_machine,
    print_table,
    train_test_pairs,
)
from linear import named

N_ROUNDS = 200
SHOWN = (1, 10, 25, 50, 100, 150, 200)

PAPERS: dict[str, Any] = {"newton": False, "learning_rate": 1.0, "transitions": "trees", "max_leaves": 100}
INDUCED: dict[str, Any] = {"induce": "mccallum", "l2": 1 / 20}  # prior variance 10
SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    "protein": {"published": {**PAPERS, "l2": 40.0}, "modern": {"max_leaves": 20, "category_splits": "subset"}},
    "stress": {"published": {**PAPERS, "l2": 40.0}, "modern": {"l2": 5.0}},
    "hyphen": {"published": {**PAPERS, "l2": 5.0}, "modern": {"max_leaves": 100, "min_leaf": 5}},
    "perlfaq": {"published": {**PAPERS, "l2": 20.0}, "modern": {}},
    "quick": {"published": {**PAPERS, "l2": 20.0}, "modern": {}},
}


def model_of(task: Task, parameters: dict[str, Any]) -> Model:
    shared: dict[str, Any] = {"window": task.window, "random_state": 0, "n_jobs": 1}
    if "induce" in parameters:
        return hr.LinearCRF(**shared, **parameters)
    return hr.TreeCRF(**shared, **{**PLAIN_TREES, **parameters})


def curve(task: Task, parameters: dict[str, Any], n_rounds: int) -> dict[Decode, Floats]:
    """Return, for each decoding, the accuracy in % on all test data after each round or iteration."""
    pairs, model = train_test_pairs(task), model_of(task, parameters)
    if isinstance(model, hr.LinearCRF) and task.data == "perlfaq":
        pairs = [(named(train), named(test)) for train, test in pairs]
    n_positions = sum(test.n_positions for _, test in pairs)
    right: dict[Decode, Floats] = {"marginal": np.zeros(n_rounds), "viterbi": np.zeros(n_rounds)}
    for train, test in pairs:
        for decode, shares in accuracy_by_round(model, n_rounds, train, test).items():
            right[decode] += shares * test.n_positions
    return {decode: 100 * counts / n_positions for decode, counts in right.items()}


def highest(percent: Floats) -> str:
    """Return the highest accuracy and its round, which no choice on training data can promise."""
    return f"{percent.max():.2f} at {percent.argmax() + 1}"


def plot(found: dict[str, dict[str, dict[Decode, Floats]]], folder: Path) -> None:
    styles = {"marginal": "-", "viterbi": ":"}
    colours = {"published": "C0", "modern": "C1", "induction": "C2"}

    def panels(axes: list[Any]) -> None:
        for panel, (title, settings) in zip(axes, found.items(), strict=True):
            for name, by_decoding in settings.items():
                for decode, percent in by_decoding.items():
                    rounds = np.arange(1, len(percent) + 1)
                    panel.plot(rounds, percent, styles[decode], color=colours[name], label=f"{name}, {decode}")
            best = max(percent.max() for d in settings.values() for percent in d.values())
            low = min(percent[len(percent) // 20] for d in settings.values() for percent in d.values())
            panel.set(
                title=title, xlabel="rounds or iterations", ylabel="% right", ylim=(low, best + 0.1 * (best - low))
            )
        axes[1 % len(axes)].legend(frameon=False, fontsize=8, loc="lower right")

    plots.draw(folder / "curves.png", len(found), panels)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--figures", type=Path, help="folder for curves.png")
    options = parser.parse_args()
    print_machine()
    n_rounds = 10 if options.quick else N_ROUNDS
    tasks = {"quick": QUICK} if options.quick else {name: TASKS[name] for name in options.tasks}
    found = {}
    for name, task in tasks.items():
        log(task.title)
        settings = {**SETTINGS[name], "induction": INDUCED}
        found[task.title] = {kind: curve(task, parameters, n_rounds) for kind, parameters in settings.items()}
    shown = [at for at in SHOWN if at <= n_rounds]
    print_table(
        ["set", "settings", "decoding", *(f"{at} rounds" for at in shown), "highest"],
        (
            [title, kind, decode, *(f"{percent[at - 1]:.2f}" for at in shown), highest(percent)]
            for title, settings in found.items()
            for kind, by_decoding in settings.items()
            for decode, percent in by_decoding.items()
        ),
    )
    if options.figures:
        plot(found, options.figures)


if __name__ == "__main__":
    main()
