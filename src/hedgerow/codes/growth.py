"""The next column of a growing code: it separates the labels that the code so far confuses most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.codes.code_words import CodeWords, partition

N_STARTS = 10  # random columns that are improved by local search
PRIOR_WEIGHT = 1e-3  # weight of the confusions expected from label frequencies, relative to the observed ones


def confusion(
    scores: NDArray[np.float64], codes: NDArray[np.int32], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Symmetric (labels, labels): probability that positions with the gold label of one get for the other.

    `scores` (positions, labels) are log-probabilities up to a constant. Positions with the code -1 (a label unknown in
    training) are ignored. `shares` are the label frequencies in training: labels without gold positions here are
    confused a little, in proportion to their shares.
    """
    k = len(shares)
    mass = np.zeros((k, k))
    known = codes >= 0
    odds = np.exp(scores[known] - scores[known].max(axis=1, keepdims=True))
    np.add.at(mass, codes[known], odds / odds.sum(axis=1, keepdims=True))
    mass += PRIOR_WEIGHT * max(mass.sum(), 1.0) * np.outer(shares, shares)
    mass = mass + mass.T
    np.fill_diagonal(mass, 0)
    return mass


def urgency(confused: NDArray[np.float64], code_words: CodeWords) -> NDArray[np.float64]:
    """Weight of separating two labels by the next column: sqrt(confusion) / (1 + bits that separate them already).

    Without the denominator every column would separate the same few labels that no bit can tell apart.
    """
    signs = 1.0 - 2.0 * code_words
    separating = (code_words.shape[1] - signs @ signs.T) / 2
    urgent: NDArray[np.float64] = np.sqrt(confused) / (1 + separating)
    return urgent


def next_column(
    weights: NDArray[np.float64], code_words: CodeWords, bits_left: int, rng: np.random.Generator
) -> NDArray[np.uint8] | None:
    """The column found that cuts most weight; None if the code has every partition already.

    `bits_left` includes this bit. In the end every label must have a code word of its own, so groups of labels with
    equal code words are halved as soon as the remaining bits could not separate larger groups.
    """
    k = len(weights)
    if k <= 62 and code_words.shape[1] >= 2 ** (k - 1) - 1:
        return None
    known = {partition(column) for column in code_words.T}
    found: list[NDArray[np.uint8]] = []
    while not found:
        for _ in range(N_STARTS):
            column = _improved(rng.integers(0, 2, k, dtype=np.uint8), weights)
            for candidate in (column, _perturbed(column, rng)):
                halved = _halved(candidate, code_words, 2 ** min(bits_left - 1, 62), rng)
                if partition(halved) not in known and not (halved == halved[0]).all():
                    found.append(halved)
                    break
    return max(found, key=lambda column: _cut(column, weights))


def _cut(column: NDArray[np.uint8], weights: NDArray[np.float64]) -> float:
    return float(weights[column == 0][:, column == 1].sum())


def _improved(column: NDArray[np.uint8], weights: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Local search: move the label that gains most to the other side until no label gains."""
    side = 1.0 - 2.0 * column
    pull = weights @ side  # gain of moving label i: its side times its pull
    for _ in range(4 * len(column)):
        gains = side * pull
        best = int(gains.argmax())
        if gains[best] <= 1e-12 * weights.sum():
            break
        side[best] = -side[best]
        pull += 2 * side[best] * weights[:, best]
    return (side < 0).astype(np.uint8)


def _perturbed(column: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    """The column with a few random labels on the other side, for when the code has the best column already."""
    changed = column.copy()
    changed[rng.integers(0, len(column), size=int(rng.integers(1, len(column) + 1)))] ^= 1
    return changed


def _halved(column: NDArray[np.uint8], code_words: CodeWords, most: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """The column, changed so that no more than `most` labels with equal code words stay on one side."""
    groups: dict[bytes, list[int]] = {}
    for label, word in enumerate(code_words):
        groups.setdefault(word.tobytes(), []).append(label)
    column = column.copy()
    for labels in groups.values():
        for side in (0, 1):
            together = [label for label in labels if column[label] == side]
            if len(together) > most:
                column[rng.permutation(together)[most:]] = 1 - side
    return column
