"""Slow, obvious twins: the labels of `future` written from the definition, alignments by enumeration."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator


def future_labels(kind: str, bits: list[list[int]]) -> list[str]:
    """The label of every position of one sequence of 8-bit rows, position by position."""
    labels = []
    for t, row in enumerate(bits):
        local = sum(row[:6]) >= 4
        bag = False
        for later in bits[t + 1 : t + 7]:
            if sum(later[:6]) <= 1:
                bag = True
        if kind == "xor":
            label = local != bag
        elif kind == "or":
            label = local or bag
        else:
            label = sum(row[:6]) + bag >= 4
        labels.append("1" if label else "0")
    return labels


def alignments(n_letters: int, n_phonemes: int) -> Iterator[tuple[int, ...]]:
    """Every way to give each letter 0, 1 or 2 phonemes so that none is left."""
    if n_letters == 0:
        if n_phonemes == 0:
            yield ()
        return
    for size in (0, 1, 2):
        if size <= n_phonemes:
            for rest in alignments(n_letters - 1, n_phonemes - size):
                yield (size, *rest)


def chunks(letters: list[int], phonemes: list[int], sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """(letter, phoneme, ...) for each letter of one alignment."""
    found, start = [], 0
    for letter, size in zip(letters, sizes, strict=True):
        found.append((letter, *phonemes[start : start + size]))
        start += size
    return found


def alignment_sums(
    probability: dict[tuple[int, ...], float], letters: list[int], phonemes: list[int]
) -> tuple[float, Counter[tuple[int, ...]], float]:
    """Total probability, expected count of every chunk, and the largest probability of one alignment."""
    total, best = 0.0, 0.0
    weighted: dict[tuple[int, ...], float] = defaultdict(float)
    for sizes in alignments(len(letters), len(phonemes)):
        used = chunks(letters, phonemes, sizes)
        weight = math.prod(probability[chunk] for chunk in used)
        total += weight
        best = max(best, weight)
        for chunk in used:
            weighted[chunk] += weight
    expected = Counter({chunk: weight / total for chunk, weight in weighted.items()}) if total else Counter()
    return total, expected, best
