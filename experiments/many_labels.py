"""Methods for many labels: direct models and output codes on three data sets, and ways to decode a code.

methods    all methods with settings chosen on a third of the training data; McNemar's test against the best
cascades   published cascades, out-of-fold cascades, and a lattice over the bits, with the same settings and seeds
trust      the factor of the transition table and the temperature of a lattice, on held-out training data only
armenian   linear models and searches on parts of speech with morphology, 493 labels: exact, and with beams
armenian-trees   the same data with trees, and with a code of trees, beside the fastest exact model
orders     longer label contexts on NETtalk: TreeCRF of order 2 under a beam, SearchTagger of orders 1 to 3

Trees learn the bits. Codes and perceptrons are run with three seeds (out-of-fold cascades with one); the other models
are not random. CoNLL-2000 has one seed and 1,000 training sentences.

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
from codes import BITS_TRIED, EPOCHS, FEW_TREES, PENALTIES, TREES, VP, WORD_TREES, Settings, describe
from common import log, print_machine, print_table
from hedgerow.codes.calibration import DEFAULT_TRANSITION_WEIGHT
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
    """A data set with candidate windows, the length of codes, candidate settings of trees, and the number of seeds."""

    name: str
    windows: tuple[int, ...]
    n_bits: int
    trees: tuple[Settings, ...]
    direct: tuple[Settings, ...]  # of models with one tree for each label
    n_seeds: int = 3
    tests_labels: bool = True  # whether trees that test previous labels are fast enough
    cascade: int = 5


FIELDS = {
    "nettalk": Field("nettalk", (3,), 100, TREES, (TREES[2], *SMALL_TREES)),
    "transition": Field("transition", (0, 1, 3), 100, FEW_TREES, (TREES[0], *SMALL_TREES)),
    "conll-small": Field("conll-small", (1,), 50, WORD_TREES[:1], WORD_TREES, 1, False, 1),
    "quick": Field("quick", (0, 1), 10, ({"n_rounds": 2},), ({"n_rounds": 2},), 2),
}
SHOWN = (10, 20, 30, 50, 100)
Measured = dict[str, tuple[list[Figures], Settings]]  # by method: figures for each seed, and the chosen settings


def product(field: Field, candidates: tuple[Settings, ...]) -> list[Settings]:
    return [{"window": window, **settings} for window in field.windows for settings in candidates]


def of_bits(field: Field, orders: tuple[int, ...]) -> list[Settings]:
    """Return the candidate settings of the base estimator."""
    windows_and_orders = [{"window": window, "order": order} for window in field.windows for order in orders]
    return [{**first, **settings} for first in windows_and_orders for settings in field.trees]


def direct(bench: Bench, field: Field) -> Measured:
    """Measure models of all labels at once."""
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
        settings = preferred(bench, field, candidates, [[estimator, {**fixed, **settings}] for settings in candidates])
        drawn = [{"random_state": seed} for seed in range(field.n_seeds)] if estimator == VP else [{}]
        found[title] = [bench(field.name, [estimator, {**fixed, **settings, **seed}]) for seed in drawn], settings
    return found


def preferred(bench: Bench, field: Field, candidates: list[Settings], specs: list[Spec]) -> Settings:
    """Return the candidate that dev data prefer; a single candidate is not measured."""
    return candidates[0 if len(specs) == 1 else specs.index(bench.best(field.name, specs))]


def code(settings: Settings, n_bits: int, seed: int, *, cascade: int = 0, **parameters: Any) -> Spec:
    # Parameters in the order of experiments/codes.py, so that measurements are found in the cache.
    base = ["TreeCRF", settings]
    return ["OutputCode", {"base": base, "n_bits": n_bits, "cascade": cascade, "random_state": seed, **parameters}]


def bits_settings(bench: Bench, field: Field, parameters: Settings) -> Settings:
    """Choose the settings of the base estimator with short codes; only a lattice may use bits of order 0."""
    lattice = parameters.get("distance") == "lattice"
    tried = {"cascade": min(parameters.get("cascade", 0), 1) * 5} | ({"distance": "lattice"} if lattice else {})
    candidates = of_bits(field, (0, 1) if lattice and not tried["cascade"] else (1,))
    specs = [code(settings, min(field.n_bits, BITS_TRIED), 0, **tried) for settings in candidates]
    return preferred(bench, field, candidates, specs)


def run_codes(bench: Bench, field: Field, kinds: dict[str, Settings]) -> Measured:
    found: Measured = {}
    for title, parameters in kinds.items():
        settings = bits_settings(bench, field, parameters)
        n_seeds = 1 if "cascade_predictions" in parameters else field.n_seeds  # which takes three times as long
        specs = [code(settings, field.n_bits, seed, **parameters) for seed in range(n_seeds)]
        found[title] = [bench(field.name, spec) for spec in specs], settings
    return found


def methods(bench: Bench, field: Field) -> None:
    log(f"{SETS[field.name][0]}: all methods")
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
    for title, (measured, settings) in ranked:
        first = measured[0]
        p = "" if title == ranked[0][0] else f"{max(p_value(is_right(first), best), 1e-99):.2g}"
        seconds = np.mean([one["fit"] for one in measured])
        speed = first["positions"] / np.mean([max(one["label"], 1e-3) for one in measured])
        rows.append([title, percentage(measured), p, f"{seconds:.1f}", f"{speed / 1000:.0f}k", f"{first['peak']:.0f}",
                     chosen(settings, first)])  # fmt: skip
    name = SETS[field.name][0]
    print_table([name, "% right", "McNemar p", "fit, CPU s", "positions a CPU s", "peak MB", "chosen"], rows)
    print_lengths(name, {title: found[title][0] for title in ("code, independent", "code, grown")})


def print_lengths(name: str, codes: dict[str, list[Figures]]) -> None:
    """Print the accuracy of random and grown codes when only their first bits are used, averaged over seeds."""
    curves = {title: [dict(one["curve"]) for one in measured] for title, measured in codes.items()}
    lengths = [n for n in LENGTHS if all(n in curve for of in curves.values() for curve in of)]
    shown = [n for n in lengths if n in SHOWN]
    rows = [[title, *(f"{np.mean([curve[n] for curve in of]):.1f}" for n in shown)] for title, of in curves.items()]
    print_table([f"{name}: % right with the first", *(f"{n} bits" for n in shown)], rows)


def print_ranked(name: str, found: Measured) -> None:
    """Print all methods, the best first, each with McNemar's test against the best."""
    ranked = sorted(found.items(), key=lambda item: -mean(item[1][0]))
    best = is_right(ranked[0][1][0][0])
    rows = []
    for title, (measured, settings) in ranked:
        first = measured[0]
        share = first["accuracy"] / 100
        error = 100 * np.sqrt(share * (1 - share) / first["positions"])
        p = "" if title == ranked[0][0] else f"{max(p_value(is_right(first), best), 1e-99):.2g}"
        speed = first["positions"] / max(first["label"], 1e-3)
        rows.append([title, percentage(measured), f"{error:.2f}", p, f"{first['fit']:.1f}", f"{speed / 1000:.0f}k",
                     f"{first['peak']:.0f}", chosen(settings, first)])  # fmt: skip
    head = [name, "% right", "s.e.", "McNemar p", "fit, CPU s", "positions a CPU s", "peak MB", "chosen"]
    print_table(head, rows)


