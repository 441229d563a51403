"""Contributions of output codes against their bits, each of which is explained as a model of two labels."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hedgerow as hr
from builders.explanations import fitted
from hedgerow.codes.coupling import label_log_probabilities
from hedgerow.codes.potential import bit_probabilities
from hedgerow.inspection.explaining.attributions import Scope
from hedgerow.inspection.explaining.explanation import contribution_of
from hedgerow.inspection.explaining.lattice_explainer import LatticeExplainer
from hedgerow.topology import Topology
from oracles import codes as oracles

CONTEXTS = ("left context", "labels inside", "right context")
NAMES = [
    "OutputCode", "OutputCode linear", "OutputCode hamming", "OutputCode likelihood", "OutputCode cascade",
    "OutputCode lattice", "OutputCode HMM", "OutputCode perceptron", "OutputCode future", "OutputCode constrained",
]  # fmt: skip


def parts_of(explanation):
    return {c[:3]: c.contribution for c in explanation.contributions if c.column not in CONTEXTS}


def wanted_parts(model, x, t, label, against):
    """{(column, offset, value): amount}: what each bit adds, divided in the proportions of its own log-odds."""
    code, encoder = model.model_.potential, model.model_.encoder
    encoded = model.model_.encode([x])
    p, columns, explainers = [], [], []
    for i, bit in enumerate(code.bits):
        read = encoded.with_columns(c for j in code.cascade.read_by(i) for c in columns[j])
        p.append(bit_probabilities(bit, code.bit_order, read, 1))
        columns.append(code.cascade.columns(i, p[i] > 0.5, encoded.starts))
        scope = Scope(code.cascade.encoder(encoder, i), owner=f"bit {i + 1}: ")
        explainers.append(LatticeExplainer(bit, read, Topology(2, code.bit_order), scope))
    words = [code.code_words[model.classes_.tolist().index(one)].tolist() for one in (label, against)]
    bits = [i for i in range(len(code.bits)) if words[0][i] != words[1][i]]
    here = [float(np.float32(one[t])) for one in p]
    kind = "likelihood" if code.distance == "lattice" else code.distance
    amounts = {
        i: oracles.score([here[i]], [words[0][i]], kind) - oracles.score([here[i]], [words[1][i]], kind) for i in bits
    }
    wanted, alone = {}, sum(amounts.values())
    if code.distance == "lattice":
        log_q = label_log_probabilities(np.array([here], np.float32), code.code_words)[0]
        one, other = (log_q[model.classes_.tolist().index(each)] for each in (label, against))
        factor = (one - other) / alone
        if not 0 < factor < 10:
            factor, wanted["bits", 0, "together"] = 0.0, one - other
        amounts = {i: amount * factor for i, amount in amounts.items()}
    for i, amount in amounts.items():
        split = explainers[i].split(t, [1], [0])
        largest = max((abs(part.amount) for part in split.parts[0]), default=0.0)
        rest = amount
        if abs(split.log_odds) >= max(0.1, largest / 10):
            for part in split.parts[0]:
                share, named = part.amount / split.log_odds * amount, contribution_of(part, t)[:3]
                wanted[named] = wanted.get(named, 0.0) + share
                rest -= share
        key = (f"bit {i + 1}", 0, int(split.log_odds > 0))
        wanted[key] = wanted.get(key, 0.0) + rest
    return {key: amount / code.temperature for key, amount in wanted.items()}


@pytest.mark.parametrize("name", NAMES)
def test_bits_in_which_the_words_differ_are_divided_among_attributes(name):
    model, X = fitted(name)
    n_parts = 0
    for x in X[:4]:
        for t, explanation in enumerate(model.explain(x)):
            found, wanted = parts_of(explanation), wanted_parts(model, x, t, explanation.label, *explanation.against)
            for key in found.keys() | wanted.keys():
                assert found.get(key, 0.0) == pytest.approx(wanted.get(key, 0.0), abs=1e-5), key
            n_parts += sum(key[0] in ("w", "v", "number", "bag") for key in found)
    assert n_parts > 10


@pytest.mark.parametrize("name", ["OutputCode", "OutputCode hamming", "OutputCode likelihood", "OutputCode cascade"])
def test_the_sum_of_the_parts_is_the_difference_of_the_distances(name):
    model, X = fitted(name)
    code = model.model_.potential
    for x in X:
        p = code.probabilities(model.model_.encode([x]))
        for t, explanation in enumerate(model.explain(x)):
            one, other = (
                oracles.score(
                    p[t].tolist(), code.code_words[model.classes_.tolist().index(label)].tolist(), code.distance
                )
                for label in (explanation.label, explanation.against[0])
            )
            total = sum(parts_of(explanation).values())
            assert total == pytest.approx((one - other) / code.temperature, abs=1e-5)
            assert total == pytest.approx(explanation.log_odds, abs=1e-5)  # such codes have no transitions


def test_a_bit_that_both_words_share_says_nothing():
    X = ["abcd", "dcba", "bdac"] * 3
    y = [["ABCD"["abcd".index(c)] for c in x] for x in X]
    words = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    model = hr.OutputCode(base=hr.HMM(order=0), code=words).fit(X, y)
    for explanation, label, against, differing in (
        (model.explain("a", 0, "B"), "A", "B", {"bit 2", "bit 3"}),
        (model.explain("a", 0, "C"), "A", "C", {"bit 1", "bit 3"}),
    ):
        assert (explanation.label, explanation.against) == (label, (against,))
        shown = {c.column for c in explanation.contributions if c.column.startswith("bit")}
        assert shown <= differing
        assert explanation.log_odds > 0


def test_the_bits_of_a_cascade_read_earlier_bits():
    model, X = fitted("OutputCode cascade")
    columns = {c.column for x in X for e in model.explain(x) for c in e.contributions}
    assert any(" at " in column for column in columns)
    for x in X:
        predicted = model.model_.potential.probabilities(model.model_.encode([x])) > 0.5
        for t, explanation in enumerate(model.explain(x)):
            for c in explanation.contributions:
                if " at " in c.column:
                    bit, offset = int(c.column.split()[1]) - 1, int(c.column.split()[-1])
                    inside = 0 <= t + offset < len(x)
                    assert c.value == (str(int(predicted[t + offset, bit])) if inside else "outside")


@pytest.mark.filterwarnings("ignore::hedgerow.errors.CodeWarning")
def test_an_undecided_bit_stays_whole():
    """Labels and values are independent, so that every bit is nearly undecided."""
    X, y = ["ab", "ba", "ab", "ba"], [["A", "A"], ["B", "B"], ["B", "B"], ["A", "A"]]
    model = hr.OutputCode(base=hr.HMM(order=0), code=[[0], [1]]).fit(X, y)
    explanation = model.explain("ab", 0)
    assert [c.column for c in explanation.contributions if c.column not in CONTEXTS] in (["bit 1"], [])
    assert abs(explanation.log_odds) < 0.1
    assert all(math.isfinite(c.contribution) for c in explanation.contributions)


def test_future_features_of_bits_have_names_of_their_own():
    model, X = fitted("OutputCode future")
    columns = {c.column for x in X for e in model.explain(x) for c in e.contributions if "future" in c.column}
    assert any(column.startswith("bit 1: future feature") for column in columns)
    assert all(column.startswith("bit ") for column in columns)
