"""Scores of labels from bit probabilities, against the naive sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.codes import rng
from hedgerow.codes.code_words import make_code_words
from hedgerow.codes.distances import label_scores, natural_temperature
from oracles import codes as oracle


@pytest.mark.parametrize("distance", ["l1", "hamming", "likelihood", "lattice"])
@given(st.integers(0, 2**32))
@settings(max_examples=25)
def test_scores_of_labels(distance, seed):
    draw = rng(seed)
    words = make_code_words("random", 6, 12, draw)
    p = draw.choice([0.0, 1.0, 0.5, 0.3, 1e-9, *draw.random(4)], size=(9, 12)).astype(np.float32)
    found = label_scores(p, words, distance)
    expected = [[oracle.score(row, word, distance) for word in words.tolist()] for row in p.tolist()]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert [row.tobytes() for row in found] == [label_scores(p[t : t + 1], words, distance).tobytes() for t in range(9)]
    if distance != "lattice":
        for row, scores in zip(p.tolist(), found, strict=True):
            best = oracle.nearest(row, words.tolist(), distance)
            assert scores[best] == pytest.approx(scores.max(), abs=1e-6)


def test_the_natural_temperature_counts_repetitions():
    assert natural_temperature(np.array([[0], [1]], np.uint8)) == 1.0
    eye = np.eye(16, dtype=np.uint8)
    assert natural_temperature(eye) == 1.0  # 2 bits differ, and 4 would be needed
    assert natural_temperature(np.tile(eye, 10)) == pytest.approx(20 / 4)
