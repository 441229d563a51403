"""Future features in words: the pattern of each feature, where it occurs, and its effect on the labels."""

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
from hedgerow.inspection.frozen_model import check_model
from hedgerow.inspection.tree_views import Names, in_words, text_of
from hedgerow.model import Model
from hedgerow.potentials.local import unnormalised
from hedgerow.utilities import counted

MOST_CONDITIONS = 8

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class FutureFeatureSummary:
    """A future feature; `str()` is a description.

    A position or an instance bag counts as showing the pattern if the probability is at least half of the greatest
    probability in training.

    Attributes
    ----------
    number
        1 for the feature found first.
    bag_side
        Whether the instance bag is "after" or "before" its position.
    bag
        Number of positions in an instance bag; "rest" for all positions up to the end of the sequence.
    pattern
        (condition, log-odds) pairs, the highest log-odds first. If the data have a single categorical column, the
        conditions are its values; otherwise they are leaves of the trees, with the value of the leaf.
    trees
        The trees of the pattern as text.
    weights
        For each label, what is added to its score by an instance bag that shows the pattern with probability 1.
    fires_at, fires_in
        Shares of the training positions and of their instance bags that show the pattern.
    examples
        Some training positions that show the pattern, as (sequence, position).
    """

    number: int
    bag_side: Literal["after", "before"]
    bag: int | Literal["rest"]
    pattern: tuple[tuple[str, float], ...]
    trees: tuple[str, ...]
    weights: dict[Any, float]
    fires_at: float
    fires_in: float
    examples: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        size = "positions" if self.bag == "rest" else f"{self.bag} positions"
        lines = [
            f"future feature {self.number}: one of the {size} {self.bag_side} shows a pattern "
            f"({self.fires_in:.1%} of instance bags, {self.fires_at:.1%} of positions)"
        ]
        lines += [f"  {log_odds:+.2f}  {words}" for words, log_odds in self.pattern]
        ranked = sorted(self.weights.items(), key=lambda item: -item[1])
        lines.append("  adds to the score of " + ", ".join(f"{label} {weight:+.2f}" for label, weight in ranked))
        if self.examples:
            lines.append("  e.g. at " + ", ".join(f"sequence {i}, position {t}" for i, t in self.examples))
        return "\n".join(lines)


def future_features(model: Model) -> list[FutureFeatureSummary]:
    """Summaries of the future features of a model.

    Parameters
    ----------
    model : Model
        `model_` of a fitted FutureMEMM; other models have no future features.

    Returns
    -------
    list of FutureFeatureSummary
        In the order in which the features were found.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X = ["abz", "bab", "zab", "baz"] * 5
    >>> y = [["+" if "z" in x[t + 1 :] else "-" for t in range(3)] for x in X]
    >>> model = hr.FutureMEMM(order=0, random_state=0).fit(X, y).model_
    >>> print(hr.inspection.future_features(model)[0].pattern[0][0])
    symbol is z
    """
    check_model(model)
    potential = unnormalised(model.potential)
    if not isinstance(potential, FuturePotential):
        return []
    records = [record for record in model.training_log if "fires_at" in record]
    records = [record for record in records if not record.get("trial")] or records  # a stopped fit has only its trial
    n_features = len(potential.features)
    return [_summary(model, potential, i, records[i] if i < len(records) else {}) for i in range(n_features)]


def _summary(model: Model, potential: FuturePotential, number: int, record: dict[str, Any]) -> FutureFeatureSummary:
    feature, bags = potential.features[number], potential.instance_bags
    names = Names(model, feature.trees, _attribute_names(model, potential), potential.binnings)
    weights = zip(model.labels.classes.tolist(), feature.weights.tolist(), strict=True)
    return FutureFeatureSummary(
        number=number + 1,
        bag_side=feature.side,
        bag="rest" if bags.size == REST else bags.size,
        pattern=tuple(_pattern(model, potential, feature, names)),
        trees=tuple(text_of(names, tree) for tree in range(len(feature.trees))),
        weights=dict(weights),
        fires_at=float(record.get("fires_at", np.nan)),
        fires_in=float(record.get("fires_in", np.nan)),
        examples=tuple((int(i), int(t)) for i, t in record.get("examples", [])),
    )


def _attribute_names(model: Model, potential: FuturePotential) -> AttributeReader:
    """A reader of no positions, for the names of the attributes."""
    return AttributeReader(model.encoder.nothing(), HERE, potential.binnings)


def _pattern(model: Model, potential: FuturePotential, feature: FutureFeature, names: Names) -> list[tuple[str, float]]:
    (column, *others) = model.encoder.nothing().columns
    if isinstance(column, CategoricalColumn) and not others:
        values = _by_value(column, potential, feature)
        q = logistic(np.array([log_odds for _, log_odds in values]))
        conditions = [value for value, shows in zip(values, q >= q.max() / 2, strict=True) if shows]
    else:
        sums: dict[str, float] = {}
        for tests, value in _leaves(names):
            text = " and ".join(tests) or "any"
            sums[text] = sums.get(text, 0.0) + value
        conditions = [(text, value) for text, value in sums.items() if value > 0]
    return sorted(conditions, key=lambda condition: (-condition[1], condition[0]))[:MOST_CONDITIONS]


