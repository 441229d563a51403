"""Codes: a code word of bits for each label.

A column of a code divides the labels into two groups. Every code obeys three rules: no column is constant; no two
columns are equal or complementary, because they would divide the labels in the same way; no two labels have the same
code word. A code of K labels therefore has at least ceil(log2 K) and at most 2^(K - 1) - 1 bits.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InputError

Code = Literal["random", "separated", "exhaustive", "one-vs-rest", "grow"]
CODES: tuple[str, ...] = get_args(Code)

CodeWords: TypeAlias = NDArray[np.uint8]  # (labels, bits)

DEFAULT_REDUNDANCY = 10  # without n_bits, a code has this many times the bits that tell the labels apart
MAX_EXHAUSTIVE_LABELS = 11  # the exhaustive code of 11 labels has 1,023 bits
SEPARATED_CANDIDATES = 100  # random codes of which "separated" keeps the best
MAX_ENUMERATED = 16  # up to this many labels (or bits), all partitions (or code words) are enumerated and drawn from
MAX_TRIES = 1000  # draws of a random code before giving up


def least_bits(n_labels: int) -> int:
    """The fewest bits that give every label a code word of its own."""
    return (n_labels - 1).bit_length()


def most_bits(n_labels: int) -> int:
    """The number of ways to divide the labels into two groups."""
    return int(2 ** (n_labels - 1) - 1)


def make_code_words(code: str | Any, n_labels: int, n_bits: int | None, rng: np.random.Generator) -> CodeWords:
    """The code words of a named code (any of CODES except "grow") or of a matrix.

    Raises InputError if there is no such code for this number of labels and bits.
    """
    if not isinstance(code, str):
        return _check_n_bits(checked(code, n_labels), n_bits, "the matrix given as code")
    if code == "exhaustive":
        return _check_n_bits(_exhaustive(n_labels), n_bits, 'code="exhaustive"')
    if code == "one-vs-rest":
        identity = np.eye(n_labels, dtype=np.uint8)
        return _check_n_bits(identity[:, 1:] if n_labels == 2 else identity, n_bits, 'code="one-vs-rest"')
    n = checked_length(n_bits, n_labels)
    return random_code_words(n_labels, n, rng) if code == "random" else _separated(n_labels, n, rng)


def checked_length(n_bits: int | None, n_labels: int) -> int:
    """The number of bits, by default DEFAULT_REDUNDANCY times the fewest; raises InputError if it is impossible."""
    least, most = least_bits(n_labels), most_bits(n_labels)
    if n_bits is None:
        return min(DEFAULT_REDUNDANCY * least, most)
    if not least <= n_bits <= most:
        shown = most if n_labels <= 40 else f"2^{n_labels - 1} - 1"
        raise InputError(
            f"n_bits must be from {least} to {shown} for {n_labels} labels: fewer bits cannot tell the labels apart, "
            f"and there are no more ways to divide them into two groups; it is {n_bits}"
        )
    return n_bits


def _check_n_bits(code_words: CodeWords, n_bits: int | None, code: str) -> CodeWords:
    """The code words; raises InputError if they have another number of bits than was asked for."""
    if n_bits not in (None, code_words.shape[1]):
        n_labels, n = code_words.shape
        raise InputError(f"{code} has {n} bits for {n_labels} labels, but n_bits is {n_bits}; leave n_bits out")
    return code_words


def checked(matrix: Any, n_labels: int) -> CodeWords:
    """A user's matrix as code words; raises InputError where it breaks a rule."""
    rule = f"code must be a matrix of 0 and 1 with a row for each of the {n_labels} labels, in the order of classes_"
    try:
        array = np.asarray(matrix)
    except ValueError:
        raise InputError(f"{rule}; its rows have different lengths") from None
    if array.ndim != 2 or len(array) != n_labels or array.shape[1] == 0:
        raise InputError(f"{rule}; its shape is {array.shape}")
    if array.dtype.kind not in "biuf" or not ((array == 0) | (array == 1)).all():
        raise InputError(f"{rule}; it holds other values, the first is {_first_not_a_bit(array)!r}")
    code_words = np.ascontiguousarray(array, dtype=np.uint8)
    _check_columns(code_words)
    _check_rows(code_words)
    return code_words


def _first_not_a_bit(array: NDArray[Any]) -> Any:
    return next((value for value in array.ravel().tolist() if value not in (0, 1)), None)


