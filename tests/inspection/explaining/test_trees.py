"""Attributions of fitted trees against Shapley values over all subsets, from a walk over the nodes."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import hedgerow as hr
from builders.explanations import MISSING, fitted
from hedgerow.encoding import AttributeReader
from hedgerow.inspection.explaining.attributions import Scope
from hedgerow.inspection.explaining.explanation import contribution_of
from hedgerow.inspection.explaining.lattice_explainer import LatticeExplainer
from hedgerow.potentials.local import unnormalised
from oracles.explanations import SlowTrees
from oracles.lattice import label_context, log_sum, number, path_score

NAMES = [
    "TreeCRF trees", "TreeCRF trees order 0", "TreeCRF trees order 2", "TreeCRF mixed", "TreeCRF subset",
    "TreeCRF table", "TreeCRF shared", "TreeCRF table order 2", "MEMM", "MEMM order 0", "MEMM order 2",
    *(name for name in MISSING if "HMM" not in name and "Linear" not in name),
]  # fmt: skip
CONTEXTS = ("left context", "labels inside", "right context")


def family_of(column):
    """The player of a derived column."""
    if column.startswith("statistics."):
        return column.rpartition(".")[0]
    return "linear model" if column.startswith("linear.") else None


def slow_trees(model, x, position):
    potential, encoded = unnormalised(model.model_.potential), model.model_.encode([x])
    read = potential.read(encoded).sequences
    reader = AttributeReader(read, potential.window, potential.binnings)
    return SlowTrees(potential.trees, reader, position, family_of if potential.columns else lambda column: None)


def label_contexts(model, position):
    """Label contexts by number: the labels before, most recent first; K stands for `start`."""
    potential, k = unnormalised(model.model_.potential), len(model.classes_)
    order = potential.tree_order
    length = min(position, order)
    return [
        [c // k ** (length - 1 - lag) % k for lag in range(length)] + [k] * (order - length) for c in range(k**length)
    ]


@pytest.mark.parametrize("name", [*NAMES, "TreeCRF linear"])
def test_the_walk_gives_the_scores_of_the_potential(name):
    """Otherwise the walk, and what is compared with it, would be about other trees."""
    model, X = fitted(name)
    potential, x = unnormalised(model.model_.potential), max(X, key=len)
    scores = potential.scores(model.model_.encode([x]))
    scores = scores.state[:, None] if scores.edge is None else scores.edge
    _, offset = potential._attributes(model.model_.encode([x]), 1)
    for t in range(len(x)):
        slow = slow_trees(model, x, t)
        for c, context in enumerate(label_contexts(model, t)):
            for y in range(len(model.classes_)):
                start = 0.0 if offset is None else offset[t, y]
                assert slow.value(y, context) + start == pytest.approx(scores[t, c, y], abs=1e-5)


def context_shares(model, x, position, label):
    """P(label context | label and the values up to the position), from the sums over label sequences that end there."""
    topology, k = model.model_.topology, len(model.classes_)
    if topology.order == 0 or position == 0 or unnormalised(model.model_.potential).tree_order == 0:
        return [1.0]
    lattice = model.model_.potential.lattice(model.model_.encode([x]), topology)
    scores = {"state": lattice.state, "edge": lattice.edge, "table": lattice.table, "n_labels": k}
    sums = {}
    for path in product(range(k), repeat=position):
        labels = (*path, label)
        own = number(label_context(labels, position, topology.order), k)
        sums.setdefault(own, []).append(path_score(labels, topology.order, **scores))
    logs = [log_sum(sums[c]) for c in sorted(sums)]
    return [math.exp(one - log_sum(logs)) for one in logs]


def named(model, slow, player):
    """(column, offset) of a player as an explanation names it."""
    column, offset = player[:2]
    if column.startswith("statistics."):
        statistics = model.model_.potential.columns.statistics
        members = statistics.members(model.model_.encoder, int(column.split(".")[1]))
        if len(members) == 1:
            return members[0]
        return " & ".join(name + (f"[{at:+d}]" if at else "") for name, at in members), 0
    return column, offset


@pytest.mark.parametrize("name", NAMES)
def test_equal_shapley_values_over_all_subsets(name):
    model, X = fitted(name)
    codes = {label: code for code, label in enumerate(model.classes_.tolist())}
    for x, t in [(one, t) for one in X[:4] for t in range(min(len(one), 4))]:
        slow, contexts = slow_trees(model, x, t), label_contexts(model, t)
        found = model.explain(x, t)
        wanted = {}
        for sign, label in ((1, codes[found.label]), (-1, codes[found.against[0]])):
            shares = context_shares(model, x, t, label)
            assert len(shares) == len(contexts)
            assert sum(shares) == pytest.approx(1)
            for context, share in zip(contexts, shares, strict=True):
                for player, amount in slow.shapley(label, context).items():
                    key = (*named(model, slow, player), player[2] if len(player) > 2 else None)
                    wanted[key] = wanted.get(key, 0.0) + sign * share * amount
            wanted["bias", 0, None] = wanted.get(("bias", 0, None), 0.0) + sign * slow.bias(label)
        attributes = [one for one in found.contributions if one.column not in CONTEXTS]
        assert attributes
        by_column = {}
        for key, amount in wanted.items():
            by_column[key[:2]] = by_column.get(key[:2], 0.0) + amount
        for column, offset in {(one.column, one.offset) for one in attributes} | by_column.keys():
            total = sum(one.contribution for one in attributes if (one.column, one.offset) == (column, offset))
            assert total == pytest.approx(by_column[column, offset], abs=1e-5)
        for one in attributes:  # values of bags, one by one
            key = (one.column, one.offset, one.value)
            if key in wanted and one.value is not None and one.column == "bag":
                assert one.contribution == pytest.approx(wanted[key], abs=1e-5)
                given = x[t + one.offset]["bag"]
                assert given is None or one.value in given  # a missing value may be filled


def linear_parts(model, x, t, label, against):
    """({(column, offset, value): amount}, bias) of the log-odds of the linear model alone."""
    potential, encoded = model.model_.potential, model.model_.encode([x])
    explainer = LatticeExplainer(
        potential.columns.linear, encoded, potential.columns.topology, Scope(model.model_.encoder)
    )
    found = {}
    for part in explainer.attributes(t, label, against):
        key = contribution_of(part, t)[:3]
        found[key] = found.get(key, 0.0) + part.amount
    log_marginals = potential._attributes(encoded, 1)[1]
    found["linear model: labels around", 0, None] = (
        float(log_marginals[t, label]) - float(log_marginals[t, against]) - math.fsum(found.values())
    )
    return found, found.pop(("bias", 0, None))


@pytest.mark.parametrize("name", ["TreeCRF linear", "TreeCRF linear mixed", "TreeCRF linear words"])
def test_what_trees_read_of_a_linear_model_belongs_to_its_attributes(name):
    """Shapley values over all subsets; that of the linear scores is divided like the evidence of the linear model."""
    model, X = fitted(name)
    codes, divided, whole = {label: code for code, label in enumerate(model.classes_.tolist())}, 0, 0
    for x, t, other in product(X[:4], range(4), codes):
        if t >= len(x) or other == model.predict_single(x)[t]:
            continue
        found, contexts = model.explain(x, t, other), label_contexts(model, t)
        wanted, of_scores = {("bias", 0): 0.0}, 0.0
        for sign, label in ((1, codes[found.label]), (-1, codes[other])):
            slow = slow_trees(model, x, t)
            wanted["bias", 0] += sign * slow.bias(label)
            for context, share in zip(contexts, context_shares(model, x, t, label), strict=True):
                for player, amount in slow.shapley(label, context).items():
                    if player[0] == "linear model":
                        of_scores += sign * share * amount
                    else:
                        key = named(model, slow, player)
                        wanted[key] = wanted.get(key, 0.0) + sign * share * amount
        parts, bias = linear_parts(model, x, t, codes[found.label], codes[other])
        wanted["bias", 0] += bias
        evidence, largest = math.fsum(parts.values()), max(map(abs, parts.values()))
        factor = (evidence + of_scores) / evidence
        if abs(evidence) < 0.1 or largest > 10 * abs(evidence) or not 0 < factor < 10:
            factor, wanted["linear model: scores read by trees", 0] = 1.0, of_scores
        divided, whole = divided + (factor != 1), whole + (factor == 1 and of_scores != 0)
        for key, amount in parts.items():
            wanted[key[:2]] = wanted.get(key[:2], 0.0) + factor * amount
        shown = {}
        for one in found.contributions:
            if one.column not in CONTEXTS:
                shown[one[:2]] = shown.get(one[:2], 0.0) + one.contribution
        for key in wanted.keys() | shown.keys():
            assert shown.get(key, 0.0) == pytest.approx(wanted.get(key, 0.0), abs=1e-5), key
    assert divided > 5
    assert whole > 0 or name != "TreeCRF linear"


def test_linear_models_have_lines_with_plain_names():
    model, X = fitted("TreeCRF linear")
    shown = {str(c) for x in X for e in model.explain(x) for c in e.contributions}
    assert {one for one in shown if "linear" in one} == {
        "linear model: labels around",
        "linear model: scores read by trees",
    }


def test_values_are_those_of_the_sequence():
    model, X = fitted("TreeCRF mixed")
    for x in X:
        for t, explanation in enumerate(model.explain(x)):
            assert len({(c.column, c.offset, str(c.value)) for c in explanation.contributions}) == len(
                explanation.contributions
            )
            for one in explanation.contributions:
                if one.column not in ("w", "v", "number"):
                    continue
                inside = 0 <= t + one.offset < len(x)
                assert one.value == (pytest.approx(x[t + one.offset][one.column]) if inside else None)
                assert str(one).endswith("(outside)") is not inside


def test_bags_without_values_have_no_value():
    X = [[{"bag": ["p"]}, {"bag": []}], [{"bag": []}, {"bag": ["p"]}], [{"bag": None}, {"bag": ["q", "p"]}]] * 5
    y = [["A", "B"], ["B", "A"], ["B", "A"]] * 5
    model = hr.TreeCRF(n_rounds=3, window=1, order=0, random_state=0).fit(X, y)
    for x in X[:3]:
        for one in [c for e in model.explain(x) for c in e.contributions if c.column == "bag"]:
            assert one.value != ()
            assert not str(one).endswith("= ")


def test_absent_values_of_a_bag_are_named():
    X = [[{"bag": ["p"]}, {"bag": ["q"]}], [{"bag": ["q"]}, {"bag": ["p"]}]] * 5
    y = [["A", "B"], ["B", "A"]] * 5
    model = hr.TreeCRF(n_rounds=3, order=0, random_state=0).fit(X, y)
    shown = {(one.value, one.text) for one in model.explain([{"bag": ["q"]}], 0).contributions if one.column == "bag"}
    assert shown == {(None, "(values that it lacks)")}


def test_bags_that_are_missing_or_outside_say_so():
    rows = [{"bag": ["p"]}, {"bag": None}, {"bag": ["q"]}]
    X = [[rows[i], rows[j], rows[k]] for i in range(3) for j in range(3) for k in range(3)]
    y = [["A" if "p" in (row["bag"] or []) else "B" for row in x] for x in X]
    model = hr.TreeCRF(n_rounds=5, window=1, order=0, random_state=0).fit(X, y)
    x = [rows[1], rows[0], rows[2]]
    shown = {(one.offset, one.text) for one in model.explain(x, 0).contributions if one.column == "bag"}
    assert (0, "(missing)") in shown
    assert {text for offset, text in shown if offset == -1} <= {"(outside)"}
    assert {text for offset, text in shown if offset == 0} == {"(missing)"}


@pytest.mark.parametrize("kind", ["trees", "table"])
def test_label_statistics_are_one_player_for_each_family(kind):
    rng = np.random.default_rng(0)
    X = [[{"word": f"w{rng.integers(70)}"} for _ in range(6)] for _ in range(40)]
    y = [[("low", "high")[int(row["word"][1:]) > 35] for row in x] for x in X]
    model = hr.TreeCRF(n_rounds=4, max_leaves=4, window=1, transitions=kind, random_state=0).fit(X, y)
    assert model.model_.potential.columns.statistics is not None
    x = X[0]
    codes = {label: code for code, label in enumerate(model.classes_.tolist())}
    for t in range(3):
        found = model.explain(x, t)
        slow, contexts = slow_trees(model, x, t), label_contexts(model, t)
        wanted = {}
        for sign, label in ((1, codes[found.label]), (-1, codes[found.against[0]])):
            for context, share in zip(contexts, context_shares(model, x, t, label), strict=True):
                for player, amount in slow.shapley(label, context).items():
                    key = named(model, slow, player)
                    wanted[key] = wanted.get(key, 0.0) + sign * share * amount
        attributes = {c[:2]: c.contribution for c in found.contributions if c.column not in (*CONTEXTS, "bias")}
        assert attributes
        for key, amount in wanted.items():
            assert attributes.get(key, 0.0) == pytest.approx(amount, abs=1e-5)
        here = next(c for c in found.contributions if c[:2] == ("word", 0))
        assert here.value == x[t]["word"]


def test_words_that_training_never_saw():
    X, y = [["the", "cat"], ["a", "dog"]] * 10, [["D", "N"]] * 20
    model = hr.TreeCRF(features=hr.templates.words(), n_rounds=5, random_state=0).fit(X, y)
    explanation = model.explain(["the", "zebra"], 1)
    total = math.fsum(one.contribution for one in explanation.contributions)
    assert total == pytest.approx(explanation.log_odds, abs=1e-6)
