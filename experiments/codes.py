"""Accuracy of output codes by the length of code words, and by training time (MSc thesis, figures 5.1 to 5.6).

"Window size 1" of the thesis is the position itself (window=0), size 3 one position to either side (window=1). "iid"
has bits of order 0, "i-SECOC" independent bits of order 1, "c-SECOC(h)" a cascade of length h. A third of the training
data chooses rounds, leaves, steps or epochs with codes of 40 bits, for each of the three. The curves over code lengths
are on test data, as in the thesis, and need one fit each, because the first bits of a code are a shorter code.

The part "published" has the base learners of the thesis, boosted trees with at most L leaves and steps of 1 and the
perceptron, and the lengths of cascades in its legends. The other parts have today's defaults.

python experiments/codes.py --cache build/many-labels.jsonl --figures docs/figures
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plots
from bench import SETS, Bench, Figures, Spec, arguments
from common import log, print_machine, print_table

Settings = dict[str, Any]
Candidate = dict[str, Figures]  # by method

TREES: tuple[Settings, ...] = tuple(
    {"n_rounds": n, "max_leaves": leaves, "learning_rate": step}
    for n, leaves, step in ((15, 50, 0.3), (40, 10, 0.3), (40, 50, 0.3), (100, 10, 0.1), (100, 50, 0.1))
)
FEW_TREES = (TREES[0], TREES[1], TREES[3])  # for windows so small that large trees add nothing
WORD_TREES: tuple[Settings, ...] = tuple({**settings, "category_splits": "subset"} for settings in (TREES[0], TREES[2]))
EPOCHS: tuple[Settings, ...] = tuple({"epochs": n} for n in (3, 10, 30))
PUBLISHED = "TreeCRF.published"
PUBLISHED_TREES: tuple[Settings, ...] = tuple(
    {"l2": 0.0, "n_rounds": n, "max_leaves": leaves} for n in (20, 60) for leaves in (10, 50)
)
LAST_WEIGHTS: tuple[Settings, ...] = tuple({"averaging": "none", **settings} for settings in EPOCHS[:2])
VOTES: tuple[Settings, ...] = ({"averaging": "vote", "epochs": 3},)
PENALTIES: tuple[Settings, ...] = tuple({"l2": l2} for l2 in (0.1, 1.0))
BITS_TRIED = 40
SHOWN = (20, 50, 100, 200)

VP = "StructuredPerceptron"


@dataclass(frozen=True)
class Plan:
    """A panel of a figure: a data set, a window, the base estimator with its candidate settings, and the cascades."""

    name: str
    window: int
    base: str
    candidates: tuple[Settings, ...]
    cascades: tuple[Any, ...] = (1, 5, 20, "all")
    n_bits: int = 200

    @property
    def title(self) -> str:
        kind = {"TreeCRF": "trees", PUBLISHED: "published trees", VP: "perceptron"}[self.base]
        if (averaging := self.candidates[0].get("averaging")) is not None:
            kind = {"none": "last perceptron", "vote": "voted perceptron"}[averaging]
        return f"{SETS[self.name][0]}, window size {2 * self.window + 1}, {kind}"

    def spec(self, order: int, cascade: Any, settings: Settings, n_bits: int) -> Spec:
        base = [self.base, {"window": self.window, "order": order, **settings}]
        return ["OutputCode", {"base": base, "n_bits": n_bits, "cascade": cascade, "random_state": 0}]

    def run(self, bench: Bench) -> Candidate:
        """Measure each method with the settings that dev data prefer; all cascades use those of length 5."""
        log(self.title)
        found: Candidate = {}
        for name, order, tried, cascades in (
            ("iid", 0, 0, (0,)), ("i-SECOC", 1, 0, (0,)), ("c-SECOC({})", 1, 5, self.cascades)
        ):  # fmt: skip
            n_bits = min(self.n_bits, BITS_TRIED)
            specs = [self.spec(order, tried, settings, n_bits) for settings in self.candidates]
            best = bench.best(self.name, specs) if len(specs) > 1 else specs[0]
            settings = self.candidates[specs.index(best)]
            for h in cascades:
                found[name.format(h)] = bench(self.name, self.spec(order, h, settings, self.n_bits)) | {
                    "settings": settings
                }
        return found


FIGURES: dict[str, tuple[Plan, ...]] = {
    "nettalk": (
        Plan("nettalk", 0, "TreeCRF", TREES),
        Plan("nettalk", 1, "TreeCRF", TREES),
        Plan("nettalk", 0, VP, EPOCHS),
        Plan("nettalk", 1, VP, EPOCHS),
    ),
    "synthetic": (
        Plan("transition", 0, "TreeCRF", FEW_TREES, (1, 5, 20)),
        Plan("both", 1, "TreeCRF", FEW_TREES, (1, 5, 20)),
        Plan("transition-few", 0, "TreeCRF", FEW_TREES, (1, 5, 20)),
        Plan("both-few", 1, "TreeCRF", FEW_TREES, (1, 5, 20)),
    ),
    "conll": (
        Plan("conll", 0, VP, EPOCHS[:2], (1, 5, 20)),
        Plan("conll", 1, VP, EPOCHS[:2], (1, 5)),
        Plan("conll-small", 1, "TreeCRF", WORD_TREES, (1, 5), 50),
    ),
    "published": (
        Plan("nettalk", 0, PUBLISHED, PUBLISHED_TREES, (1, 2, 5, 11)),
        Plan("nettalk", 1, PUBLISHED, PUBLISHED_TREES, (1, 2, 3, 9)),
        Plan("nettalk", 0, VP, LAST_WEIGHTS, (5, 11, 19), 100),
        Plan("nettalk", 1, VP, LAST_WEIGHTS, (9, 19), 100),
        Plan("transition-few", 0, PUBLISHED, PUBLISHED_TREES, (1, 3, 7)),
        Plan("both-few", 1, PUBLISHED, PUBLISHED_TREES, (2, 5)),
        Plan("nettalk", 0, VP, VOTES, (), 20),
    ),
    "quick": (Plan("quick", 0, "TreeCRF", ({"n_rounds": 2},), (1,), 20), Plan("quick", 1, VP, EPOCHS[:1], (1,), 20)),
}  # fmt: skip

BEAMS = (None, 5, 20)
# Models of all labels at once: the estimator and its candidate settings. Each is measured with all beams.
DIRECT: dict[str, tuple[tuple[str, tuple[Settings, ...]], ...]] = {
    "nettalk": (("TreeCRF", TREES), ("LinearCRF", PENALTIES), (VP, EPOCHS)),
    "conll": ((VP, EPOCHS[:1]),),
    "quick": ((VP, EPOCHS[:1]),),
}


def direct(bench: Bench, name: str, window: int) -> Candidate:
    """Measure models of all labels, exact and with beams; settings are chosen for each."""
    found: Candidate = {}
    for estimator, candidates in DIRECT[name]:
        for beam in BEAMS:
            specs: list[Spec] = [[estimator, {"window": window, "beam": beam, **settings}] for settings in candidates]
            best = bench.best(name, specs) if len(specs) > 1 else specs[0]  # a single candidate needs no choice
            shown = {key: value for key, value in best[1].items() if key not in ("window", "beam")}
            how = "exact" if beam is None else f"beam {beam}"
            found[f"{estimator}, {how}"] = bench(name, best) | {"settings": shown}
    return found


def describe(settings: Settings) -> str:
    names = {"n_rounds": "{} rounds", "max_leaves": "{} leaves", "learning_rate": "steps of {}", "epochs": "{} epochs",
             "l2": "l2 {}", "category_splits": "{}", "max_features": "{} of the tests", "C": "C {}",
             "n_bits": "{} bits", "all_transitions": "all transitions: {}"}  # fmt: skip
    return ", ".join(names[key].format(value) for key, value in settings.items() if key in names)


def print_curves(title: str, found: Candidate) -> None:
    rows = []
    for name, measured in found.items():
        curve = dict(measured["curve"])
        by_length = [f"{curve[n]:.1f}" if n in curve else "" for n in SHOWN]
        rows.append([name, *by_length, f"{measured['fit']:.1f}", describe(measured["settings"])])
    print_table([f"{title}: % right", *(f"{n} bits" for n in SHOWN), "fit, CPU s", "chosen"], rows)


def print_times(title: str, found: Candidate) -> None:
    rows = [[name, f"{f['accuracy']:.2f}", f"{f['fit']:.1f}", f"{f['label']:.2f}", describe(f["settings"])]
            for name, f in sorted(found.items(), key=lambda item: -item[1]["accuracy"])]  # fmt: skip
    print_table([f"{title}", "% right", "fit, CPU s", "labelling, CPU s", "chosen"], rows)


STYLES = {"iid": "k:", "i-SECOC": "C0-", "c-SECOC(1)": "C1-", "c-SECOC(5)": "C2-", "c-SECOC(20)": "k--",
          "c-SECOC(all)": "C4-."}  # fmt: skip


def plot_curves(found: dict[str, Candidate], path: Path) -> None:
    def panels(axes: list[Any]) -> None:
        for panel, (title, methods) in zip(axes, found.items(), strict=True):
            for name, measured in methods.items():
                bits, accuracies = zip(*measured["curve"], strict=True)
                panel.plot(bits, accuracies, STYLES[name], label=name, linewidth=1.2)
            panel.set_title(title, fontsize=9)
            panel.set(xlabel="bits", ylabel="% right")
        # The legend goes to the panel with all methods; of several such panels to the second, which has room.
        n_methods = [len(methods) for methods in found.values()]
        full = 1 if n_methods[1] == max(n_methods) else 0
        axes[full].legend(frameon=False, fontsize=7, loc="lower right")

    plots.draw(path, len(found), panels)


MARKS = {
    "TreeCRF": "kx", "LinearCRF": "k+", VP: "k*", "trees i-SECOC": "oC0", "trees c-SECOC": "^C0",
    "perceptron i-SECOC": "oC1", "perceptron c-SECOC": "^C1",
}  # fmt: skip


def plot_times(found: dict[str, Candidate], path: Path) -> None:
    def panels(axes: list[Any]) -> None:
        for panel, (title, methods) in zip(axes, found.items(), strict=True):
            for kind, mark in MARKS.items():
                points = [(f["fit"], f["accuracy"]) for name, f in methods.items() if name.startswith(kind)]
                if points:
                    panel.plot(*zip(*points, strict=True), mark, label=kind, markersize=5)
            panel.set_title(title, fontsize=9)
            panel.set(xlabel="CPU seconds of learning", ylabel="% right", xscale="log")
        axes[-1].legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(0, 0.38))

    plots.draw(path, len(found), panels)


def main() -> None:
    parser = arguments(__doc__, [name for name in FIGURES if name != "quick"])
    options = parser.parse_args()
    print_machine()
    bench = Bench(options.cache, here=options.quick)
    for part in ["quick"] if options.quick else options.parts:
        found = {plan.title: plan.run(bench) for plan in FIGURES[part]}
        for title, methods in found.items():
            print_curves(title, methods)
        if options.figures and part != "published":
            plot_curves(found, options.figures / f"codes-{part}.png")
        if part in DIRECT:
            compare_times(bench, part, found, options.figures)


def compare_times(bench: Bench, part: str, found: dict[str, Candidate], folder: Path | None) -> None:
    """Print codes of full length beside direct models, for each window."""
    timed: dict[str, Candidate] = {}
    for window in dict.fromkeys(plan.window for plan in FIGURES[part]):
        title = f"{SETS[part][0]}, window size {2 * window + 1}"
        timed[title] = direct(bench, part, window)
        for plan in FIGURES[part]:
            if plan.window == window and plan.name == part:
                kind = "trees" if plan.base == "TreeCRF" else "perceptron"
                timed[title] |= {f"{kind} {name}": measured for name, measured in found[plan.title].items()}
        print_times(title, timed[title])
    if folder:
        plot_times(timed, folder / f"codes-time-{part}.png")


if __name__ == "__main__":
    main()
