"""Scores of labels: how close the bit probabilities are to the code word of each label.

With p the probability that a bit is 1 and c the bit of a label's code word, a label's score is the sum over bits of

    l1           -2 |p - c|
    hamming      -2 |[p > 1/2] - c|
    likelihood   log p where c is 1, log (1 - p) where c is 0

A growing code with distance="lattice" uses the likelihood terms while it grows. To first order around p = 1/2 and up to
a constant, twice the l1 distance is minus the log-likelihood; the factor 2 makes the three scores comparable.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Distance = Literal["l1", "hamming", "likelihood", "lattice"]

MIN_PROBABILITY = 2.0**-20  # bit probabilities are clipped to this and its complement before the logarithm
# Terms are rounded to multiples of this: sums are exact, so the order of summation changes no bit of the result.
ROUNDING_UNIT = 2.0**-30


def label_scores(
    probabilities: NDArray[np.floating[Any]], code_words: NDArray[np.uint8], distance: Distance
) -> NDArray[np.float64]:
    """Scores (positions, labels) from bit probabilities (positions, bits) and code words (labels, bits)."""
    if_zero, if_one = bit_terms(probabilities, distance)
    scores: NDArray[np.float64] = (if_one - if_zero) @ code_words.T.astype(np.float64)
    scores += if_zero.sum(axis=1)[:, None]
    return scores


def bit_terms(
    probabilities: NDArray[np.floating[Any]], distance: Distance
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each bit adds to the score of a label whose code word has a 0 there, and of one that has a 1."""
    p = probabilities.astype(np.float64)
    if distance == "hamming":
        p = (p > 0.5).astype(np.float64)
    if distance in ("l1", "hamming"):
        return _rounded(-2 * p), _rounded(2 * p - 2)
    p = np.clip(p, MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    return _rounded(np.log1p(-p)), _rounded(np.log(p))


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    rounded: NDArray[np.float64] = np.rint(values / ROUNDING_UNIT) * ROUNDING_UNIT
    return rounded


def natural_temperature(code_words: NDArray[np.uint8]) -> float:
    """The divisor of the scores when no dev data can choose one: at least 1.

    It is the mean Hamming distance of two code words over log2 K: log2 K bits would be enough to tell the labels apart,
    the other bits are redundant and count the same evidence again.
    """
    k = len(code_words)
    ones = code_words.sum(axis=0, dtype=np.int64)
    mean_distance = float((ones * (k - ones)).sum()) / (k * (k - 1) / 2)
    return max(mean_distance / float(np.log2(k)), 1.0)
