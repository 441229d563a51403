"""Growing codes: every column obeys the rules and cuts as much weight as the best partition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.codes import rng, sizes
from hedgerow.codes.code_words import make_code_words
from hedgerow.codes.growth import confusion, next_column, urgency
from oracles import codes as oracle


@given(sizes(), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_grown_columns_keep_the_rules(size, seed):
    k, n = size
    draw = rng(seed)
    weights = draw.random((k, k)) * draw.integers(0, 2, (k, k))
    weights = weights + weights.T
    np.fill_diagonal(weights, 0)
    words = np.zeros((k, 0), np.uint8)
    for left in range(n, 0, -1):
        column = next_column(weights, words, left, draw)
        assert column is not None
        words = np.concatenate([words, column[:, None]], axis=1)
    assert oracle.broken_rules(words.tolist()) == []


def test_the_next_column_parts_the_confused():
    weights = np.zeros((6, 6))
    for a, b in [(0, 3), (1, 4), (2, 5)]:
        weights[a, b] = weights[b, a] = 1.0
    column = next_column(weights, np.zeros((6, 0), np.uint8), 10, rng())
    assert column is not None
    assert [column[a] != column[a + 3] for a in range(3)] == [True] * 3
    every = make_code_words("exhaustive", 4, None, rng())
    assert next_column(np.ones((4, 4)), every, 5, rng()) is None
    last = next_column(np.ones((4, 4)), every[:, 1:], 5, rng())
    assert last is not None
    assert oracle.broken_rules(np.concatenate([every[:, 1:], last[:, None]], axis=1).tolist()) == []


def test_the_next_column_cuts_most():
    partitions = make_code_words("exhaustive", 9, None, rng()).T
    for seed in range(20):
        weights = rng(seed).random((9, 9)) ** 3
        weights = weights + weights.T
        np.fill_diagonal(weights, 0)
        column = next_column(weights, np.zeros((9, 0), np.uint8), 10, rng(seed))
        assert column is not None
        cuts = [weights[one == 0][:, one == 1].sum() for one in [column, *partitions]]
        assert cuts[0] == pytest.approx(max(cuts))


def test_confusion_is_the_probability_given_to_other_labels():
    scores = np.log([[0.7, 0.2, 0.1], [0.5, 0.25, 0.25], [0.1, 0.1, 0.8]])
    found = confusion(scores, np.array([0, 1, -1], np.int32), np.zeros(3))
    np.testing.assert_allclose(found, [[0, 0.2 + 0.5, 0.1], [0.7, 0, 0.25], [0.1, 0.25, 0]], atol=1e-12)


def test_labels_that_are_parted_are_less_urgent():
    confused = np.array([[0.0, 4.0, 9.0], [4.0, 0.0, 1.0], [9.0, 1.0, 0.0]])
    words = np.array([[0, 0], [0, 1], [1, 1]], np.uint8)
    assert urgency(confused, words[:, :0]).tolist() == [[0, 2, 3], [2, 0, 1], [3, 1, 0]]
    assert urgency(confused, words).tolist() == [[0, 1, 1], [1, 0, 0.5], [1, 0.5, 0]]
