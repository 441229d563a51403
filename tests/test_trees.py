"""Trees of the library, node for node, against the algorithm as the papers print it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
import oracles_trees
from hedgerow import _core
from hedgerow.encoding import Binning, Rows, Window

pytestmark = pytest.mark.kernel


def random_rows(rng, lengths, window, *, numeric=False, bag=False):
    """Dicts of one to three columns, few values, so that ties and empty nodes are common."""
    X = []
    for n in lengths:
        sequence = []
        for _ in range(n):
            position = {"letter": str(rng.choice(list("abc")))}
            if rng.random() < 0.15:
                del position["letter"]
            if numeric:
                position["number"] = float(rng.integers(0, 4))
            if bag:
                position["bag"] = [v for v in "pqr" if rng.random() < 0.5]
            sequence.append(position)
        X.append(sequence)
    X[0][0].setdefault("letter", "a")
    sequences = hr.Sequences(X)
    binnings = {c.name: Binning.fit(c.values) for c in sequences.columns if c.kind == "numeric"}
    return Rows(sequences, Window.of(window), binnings)


def random_marginals(rng, starts, order, k):
    n = int(starts[-1])
    marginals = rng.dirichlet(np.ones(k ** (order + 1)), size=n).reshape(n, k**order, k)
    for begin, end in pairwise(starts):
        for t in range(begin, min(end, begin + order)):
            rows = k ** (t - begin)
            marginals[t, rows:] = 0
            marginals[t] /= marginals[t].sum()
    return marginals.astype(np.float32)


def as_dict(at, nodes, values, gains):
    attribute, lag, label, if_true, if_false = nodes[at].tolist()
    if attribute < 0 and lag < 0:
        return {"value": float(values[at])}
    return {
        "test": ("id", attribute) if attribute >= 0 else ("lag", lag, label),
        "gain": float(gains[at]),
        "true": as_dict(if_true, nodes, values, gains),
        "false": as_dict(if_false, nodes, values, gains),
    }


def grow(rows, order, k, marginals, gold, *, step=1.0, l2=2.0, newton=False, max_step=1.0, min_leaf=1, max_leaves=8,
         n_threads=1, weights=None):  # fmt: skip
    data = _core.TreeData(rows.reader, k, order)
    scores = np.zeros_like(marginals)
    starts, nodes, values, gains, counts = data.grow_round(
        marginals, gold, scores, weights, step, l2, newton, max_step, min_leaf, max_leaves, n_threads
    )
    return data, scores, starts, nodes.reshape(-1, 5), values, gains, counts


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    order = draw(st.integers(0, 2))
    k = draw(st.integers(2, 3))
    lengths = rng.integers(1, 6, size=draw(st.integers(1, 4)))
    rows = random_rows(rng, lengths, draw(st.integers(0, 2)), numeric=draw(st.booleans()), bag=draw(st.booleans()))
    starts = rows.sequences.starts
    gold = rng.integers(0, k, size=int(starts[-1])).astype(np.int32)
    uniform = draw(st.booleans())  # as in the first round, where ties abound
    marginals = random_marginals(rng, starts, order, k)
    if uniform:
        marginals = np.where(marginals > 0, 1 / k ** (order + 1), 0).astype(np.float32)
    return rows, order, k, marginals, gold


@given(cases(), st.integers(2, 9), st.sampled_from([0.0, 2.0]), st.booleans(), st.integers(1, 2))
@settings(max_examples=120)
def test_trees_equal_the_printed_algorithm(case, max_leaves, l2, newton, min_leaf):
    rows, order, k, marginals, gold = case
    _, _, starts, nodes, values, gains, _ = grow(
        rows, order, k, marginals, gold, l2=l2, newton=newton, min_leaf=min_leaf, max_leaves=max_leaves, max_step=0.7
    )
    features = oracles_trees.features_of(rows, order, k)
    rules = oracles_trees.Rules(l2, newton, 0.7, min_leaf)
    for label in range(k):
        examples = oracles_trees.examples_of(marginals, gold, rows.sequences.starts.tolist(), label, order, k)
        expected = oracles_trees.fit_regression_tree(examples, features, max_leaves, rules)
        part = slice(starts[label], starts[label + 1])
        assert as_dict(0, nodes[part], values[part], gains[part]) == expected


@given(cases(), st.booleans())
@settings(max_examples=60)
def test_what_training_adds_is_what_evaluation_adds(case, newton):
    rows, order, k, marginals, gold = case
    data, scores, starts, nodes, values, _, _ = grow(rows, order, k, marginals, gold, newton=newton, step=0.3)
    again = np.zeros_like(scores)
    data.add_scores(np.arange(k, dtype=np.int32), starts, nodes, values, again, 1)
    np.testing.assert_array_equal(scores, again)


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    rows = random_rows(rng, rng.integers(1, 30, size=50), 2, numeric=True, bag=True)
    starts = rows.sequences.starts
    gold = rng.integers(0, 5, size=int(starts[-1])).astype(np.int32)
    marginals = random_marginals(rng, starts, 1, 5)
    one = grow(rows, 1, 5, marginals, gold, max_leaves=20)
    three = grow(rows, 1, 5, marginals, gold, max_leaves=20, n_threads=3)
    for a, b in zip(one[1:], three[1:], strict=True):
        np.testing.assert_array_equal(a, b)


def test_weights_of_one_change_nothing_and_zero_leaves_out():
    rng = np.random.default_rng(1)
    rows = random_rows(rng, [4, 4], 1)
    gold = rng.integers(0, 2, size=8).astype(np.int32)
    marginals = random_marginals(rng, rows.sequences.starts, 1, 2)
    plain = grow(rows, 1, 2, marginals, gold)
    ones = grow(rows, 1, 2, marginals, gold, weights=np.ones(8))
    np.testing.assert_array_equal(plain[3], ones[3])
    np.testing.assert_allclose(plain[4], ones[4])
    weights = np.repeat([1.0, 0.0], 4)
    half = grow(rows, 1, 2, marginals, gold, weights=weights, max_leaves=2)
    alone = grow(Rows(rows.sequences[0], rows.window), 1, 2, marginals[:4], gold[:4], max_leaves=2)
    np.testing.assert_allclose(half[4][half[3][:, 0] < 0].max(), alone[4][alone[3][:, 0] < 0].max())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": np.array([0, 1, 2], dtype=np.int32)}, "gold labels are below"),
        ({"gold": np.array([0, 1], dtype=np.int32)}, "one gold label"),
        ({"marginals": np.zeros((3, 1, 2), dtype=np.float32)}, "labels\\^order"),
        ({"max_leaves": 1}, "growth rules"),
        ({"weights": np.ones(2)}, "one weight"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    rows = random_rows(np.random.default_rng(2), [3], 1)
    arguments = {"marginals": np.zeros((3, 2, 2), dtype=np.float32), "gold": np.array([0, 1, 0], dtype=np.int32)}
    with pytest.raises(ValueError, match=message):
        grow(rows, 1, 2, **arguments | change)


@pytest.mark.parametrize(
    "nodes",
    [
        [[0, -1, -1, 0, 0]],
        [[0, -1, -1, 1, 2]],
        [[99, -1, -1, 1, 2], [-1] * 5, [-1] * 5],
        [[-1, 1, 0, 1, 2], [-1] * 5, [-1] * 5],
        [[-1, 0, 3, 1, 2], [-1] * 5, [-1] * 5],
        [[-1, 0, -1, 1, 2], [-1] * 5, [-1] * 5],
    ],
)
def test_a_forest_that_cannot_be_is_refused(nodes):
    data = _core.TreeData(random_rows(np.random.default_rng(2), [3], 1).reader, 2, 1)
    table = np.array(nodes, dtype=np.int32)
    starts = np.array([0, len(table)])
    with pytest.raises(ValueError):
        data.add_scores(np.zeros(1, np.int32), starts, table, np.zeros(len(table)), np.zeros((3, 2, 2), np.float32), 1)
