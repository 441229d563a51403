"""Virtual evidence boosting against sums that are written out, and its place in TreeCRF."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from builders.trees import tree as tree_of
from hedgerow.errors import ImpossibleLatticeError, InputError
from hedgerow.inference.lattice import Lattice
from hedgerow.topology import Topology
from oracles import lattice as oracles_lattice
from oracles import pseudo_likelihood as oracles_pseudo
from oracles import virtual_evidence as oracles
from oracles.treeboost import TreeBoost, splits_of, values_of

pytestmark = pytest.mark.kernel


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    k = draw(st.integers(1, 3))
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 5, size=rng.integers(1, 4)))])
    spread = draw(st.sampled_from([0.0, 1.0, 4.0]))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    edge = (spread * rng.normal(size=(starts[-1], k, k))).astype(dtype)
    return starts, edge, rng.integers(0, k, size=starts[-1]).astype(np.int32)


@given(case=cases())
@settings(max_examples=60, deadline=None)
def test_the_kernel_computes_the_definition(case):
    starts, edge, gold = case
    log_likelihood, marginals = Lattice(Topology(edge.shape[2], 1), starts, edge=edge).evidence_sums(gold)
    for i, (begin, end) in enumerate(pairwise(starts.tolist())):
        own, labels = edge[begin:end].astype(np.float64), gold[begin:end].tolist()
        fixed = oracles.all_evidence(own)
        assert log_likelihood[i] == pytest.approx(oracles.log_likelihood(own, labels, fixed), abs=1e-6)
        np.testing.assert_allclose(marginals[begin:end], oracles.stand_ins(own, labels, fixed), atol=1e-5)


@given(case=cases())
@settings(max_examples=40, deadline=None)
def test_in_a_chain_the_probabilities_are_the_marginals(case):
    starts, edge, gold = case
    lattice = Lattice(Topology(edge.shape[2], 1), starts, edge=edge)
    own = lattice.marginals()[1][np.arange(len(gold)), gold].astype(np.float64)
    by_sequence = np.add.reduceat(np.log(own), starts[:-1])
    assert lattice.evidence_sums(gold)[0] == pytest.approx(by_sequence, abs=1e-4)


@given(case=cases())
@settings(max_examples=20, deadline=None)
def test_certain_evidence_gives_the_pseudo_likelihood(case):
    starts, edge, gold = case
    k = edge.shape[2]
    for begin, end in pairwise(starts.tolist()):
        own, labels = edge[begin:end].astype(np.float64), gold[begin:end].tolist()
        fixed = [oracles.certain(labels, k, t) for t in range(len(labels))]
        expected = oracles_pseudo.log_pseudo_likelihood(labels, 1, k, None, {"edge": own})
        assert oracles.log_likelihood(own, labels, fixed) == pytest.approx(expected)
        by_edge = oracles_pseudo.stand_ins(labels, 1, k, None, {"edge": own})[0]
        np.testing.assert_allclose(oracles.stand_ins(own, labels, fixed), by_edge, atol=1e-6)


def test_labels_of_tiny_probability_still_have_a_derivative():
    edge = np.array([[[0.0, 0.0], [0.0, 0.0]], [[0.0, -800.0], [0.0, -900.0]], [[0.0, 0.0], [0.0, 0.0]]])
    log_likelihood, marginals = Lattice(Topology(2, 1), np.array([0, 3]), edge=edge).evidence_sums(
        np.array([0, 1, 0], np.int32)
    )
    assert log_likelihood == pytest.approx([-800 - np.log(2) - np.log(2) + np.log(2) - np.log(2)], abs=1)
    assert 1 - marginals[1, 0, 1] == pytest.approx(1, abs=1e-6)


def test_threads_change_nothing_and_wrong_arguments_are_refused():
    rng = np.random.default_rng(0)
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 30, size=400))])
    edge = rng.normal(size=(starts[-1], 3, 3)).astype(np.float32)
    gold = rng.integers(0, 3, size=starts[-1]).astype(np.int32)
    one, three = (Lattice(Topology(3, 1), starts, edge=edge, n_threads=n).evidence_sums(gold) for n in (1, 3))
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)
    lattice = Lattice(Topology(3, 1), starts, edge=edge)
    for wrong in (gold[1:], gold + 3, gold - 3):
        with pytest.raises(ValueError):
            lattice.evidence_sums(wrong)
    with pytest.raises(ValueError, match="order 1"):
        Lattice(Topology(3, 0), starts, state=edge[:, 0].copy()).evidence_sums(gold)
    with pytest.raises(ImpossibleLatticeError):
        Lattice(Topology(2, 1), np.array([0, 1]), state=np.full((1, 2), -np.inf)).evidence_sums(np.zeros(1, np.int32))


class EvidenceBoost(TreeBoost):
    """TREEBOOST with virtual evidence in place of the probabilities of pairs."""

    def probabilities(self, is_pseudo):
        found = []
        for gold, edge in self.of_sequences(self.potentials):
            own = edge.astype(np.float64)
            found.append(oracles.stand_ins(own, gold, oracles.all_evidence(own)))
        return np.concatenate(found).astype(np.float32)


WORDS = ["abca", "cab", "bc", "aab", "ccb", "b", "acb"]
LABELS = [["V" if c == "a" or (t and w[t - 1] == "b") else "C" for t, c in enumerate(w)] for w in WORDS]


@pytest.mark.parametrize("l2", [0.0, 3.0])
def test_trees_equal_those_of_the_definition(l2):
    model = hr.TreeCRF.published(window=1, l2=l2, n_rounds=4, max_leaves=4, objective="virtual-evidence")
    model.fit(WORDS, LABELS)
    sequences = model.model_.encode(WORDS)
    gold = model.model_.labels.codes(LABELS, sequences)
    naive = EvidenceBoost(sequences, gold, 1, 2, 1, max_leaves=4, l2=l2).run(4)
    for i, expected in enumerate(tree for grown in naive.forest for tree in grown):
        found = tree_of(model.model_.potential.trees, i)
        assert splits_of(found) == splits_of(expected)
        assert values_of(found) == pytest.approx(values_of(expected), abs=1e-4)


def test_the_loss_is_that_of_single_labels():
    model = hr.TreeCRF(window=1, n_rounds=5, objective="virtual-evidence").fit(WORDS, LABELS)
    assert {record["objective"] for record in model.training_log_} == {"virtual-evidence"}
    assert model.training_log_[0]["transitions"] == "trees"
    losses = [
        -sum(np.log(p[list(model.classes_).index(label)]) for p, label in zip(rows, labels, strict=True))
        for rows, labels in zip(model.predict_proba(WORDS), LABELS, strict=True)
    ]
    assert model.training_log_[-1]["loss"] == pytest.approx(np.mean(losses), abs=1e-4)
    assert model.training_log_[-1]["loss"] < model.training_log_[0]["loss"]


def test_constraints_are_kept():
    labels = [["B", "I", "O"], ["O", "B"], ["B", "O", "B"], ["O"]]
    words = ["abc", "ca", "aca", "c"]
    model = hr.TreeCRF(window=1, n_rounds=5, objective="virtual-evidence", constraints="IOB2").fit(words, labels)
    for path in model.predict(words):
        assert not any(a == "O" and b == "I" for a, b in pairwise(["O", *path]))


@pytest.mark.parametrize(
    ("name", "value"),
    [("order", 2), ("order", 0), ("transitions", "table"), ("trees", "shared"), ("pseudo_rounds", 1),
     ("line_search", True), ("beam", 3)],
)  # fmt: skip
def test_what_does_not_go_with_virtual_evidence_is_refused(name, value):
    model = hr.TreeCRF(n_rounds=1, objective="virtual-evidence", **{name: value})
    with pytest.raises(InputError, match=f'objective="virtual-evidence" needs {name}='):
        model.fit(WORDS, LABELS)


def test_the_messages_of_paths_are_the_evidence():
    rng = np.random.default_rng(1)
    edge = rng.normal(size=(4, 2, 2))
    answers = oracles_lattice.enumerate_answers(4, 1, 2, edge=edge)
    for t in range(4):
        found = oracles.probabilities(edge, t, *oracles.evidence(edge, t))
        np.testing.assert_allclose(found, answers["state"][t])
