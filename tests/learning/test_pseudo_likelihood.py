"""The pseudo-likelihood and its derivative against the definition, and rounds of boosting that follow it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from builders.training import training_of
from hedgerow import _core
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.pseudo_likelihood import pseudo_marginals
from hedgerow.topology import Topology
from oracles import pseudo_likelihood as oracles

pytestmark = pytest.mark.kernel
UNIT = 2.0**-30


class Case:
    """Random scores of some sequences, and their gold labels."""

    def __init__(self, seed, order, k, kinds, dtype=np.float32, masked=False, spread=1.0):
        rng = np.random.default_rng(seed)
        self.order, self.k, self.dtype = order, k, dtype
        self.starts = np.concatenate([[0], np.cumsum(rng.integers(1, 6, size=rng.integers(1, 5)))])
        n = int(self.starts[-1])
        n_rows = sum(k**m for m in range(order + 1))
        shapes = {"state": (n, k), "edge": (n, k**order, k), "table": (n_rows, k)}
        self.scores = {kind: (spread * rng.normal(size=shapes[kind])).astype(dtype) for kind in kinds}
        self.gold = rng.integers(0, k, size=n).astype(np.int32)
        self.weights = rng.uniform(0.25, 2.0, size=len(self.starts) - 1)
        self.allowed = None
        if masked:
            self.allowed = rng.random((n, k)) < 0.6
            self.allowed[np.arange(n), self.gold] = True

    def lattice(self, **options):
        return Lattice(Topology(self.k, self.order), self.starts, **self.scores, **options)

    def answers(self, **options):
        return self.lattice(**options).pseudo_sums(self.gold, self.allowed, self.weights, UNIT)

    def sequences(self):
        """(slice, gold labels, allowed labels, scores) of each sequence."""
        for begin, end in pairwise(self.starts.tolist()):
            there = slice(begin, end)
            scores = {kind: x if kind == "table" else x[there] for kind, x in self.scores.items()}
            allowed = None if self.allowed is None else self.allowed[there]
            yield there, self.gold[there].tolist(), allowed, scores


KINDS = [("edge",), ("state",), ("table",), ("state", "table"), ("state", "edge"), ("state", "edge", "table")]


@st.composite
def cases(draw):
    order = draw(st.integers(0, 3))
    k = draw(st.integers(1, 3 if order < 3 else 2))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    seed, kinds = draw(st.integers(0, 2**32)), draw(st.sampled_from(KINDS))
    return Case(seed, order, k, kinds, dtype, draw(st.booleans()), draw(st.sampled_from([0.0, 1.0, 30.0])))


@given(case=cases())
@settings(max_examples=150, deadline=None)
def test_the_kernel_computes_the_definition(case):
    log_likelihood, marginals, table = case.answers()
    by_row = 0.0
    tolerance = 1e-9 if case.dtype == np.float64 else 3e-5
    for i, (there, gold, allowed, scores) in enumerate(case.sequences()):
        expected = oracles.log_pseudo_likelihood(gold, case.order, case.k, allowed, scores)
        assert log_likelihood[i] == pytest.approx(expected, abs=tolerance, rel=tolerance)
        by_edge, by_state = oracles.stand_ins(gold, case.order, case.k, allowed, scores)
        expected = by_edge if "edge" in case.scores else by_state[:, None]
        np.testing.assert_allclose(marginals[there], expected, atol=max(tolerance, 1e-6))
        by_row = by_row + case.weights[i] * oracles.summed_by_row(by_edge, case.order, case.k)
    if "table" in case.scores:
        np.testing.assert_allclose(table, by_row, atol=max(10 * tolerance, 1e-6))
    else:
        assert table is None


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_gold_minus_stand_ins_is_the_derivative_by_finite_differences(order):
    case = Case(order, order, 2, ("state", "edge", "table"), np.float64, masked=True)
    _, marginals, table = case.answers()
    zero_weights = np.zeros_like(table)
    step = 1e-5

    def weighted_sum():
        return float(case.answers()[0] @ case.weights)

    own = np.repeat(case.weights, np.diff(case.starts))
    gold_edges = np.zeros(case.scores["edge"].shape)
    for there, gold, _, _ in case.sequences():
        for t, context, label in oracles.cells(gold, order):
            number = oracles.oracles.number(context, 2)
            gold_edges[there.start + t, number, label] = 1
    for scores, found in (("edge", (gold_edges - marginals) * own[:, None, None]), ("table", None)):
        array = case.scores[scores]
        for cell in np.ndindex(array.shape):
            kept = array[cell]
            array[cell] = kept + step
            above = weighted_sum()
            array[cell] = kept - step
            below = weighted_sum()
            array[cell] = kept
            slope = (above - below) / (2 * step)
            if found is not None:
                assert found[cell] == pytest.approx(slope, abs=1e-4)
            else:
                zero_weights[cell] = slope
    gold_rows = sum(
        case.weights[i] * oracles.summed_by_row(gold_edges[there], order, 2)
        for i, (there, *_) in enumerate(case.sequences())
    )
    np.testing.assert_allclose(gold_rows - table, zero_weights, atol=1e-4)


def test_neither_threads_nor_the_instruction_set_nor_the_order_of_sequences_change_a_bit():
    rng = np.random.default_rng(5)
    lengths = rng.integers(1, 40, size=900)
    n, k = int(lengths.sum()), 4
    starts = np.concatenate([[0], np.cumsum(lengths)])
    state, table = rng.normal(size=(n, k)).astype(np.float32), rng.normal(size=(5, k)).astype(np.float32)
    gold, weights = rng.integers(0, k, size=n).astype(np.int32), rng.uniform(0.1, 3, size=len(lengths))

    def answers(n_threads):
        lattice = Lattice(Topology(k, 1), starts, state=state, table=table, n_threads=n_threads)
        return lattice.pseudo_sums(gold, None, weights, UNIT)

    expected = answers(1)
    before = _core.instruction_set()
    try:
        for name in _core.instruction_sets():
            _core.use_instruction_set(name)
            for found, one in zip(answers(3), expected, strict=True):
                np.testing.assert_array_equal(found, one)
    finally:
        _core.use_instruction_set(before)
    half = len(lengths) // 2
    cut = starts[half]
    parts = [
        Lattice(Topology(k, 1), own, state=state[there], table=table).pseudo_sums(gold[there], None, own_weights, UNIT)
        for own, there, own_weights in (
            (starts[half:] - cut, slice(cut, None), weights[half:]),
            (starts[: half + 1], slice(0, cut), weights[:half]),
        )
    ]
    np.testing.assert_array_equal(parts[0][2] + parts[1][2], expected[2])


def test_a_position_where_everything_is_forbidden_is_refused():
    lattice = Lattice(Topology(2, 1), np.array([0, 2]), state=np.array([[0.0, 1.0], [-np.inf, -np.inf]]))
    with pytest.raises(hr.errors.ImpossibleLatticeError):
        lattice.pseudo_sums(np.array([0, 1], np.int32), None, np.ones(1))


def test_bindings_check_their_arguments():
    lattice = Lattice(Topology(2, 1), np.array([0, 3]), state=np.zeros((3, 2)))
    gold, weights = np.zeros(3, np.int32), np.ones(1)
    for arguments in (
        (gold[:2], None, weights),
        (gold + 2, None, weights),
        (gold - 1, None, weights),
        (gold, np.ones((3, 3), np.bool_), weights),
        (gold, np.ones((2, 2), np.bool_), weights),
        (gold, None, np.ones(2)),
        (gold, None, weights, -1.0),
    ):
        with pytest.raises(ValueError):
            lattice.pseudo_sums(*arguments)


WORDS = ["ab", "aab", "b", "abba", "ba", "aaab"]
LABELS = [["A", "B"], ["A", "A", "B"], ["B"], ["A", "B", "A", "A"], ["B", "A"], ["B", "A", "A", "B"]]


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("transitions", ["trees", "table"])
@pytest.mark.parametrize("beam", [None, 1])
def test_the_loss_of_a_pseudo_round_is_that_of_the_pseudo_likelihood(order, transitions, beam):
    settings = {"window": 1, "order": order, "transitions": transitions, "pseudo_rounds": 3, "beam": beam}
    log = hr.TreeCRF(n_rounds=5, **settings).fit(WORDS, LABELS).training_log_
    assert [record.get("objective") for record in log] == ["pseudo-likelihood"] * 2 + [None] * 3
    for n_rounds in (1, 2):
        model = hr.TreeCRF(n_rounds=n_rounds, **settings).fit(WORDS, LABELS)
        training = training_of(WORDS, LABELS, order)
        lattice = model.model_.potential.lattice(training.sequences, training.topology)
        assert log[n_rounds - 1]["loss"] == pytest.approx(-pseudo_marginals(lattice, training)[0].mean(), abs=1e-6)
    model = hr.TreeCRF(n_rounds=3, **settings).fit(WORDS, LABELS)
    if beam is None:
        assert log[2]["loss"] == pytest.approx(-model.log_likelihood(WORDS, LABELS).mean(), abs=1e-5)
