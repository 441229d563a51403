"""Label probabilities from bit probabilities.

A distribution q over labels implies a probability r for each bit: the sum of q over the labels whose code word has a 1
there. The bits were predicted separately, so their probabilities p rarely agree with any single q. The result is the q
that minimises the Kullback-Leibler divergence of r from p, summed over bits (Huang, Weng & Lin 2006 do this for pairs
of classes). Where the bits are certain, q is the closest code word. Where they do not decide between some labels, q
has the probabilities of these labels; a product of bit probabilities has not, because the bits are redundant.

One step of expectation maximisation multiplies q of a label by the mean over bits of p / r, or of (1 - p) / (1 - r)
where its bit is 0. A step never raises the divergence, but converges slowly. So two steps are extrapolated in log space
(SQUAREM, Varadhan & Roland 2008), and a third step follows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

CYCLES = 16  # of two steps, an extrapolation and a third step
MAX_EXTRAPOLATION = 64.0  # longest extrapolation, in steps
FLOOR_SHARE = 0.01  # probability spread evenly over all labels in the end, so that transitions can choose any label
REVIVAL_SHARE = 0.001  # the same after an extrapolation, so that no label is excluded for good
MIN_PROBABILITY = 2.0**-20
ROUNDING_UNIT = 2.0**-16  # results are multiples of this, so the order of summation does not show
BLOCK_POSITIONS = 512  # positions computed at a time, to stay in the processor's cache

Floats = NDArray[np.float64]


def label_log_probabilities(probabilities: NDArray[np.floating[Any]], code_words: NDArray[np.uint8]) -> Floats:
    """log q (positions, labels) from bit probabilities (positions, bits) and code words (labels, bits)."""
    log_q = np.empty((len(probabilities), len(code_words)))
    ones = code_words.astype(np.float64)
    for begin in range(0, len(probabilities), BLOCK_POSITIONS):
        block = probabilities[begin : begin + BLOCK_POSITIONS].astype(np.float64)
        q = _mixed(_coupled(np.clip(block, MIN_PROBABILITY, 1 - MIN_PROBABILITY), ones), FLOOR_SHARE)
        log_q[begin : begin + BLOCK_POSITIONS] = np.rint(np.log(q) / ROUNDING_UNIT) * ROUNDING_UNIT
    return log_q


def _coupled(p: Floats, ones: Floats) -> Floats:
    q = np.full((len(p), len(ones)), 1 / len(ones))
    for _ in range(CYCLES):
        first = _step(q, p, ones)
        second = _step(first, p, ones)
        q = _step(_mixed(_extrapolated(q, first, second), REVIVAL_SHARE), p, ones)
    return q


def _step(q: Floats, p: Floats, ones: Floats) -> Floats:
    """One step of expectation maximisation."""
    r = np.clip(q @ ones, MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    if_zero, if_one = (1 - p) / (1 - r), p / r
    stepped = q * ((if_one - if_zero) @ ones.T + if_zero.sum(axis=1, keepdims=True))
    return _normalised(np.maximum(stepped, MIN_PROBABILITY**2))


def _extrapolated(q: Floats, first: Floats, second: Floats) -> Floats:
    """SQUAREM in log space: q + 2 a d + a^2 c, with d the first step, c the change between the steps, a = |d| / |c|."""
    start, first_step, second_step = np.log(q), np.log(first / q), np.log(second / first)
    change = second_step - first_step
    size = [(second * way * way).sum(axis=1, keepdims=True) for way in (first_step, change)]
    length = np.clip(np.sqrt(size[0] / np.maximum(size[1], MIN_PROBABILITY**2)), 1, MAX_EXTRAPOLATION)
    log_q = start + 2 * length * first_step + length**2 * change
    return _normalised(np.exp(log_q - log_q.max(axis=1, keepdims=True)))


def _normalised(q: Floats) -> Floats:
    normalised: Floats = q / q.sum(axis=1, keepdims=True)
    return normalised


def _mixed(q: Floats, share: float) -> Floats:
    """q with this share of the probability spread evenly over all labels."""
    mixed: Floats = (1 - share) * q + share / q.shape[1]
    return mixed
