"""The base class of raw and encoded sequences: flat columns, and where each sequence starts in them."""

from __future__ import annotations

from collections.abc import Iterator
from types import EllipsisType
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.data.columns import Column, Positions
from hedgerow.data.ragged import first_duplicate, ranges, starts_of
from hedgerow.errors import InputError
from hedgerow.utilities import counted, read_only

Index: TypeAlias = int | slice | ArrayLike | tuple[Any, EllipsisType]


class ColumnStore:
    """N sequences whose positions are stored end to end in columns; immutable.

    Position t of sequence i is row starts[i] + t of every column.
    """

    __slots__ = ("_by_name", "columns", "starts")

    starts: NDArray[np.int64]  # the first row of each sequence, and the end of the last
    columns: tuple[Column, ...]

    def _keep(self, starts: NDArray[np.int64], columns: tuple[Column, ...]) -> None:
        self.starts = read_only(starts)
        self.columns = columns
        self._by_name = {column.name: column for column in columns}

    @classmethod
    def of_columns(cls, starts: NDArray[np.int64], columns: tuple[Column, ...]) -> Self:
        """Build sequences from their starts and columns.

        Parameters
        ----------
        starts : 1-D array of int64
            The first row of each sequence, and the end of the last.
        columns : tuple of Column
            Each has a value for every position.

        Returns
        -------
        Sequences
            The arrays are not copied.

        Raises
        ------
        InputError
            Unless starts increase from 0, and every column has a distinct name and all positions.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X = hr.Sequences(["cat", "at"])
        >>> hr.Sequences.of_columns(X.starts, X.columns)
        Sequences(2 sequences, 5 positions; 'symbol' categorical)
        """
        if not isinstance(starts, np.ndarray) or starts.ndim != 1 or starts.dtype != np.int64:
            raise InputError("starts must be a 1-D array of int64")
        if len(starts) < 2 or starts[0] != 0 or (np.diff(starts) < 1).any():
            raise InputError("starts must increase from 0, one for each sequence and the end; no sequence may be empty")
        if not columns:
            raise InputError("sequences need at least one column")
        twice = first_duplicate(column.name for column in columns)
        if twice is not None:
            raise InputError(f"columns must have distinct names, but {twice!r} occurs twice; rename one")
        for column in columns:
            if len(column) != starts[-1]:
                raise InputError(
                    f"column {column.name!r} must have {counted(int(starts[-1]), 'value')}, one for each position, "
                    f"but has {len(column)}"
                )
        return cls.trusted(np.ascontiguousarray(starts), tuple(columns))

    @classmethod
    def trusted(cls, starts: NDArray[np.int64], columns: tuple[Column, ...]) -> Self:
        """Build from starts and columns that are known to be consistent, without checks."""
        store = cls.__new__(cls)
        store._keep(starts, columns)
        return store

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).trusted, (self.starts, self.columns)

    def column(self, name: str) -> Column:
        """Return a column.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        Column
            The values of all positions, one sequence after the other.

        Raises
        ------
        InputError
            If there is no such column.

        Examples
        --------
        >>> import hedgerow as hr
        >>> hr.Sequences(["cat", "at"]).column("symbol").kind
        'categorical'
        """
        if name not in self._by_name:
            raise InputError(f"there is no column {name!r}; the columns are {list(self._by_name)}")
        return self._by_name[name]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of positions of each sequence."""
        return np.diff(self.starts)

    @property
    def n_positions(self) -> int:
        """The number of positions of all sequences."""
        return int(self.starts[-1])

    @property
    def shape(self) -> tuple[int]:
        """(number of sequences,): scikit-learn reads it."""
        return (len(self),)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Index) -> Self:
        """The sequences at an int (one sequence), a slice, indices or a mask; raises IndexError if out of range."""
        if isinstance(index, tuple):  # scikit-learn indexes with (key, ...)
            if len(index) != 2 or index[1] is not Ellipsis:
                raise IndexError("sequences have one dimension, but got an index of several")
            index = index[0]
        if isinstance(index, (int, np.integer)) and not isinstance(index, bool):
            first = range(len(self))[index]
            index = slice(first, first + 1)
        if isinstance(index, slice):
            first, last, step = index.indices(len(self))
            if step == 1:
                return self._range(first, max(first, last))
            index = np.arange(first, last, step)
        return self._take(np.asarray(index))

    def _range(self, first: int, last: int) -> Self:
        """Sequences first..last; the columns are views."""
        starts = self.starts[first : last + 1]
        positions = slice(int(starts[0]), int(starts[-1]))
        return self._select(starts - starts[0], positions)

    def _take(self, index: NDArray[Any]) -> Self:
        if index.ndim != 1 or (index.size and index.dtype.kind not in "biu"):
            raise IndexError("an index of sequences must be an int, a slice, or a list of ints or of bools")
        chosen = np.arange(len(self))[index if index.size else index.astype(np.int64)]
        lengths = self.lengths[chosen]
        return self._select(starts_of(lengths), ranges(self.starts[chosen], lengths))

    def _select(self, starts: NDArray[np.int64], positions: Positions) -> Self:
        return self.trusted(starts, tuple(column.take(positions) for column in self.columns))

    def __repr__(self) -> str:
        shown = [f"{column.name!r} {column.kind}" for column in self.columns[:6]]
        if len(self.columns) > 6:
            shown.append(f"... {len(self.columns) - 6} more")
        size = f"{counted(len(self), 'sequence')}, {counted(self.n_positions, 'position')}"
        columns = f"; {', '.join(shown)}" if shown else ""
        return f"{type(self).__name__}({size}{columns})"
