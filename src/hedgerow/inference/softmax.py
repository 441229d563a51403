"""Softmax: probabilities of scores, row by row."""

from __future__ import annotations

import numpy as np

from hedgerow.utilities import Floats, Floats64

CHUNK = 2**18  # scores normalised at a time, to bound memory


def softmax(scores: Floats64) -> Floats64:
    """exp(scores) divided by their sum over each row."""
    p: Floats64 = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return p


def log_softmax_in_place(scores: Floats) -> None:
    """Replace scores (..., labels) by their log-probabilities."""
    rows = scores.reshape(-1, scores.shape[-1])
    step = max(CHUNK // scores.shape[-1], 1)
    for first in range(0, len(rows), step):
        chunk = rows[first : first + step]
        chunk -= chunk.max(axis=1, keepdims=True)
        chunk -= np.log(np.exp(chunk).sum(axis=1, keepdims=True))