def choose(bench: Bench, name: str, kinds: dict[str, tuple[str, Settings, list[Settings]]]) -> Measured:
    """Measure each kind of model, (estimator, fixed parameters, candidates), with the candidate dev data prefer."""
    found: Measured = {}
    for title, (estimator, fixed, candidates) in kinds.items():
        specs: list[Spec] = [[estimator, {**fixed, **settings}] for settings in candidates]
        at = 0 if len(specs) == 1 else specs.index(bench.best(name, specs))
        found[title] = [bench(name, specs[at])], candidates[at]
    return found


# Several hundred labels.

WORDS: Settings = {"features": "words"}
SEEDED: Settings = {**WORDS, "random_state": 0}
ARMENIAN_TREES: Settings = {
    **SEEDED, "trees": "shared", "n_rounds": 100, "learning_rate": 0.1, "max_features": 0.5
}  # fmt: skip
ARMENIAN_LEAVES: list[Settings] = [{"max_leaves": 100}]
TEN_EPOCHS: list[Settings] = [{"epochs": 10}]
ARMENIAN: dict[str, tuple[str, Settings, list[Settings]]] = {
    "SearchTagger": ("SearchTagger", SEEDED, [{}]),
    "perceptron": (VP, SEEDED, TEN_EPOCHS),
    "perceptron, beam of 10": (VP, {**SEEDED, "beam": 10}, TEN_EPOCHS),
    "perceptron, bound 0.01": (VP, {**SEEDED, "beam": 0.01}, TEN_EPOCHS),
    "SVM": ("StructuredSVM", SEEDED, [{"C": c} for c in (0.1, 0.5)]),
    "SVM, beam of 10": ("StructuredSVM", {**SEEDED, "beam": 10}, [{"C": 0.5}]),
    "SVM, bound 0.01": ("StructuredSVM", {**SEEDED, "beam": 0.01}, [{"C": 0.5}]),
    "LinearCRF": ("LinearCRF", WORDS, [{"l2": l2} for l2 in (0.03, 0.1)]),
    "LinearCRF, all transitions": ("LinearCRF", {**WORDS, "all_transitions": True}, [{"l2": 0.1}]),
    "LinearCRF, beam of 10": ("LinearCRF", {**WORDS, "beam": 10}, [{"l2": 0.1}]),
    "LinearCRF, bound 0.1": ("LinearCRF", {**WORDS, "beam": 0.1}, [{"l2": 0.1}]),
}
ARMENIAN_FORESTS: dict[str, tuple[str, Settings, list[Settings]]] = {
    "SVM": ARMENIAN["SVM"],
    "TreeCRF, shared": ("TreeCRF", {**ARMENIAN_TREES, "all_transitions": False}, ARMENIAN_LEAVES),
    "TreeCRF, shared, all transitions": ("TreeCRF", ARMENIAN_TREES, ARMENIAN_LEAVES),
    "code": (
        "OutputCode",
        {
            **SEEDED,
            "base": ["TreeCRF", {"n_rounds": 15, "max_leaves": 50, "learning_rate": 0.3, "order": 0}],
            "n_bits": 40,
        },
        [{}],
    ),
}

