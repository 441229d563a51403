"""Sums and the noisy-or over instance bags, against loops over lists of positions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow import _core
from hedgerow.future.instance_bags import REST
from oracles import future as oracles_future

SIZES = [1, 2, 3, 5, 8, 100, None]


def starts_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


STARTS = starts_of([1, 2, 7, 3, 20, 1, 11])


@pytest.mark.kernel
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_sums_over_bags(size, back):
    values = np.random.default_rng(0).normal(size=STARTS[-1])
    sums = _core.bag_sums(values, STARTS, size or REST, back, 2)
    expected = [math.fsum(values[bag]) for bag in oracles_future.bags(STARTS, size, back)]
    np.testing.assert_allclose(sums, expected, atol=1e-13)


@pytest.mark.kernel
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_a_position_is_seen_by_the_bags_that_hold_it(size, back):
    values = np.random.default_rng(1).normal(size=STARTS[-1])
    seen = np.zeros(STARTS[-1])
    for t, bag in enumerate(oracles_future.bags(STARTS, size, back)):
        seen[bag] += values[t]
    np.testing.assert_allclose(_core.bag_sums(values, STARTS, size or REST, not back, 1), seen, atol=1e-13)


@pytest.mark.kernel
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_the_noisy_or_of_bags(size, back):
    scores = np.random.default_rng(2).normal(size=STARTS[-1]) * 3
    p, rest = _core.bag_probabilities(scores, STARTS, size or REST, back, 2)
    np.testing.assert_allclose(p, oracles_future.noisy_or(scores, STARTS, size, back), atol=1e-12)
    np.testing.assert_allclose(p + rest, 1, atol=1e-15)


@pytest.mark.kernel
def test_small_probabilities_keep_their_digits():
    """A million positions of probability 1e-12: the product of 1 - q is lost in single steps, the sum is not."""
    n, score = 1_000_001, math.log(1e-12)
    p, rest = _core.bag_probabilities(np.full(n, score), np.array([0, n]), REST, False, 1)
    q = Fraction(1, 10**12 + 1)
    exact = 1 - (1 - q) ** 1000  # of the bag of 1000 positions
    assert p[-1001] == pytest.approx(float(exact), rel=1e-12)
    assert p[0] == pytest.approx(1e-6, rel=1e-5)
    assert (np.diff(p) <= 0).all()
    assert rest[0] < 1


@pytest.mark.kernel
def test_extreme_scores_are_sure():
    scores = np.array([-1e6, 1e6, -1e6, -1e6, 800.0, -800.0, 0.0])
    p, rest = _core.bag_probabilities(scores, np.array([0, 7]), 1, False, 1)
    np.testing.assert_array_equal(p, [1, 0, 0, 1, 0, 0.5, 0])
    np.testing.assert_array_equal(rest, [0, 1, 1, 0, 1, 0.5, 1])
    p, rest = _core.bag_probabilities(scores[::-1].copy(), np.array([0, 7]), REST, True, 1)
    assert np.isfinite(p).all()
    assert (rest >= 0).all()


@pytest.mark.kernel
def test_sums_of_what_is_not_negative_are_not_negative():
    """Where cumulated sums would subtract, a large value would leave noise behind it."""
    values = np.full(1000, 1e-9)
    values[::7] = 1e9
    sums = _core.bag_sums(values, np.array([0, 1000]), 3, False, 1)
    expected = [math.fsum(values[t + 1 : t + 4]) for t in range(1000)]
    np.testing.assert_allclose(sums, expected, rtol=1e-15)


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("values", "starts", "size", "threads", "message"),
    [
        (np.zeros(3), [0, 2], 1, 1, "starts must go from 0"),
        (np.zeros(3), [1, 3], 1, 1, "starts must go from 0"),
        (np.zeros(3), [0, 2, 1, 3], 1, 1, "starts must not fall"),
        (np.zeros(3), [0, 3], 0, 1, "size must be at least 1"),
        (np.zeros(3), [0, 3], 1, 0, "n_threads must be at least 1"),
    ],
)
def test_bad_arguments_of_bags(values, starts, size, threads, message):
    for kernel in (_core.bag_sums, _core.bag_probabilities):
        with pytest.raises(ValueError, match=message):
            kernel(values, np.array(starts), size, False, threads)
