"""Future features: what each looks for, where it finds it, and what it says of labels then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import CategoricalColumn
from hedgerow.encoding import HERE, AttributeReader
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.future.features import FutureFeature
from hedgerow.future.instance_bags import REST, logistic
from hedgerow.future.potential import FuturePotential
from hedgerow.inspection.tree_views import Names, in_words, text_of
from hedgerow.model import Model
from hedgerow.potentials.local import unnormalised

MOST_CONDITIONS = 8

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FoundFeature:
    """A future feature: `str` of it is a description.

    A position or a bag counts as showing the pattern where that is at least half as probable as where it is most
    probable in training. `pattern` says in words which positions these are, with their log-odds, the highest first: of
    a single column the values, otherwise leaves of the trees with what they add. `fires_at` and `fires_in` are the
    shares of positions and of bags that show it; `examples` are some of these positions, as (sequence, position).
    `weights` are what a bag that surely shows it adds to the scores of labels.
    """

    number: int
    direction: Literal["future", "past"]
    bag: int | Literal["rest"]
    pattern: tuple[tuple[str, float], ...]
    trees: tuple[str, ...]
    weights: dict[Any, float]
    fires_at: float
    fires_in: float
    examples: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        where = {"future": "after", "past": "before"}[self.direction]
        size = "positions" if self.bag == "rest" else f"{self.bag} positions"
        lines = [
            f"future feature {self.number}: one of the {size} {where} shows a pattern "
            f"({self.fires_in:.1%} of bags, {self.fires_at:.1%} of positions)"
        ]
        lines += [f"  {log_odds:+.2f}  {words}" for words, log_odds in self.pattern]
        ranked = sorted(self.weights.items(), key=lambda item: -item[1])
        lines.append("  speaks for " + ", ".join(f"{label} {weight:+.2f}" for label, weight in ranked))
        if self.examples:
            lines.append("  e.g. at " + ", ".join(f"sequence {i}, position {t}" for i, t in self.examples))
        return "\n".join(lines)


def future_features(model: Model) -> list[FoundFeature]:
    """All that were found, in the order in which they were; empty if there are none."""
    potential = unnormalised(model.potential)
    if not isinstance(potential, FuturePotential):
        return []
    told = [record for record in model.training_log if "fires_at" in record]
    told = [record for record in told if not record.get("trial")] or told  # a fit may have ended with its trial
    return [_described(model, potential, i, told[i] if i < len(told) else {}) for i in range(len(potential.features))]


def _described(model: Model, potential: FuturePotential, number: int, record: dict[str, Any]) -> FoundFeature:
    feature, bags = potential.features[number], potential.instance_bags
    names = Names(model, feature.trees, _no_instances(model, potential), potential.binnings)
    weights = zip(model.labels.classes.tolist(), feature.weights.tolist(), strict=True)
    return FoundFeature(
        number + 1,
        "past" if feature.back else "future",
        "rest" if bags.size == REST else bags.size,
        tuple(_pattern(model, potential, feature, names)),
        tuple(text_of(names, tree) for tree in range(len(feature.trees))),
        dict(weights),
        float(record.get("fires_at", np.nan)),
        float(record.get("fires_in", np.nan)),
        tuple((int(i), int(t)) for i, t in record.get("examples", [])),
    )


def _no_instances(model: Model, potential: FuturePotential) -> AttributeReader:
    return AttributeReader(model.encoder.nothing(), HERE, potential.binnings)


def _pattern(model: Model, potential: FuturePotential, feature: FutureFeature, names: Names) -> list[tuple[str, float]]:
    (column, *others) = model.encoder.nothing().columns
    if isinstance(column, CategoricalColumn) and not others:
        found = _by_value(column, potential, feature)
        q = logistic(np.array([value for _, value in found]))
        shown = [one for one, shows in zip(found, q >= q.max() / 2, strict=True) if shows]
    else:
        added: dict[str, float] = {}
        for words, value in _leaves(names):
            text = " and ".join(words) or "any"
            added[text] = added.get(text, 0.0) + value
        shown = [(text, value) for text, value in added.items() if value > 0]
    return sorted(shown, key=lambda one: (-one[1], one[0]))[:MOST_CONDITIONS]


def _by_value(column: CategoricalColumn, potential: FuturePotential, feature: FutureFeature) -> list[tuple[str, float]]:
    """The log-odds of each value of the only column."""
    n = len(column.alphabet)
    if n == 0:
        return [("any", potential.instance_bags.initial_log_odds)]
    each = type(column)(column.name, np.arange(n, dtype=np.int32), column.alphabet)
    rows = potential.instances(Encoded.of_columns(np.arange(n + 1), (each,)))
    scores = feature.log_odds(rows, potential.instance_bags)
    return [(in_words(column.name, 0, str(column.alphabet[i])), float(scores[i])) for i in range(n)]


def _leaves(names: Names) -> Iterator[tuple[list[str], float]]:
    """(tests on the way, value) of every leaf of every tree."""
    trees = names.trees
    for first in trees.starts[:-1].tolist():
        waiting: list[tuple[int, list[str]]] = [(0, [])]
        while waiting:
            at, words = waiting.pop()
            node = trees.nodes[first + at]
            if node["attribute"] < 0:
                yield words, float(trees.values[first + at, 0])
                continue
            asked = in_words(*names.test(node))
            waiting.append((int(node["if_false"]), [*words, f"not {asked}"]))
            waiting.append((int(node["if_true"]), [*words, asked]))


def pattern_probabilities(model: Model, sequences: Encoded) -> tuple[Floats, Floats]:
    """(features, positions) twice: how probable it is that a position shows the pattern, and that its bag does."""
    potential = unnormalised(model.potential)
    if not isinstance(potential, FuturePotential):
        empty = np.zeros((0, sequences.n_positions))
        return empty, empty
    rows = potential.instances(sequences)
    scores = np.array([feature.log_odds(rows, potential.instance_bags) for feature in potential.features])
    return logistic(scores), np.array(potential.values(sequences))


def plot_patterns(model: Model, sequences: Encoded, names: list[str], axes: Any = None) -> Any:
    """Along one sequence, for each feature: bars where positions show its pattern, and a line of what bags say.

    `names` are what positions are called. Draws on matplotlib axes, one for each feature, or on a new figure; returns
    the axes. Needs matplotlib (the extra `plot`).
    """
    if len(sequences) != 1 or len(names) != sequences.n_positions:
        raise InputError(f"a plot shows one sequence with a name for each position, but {len(sequences)} came")
    shown, bags = pattern_probabilities(model, sequences)
    if not len(shown):
        raise InputError("there is no future feature to plot; none was found, or none was looked for")
    if axes is None:
        from matplotlib import pyplot  # only who plots needs it

        _, axes = pyplot.subplots(len(shown), 1, figsize=(max(4, 0.6 * len(names)), 1.6 * len(shown)), squeeze=False)
        axes = axes[:, 0]
    at = np.arange(len(names))
    for i, panel in enumerate(axes):
        panel.bar(at, shown[i], color="0.7", label="position")
        panel.step(at, bags[i], where="mid", color="C0", label="its bag")
        panel.set_xticks(at, names)
        panel.set_ylim(0, 1.05)
        panel.set_ylabel(f"feature {i + 1}")
    axes[0].legend(loc="upper right")
    return axes
