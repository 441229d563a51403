"""The softmax of positions with a feature added, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow import _core


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
