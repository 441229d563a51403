"""The softmax of positions with a feature added, against plain loops."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hedgerow import _core
from hedgerow.learning.sum_limits import SumLimits
from oracles import future as oracles_future


@pytest.mark.kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_softmax_of_positions(dtype):
    rng = np.random.default_rng(0)
    scores, eta, q = rng.normal(size=(50, 4)).astype(dtype) * 20, rng.normal(size=4), rng.random(50)
    codes = rng.integers(-1, 4, size=50).astype(np.int32)
    spoken = scores.astype(np.float64) + q[:, None] * eta
    for given, feature in ((spoken, (eta, q)), (scores.astype(np.float64), (None, None))):
        powers = np.exp(given - given.max(axis=1, keepdims=True))
        p = powers / powers.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(_core.softmax(scores, *feature, 2), p, rtol=1e-12)
        expected = np.log(p[np.arange(50), np.maximum(codes, 0)])
        np.testing.assert_allclose(_core.log_gold(scores, codes, *feature, 2), expected, rtol=1e-9, atol=1e-12)
    huge = np.array([[1e6, -1e6], [-1e6, 1e6]], dtype)
    np.testing.assert_array_equal(_core.log_gold(huge, np.zeros(2, np.int32), None, None, 1), [0, -2e6])


@pytest.mark.kernel
def test_sums_along_a_direction_on_threads():
    """Against plain sums over (gold - P); the same bits for every number of threads."""
    rng = np.random.default_rng(1)
    n, k = 5000, 3  # several tasks of a thread
    scores, eta, q = rng.normal(size=(n, k)), rng.normal(size=k), rng.random(n)
    codes = rng.integers(-1, k, size=n).astype(np.int32)
    weights = np.where(codes < 0, 0.0, rng.random(n))
    p = _core.softmax(scores, eta, q, 1)
    residuals = (np.eye(k)[codes] - p) * weights[:, None]
    variance = weights * (p @ eta**2 - (p @ eta) ** 2)
    unit = SumLimits(n, 1.0).count_unit
    sums = [_core.direction_sums(scores, codes, weights, eta, q, unit, threads) for threads in (1, 2, 3)]
    by_position = [_core.along_direction(scores, codes, weights, eta, q, threads) for threads in (1, 2, 3)]
    np.testing.assert_allclose(sums[0][0], q @ residuals, rtol=1e-10)
    np.testing.assert_allclose(sums[0][1], (weights * q**2) @ p, rtol=1e-10)
    np.testing.assert_allclose(by_position[0][0], residuals @ eta, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(by_position[0][1], variance, rtol=1e-10, atol=1e-14)
    for each in (sums, by_position):
        for first, other in zip(each[0] + each[0], each[1] + each[2], strict=True):
            np.testing.assert_array_equal(first, other)


@pytest.mark.kernel
@pytest.mark.parametrize("largest", [1.0, 300.0, 1e-4])
def test_direction_sums_are_exact(largest):
    """Each term is rounded once to a multiple of the unit, so that every division into parts gives the same bits."""
    rng = np.random.default_rng(2)
    n, k = 300, 3
    scores, eta, q = rng.normal(size=(n, k)), rng.normal(size=k), rng.random(n)
    codes = rng.integers(-1, k, size=n).astype(np.int32)
    weights = np.where(codes < 0, 0.0, rng.random(n) * largest)
    unit = SumLimits(n, largest).count_unit
    p = _core.softmax(scores, eta, q, 1)
    whole = np.array(_core.direction_sums(scores, codes, weights, eta, q, unit, 1))
    for sums, exact in zip(whole.tolist(), oracles_future.direction_sums(p, codes, weights, q), strict=True):
        for found, expected in zip(sums, exact, strict=True):
            assert abs(Fraction(found) - expected) <= 2 * n * Fraction(unit)
            assert Fraction(found) / Fraction(unit) == int(found / unit)
    for cuts in ([0, 1, 130, n], [0, 0, 299, n]):
        parts = [
            _core.direction_sums(scores[at], codes[at], weights[at], eta, q[at], unit, 1)
            for at in map(slice, cuts[:-1], cuts[1:])
        ]
        np.testing.assert_array_equal(np.sum(parts, axis=0), whole)


@pytest.mark.kernel
@pytest.mark.parametrize("work", [_core.direction_sums, _core.along_direction])
def test_bad_arguments_of_sums_along_a_direction(work):
    scores, codes, ones = np.zeros((2, 3)), np.zeros(2, np.int32), np.ones(2)
    rest = (2.0**-40, 1) if work is _core.direction_sums else (1,)
    with pytest.raises(ValueError, match="one code and weight"):
        work(scores, codes, np.ones(3), np.zeros(3), ones, *rest)
    with pytest.raises(ValueError, match="where the weight is not 0"):
        work(scores, codes - 1, ones, np.zeros(3), ones, *rest)
    if work is _core.direction_sums:
        with pytest.raises(ValueError, match="unit must be at least 0"):
            work(scores, codes, ones, np.zeros(3), ones, -1.0, 1)


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("codes", "eta", "q", "message"),
    [
        ([0], None, None, "one code"),
        ([0, 3], None, None, "below the number"),
        ([0, 0], np.zeros(3), None, "must be given together"),
        ([0, 0], np.zeros(2), np.zeros(2), "one value per label"),
        ([0, 0], np.zeros(3), np.zeros(3), "one value per position"),
    ],
)
def test_bad_arguments_of_a_softmax(codes, eta, q, message):
    with pytest.raises(ValueError, match=message):
        _core.log_gold(np.zeros((2, 3)), np.array(codes, np.int32), eta, q, 1)
