"""Contributions of linear models against the weights that the views of a model show."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hedgerow as hr
from builders.explanations import fitted
from hedgerow.encoding import AttributeReader
from hedgerow.potentials.local import unnormalised
from oracles.explanations import voted_weights
from oracles.lattice import number

CONTEXTS = ("left context", "labels inside", "right context")
NAMES = [
    "LinearCRF", "LinearCRF order 0", "LinearCRF order 2", "LinearCRF mixed", "LinearCRF beam", "LinearCRF constrained",
    "LinearCRF induced", "Perceptron", "Perceptron mixed", "Perceptron plain", "SVM", "SVM order 2", "MEMM linear",
    "MEMM linear order 2", "SVM dev", "Perceptron dev", "SearchTagger dev", "SearchTagger", "SearchTagger backward",
    "SearchTagger constrained",
]  # fmt: skip


def attributes_of(model, x, t):
    """{name of an attribute in state_features_: (column, offset, value as shown, value to multiply)} of a position."""
    potential = unnormalised(model.model_.potential)
    found = {}
    for column in x[t]:
        for offset in potential.window.offsets:
            place = column + (f"[{offset:+d}]" if offset else "")
            if not 0 <= t + offset < len(x):
                found[f"{place} outside"] = (column, offset, None, 1.0)
                continue
            value = x[t + offset][column]
            if isinstance(value, dict):
                found |= {f"{place}:{name}": (column, offset, name, weight) for name, weight in value.items()}
            elif isinstance(value, str):
                found[f"{place}:{value}"] = (column, offset, value, 1.0)
            else:
                number = float(np.float32(value))
                found[place] = (column, offset, number, number - potential.scalings[column].mean)
    return found


def wanted_parts(model, x, t, label):
    """{(column, offset, value): weight times value}, from the weights that users see."""
    shown, wanted = model.state_features_, {}
    there = attributes_of(model, x, t)
    for (name, of), weight in shown.items():
        members = name.split(" & ")
        if of != label or not all(member in there for member in members):
            continue
        column, offset, value, factor = there[members[0]]
        if len(members) > 1:
            places = [there[member][0] + (f"[{there[member][1]:+d}]" if there[member][1] else "") for member in members]
            column, offset, value = " & ".join(places), 0, tuple(there[member][2] for member in members)
        if name.endswith(" outside") and len(members) == 1:
            weight -= shift_of_number(model, column, offset, label)
        wanted[column, offset, value] = wanted.get((column, offset, value), 0.0) + weight * factor
    return wanted


def shift_of_number(model, column, offset, label):
    """What `state_features_` adds to the weight of padding, because the bias holds the means of numbers."""
    potential = unnormalised(model.model_.potential)
    if column not in potential.scalings:
        return 0.0
    place = column + (f"[{offset:+d}]" if offset else "")
    return model.state_features_.get((place, label), 0.0) * potential.scalings[column].mean


@pytest.mark.parametrize("name", NAMES)
def test_contributions_are_the_weights_that_users_see(name):
    model, X = fitted(name)
    temperature = getattr(model, "temperature_", 1.0)
    n = 0
    for x in X[:4]:
        for t, explanation in enumerate(model.explain(x)):
            one, other = (wanted_parts(model, x, t, label) for label in (explanation.label, explanation.against[0]))
            found = {c[:3]: c.contribution for c in explanation.contributions if c.column not in (*CONTEXTS, "bias")}
            for key in found.keys() | one.keys() | other.keys():
                amount = (one.get(key, 0.0) - other.get(key, 0.0)) / temperature
                assert found.get(key, 0.0) == pytest.approx(amount, abs=1e-5), key
                n += amount != 0
    assert n > 20


@pytest.mark.parametrize(
    "name", ["LinearCRF mixed", "Perceptron mixed", "SVM", "SVM dev", "MEMM linear", "SearchTagger", "SearchTagger dev"]
)
def test_numbers_and_bias_are_the_intercept(name):
    """w x + intercept: the means of numbers are in the intercept, so that both together are what users can add up."""
    model, X = fitted(name)
    temperature, shown = getattr(model, "temperature_", 1.0), model.state_features_
    x = max(X, key=len)
    for t in range(1, len(x) - 1):
        explanation = model.explain(x, t)
        found = sum(c.contribution for c in explanation.contributions if c.column in ("number", "bias"))
        wanted = 0.0
        for sign, label in ((1, explanation.label), (-1, explanation.against[0])):
            wanted += sign * model.intercept_[label]
            for offset in unnormalised(model.model_.potential).window.offsets:
                name = "number" + (f"[{offset:+d}]" if offset else "")
                wanted += sign * shown.get((name, label), 0.0) * x[t + offset]["number"]
        assert found == pytest.approx(wanted / temperature, abs=1e-4)
        assert any(c.column == "bias" for c in explanation.contributions)


@pytest.mark.parametrize("name", ["LinearCRF edges", "LinearCRF edges order 2"])
def test_edge_features_are_weighed_by_the_label_contexts(name):
    """At the second position the label context is the first label: its shares are P(first label | second label)."""
    model, X = fitted(name)
    potential, k, order = model.model_.potential, len(model.classes_), model.order
    weights = {
        (int(a), int(cell)): float(w)
        for a, cell, w in zip(
            potential.edge_features.attributes, potential.edge_features.outputs, potential.edge_weights, strict=True
        )
    }
    state = {
        (int(a), int(y)): float(w)
        for a, y, w in zip(
            potential.state_features.attributes, potential.state_features.outputs, potential.state_weights, strict=True
        )
    }
    x = next(x for x in X if len(x) > order)[: order + 1]  # the last position: its contexts are those of whole paths
    every = model.predict_nbest([x], n=k ** len(x))[0]
    codes = {label: code for code, label in enumerate(model.classes_.tolist())}
    encoded = model.model_.encode([x])
    reader = AttributeReader(encoded, potential.window, potential.scalings)
    explanation = model.explain(x, order)
    wanted = {}
    for sign, label in ((1, explanation.label), (-1, explanation.against[0])):
        shares = {}
        for p, labels in every:
            path = [codes[one] for one in labels.tolist()]
            if path[-1] == codes[label]:
                context = number(path[-2::-1], k)
                shares[context] = shares.get(context, 0.0) + math.exp(p)
        for i, value in zip(
            reader.ids(order, order + 1)[1].tolist(), reader.weights(order, order + 1).tolist(), strict=True
        ):
            column, offset, _ = reader.name(i)
            amount = state.get((i, codes[label]), 0.0)
            for context, share in shares.items():
                amount += share / sum(shares.values()) * weights.get((i, context * k + codes[label]), 0.0)
            wanted[column, offset] = wanted.get((column, offset), 0.0) + sign * amount * value
    found = {c[:2]: c.contribution for c in explanation.contributions if c.column not in (*CONTEXTS, "bias")}
    assert any(abs(w) > 1e-3 for w in weights.values())
    for key, amount in wanted.items():
        assert found.get(key, 0.0) == pytest.approx(amount, abs=1e-4)
    for c in model.explain(x, 0).contributions:  # edge features need a full label context
        if c.column == "w" and c.offset == 0:
            label, against = (codes[one] for one in (model.explain(x, 0).label, model.explain(x, 0).against[0]))
            i = next(i for i in reader.ids(0, 1)[1].tolist() if reader.name(i)[:2] == ("w", 0))
            assert c.contribution == pytest.approx(state.get((i, label), 0.0) - state.get((i, against), 0.0), abs=1e-5)


@pytest.mark.parametrize("name", ["Perceptron voted", "Perceptron voted constrained"])
def test_votes_are_shown_by_the_mean_weights(name):
    model, X = fitted(name)
    codes = {label: code for code, label in enumerate(model.classes_.tolist())}
    potential = model.model_.potential
    for x in X:
        reader = AttributeReader(model.model_.encode([x]), potential.window, potential.scalings)
        for t, explanation in enumerate(model.explain(x)):
            one, other = (
                voted_weights(potential, reader, t, codes[label])
                for label in (explanation.label, explanation.against[0])
            )
            wanted = {reader.name(i)[:2]: one[i] - other[i] for i in one if i < reader.n_ids}
            found = {c[:2]: c.contribution for c in explanation.contributions if c.column not in (*CONTEXTS, "bias")}
            for key, amount in wanted.items():
                assert found.get(key, 0.0) == pytest.approx(amount, abs=1e-5)


def test_votes_have_a_bias_where_numbers_are_scaled():
    X = [[{"n": float(n)} for n in row] for row in np.random.default_rng(0).integers(5, 20, size=(20, 4))]
    y = [["a" if row["n"] > 15 else "b" for row in x] for x in X]
    model = hr.StructuredPerceptron(averaging="vote", random_state=0).fit(X, y)
    potential = model.model_.potential
    reader = AttributeReader(model.model_.encode(X[:1]), potential.window, potential.scalings)
    explanation = model.explain(X[0], 0)
    codes = model.classes_.tolist()
    one, other = (
        voted_weights(potential, reader, 0, codes.index(label)) for label in (explanation.label, explanation.against[0])
    )
    bias = next(c.contribution for c in explanation.contributions if c.column == "bias")
    assert bias == pytest.approx(one[reader.n_ids] - other[reader.n_ids])