# Longer label contexts.

ORDERS_TREES: Settings = {
    "window": 3, "transitions": "table", "trees": "shared", "n_rounds": 100, "max_leaves": 300, "learning_rate": 0.1,
    "max_features": 0.5, "random_state": 0,
}  # fmt: skip
ALL, SEEN = {"all_transitions": True}, {"all_transitions": False}
ORDERS: dict[str, tuple[str, Settings, list[Settings]]] = {
    "TreeCRF, order 1": ("TreeCRF", {**ORDERS_TREES, "order": 1}, [{**ALL, "l2": 1.0}, {**SEEN, "l2": 1.0}]),
    "TreeCRF, order 2, beam of 10": (
        "TreeCRF",
        {**ORDERS_TREES, "order": 2, "beam": 10},
        [{**ALL, "l2": 1.0}, {**SEEN, "l2": 1.0}, {**SEEN, "l2": 5.0}],
    ),
    "TreeCRF, order 2, beam of 30": ("TreeCRF", {**ORDERS_TREES, "order": 2, "beam": 30}, [{**SEEN, "l2": 1.0}]),
    **{
        f"SearchTagger, order {order}": ("SearchTagger", {"window": 3, "order": order, "random_state": 0}, [{}])
        for order in (1, 2, 3)
    },
}
FEW: dict[str, tuple[str, Settings, list[Settings]]] = {
    "HMM": ("HMM", {}, [{}]),
    "TreeCRF": ("TreeCRF", {"n_rounds": 2, "beam": 0.1}, [{"l2": 1.0}, {"l2": 5.0}]),
}


