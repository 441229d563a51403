"""The attribute ids that a window reads at each position."""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.columns import MISSING, CategoricalColumn, Column, NumericColumn, is_local
from hedgerow.data.mapped_pages import MappedPages
from hedgerow.data.ragged import starts_of
from hedgerow.encoding.binning import Binning, transform_all
from hedgerow.encoding.conjunctions import NO_CONJUNCTIONS, Conjunctions
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.scaling import Scaling
from hedgerow.encoding.window import HERE, Window
from hedgerow.errors import InputError


class Padding(enum.Enum):
    """The value that a window reads outside the sequence."""

    PADDING = enum.auto()

    def __repr__(self) -> str:
        return "PADDING"


PADDING: Final = Padding.PADDING
# A value of a categorical column or a bag, the number of a bin, or padding.
Value: TypeAlias = str | int | Padding


class SlotRange(NamedTuple):
    """A column at an offset: the ids of its values are first .. first + n_values - 1; that of padding follows them."""

    column: str
    offset: int
    first: int
    n_values: int


class AttributeReader:
    """Reads the attributes of positions through a window, as ids with weights.

    Ids are ordered by column, then by offset, then by value in alphabet order. Every (column, offset) has an id for
    each value (or bin) and, unless the window is 0, one for padding. A local column has only the offset 0 and no
    padding. Missing and absent values have no id. The ids of conjunctions follow all others.

    Parameters
    ----------
    sequences
        The encoded sequences to read.
    window
        The offsets to read at.
    numeric
        How each numeric column is read, by name. With a Binning, the attribute is the bin of the number. With a
        Scaling, the column is one attribute whose weight is the scaled number; with `zero_is_absent`, the number 0 is
        absent, as in a bag.
    conjunctions
        Sets of attributes that become attributes themselves.
    n_threads
        How many threads find the bins of numbers.

    Raises
    ------
    InputError
        If a numeric column has neither a Binning nor a Scaling.
    """

    def __init__(
        self,
        sequences: Encoded,
        window: Window,
        numeric: Mapping[str, Binning | Scaling] | None = None,
        conjunctions: Conjunctions = NO_CONJUNCTIONS,
        n_threads: int = 1,
    ) -> None:
        self.sequences = sequences
        self.window = window
        self._numeric = dict(numeric or {})
        self._sizes = [self._size(column) for column in sequences.columns]
        self.reader = _core.AttributeReader(sequences.starts, np.array(window.offsets, np.int64))
        bins = self._bins(n_threads)
        for column, size in zip(sequences.columns, self._sizes, strict=True):
            self._add(column, size, bins.get(column.name))
            MappedPages.of_columns([column]).release()  # checked, and read again later
        self.n_basic = self.reader.n_ids
        self.conjunctions = conjunctions
        if len(conjunctions):
            self.reader.add_conjunctions(conjunctions.core)

    def add_rows(self, numbers: NDArray[np.float32], edges: _core.BinEdges, n_threads: int = 1) -> None:
        """Add the bins of the rows of `numbers` (columns, positions) as columns that are read at offset 0 only.

        They have ids, but no names: `name` and `of_columns` know the columns of the sequences.
        """
        self.reader.add_rows(numbers, edges, n_threads)

    def _size(self, column: Column) -> int:
        if not isinstance(column, NumericColumn):
            return len(column.alphabet)
        rule = self._numeric.get(column.name)
        if rule is None:
            raise InputError(
                f"numeric column {column.name!r} must have a Binning or a Scaling, but it has neither; fit one to its "
                "values"
            )
        return rule.n_bins if isinstance(rule, Binning) else 1

    def _bins(self, n_threads: int) -> dict[str, NDArray[np.uint8]]:
        """The bins of the columns that are read as bins, by name."""
        values, binnings = dict[str, NDArray[np.float32]](), list[Binning]()
        for column in self.sequences.columns:
            rule = self._numeric.get(column.name)
            if isinstance(column, NumericColumn) and isinstance(rule, Binning):
                values[column.name] = column.values
                binnings.append(rule)
        return dict(zip(values, transform_all(list(values.values()), binnings, n_threads), strict=True))

    def _add(self, column: Column, size: int, bins: NDArray[np.uint8] | None) -> None:
        if isinstance(column, CategoricalColumn):
            self.reader.add_categorical(column.codes, size, is_local(column))
        elif bins is not None:
            self.reader.add_bins(bins, size, is_local(column))
        elif isinstance(column, NumericColumn):
            rule = self._numeric[column.name]
            assert isinstance(rule, Scaling)
            if rule.zero_is_absent and not is_local(column):
                self.reader.add_bag(*_without_zeros(column), size)
            else:
                self.reader.add_numbers(rule.transform(column.values), is_local(column))
        else:
            self.reader.add_bag(column.starts, column.ids, column.weights, size, is_local(column))

    @property
    def n_ids(self) -> int:
        return self.reader.n_ids

    def of_columns(self, names: Collection[str]) -> NDArray[np.bool_]:
        """For each id whether it belongs to one of these columns; conjunctions do not."""
        found = np.zeros(self.n_ids, np.bool_)
        first = 0
        for column, size in zip(self.sequences.columns, self._sizes, strict=True):
            last = first + self._n_owned(column, size)
            found[first:last] = column.name in names
            first = last
        return found

    def slots(self) -> list[SlotRange]:
        """The slots in the order of their ids, without conjunctions."""
        found, first = list[SlotRange](), 0
        for column, size in zip(self.sequences.columns, self._sizes, strict=True):
            window = HERE if is_local(column) else self.window
            for offset in window.offsets:
                found.append(SlotRange(column.name, offset, first, size))
                first += size + (not window.is_trivial)
        return found

    def _n_owned(self, column: Column, size: int) -> int:
        """The number of ids of a column."""
        window = HERE if is_local(column) else self.window
        return (size + (not window.is_trivial)) * len(window.offsets)

    def name(self, attribute: int) -> tuple[str, int, Value]:
        """(column, offset, value) of an id that is not a conjunction; raises IndexError if there is no such id."""
        rest = range(self.n_basic)[attribute]
        for column, size in zip(self.sequences.columns, self._sizes, strict=True):
            window = HERE if is_local(column) else self.window
            owned = size + (not window.is_trivial)
            slot, value = divmod(rest, owned) if owned else (0, 0)
            if slot < len(window.offsets) and owned:
                return column.name, window.offsets[slot], _value(column, size, value)
            rest -= owned * len(window.offsets)
        raise IndexError(attribute)

    def ids(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(starts, ids) of positions first..last, counted over all sequences.

        Raises InputError if a position is out of range.
        """
        return self.reader.ids(first, last)

    def weights(self, first: int, last: int) -> NDArray[np.float32]:
        """The weight of each id that `ids` returns: 1 except in weighted bags and for numbers."""
        return self.reader.weights(first, last)

    def missing(self, first: int, last: int) -> NDArray[np.bool_]:
        """Whether the value is missing, by position and by slot (column, then offset)."""
        return self.reader.missing(first, last)


def _without_zeros(column: NumericColumn) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """(starts, ids, weights) of a bag with one attribute, whose weight is the number; the number 0 is absent."""
    present = column.values != 0
    values = column.values[present]
    missing = np.isnan(values)
    return starts_of(present), np.where(missing, np.int32(MISSING), np.int32(0)), np.where(missing, 0, values)


def _value(column: Column, size: int, value: int) -> Value:
    if value == size:
        return PADDING
    return value if isinstance(column, NumericColumn) else column.alphabet[value]