def _check_columns(code_words: CodeWords) -> None:
    seen: dict[bytes, int] = {}
    for j, column in enumerate(code_words.T):
        if (column == column[0]).all():
            raise InputError(f"no column of a code may be constant, but column {j} is all {column[0]}; drop it")
        i = seen.setdefault(partition(column), j)
        if i != j:
            kind = "equal" if (code_words[:, i] == column).all() else "complementary"
            raise InputError(
                f"columns of a code must divide the labels differently, but {i} and {j} are {kind}; drop one"
            )


def _check_rows(code_words: CodeWords) -> None:
    seen: dict[bytes, int] = {}
    for j, row in enumerate(code_words):
        i = seen.setdefault(row.tobytes(), j)
        if i != j:
            raise InputError(f"no two labels may have the same code word, but rows {i} and {j} are equal; add a column")


def partition(column: NDArray[np.uint8]) -> bytes:
    """A key that is the same for a column and its complement, and different for every other column."""
    return np.packbits(column ^ column[0]).tobytes()


def is_distinct(code_words: CodeWords) -> bool:
    """Whether no two labels have the same code word."""
    return len({row.tobytes() for row in code_words}) == len(code_words)


def random_code_words(n_labels: int, n_bits: int, rng: np.random.Generator) -> CodeWords:
    """A random code that obeys the rules; raises InputError if MAX_TRIES draws give none.

    Columns are drawn until their code words are distinct. Where there are hardly more code words than labels, that
    almost never happens; then code words are drawn until their columns obey the rules.
    """
    for _ in range(MAX_TRIES if n_bits > 2 * least_bits(n_labels) else MAX_TRIES // 10):
        code_words = _random_columns(n_labels, n_bits, rng)
        if is_distinct(code_words):
            return code_words
    for _ in range(MAX_TRIES):
        code_words = _random_rows(n_labels, n_bits, rng)
        partitions = {partition(column) for column in code_words.T}
        if len(partitions) == n_bits and not (code_words == code_words[0]).all(axis=0).any():
            return code_words
    raise InputError(f"found no code of {n_bits} bits for {n_labels} labels; use more or fewer bits")


def _random_columns(n_labels: int, n_bits: int, rng: np.random.Generator) -> CodeWords:
    if n_labels <= MAX_ENUMERATED:
        drawn = rng.permutation(most_bits(n_labels))[:n_bits] + 1
        return _from_partitions(drawn, n_labels) ^ rng.integers(0, 2, n_bits, dtype=np.uint8)
    columns: dict[bytes, NDArray[np.uint8]] = {}
    while len(columns) < n_bits:
        column = rng.integers(0, 2, n_labels, dtype=np.uint8)
        if not (column == column[0]).all():
            columns.setdefault(partition(column), column)
    return np.stack(list(columns.values()), axis=1)


def _from_partitions(numbers: NDArray[np.int64], n_labels: int) -> CodeWords:
    """A column for each number: label 0 has the bit 0, label i the bit i - 1 of the number."""
    place = np.arange(n_labels)[:, None]
    return (2 * numbers[None, :] >> place & 1).astype(np.uint8)


def _random_rows(n_labels: int, n_bits: int, rng: np.random.Generator) -> CodeWords:
    rows: dict[bytes, NDArray[np.uint8]] = {}
    if n_bits <= MAX_ENUMERATED:
        drawn = rng.permutation(2**n_bits)[:n_labels]
        return (drawn[:, None] >> np.arange(n_bits)[None, :] & 1).astype(np.uint8)
    while len(rows) < n_labels:
        row = rng.integers(0, 2, n_bits, dtype=np.uint8)
        rows.setdefault(row.tobytes(), row)
    return np.stack(list(rows.values()))


def _exhaustive(n_labels: int) -> CodeWords:
    if n_labels > MAX_EXHAUSTIVE_LABELS:
        raise InputError(
            f'code="exhaustive" has 2^(K - 1) - 1 bits and is limited to {MAX_EXHAUSTIVE_LABELS} labels, but there are '
            f'{n_labels}; use code="random" or "separated"'
        )
    return _from_partitions(np.arange(1, most_bits(n_labels) + 1), n_labels)


def _separated(n_labels: int, n_bits: int, rng: np.random.Generator) -> CodeWords:
    """The best separated of many random codes."""
    return max((random_code_words(n_labels, n_bits, rng) for _ in range(SEPARATED_CANDIDATES)), key=separation)


def separation(code_words: CodeWords) -> tuple[int, int]:
    """(smallest Hamming distance between two code words, minus the number of pairs that close); larger is better."""
    signs = 1 - 2 * code_words.astype(np.float32)
    agreements = signs @ signs.T  # bits minus twice the distance: small integers, exact
    distances = (code_words.shape[1] - agreements[np.triu_indices(len(code_words), 1)]) / 2
    return int(distances.min()), -int(np.count_nonzero(distances == distances.min()))
