"""How near the probabilities of bits are to the word of each label.

With p the probability that a bit is 1 and c the bit of a label's word, a label scores the sum over bits of

    l1           -2 |p - c|
    hamming      -2 |[p > 1/2] - c|
    likelihood   log p where c is 1, log (1 - p) where it is 0; so for the lattice while a code grows

Twice the l1 distance is, to first order around p = 1/2 and up to a constant, minus the log-likelihood, so the three
speak in the same unit.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Distance = Literal["l1", "hamming", "likelihood", "lattice"]

LEAST = 2.0**-20  # probabilities below this count as this
# Terms are rounded to multiples of this: their sums are exact, so that no order of summation changes a bit.
UNIT = 2.0**-30


def label_scores(
    probabilities: NDArray[np.floating[Any]], words: NDArray[np.uint8], distance: Distance
) -> NDArray[np.float64]:
    """(positions, labels) from the probabilities (positions, bits) and the words (labels, bits)."""
    if_zero, if_one = terms(probabilities, distance)
    scores: NDArray[np.float64] = (if_one - if_zero) @ words.T.astype(np.float64)
    scores += if_zero.sum(axis=1)[:, None]
    return scores


def terms(
    probabilities: NDArray[np.floating[Any]], distance: Distance
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each bit adds to labels whose word has 0 there, and to those whose word has 1."""
    p = probabilities.astype(np.float64)
    if distance == "hamming":
        p = (p > 0.5).astype(np.float64)
    if distance in ("l1", "hamming"):
        return _rounded(-2 * p), _rounded(2 * p - 2)
    p = np.clip(p, LEAST, 1 - LEAST)
    return _rounded(np.log1p(-p)), _rounded(np.log(p))


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    rounded: NDArray[np.float64] = np.rint(values / UNIT) * UNIT
    return rounded


def natural_temperature(words: NDArray[np.uint8]) -> float:
    """What such scores are divided by without better advice: bits in which two words differ on average, over log2 K.

    That many bits speak where log2 K would tell the labels apart: they repeat each other. At least 1.
    """
    k = len(words)
    ones = words.sum(axis=0, dtype=np.int64)
    mean_distance = float((ones * (k - ones)).sum()) / (k * (k - 1) / 2)
    return max(mean_distance / float(np.log2(k)), 1.0)
