"""Attributes, left context, labels inside and right context against sums over all label sequences."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from builders.explanations import ALL, data, fitted
from hedgerow.codes.potential import CodePotential
from hedgerow.encoding import AttributeReader
from hedgerow.future.features import with_features
from hedgerow.future.potential import FuturePotential
from hedgerow.pooling.potential import PoolPotential
from hedgerow.potentials.linear import LinearPotential
from hedgerow.potentials.local import unnormalised
from hedgerow.potentials.table import TablePotential
from hedgerow.potentials.trees import TreePotential
from hedgerow.potentials.votes import VotedPotential
from oracles.explanations import SlowTrees, players_of, split, tree_value, voted_weights
from oracles.lattice import number

CONTEXTS = ("left context", "labels inside", "right context")
NAMES = [name for name in ALL if "Search" not in name and "beam" not in name and "constrained" not in name]


def tree_attributes(potential, encoded, k):
    """a(t, context, label): the scores of trees, less what tests of labels alone add to them."""
    edge = first_given(*potential.scores(encoded)[:2])
    read = potential.read(encoded).sequences
    reader = AttributeReader(read, potential.window, potential.binnings)
    kept = {}

    def attribute(t, context, label):
        context = context[: potential.tree_order]
        key = (t, context, label)
        if key not in kept:
            slow, padded = (
                SlowTrees(potential.trees, reader, t),
                [*context, *[k] * (potential.tree_order - len(context))],
            )
            nothing = sum(tree_value(tree, frozenset()) for tree in slow.trees_of(label, padded))
            kept[key] = float(edge[t, number(context, k), label]) - nothing + slow.bias(label)
        return kept[key]

    return attribute


def first_given(state, edge):
    """The scores (positions, contexts, labels)."""
    return state[:, None] if edge is None else edge


def attribute_scores(model, encoded):
    """a(t, context, label) of the model: the scores of what attributes say, from the potential itself."""
    return scores_of_attributes(model.model_.potential, encoded, len(model.classes_), model.model_.order)


def scores_of_attributes(potential, encoded, k, order):
    potential = unnormalised(potential)
    if isinstance(potential, PoolPotential):
        if potential.pool == "position":  # what the labels around say in the models is a part beside the attributes
            state = potential.scores(encoded).state
            return lambda t, _, y: float(state[t, y])
        of_models = [scores_of_attributes(one.potential, one.read(encoded), k, order) for one in potential.models]
        return lambda t, context, y: sum(score(t, context, y) for score in of_models) / len(of_models)
    if isinstance(potential, TreePotential):
        return tree_attributes(potential, encoded, k)
    if isinstance(potential, FuturePotential):
        values = potential.values(encoded)
        of_trees = tree_attributes(potential.trees, with_features(encoded, values), k)
        linear = sum(np.outer(value, one.weights) for value, one in zip(values, potential.features, strict=True))
        return lambda t, context, y: of_trees(t, context, y) + float(linear[t, y])
    if isinstance(potential, VotedPotential):
        reader = AttributeReader(encoded, potential.window, potential.scalings)
        return lambda t, _, y: sum(voted_weights(potential, reader, t, y).values())
    state, edge = potential.scores(encoded)[:2]
    bias = np.zeros(k)
    if isinstance(potential, LinearPotential):
        first = potential.n_grams.cells < k
        bias[potential.n_grams.cells[first]] = potential.n_gram_weights[first] / potential.temperature
    assert isinstance(potential, (LinearPotential, TablePotential, CodePotential))

    def attribute(t, context, y):
        total = float(state[t, y]) + bias[y]
        if edge is not None and len(context) == order:
            total += float(edge[t, number(context, k), y])
        return total

    return attribute


def check_split(model, x, start, end, attribute=None):
    """The parts of an explanation against those that enumeration gives."""
    encoded, temperature = model.model_.encode([x]), model.model_.temperature
    attribute = attribute or attribute_scores(model, encoded)
    lattice = model.model_.potential.lattice(encoded, model.model_.topology)
    scores = {"state": lattice.state, "edge": lattice.edge, "table": lattice.table}
    divided = {name: values / temperature for name, values in scores.items() if values is not None}
    codes = {label: code for code, label in enumerate(model.classes_.tolist())}
    found = model.explain(x, (start, end))
    if np.isinf(found.log_odds):  # no vote for the other labels
        return

    def truth(labels):
        return split(
            start, [codes[label] for label in labels], length=len(x), order=lattice.topology.lattice_order,
            n_labels=len(codes), attribute=lambda t, c, y: attribute(t, c, y) / temperature, scores=divided,
        )  # fmt: skip

    one, other = truth(found.labels), truth(found.against)
    first, at_first, mean, ended, whole = (a - b for a, b in zip(one, other, strict=True))
    amounts = {c.column: c.contribution for c in found.contributions if c.column in CONTEXTS}
    attributes = sum(c.contribution for c in found.contributions if c.column not in CONTEXTS)
    assert found.log_odds == pytest.approx(whole, abs=1e-4)
    assert attributes == pytest.approx(mean, abs=1e-4)
    assert amounts["left context"] == pytest.approx(first - at_first, abs=1e-4)
    assert amounts["right context"] == pytest.approx(whole - ended, abs=1e-4)
    assert amounts.get("labels inside", 0.0) == pytest.approx((ended - mean) - (first - at_first), abs=1e-4)
    differ = [start + i for i in range(end - start) if found.labels[i] != found.against[i]]
    assert set(differ) <= {c.position for c in found.contributions} <= set(range(start, end))


@pytest.mark.parametrize("name", NAMES)
def test_parts_are_those_of_all_label_sequences(name):
    model, X = fitted(name)
    for x in [x[:4] for x in X[:4]]:
        attribute = attribute_scores(model, model.model_.encode([x]))
        for start in range(len(x)):
            for end in {start + 1, min(start + 2, len(x)), len(x)}:
                check_split(model, x, start, end, attribute)


@pytest.mark.parametrize(
    "name", ["LinearCRF edges", "TreeCRF mixed", "MEMM linear", "FutureMEMM", "HMM", "OutputCode lattice"]
)
def test_a_temperature_divides_all_parts(name):
    model, X = fitted(name)
    calibrated = hr.calibrate(model, *data(ALL[name][0], seed=5, n=20))
    assert calibrated.model_.temperature != 1
    for x in [x[:4] for x in X[:3]]:
        for start in range(len(x)):
            check_split(calibrated, x, start, min(start + 2, len(x)))


@pytest.mark.parametrize("name", [name for name in NAMES if name.split()[0] in ("MEMM", "FutureMEMM")])
def test_later_positions_say_nothing_in_a_memm(name):
    model, X = fitted(name)
    for x in X:
        for explanation in model.explain(x):
            right = next(c for c in explanation.contributions if c.column == "right context")
            assert right.contribution == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("name", [name for name in NAMES if "order 0" in name or name == "OutputCode hamming"])
def test_labels_say_nothing_without_transitions(name):
    model, X = fitted(name)
    for x in X:
        for explanation in model.explain(x):
            context = {c.column: c.contribution for c in explanation.contributions if c.column in CONTEXTS}
            start = 0.0
            if name == "HMM order 0":  # the probabilities of labels are its transitions
                table = model.model_.potential.transitions[0]
                codes = model.classes_.tolist()
                start = table[codes.index(explanation.label)] - table[codes.index(explanation.against[0])]
            assert context["left context"] == pytest.approx(start, abs=1e-5)
            assert context["right context"] == pytest.approx(0.0, abs=1e-5)


def test_the_oracle_knows_all_players():
    assert players_of(("a", 1.0, 0.5, (None, 1.0, 0.5, 1.0, ("b", 0.0, 0.5, 1.0, 2.0)), 0.0)) == {"a", "b"}
