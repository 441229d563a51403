"""Contributions of future features: their amounts, and where the pattern matched best."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from builders.explanations import fitted
from hedgerow.encoding import AttributeReader
from hedgerow.future.features import with_features
from hedgerow.inspection.future_features import future_features
from hedgerow.potentials.local import unnormalised
from oracles.explanations import SlowTrees

NAMES = ["FutureMEMM", "FutureMEMM order 0 both"]


def bag_positions(feature, size, t, length):
    """The positions of the instance bag of position t."""
    if feature.back:
        return list(range(max(0, t - size), t))
    return list(range(t + 1, min(length, t + 1 + size)))


@pytest.mark.parametrize("name", NAMES)
def test_the_offset_is_where_the_pattern_matched_best(name):
    model, X = fitted(name)
    potential = unnormalised(model.model_.potential)
    size, words = potential.instance_bags.size, future_features(model.model_)
    n = 0
    for x in X:
        shown, _ = hr.inspection.pattern_probabilities(model.model_, model.model_.encode([x]))
        for t, explanation in enumerate(model.explain(x)):
            for c in explanation.contributions:
                if not c.column.startswith("future feature"):
                    continue
                number = int(c.column.split()[-1]) - 1
                inside = bag_positions(potential.features[number], size, t, len(x))
                if not inside:
                    assert (c.offset, c.value) == (0, None)
                    continue
                n += 1
                assert t + c.offset in inside
                assert shown[number, t + c.offset] == max(shown[number, s] for s in inside)
                assert c.value.startswith(f"{shown[number, t + c.offset]:.0%} ")
                assert words[number].pattern[0][0] in c.value
    assert n > 5


@pytest.mark.parametrize("name", NAMES)
def test_amounts_are_those_of_the_trees_and_of_the_weights(name):
    model, X = fitted(name)
    potential = unnormalised(model.model_.potential)
    codes, x = model.classes_.tolist(), max(X, key=len)
    encoded = model.model_.encode([x])
    values = potential.values(encoded)
    reader = AttributeReader(with_features(encoded, values), potential.trees.window, potential.trees.binnings)
    positions = range(len(x)) if model.order == 0 else [0]  # where there is one label context
    context = [len(codes)] * model.order
    for t in positions:
        explanation, slow = model.explain(x, t), SlowTrees(potential.trees.trees, reader, t)
        wanted = {}
        for sign, label in ((1, explanation.label), (-1, explanation.against[0])):
            y = codes.index(label)
            for player, amount in slow.shapley(y, context).items():
                wanted[player[0]] = wanted.get(player[0], 0.0) + sign * amount
            for i, feature in enumerate(potential.features):
                key = f"future feature {i + 1}"
                wanted[key] = wanted.get(key, 0.0) + sign * float(feature.weights[y]) * values[i][t]
        found = {}
        for c in explanation.contributions:
            found[c.column] = found.get(c.column, 0.0) + c.contribution
        for column, amount in wanted.items():
            assert found.get(column, 0.0) == pytest.approx(amount, abs=1e-5)


def test_a_known_pattern_and_offset():
    X = ["abz", "bab", "zab", "baz"] * 5
    y = [["+" if "z" in x[t + 1 :] else "-" for t in range(3)] for x in X]
    model = hr.FutureMEMM(order=0, random_state=0).fit(X, y)
    explanation = model.explain("abbza", 0)
    strongest = explanation.contributions[0]
    assert (explanation.label, strongest.offset) == ("+", 3)
    assert strongest.column == "future feature 1"
    assert "symbol is z" in strongest.value
    assert strongest.contribution > 1
    last = model.explain("abbza", 4)  # nothing comes after it
    assert [c.value for c in last.contributions if c.column == "future feature 1"] in ([None], [])


def test_no_future_feature_is_no_contribution():
    X, y = ["ab", "ba"] * 5, [["A", "B"], ["B", "A"]] * 5
    model = hr.FutureMEMM(max_future=0, order=0, random_state=0).fit(X, y)
    assert not any("future" in c.column for c in model.explain("ab", 0).contributions)
    assert np.isfinite(model.explain("ab", 0).log_odds)
