"""Sequences: raw columns, as every input form is read."""

from __future__ import annotations

from hedgerow.data.column_store import ColumnStore
from hedgerow.data.read_x import read
from hedgerow.errors import InputError


class Sequences(ColumnStore):
    """N sequences of positions in raw columns; immutable.

    `X` is a list (or any iterable) of sequences: str, lists of str, of dicts or of bags, arrays, data frames,
    sparse matrices; or Sequences, which are not read again. Raises InputError, naming sequence, position, column.
    """

    __slots__ = ()

    def __init__(self, X: object) -> None:
        if isinstance(X, Sequences):
            if len(X) == 0:
                raise InputError("X must hold at least one sequence, but it is empty")
            self._keep(X.starts, X.columns)
        elif isinstance(X, ColumnStore):
            raise InputError("X is encoded already; give the sequences as they were before encoding")
        else:
            starts, columns = read(X)
            self._keep(starts, tuple(columns))
