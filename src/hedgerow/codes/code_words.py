"""Codes: a word of bits for each label.

A column of a code parts the labels in two. What always holds: no column is constant, no two columns are equal or
complementary, for they would part the same way, and no two labels have the same word. So a code of K labels has at
least ceil(log2 K) bits and at most 2^(K - 1) - 1.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InputError

Code = Literal["random", "separated", "exhaustive", "one-vs-rest", "grow"]
CODES: tuple[str, ...] = get_args(Code)

Words = NDArray[np.uint8]  # (labels, bits)

BITS_A_DOUBLING = 10  # of the labels: how long a code is that nobody gave a length
MOST_EXHAUSTIVE = 11  # labels, whose exhaustive code has 1,023 bits
CODES_TRIED = 100  # for the one of best separated words
FEW_LABELS = 16  # of so many all partitions can be listed
TRIES = 1000


def least_bits(n_labels: int) -> int:
    return (n_labels - 1).bit_length()


def most_bits(n_labels: int) -> int:
    return int(2 ** (n_labels - 1) - 1)


def make_words(code: str | Any, n_labels: int, n_bits: int | None, rng: np.random.Generator) -> Words:
    """The words of a code, which is a name of CODES but "grow", or a matrix; raises InputError where it cannot be."""
    if not isinstance(code, str):
        return _fixed(checked(code, n_labels), n_bits, "the matrix given as code")
    if code == "exhaustive":
        if n_labels > MOST_EXHAUSTIVE:
            raise InputError(
                f'code="exhaustive" has 2^(K - 1) - 1 bits and takes at most {MOST_EXHAUSTIVE} labels, but there are '
                f'{n_labels}; take code="random" or "separated"'
            )
        return _fixed(_from_partitions(np.arange(1, most_bits(n_labels) + 1), n_labels), n_bits, 'code="exhaustive"')
    if code == "one-vs-rest":
        words = np.eye(n_labels, dtype=np.uint8)
        return _fixed(words[:, 1:] if n_labels == 2 else words, n_bits, 'code="one-vs-rest"')
    n = checked_length(n_bits, n_labels)
    return random_words(n_labels, n, rng) if code == "random" else _separated(n_labels, n, rng)


def checked_length(n_bits: int | None, n_labels: int) -> int:
    """The number of bits, ten times as many as labels need if it is not given; raises InputError."""
    least, most = least_bits(n_labels), most_bits(n_labels)
    if n_bits is None:
        return min(BITS_A_DOUBLING * least, most)
    if not least <= n_bits <= most:
        shown = most if n_labels <= 40 else f"2^{n_labels - 1} - 1"
        raise InputError(
            f"n_bits must be from {least} to {shown} for {n_labels} labels: fewer bits cannot tell them apart, and "
            f"there are no more ways to part them in two; it is {n_bits}"
        )
    return n_bits


def _fixed(words: Words, n_bits: int | None, code: str) -> Words:
    if n_bits not in (None, words.shape[1]):
        n_labels, n = words.shape
        raise InputError(f"{code} has {n} bits for {n_labels} labels, but n_bits is {n_bits}; leave it out")
    return words


def checked(matrix: Any, n_labels: int) -> Words:
    """A matrix that came from outside as words; raises InputError where it breaks a rule."""
    rule = f"code must be a matrix of 0 and 1 with a row for each of the {n_labels} labels, in the order of classes_"
    try:
        given = np.asarray(matrix)
    except ValueError:
        raise InputError(f"{rule}; what came has rows of different lengths") from None
    if given.ndim != 2 or len(given) != n_labels or given.shape[1] == 0:
        raise InputError(f"{rule}; its shape is {given.shape}")
    if given.dtype.kind not in "biuf" or not ((given == 0) | (given == 1)).all():
        raise InputError(f"{rule}; it holds other values, the first is {_first_other(given)!r}")
    words = np.ascontiguousarray(given, dtype=np.uint8)
    _check_columns(words)
    _check_rows(words)
    return words


def _first_other(given: NDArray[Any]) -> Any:
    return next((value for value in given.ravel().tolist() if value not in (0, 1)), None)


def _check_columns(words: Words) -> None:
    seen: dict[bytes, int] = {}
    for j, column in enumerate(words.T):
        if (column == column[0]).all():
            raise InputError(f"no column of a code may be constant, but column {j} is all {column[0]}; drop it")
        i = seen.setdefault(partition(column), j)
        if i != j:
            kind = "equal" if (words[:, i] == column).all() else "complementary"
            raise InputError(f"columns of a code must part labels differently, but {i} and {j} are {kind}; drop one")


def _check_rows(words: Words) -> None:
    seen: dict[bytes, int] = {}
    for j, row in enumerate(words):
        i = seen.setdefault(row.tobytes(), j)
        if i != j:
            raise InputError(f"no two labels may have the same word, but rows {i} and {j} are equal; add a column")


def partition(column: NDArray[np.uint8]) -> bytes:
    """The same for a column and its complement, and for no other."""
    return np.packbits(column ^ column[0]).tobytes()


def is_distinct(words: Words) -> bool:
    """Whether no two labels have the same word."""
    return len({row.tobytes() for row in words}) == len(words)


def random_words(n_labels: int, n_bits: int, rng: np.random.Generator) -> Words:
    """A code drawn at random from those that keep the rules.

    Columns are drawn until their words are distinct; where there are hardly more words than labels that never happens,
    and words are drawn until their columns are as they must be.
    """
    for _ in range(TRIES if n_bits > 2 * least_bits(n_labels) else TRIES // 10):
        words = _random_columns(n_labels, n_bits, rng)
        if is_distinct(words):
            return words
    for _ in range(TRIES):
        words = _random_rows(n_labels, n_bits, rng)
        parts = {partition(column) for column in words.T}
        if len(parts) == n_bits and not (words == words[0]).all(axis=0).any():
            return words
    raise InputError(f"found no code of {n_bits} bits for {n_labels} labels; take more or fewer bits")


def _random_columns(n_labels: int, n_bits: int, rng: np.random.Generator) -> Words:
    if n_labels <= FEW_LABELS:
        drawn = rng.permutation(most_bits(n_labels))[:n_bits] + 1
        return _from_partitions(drawn, n_labels) ^ rng.integers(0, 2, n_bits, dtype=np.uint8)
    columns: dict[bytes, NDArray[np.uint8]] = {}
    while len(columns) < n_bits:
        column = rng.integers(0, 2, n_labels, dtype=np.uint8)
        if not (column == column[0]).all():
            columns.setdefault(partition(column), column)
    return np.stack(list(columns.values()), axis=1)


def _from_partitions(numbers: NDArray[np.int64], n_labels: int) -> Words:
    """Columns whose bits, label 1 the lowest, make these numbers; label 0 has the bit 0."""
    place = np.arange(n_labels)[:, None]
    return (2 * numbers[None, :] >> place & 1).astype(np.uint8)


def _random_rows(n_labels: int, n_bits: int, rng: np.random.Generator) -> Words:
    rows: dict[bytes, NDArray[np.uint8]] = {}
    if n_bits <= FEW_LABELS:
        drawn = rng.permutation(2**n_bits)[:n_labels]
        return (drawn[:, None] >> np.arange(n_bits)[None, :] & 1).astype(np.uint8)
    while len(rows) < n_labels:
        row = rng.integers(0, 2, n_bits, dtype=np.uint8)
        rows.setdefault(row.tobytes(), row)
    return np.stack(list(rows.values()))


def _separated(n_labels: int, n_bits: int, rng: np.random.Generator) -> Words:
    """Of many random codes the one whose two nearest words are furthest apart; fewest such pairs among equals."""
    return max((random_words(n_labels, n_bits, rng) for _ in range(CODES_TRIED)), key=separation)


def separation(words: Words) -> tuple[int, int]:
    """(least distance between two words, minus how many pairs are that near)"""
    signs = 1 - 2 * words.astype(np.float32)
    agreements = signs @ signs.T  # bits minus twice the distance: small integers, exact
    distances = (words.shape[1] - agreements[np.triu_indices(len(words), 1)]) / 2
    return int(distances.min()), -int(np.count_nonzero(distances == distances.min()))
