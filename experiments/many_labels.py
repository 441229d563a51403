"""Which method for many labels: direct models and output codes on three sets, and what decoding adds to a code.

methods    every method with settings chosen on a third of the training data, tested once; McNemar against the best
cascades   cascades as published, out of fold, and a lattice over the bits, with the same settings and seeds
trust      how much a lattice should trust transitions, and at which temperature: on held-out training data alone

Trees learn the bits. Codes and perceptrons are run with three seeds (one for cascades out of fold), the other models
draw nothing; on CoNLL-2000 there is one seed, and 1,000 training sentences.

python experiments/many_labels.py --cache build/many-labels.jsonl
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

import hedgerow as hr
from bench import LENGTHS, SETS, Bench, Figures, Spec, arguments, data, is_right, make
from codes import BITS_TRIED, EPOCHS, FEW_TREES, PENALTIES, TREES, VP, WORD_TREES, Settings, described
from common import print_machine, print_table, say
from hedgerow.codes.learner import TRUST
from hedgerow.codes.potential import CodePotential
from hedgerow.inference.decoding import best_labels
from hedgerow.inference.lattice import Lattice
from hedgerow.topology import Topology

SHARED: tuple[Settings, ...] = tuple(
    {"n_rounds": n, "max_leaves": leaves, "learning_rate": 0.1, "max_features": 0.5, "random_state": 0}
    for n, leaves in ((100, 300), (100, 100))
)
SMALL_TREES: tuple[Settings, ...] = (
    {"n_rounds": 40, "max_leaves": 20, "learning_rate": 0.3},
    {"n_rounds": 100, "max_leaves": 20, "learning_rate": 0.1},
)


@dataclass(frozen=True)
class Field:
    """A set, the windows to choose from, the bits of its codes, settings of the trees of bits, and seeds."""

    name: str
    windows: tuple[int, ...]
    n_bits: int
    trees: tuple[Settings, ...]
    direct: tuple[Settings, ...]  # for a tree a label
    n_seeds: int = 3
    tests_labels: bool = True  # whether trees that ask for previous labels can be afforded
    cascade: int = 5


FIELDS = {
    "nettalk": Field("nettalk", (3,), 100, TREES, (TREES[2], *SMALL_TREES)),
    "transition": Field("transition", (0, 1, 3), 100, FEW_TREES, (TREES[0], *SMALL_TREES)),
    "conll-small": Field("conll-small", (1,), 50, WORD_TREES[:1], WORD_TREES, 1, False, 1),
    "quick": Field("quick", (0, 1), 10, ({"n_rounds": 2},), ({"n_rounds": 2},), 2),
}
SHOWN = (10, 20, 30, 50, 100)
Measured = dict[str, tuple[list[Figures], Settings]]  # by method: for each seed, and what was chosen


def product(field: Field, candidates: tuple[Settings, ...]) -> list[Settings]:
    return [{"window": window, **given} for window in field.windows for given in candidates]


def of_bits(field: Field, orders: tuple[int, ...]) -> list[Settings]:
    """Settings of what learns the bits."""
    windows_and_orders = [{"window": window, "order": order} for window in field.windows for order in orders]
    return [{**first, **given} for first in windows_and_orders for given in field.trees]


def direct(bench: Bench, field: Field) -> Measured:
    """Models of all labels at once."""
    kinds: dict[str, tuple[str, Settings, list[Settings]]] = {
        "HMM": ("HMM", {}, [{}]),
        "TreeCRF, table": ("TreeCRF", {"transitions": "table"}, product(field, field.direct)),
        "TreeCRF, shared": ("TreeCRF", {"trees": "shared"}, product(field, SHARED)),
        "LinearCRF": ("LinearCRF", {}, product(field, PENALTIES)),
        "LinearCRF, beam of 10": ("LinearCRF", {"beam": 10}, product(field, PENALTIES)),
        "perceptron": (VP, {}, product(field, EPOCHS)),
        "perceptron, beam of 10": (VP, {"beam": 10}, product(field, EPOCHS)),
    }
    if field.tests_labels:
        kinds["TreeCRF, trees"] = ("TreeCRF", {"transitions": "trees"}, product(field, field.direct[:1]))
    found: Measured = {}
    for title, (estimator, fixed, candidates) in kinds.items():
        given = preferred(bench, field, candidates, [[estimator, {**fixed, **given}] for given in candidates])
        drawn = [{"random_state": seed} for seed in range(field.n_seeds)] if estimator == VP else [{}]
        found[title] = [bench(field.name, [estimator, {**fixed, **given, **seed}]) for seed in drawn], given
    return found


def preferred(bench: Bench, field: Field, candidates: list[Settings], specs: list[Spec]) -> Settings:
    """The candidate that held-out training data prefer; where there is but one, it is not measured."""
    return candidates[0 if len(specs) == 1 else specs.index(bench.best(field.name, specs))]


def code(given: Settings, n_bits: int, seed: int, *, cascade: int = 0, **parameters: Any) -> Spec:
    # The names are in the order of experiments/codes.py, so that measurements are found again.
    base = ["TreeCRF", given]
    return ["OutputCode", {"base": base, "n_bits": n_bits, "cascade": cascade, "random_state": seed, **parameters}]


def bits_settings(bench: Bench, field: Field, parameters: Settings) -> Settings:
    """What learns the bits, chosen with short codes; only a lattice can do with bits that know no transitions."""
    lattice = parameters.get("distance") == "lattice"
    tried = {"cascade": min(parameters.get("cascade", 0), 1) * 5} | ({"distance": "lattice"} if lattice else {})
    candidates = of_bits(field, (0, 1) if lattice and not tried["cascade"] else (1,))
    specs = [code(given, min(field.n_bits, BITS_TRIED), 0, **tried) for given in candidates]
    return preferred(bench, field, candidates, specs)


def run_codes(bench: Bench, field: Field, kinds: dict[str, Settings]) -> Measured:
    found: Measured = {}
    for title, parameters in kinds.items():
        given = bits_settings(bench, field, parameters)
        n_seeds = 1 if "cascade_predictions" in parameters else field.n_seeds  # three times as dear as the others
        specs = [code(given, field.n_bits, seed, **parameters) for seed in range(n_seeds)]
        found[title] = [bench(field.name, spec) for spec in specs], given
    return found


def methods(bench: Bench, field: Field) -> None:
    say(f"{SETS[field.name][0]}: all methods")
    h = field.cascade
    kinds: dict[str, Settings] = {
        "code, independent": {},
        f"code, cascade of {h}": {"cascade": h},
        f"code, cascade of {h}, out of fold": {"cascade": h, "cascade_predictions": "cross"},
        "code, lattice": {"distance": "lattice"},
        "code, grown": {"code": "grow"},
    }
    found = direct(bench, field) | run_codes(bench, field, kinds)
    ranked = sorted(found.items(), key=lambda item: -mean(item[1][0]))
    best = is_right(ranked[0][1][0][0])
    rows = []
    for title, (measured, given) in ranked:
        first = measured[0]
        p = "" if title == ranked[0][0] else f"{max(p_value(is_right(first), best), 1e-99):.2g}"
        seconds = np.mean([one["fit"] for one in measured])
        speed = first["positions"] / np.mean([max(one["label"], 1e-3) for one in measured])
        rows.append([title, percentage(measured), p, f"{seconds:.1f}", f"{speed / 1000:.0f}k", f"{first['peak']:.0f}",
                     chosen(given, first)])  # fmt: skip
    name = SETS[field.name][0]
    print_table([name, "% right", "McNemar p", "fit, CPU s", "positions a CPU s", "peak MB", "chosen"], rows)
    print_lengths(name, {title: found[title][0] for title in ("code, independent", "code, grown")})


def print_lengths(name: str, codes: dict[str, list[Figures]]) -> None:
    """How random and grown codes do when only their first bits are used, on average over the seeds."""
    curves = {title: [dict(one["curve"]) for one in measured] for title, measured in codes.items()}
    lengths = [n for n in LENGTHS if all(n in curve for of in curves.values() for curve in of)]
    shown = [n for n in lengths if n in SHOWN]
    rows = [[title, *(f"{np.mean([curve[n] for curve in of]):.1f}" for n in shown)] for title, of in curves.items()]
    print_table([f"{name}: % right with the first", *(f"{n} bits" for n in shown)], rows)


def chosen(given: Settings, figures: Figures) -> str:
    window = f"window {given['window']}" if "window" in given else ""
    bits = f"{figures['bits']} bits" if "bits" in figures else ""
    order = "of order 0" if given.get("order") == 0 else ""
    others = {key: value for key, value in given.items() if key not in ("window", "order", "random_state")}
    return ", ".join(filter(None, (window, described(others), " ".join(filter(None, (bits, order))))))


def mean(measured: list[Figures]) -> float:
    return float(np.mean([one["accuracy"] for one in measured]))


def percentage(measured: list[Figures]) -> str:
    spread = f" ± {np.std([one['accuracy'] for one in measured], ddof=1):.2f}" if len(measured) > 1 else ""
    return f"{mean(measured):.2f}{spread}"


def p_value(ours: NDArray[np.bool_], theirs: NDArray[np.bool_]) -> float:
    return hr.significance.mcnemar([np.ones_like(ours)], [ours], [theirs]).p_value


# Cascades, out of fold, and lattices.

CASCADES = (
    *(replace(FIELDS["nettalk"], windows=(window,)) for window in (0, 1, 3)),
    *(replace(FIELDS["transition"], windows=(window,)) for window in (0, 1)),
    replace(FIELDS["conll-small"], windows=(1,)),
)


def cascades(bench: Bench, fields: tuple[Field, ...]) -> None:
    """The same bits, or bits in cascade with the same settings, decoded in different ways."""
    rows = []
    for field in fields:
        say(f"{SETS[field.name][0]}: cascades")
        h, cross = field.cascade, {"cascade_predictions": "cross"}
        kinds: dict[str, Settings] = {
            "independent": {},
            "published": {"cascade": h},
            "out of fold": {"cascade": h, **cross},
            "lattice": {"distance": "lattice"},
            "published, lattice": {"cascade": h, "distance": "lattice"},
        }
        found = run_codes(bench, field, kinds)
        title = f"{SETS[field.name][0]}, window size {2 * field.windows[0] + 1}, cascades of {h}"
        published = is_right(found["published"][0][0])
        marks = {name: star(is_right(measured[0]), published) for name, (measured, _) in found.items()}
        rows.append([title, *(percentage(measured) + marks[name] for name, (measured, _) in found.items())])
    print_table(["% right", *found], rows)


def star(ours: NDArray[np.bool_], theirs: NDArray[np.bool_]) -> str:
    """Whether a method differs from the published cascade."""
    return " *" if p_value(ours, theirs) < 0.025 else ""


# Trust in transitions.

TRUSTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
TEMPERATURES = (0.7, 1.0, 1.4)


def trust(bench: Bench, fields: tuple[Field, ...]) -> None:
    rows = []
    for field in fields:
        train, held = data(field.name, "held")
        for order in (0, 1):
            title = f"{SETS[field.name][0]}, window size {2 * field.windows[0] + 1}, bits of order {order}"
            say(f"{title}: trust")
            given = bits_settings(bench, field, {}) | {"order": order}
            model = make(code(given, field.n_bits, 0, distance="lattice")).fit(train.X, train.y)
            own = 1.0 if order == 0 and field.windows == (0,) else TRUST
            for temperature, line in zip(TEMPERATURES, sweep(model, held, own), strict=True):
                rows.append([title, f"{temperature:g}", *map("{:.2f}".format, line)])
    print_table(["% right of held-out training data", "temperature", *map("trust {:g}".format, TRUSTS)], rows)


def sweep(model: hr.OutputCode, held: Any, own: float) -> Iterator[list[float]]:
    """% right for each temperature and trust, from one set of bits; `own` is the trust that the model has."""
    X, gold = model.model_.encode(held.X), np.concatenate(held.y)
    potential = cast("CodePotential", model.model_.potential)
    scores = potential.scores(X)
    assert scores.state is not None
    assert scores.table is not None
    for temperature in TEMPERATURES:
        state = scores.state * np.float32(potential.temperature / temperature)
        line = []
        for factor in TRUSTS:
            table = (scores.table * (factor / own)).astype(np.float32)
            lattice = Lattice(Topology(len(potential.words), 1), X.starts, state=state, table=table)
            best = best_labels(lattice, "marginal")
            line.append(100 * float(np.mean(model.classes_[best] == gold)))
        yield line


def main() -> None:
    parts = ("methods", "cascades", "trust")
    parser = arguments(__doc__, parts)
    parser.add_argument("--tasks", nargs="*", choices=[name for name in FIELDS if name != "quick"])
    options = parser.parse_args()
    print_machine()
    bench = Bench(options.cache, here=options.quick)
    names = ["quick"] if options.quick else options.tasks or [name for name in FIELDS if name != "quick"]
    if "methods" in options.parts:
        for name in names:
            methods(bench, FIELDS[name])
    narrow = (replace(FIELDS["quick"], windows=(1,)),) if options.quick else CASCADES
    narrow = tuple(field for field in narrow if field.name in names)
    if "cascades" in options.parts:
        cascades(bench, narrow)
    if "trust" in options.parts:
        trust(bench, narrow)


if __name__ == "__main__":
    main()