def _by_value(column: CategoricalColumn, potential: FuturePotential, feature: FutureFeature) -> list[tuple[str, float]]:
    """(value in words, log-odds) for each value of the only column."""
    n = len(column.alphabet)
    if n == 0:
        return [("any", potential.instance_bags.initial_log_odds)]
    each = type(column)(column.name, np.arange(n, dtype=np.int32), column.alphabet)
    instances = potential.instances(Encoded.of_columns(np.arange(n + 1), (each,)))
    scores = feature.log_odds(instances, potential.instance_bags)
    return [(in_words(column.name, 0, str(column.alphabet[i])), float(scores[i])) for i in range(n)]


def _leaves(names: Names) -> Iterator[tuple[list[str], float]]:
    """(tests on the path from the root, value) of every leaf of every tree."""
    trees = names.trees
    for first in trees.starts[:-1].tolist():
        stack: list[tuple[int, list[str]]] = [(0, [])]
        while stack:
            at, tests = stack.pop()
            node = trees.nodes[first + at]
            if node["attribute"] < 0:
                yield tests, float(trees.values[first + at, 0])
                continue
            test = in_words(*names.test(node))
            stack.append((int(node["if_false"]), [*tests, f"not {test}"]))
            stack.append((int(node["if_true"]), [*tests, test]))


def pattern_probabilities(model: Model, sequences: Encoded) -> tuple[Floats, Floats]:
    """Probabilities that positions, and the instance bags of positions, show the pattern of each future feature.

    Parameters
    ----------
    model : Model
        `model_` of a fitted FutureMEMM; other models have no future features.
    sequences : Encoded
        The result of `model.encode(X)`.

    Returns
    -------
    positions, instance_bags : arrays of shape (features, positions)
        The probability that a position shows the pattern, and that its instance bag does.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X = ["abz", "bab", "zab", "baz"] * 5
    >>> y = [["+" if "z" in x[t + 1 :] else "-" for t in range(3)] for x in X]
    >>> model = hr.FutureMEMM(order=0, random_state=0).fit(X, y).model_
    >>> positions, instance_bags = hr.inspection.pattern_probabilities(model, model.encode(["abz"]))
    >>> (positions[0] > 0.5).tolist(), (instance_bags[0] > 0.5).tolist()
    ([False, False, True], [True, True, False])
    """
    check_model(model)
    potential = unnormalised(model.potential)
    if not isinstance(potential, FuturePotential):
        empty = np.zeros((0, sequences.n_positions))
        return empty, empty
    instances = potential.instances(sequences)
    scores = np.array([feature.log_odds(instances, potential.instance_bags) for feature in potential.features])
    return logistic(scores), np.array(potential.values(sequences))


def plot_patterns(model: Model, sequences: Encoded, names: list[str], axes: Any = None) -> Any:
    """Plot `pattern_probabilities` of one sequence: bars for positions, a line for instance bags.

    Parameters
    ----------
    model : Model
        `model_` of a fitted FutureMEMM.
    sequences : Encoded
        One encoded sequence: the result of `model.encode([x])`.
    names : list of str
        A name for each position, written below the bars.
    axes : list of matplotlib axes, optional
        One for each feature; a new figure by default.

    Returns
    -------
    list of matplotlib axes
        One for each feature. matplotlib is installed by the extra `plot`.

    Raises
    ------
    InputError
        If there is not exactly one sequence, if the names are not one for each position, or if the model has no
        future feature.

    Examples
    --------
    >>> import hedgerow as hr, matplotlib
    >>> matplotlib.use("Agg")
    >>> X = ["abz", "bab", "zab", "baz"] * 5
    >>> y = [["+" if "z" in x[t + 1 :] else "-" for t in range(3)] for x in X]
    >>> model = hr.FutureMEMM(order=0, random_state=0).fit(X, y).model_
    >>> axes = hr.inspection.plot_patterns(model, model.encode(["abz"]), ["a", "b", "z"])
    >>> axes[0].get_ylabel()
    'feature 1'
    """
    if len(sequences) != 1 or len(names) != sequences.n_positions:
        raise InputError(
            "a plot needs one sequence and a name for each of its positions, but got "
            f"{counted(len(sequences), 'sequence')} with {counted(sequences.n_positions, 'position')} and "
            f"{counted(len(names), 'name')}"
        )
    positions, instance_bags = pattern_probabilities(model, sequences)
    if not len(positions):
        raise InputError("this model has no future feature to plot; fit a FutureMEMM with max_future > 0")
    if axes is None:
        from matplotlib import pyplot  # optional dependency, slow to import

        _, axes = pyplot.subplots(
            len(positions), 1, figsize=(max(4, 0.6 * len(names)), 1.6 * len(positions)), squeeze=False
        )
        axes = axes[:, 0]
    at = np.arange(len(names))
    for i, panel in enumerate(axes):
        panel.bar(at, positions[i], color="0.7", label="position")
        panel.step(at, instance_bags[i], where="mid", color="C0", label="its instance bag")
        panel.set_xticks(at, names)
        panel.set_ylim(0, 1.05)
        panel.set_ylabel(f"feature {i + 1}")
    axes[0].legend(loc="upper right")
    return axes
