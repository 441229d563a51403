"""The next column of a code that grows: it parts the labels that are confused most."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.codes.code_words import Words, partition

STARTS = 10  # random columns that are improved
ALL_LABELS = 1e-3  # weight of confusions as the labels' shares foretell them, beside those that were seen


def confusion(
    scores: NDArray[np.float64], codes: NDArray[np.int32], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(labels, labels), symmetric: how much probability gold of one label gives to the other.

    Scores (positions, labels) are logarithms up to a constant; a code of -1 has no label here. Labels that are not
    among the codes are confused a little, by their shares in training.
    """
    k = len(shares)
    mass = np.zeros((k, k))
    there = codes >= 0
    odds = np.exp(scores[there] - scores[there].max(axis=1, keepdims=True))
    np.add.at(mass, codes[there], odds / odds.sum(axis=1, keepdims=True))
    mass += ALL_LABELS * max(mass.sum(), 1.0) * np.outer(shares, shares)
    mass = mass + mass.T
    np.fill_diagonal(mass, 0)
    return mass


def urgency(confused: NDArray[np.float64], words: Words) -> NDArray[np.float64]:
    """How much the next column should part two labels: the root of their confusion, over 1 and the bits that part them.

    Without the latter all columns would go for the few labels that are hardest to tell apart, and which no bit can.
    """
    signs = 1.0 - 2.0 * words
    parted = (words.shape[1] - signs @ signs.T) / 2
    urgent: NDArray[np.float64] = np.sqrt(confused) / (1 + parted)
    return urgent


def next_column(
    weights: NDArray[np.float64], words: Words, bits_left: int, rng: np.random.Generator
) -> NDArray[np.uint8] | None:
    """The column that cuts most weight, of those found from random starts; None if every partition is in `words`.

    `bits_left` counts this bit. So that in the end no two labels have the same word, those that have the same so far
    are halved as soon as the bits that are left could not tell more of them apart.
    """
    k = len(weights)
    if k <= 62 and words.shape[1] >= 2 ** (k - 1) - 1:
        return None
    known = {partition(column) for column in words.T}
    found: list[NDArray[np.uint8]] = []
    while not found:
        for _ in range(STARTS):
            column = _improved(rng.integers(0, 2, k, dtype=np.uint8), weights)
            for candidate in (column, _drawn(column, rng)):
                halved = _halved(candidate, words, 2 ** min(bits_left - 1, 62), rng)
                if partition(halved) not in known and not (halved == halved[0]).all():
                    found.append(halved)
                    break
    return max(found, key=lambda column: _cut(column, weights))


def _cut(column: NDArray[np.uint8], weights: NDArray[np.float64]) -> float:
    return float(weights[column == 0][:, column == 1].sum())


def _improved(column: NDArray[np.uint8], weights: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Labels change sides, the one that gains most first, until none gains."""
    side = 1.0 - 2.0 * column
    pull = weights @ side  # gain of label i: its side times its pull
    for _ in range(4 * len(column)):
        gains = side * pull
        best = int(gains.argmax())
        if gains[best] <= 1e-12 * weights.sum():
            break
        side[best] = -side[best]
        pull += 2 * side[best] * weights[:, best]
    return (side < 0).astype(np.uint8)


def _drawn(column: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    """The column with one label, or a few, on the other side: for where the best one is known."""
    changed = column.copy()
    changed[rng.integers(0, len(column), size=int(rng.integers(1, len(column) + 1)))] ^= 1
    return changed


def _halved(column: NDArray[np.uint8], words: Words, most: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """The column changed where more than `most` labels with one word would stay together."""
    groups: dict[bytes, list[int]] = {}
    for label, word in enumerate(words):
        groups.setdefault(word.tobytes(), []).append(label)
    column = column.copy()
    for labels in groups.values():
        for side in (0, 1):
            together = [label for label in labels if column[label] == side]
            if len(together) > most:
                column[rng.permutation(together)[most:]] = 1 - side
    return column
