"""Columns with alphabets of their own values: a slice of a column keeps the values of the whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet, Values
from hedgerow.data.columns import BagColumn, CategoricalColumn, Column, trusted


def with_own_alphabet(column: Column) -> Column:
    """The column with an alphabet of the values that occur in it; the time does not depend on its old alphabet."""
    if isinstance(column, CategoricalColumn):
        codes, alphabet = _renumbered(column.codes, column.alphabet)
        return trusted(type(column), column.name, codes, alphabet)
    if isinstance(column, BagColumn):
        ids, alphabet = _renumbered(column.ids, column.alphabet)
        return trusted(type(column), column.name, column.starts, ids, column.weights, alphabet)
    return column


def _renumbered(codes: NDArray[np.int32], alphabet: Values) -> tuple[NDArray[np.int32], Alphabet]:
    """Codes in an alphabet of the values that occur, in the same order; codes below 0 stay."""
    used = np.unique(codes[codes >= 0])
    found = np.where(codes >= 0, np.searchsorted(used, codes), codes).astype(np.int32)
    return found, Alphabet.of(alphabet[int(code)] for code in used)