def side_by_side(bench: Bench, name: str, kinds: dict[str, tuple[str, Settings, list[Settings]]]) -> None:
    log(f"{SETS[name][0]}: side by side")
    print_ranked(SETS[name][0], choose(bench, name, kinds))


def chosen(settings: Settings, figures: Figures) -> str:
    window = f"window {settings['window']}" if "window" in settings else ""
    bits = f"{figures['bits']} bits" if "bits" in figures else ""
    order = "of order 0" if settings.get("order") == 0 else ""
    others = {key: value for key, value in settings.items() if key not in ("window", "order", "random_state")}
    return ", ".join(filter(None, (window, describe(others), " ".join(filter(None, (bits, order))))))


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
    """Print the accuracy of the same bits, or of cascades with the same settings, decoded in different ways."""
    rows = []
    for field in fields:
        log(f"{SETS[field.name][0]}: cascades")
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
    """Mark a method that differs significantly from the published cascade."""
    return " *" if p_value(ours, theirs) < 0.025 else ""


# Trust in transitions.

TRUSTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
TEMPERATURES = (0.7, 1.0, 1.4)


def trust(bench: Bench, fields: tuple[Field, ...]) -> None:
    rows = []
    for field in fields:
        train, dev = data(field.name, "held")
        for order in (0, 1):
            title = f"{SETS[field.name][0]}, window size {2 * field.windows[0] + 1}, bits of order {order}"
            log(f"{title}: trust")
            settings = bits_settings(bench, field, {}) | {"order": order}
            model = make(code(settings, field.n_bits, 0, distance="lattice")).fit(train.X, train.y)
            own = 1.0 if order == 0 and field.windows == (0,) else DEFAULT_TRANSITION_WEIGHT
            for temperature, line in zip(TEMPERATURES, sweep(model, dev, own), strict=True):
                rows.append([title, f"{temperature:g}", *map("{:.2f}".format, line)])
    print_table(["% right of held-out training data", "temperature", *map("trust {:g}".format, TRUSTS)], rows)


def sweep(model: hr.OutputCode, dev: Any, own: float) -> Iterator[list[float]]:
    """Yield, for each temperature, the accuracy in % for each trust; `own` is the trust of the fitted model."""
    X, gold = model.model_.encode(dev.X), np.concatenate(dev.y)
    potential = cast("CodePotential", model.model_.potential)
    scores = potential.scores(X)
    assert scores.state is not None
    assert scores.table is not None
    for temperature in TEMPERATURES:
        state = scores.state * np.float32(potential.temperature / temperature)
        line = []
        for factor in TRUSTS:
            table = (scores.table * (factor / own)).astype(np.float32)
            lattice = Lattice(Topology(len(potential.code_words), 1), X.starts, state=state, table=table)
            best = best_labels(lattice, "marginal")
            line.append(100 * float(np.mean(model.classes_[best] == gold)))
        yield line


def main() -> None:
    parts = ("methods", "cascades", "trust", "armenian", "armenian-trees", "orders")
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
    if "armenian" in options.parts:
        side_by_side(bench, "quick" if options.quick else "armenian", FEW if options.quick else ARMENIAN)
    if "armenian-trees" in options.parts:
        side_by_side(bench, "quick" if options.quick else "armenian", FEW if options.quick else ARMENIAN_FORESTS)
    if "orders" in options.parts:
        side_by_side(bench, "quick" if options.quick else "nettalk", FEW if options.quick else ORDERS)


if __name__ == "__main__":
    main()
