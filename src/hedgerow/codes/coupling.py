"""Probabilities of labels from those of bits.

A distribution q of labels says of each bit that it is 1 with the probability r: the sum of q over the labels whose word
has a 1 there. The bits were asked one by one, so their answers p rarely agree on one q; taken is the q with the least
Kullback-Leibler divergence of r from p, summed over the bits (as Huang, Weng & Lin 2006 do for pairs of classes). Where
bits are sure, this is the nearest word; where they waver between some labels, it says which ones and how much, which a
product of the bits' probabilities cannot: bits repeat each other.

A step multiplies q by how much more often its bits are said than r has them, on average over the bits: expectation
maximisation, which never raises the divergence but is slow. So two steps show the way, and a long one is taken along it
in logarithms (Varadhan & Roland 2008), as long as the two say that the way is straight.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

CYCLES = 16  # of three steps and a long one
LONGEST = 64.0  # steps in a long one
SPREAD = 0.01  # of the probability goes to all labels alike: what bits exclude, transitions may still want
REVIVED = 0.001  # the same after a long step, so that no label is lost for good
LEAST = 2.0**-20
UNIT = 2.0**-16  # results are rounded to its multiples: no order of summation shows
BLOCK = 512  # positions at a time, for the caches' sake

Floats = NDArray[np.float64]


def label_log_probabilities(probabilities: NDArray[np.floating[Any]], words: NDArray[np.uint8]) -> Floats:
    """log q, (positions, labels), from the probabilities (positions, bits) and the words (labels, bits)."""
    found = np.empty((len(probabilities), len(words)))
    ones = words.astype(np.float64)
    for begin in range(0, len(probabilities), BLOCK):
        p = np.clip(probabilities[begin : begin + BLOCK].astype(np.float64), LEAST, 1 - LEAST)
        q = _mixed(_coupled(p, ones), SPREAD)
        found[begin : begin + BLOCK] = np.rint(np.log(q) / UNIT) * UNIT
    return found


def _coupled(p: Floats, ones: Floats) -> Floats:
    q = np.full((len(p), len(ones)), 1 / len(ones))
    for _ in range(CYCLES):
        first = _step(q, p, ones)
        second = _step(first, p, ones)
        q = _step(_mixed(_leap(q, first, second), REVIVED), p, ones)
    return q


def _step(q: Floats, p: Floats, ones: Floats) -> Floats:
    r = np.clip(q @ ones, LEAST, 1 - LEAST)
    if_zero, if_one = (1 - p) / (1 - r), p / r
    stepped = q * ((if_one - if_zero) @ ones.T + if_zero.sum(axis=1, keepdims=True))
    return _normal(np.maximum(stepped, LEAST**2))


def _leap(q: Floats, first: Floats, second: Floats) -> Floats:
    """From q on, along the way to `first` and `second`; its length is of their difference over that of their turn."""
    start, to_first, to_second = np.log(q), np.log(first / q), np.log(second / first)
    turn = to_second - to_first
    size = [(second * way * way).sum(axis=1, keepdims=True) for way in (to_first, turn)]
    length = np.clip(np.sqrt(size[0] / np.maximum(size[1], LEAST**2)), 1, LONGEST)
    there = start + 2 * length * to_first + length**2 * turn
    return _normal(np.exp(there - there.max(axis=1, keepdims=True)))


def _normal(q: Floats) -> Floats:
    normal: Floats = q / q.sum(axis=1, keepdims=True)
    return normal


def _mixed(q: Floats, share: float) -> Floats:
    """With a share for all labels alike."""
    mixed: Floats = (1 - share) * q + share / q.shape[1]
    return mixed
