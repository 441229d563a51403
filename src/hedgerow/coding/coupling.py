"""Probabilities of labels from those of bits.

A distribution q of labels says of each bit that it is 1 with the probability r: the sum of q over the labels whose word
has a 1 there. The bits were asked one by one, so their answers p rarely agree on one q; taken is the q with the least
Kullback-Leibler divergence of r from p, summed over the bits (as Huang, Weng & Lin 2006 do for pairs of classes). Where
bits are sure, this is the nearest word; where they waver between some labels, it says which ones and how much, which a
product of the bits' probabilities cannot: bits repeat each other.

Each step multiplies q by how much more often its bits are said than r has them, on average over the bits:
expectation maximisation, with steps nearly twice as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

STEPS = 50
STRETCH = 1.8  # of a step; below 2 it converges as the plain one does
SPREAD = 0.01  # of the probability goes to all labels alike: what bits exclude, transitions may still want
LEAST = 2.0**-20
UNIT = 2.0**-20  # results are rounded to its multiples: no order of summation shows
BLOCK = 512  # positions at a time, for the caches' sake


def label_log_probabilities(probabilities: NDArray[np.floating[Any]], words: NDArray[np.uint8]) -> NDArray[np.float64]:
    """log q, (positions, labels), from the probabilities (positions, bits) and the words (labels, bits)."""
    found = np.empty((len(probabilities), len(words)))
    ones = words.astype(np.float64)
    for begin in range(0, len(probabilities), BLOCK):
        p = np.clip(probabilities[begin : begin + BLOCK].astype(np.float64), LEAST, 1 - LEAST)
        q = (1 - SPREAD) * _coupled(p, ones) + SPREAD / len(words)
        found[begin : begin + BLOCK] = np.rint(np.log(q) / UNIT) * UNIT
    return found


def _coupled(p: NDArray[np.float64], ones: NDArray[np.float64]) -> NDArray[np.float64]:
    n_labels, n_bits = ones.shape
    q = np.full((len(p), n_labels), 1 / n_labels)
    for _ in range(STEPS):
        r = np.clip(q @ ones, LEAST, 1 - LEAST)
        if_zero, if_one = (1 - p) / (1 - r), p / r
        ratio = ((if_one - if_zero) @ ones.T + if_zero.sum(axis=1, keepdims=True)) / n_bits
        q *= np.maximum(ratio, LEAST) ** STRETCH
        q /= q.sum(axis=1, keepdims=True)
    return q
