"""Label probabilities from bit probabilities, against slow expectation maximisation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.codes import rng
from hedgerow.codes.code_words import make_code_words
from hedgerow.codes.coupling import label_log_probabilities
from oracles import codes as oracle


@given(st.integers(0, 2**32))
@settings(max_examples=10)
def test_probabilities_of_labels(seed):
    draw = rng(seed)
    words = make_code_words("random", 6, 12, draw)
    p = draw.choice([0.0, 1.0, 0.5, 0.3, 1e-9, *draw.random(4)], size=(9, 12)).astype(np.float32)
    found = label_log_probabilities(p, words)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1, atol=1e-4)
    for row, logs in zip(p.tolist(), found, strict=True):
        q = (np.exp(logs) - 0.01 / 6) / 0.99  # a hundredth is for all labels alike
        best = oracle.divergence(row, oracle.coupled(row, words.tolist()), words.tolist())
        assert oracle.divergence(row, q.tolist(), words.tolist()) == pytest.approx(best, rel=0.03, abs=0.02)
    alone = [label_log_probabilities(p[t : t + 1], words).tobytes() for t in range(9)]
    assert [row.tobytes() for row in found] == alone


def test_labels_that_bits_waver_between_are_found():
    """Bits that speak of a distribution of labels are understood; the nearest word is one label at best."""
    words = make_code_words("random", 8, 100, rng(1))
    q = np.zeros((3, 8))
    q[0, 5] = 1
    q[1, [2, 3]] = 0.7, 0.3
    q[2, [0, 4, 7]] = 0.5, 0.25, 0.25
    found = np.exp(label_log_probabilities((q @ words).astype(np.float32), words))
    np.testing.assert_allclose(found, q, atol=0.02)
