"""Sequences: the raw columns into which X is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.column_store import ColumnStore
from hedgerow.data.columns import Column, Positions
from hedgerow.data.lazy import is_lazy
from hedgerow.data.plain_values import as_lists
from hedgerow.data.read_x import read
from hedgerow.data.value_reader import ValueReader
from hedgerow.errors import InputError
from hedgerow.utilities import read_only

NOTHING_LEFT_OUT: Mapping[str, int] = MappingProxyType({})


class Sequences(ColumnStore):
    """N sequences whose positions are stored in raw columns; immutable.

    Parameters
    ----------
    X
        A list (or any iterable) of sequences: str, lists of str, dicts, tuples or bags, arrays, data frames, sparse
        matrices. An object of this class is copied without reading it again.
    allow_empty
        Whether X may be empty. Prediction allows it, training does not.

    Raises
    ------
    InputError
        If X is not valid. The message names the sequence, the position and the column.

    Examples
    --------
    >>> import hedgerow as hr
    >>> hr.Sequences([[{"word": "the", "length": 3}, {"word": "cat", "length": 3}]])
    Sequences(1 sequence, 2 positions; 'word' categorical, 'length' numeric)
    """

    __slots__ = ("left_out", "optional_columns", "rows")

    left_out: Mapping[str, int]  # by column: how many texts were absent from the alphabet that the reader was given
    rows: NDArray[np.int64] | None  # the row number of each position, if X came from a data frame
    optional_columns: bool  # whether a column may be absent from some sequences, as keys of dicts may

    def __init__(self, X: object, *, allow_empty: bool = False) -> None:
        self._read(X, ValueReader())
        if len(self) == 0 and not allow_empty:
            raise InputError("X must hold at least one sequence, but it is empty")

    def _read(self, X: object, reader: ValueReader) -> None:
        self.left_out = NOTHING_LEFT_OUT
        if isinstance(X, Sequences):
            self._keep(X.starts, X.columns)
            self.rows, self.optional_columns = X.rows, X.optional_columns
        elif isinstance(X, ColumnStore):
            raise InputError("X must be raw sequences, but it is encoded already; give the sequences before encoding")
        elif isinstance(X, tuple) and len(X) == 2 and (isinstance(X[0], Sequences) or X[1] is None):
            raise InputError(
                "X must be a list of sequences, but got a pair (X, y): from_frame and from_padded return X and y; "
                "write X, y = hedgerow.from_frame(...)"
            )
        elif isinstance(X, (list, tuple)) and X and all(isinstance(one, Sequences) for one in X):
            self._read([sequence for one in X for sequence in one.tolist()], reader)
        elif is_lazy(X):
            raise InputError(
                "X must be sequences in memory, but it is a Dask collection; compute X first, or, for `fit`, pass "
                "client=distributed.Client(...)"
            )
        else:
            starts, columns, optional = read(X, reader)
            self._keep(starts, tuple(columns))
            self.rows, self.optional_columns = None, optional
            self.left_out = {name: count for name, count in reader.left_out.items() if count}

    @classmethod
    def trusted(
        cls,
        starts: NDArray[np.int64],
        columns: tuple[Column, ...],
        rows: NDArray[np.int64] | None = None,
        optional_columns: bool = False,
    ) -> Self:
        """Build from arrays that are known to be consistent, without checks.

        Parameters
        ----------
        starts, columns
            As in `of_columns`.
        rows : 1-D array of int64, optional
            The row number of each position in the data frame from which it was read.
        optional_columns : bool, default=False
            Whether a column may be absent from some sequences.

        Returns
        -------
        Sequences
            The arrays are not copied.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X = hr.Sequences(["cat", "at"])
        >>> hr.Sequences.trusted(X.starts, X.columns)
        Sequences(2 sequences, 5 positions; 'symbol' categorical)
        """
        sequences = super().trusted(starts, columns)
        sequences.rows = None if rows is None else read_only(rows)
        sequences.optional_columns = optional_columns
        sequences.left_out = NOTHING_LEFT_OUT
        return sequences

    def tolist(self) -> list[Any]:
        """Return the sequences as plain Python values, as a user would have written them.

        Returns
        -------
        list
            A str for characters; a list of str, or of lists of str, for values without a name; otherwise a list of
            dicts with a value for each column. None is a missing value, and a key that was absent is left out, except
            that an absent number is 0. Bags are lists, or dicts of their weights. Numbers have the digits that identify
            them as 32-bit floats.

        Examples
        --------
        >>> import hedgerow as hr
        >>> hr.Sequences([["the", "cat"], ["it"]]).tolist()
        [['the', 'cat'], ['it']]
        >>> hr.Sequences([[{"word": "the", "length": 3}, {"word": "cat", "length": None}]]).tolist()
        [[{'word': 'the', 'length': 3}, {'word': 'cat', 'length': None}]]
        """
        return as_lists(self.starts, self.columns)

    def _repr_html_(self) -> str:
        from hedgerow.data.html_repr import sequences_html

        return sequences_html(self)

    def _select(self, starts: NDArray[np.int64], positions: Positions) -> Self:
        columns = tuple(column.take(positions) for column in self.columns)
        rows = None if self.rows is None else self.rows[positions]
        return self.trusted(starts, columns, rows, self.optional_columns)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).trusted, (self.starts, self.columns, self.rows, self.optional_columns)


def read_sequences(X: object, reader: ValueReader) -> Sequences:
    """The sequences of X, whose texts a reader looks up in alphabets; raises InputError if X is empty or not valid."""
    sequences = Sequences.__new__(Sequences)
    sequences._read(X, reader)
    if len(sequences) == 0:
        raise InputError("X must hold at least one sequence, but it is empty")
    return sequences


class Predictions(list[Any]):
    """The predictions for each sequence; with the sequences if X was `Sequences`, so that `to_frame` finds the rows."""

    def __init__(self, predictions: Iterable[Any] = (), sequences: Sequences | None = None) -> None:
        super().__init__(predictions)
        self.sequences = sequences

    def _repr_html_(self) -> str | None:
        from hedgerow.data.html_repr import predictions_html

        return predictions_html(self, self.sequences)


def with_sequences(predictions: list[Any], X: object) -> Predictions:
    """The predictions for X."""
    return Predictions(predictions, X if isinstance(X, Sequences) else None)
