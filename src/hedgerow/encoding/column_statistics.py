"""What an encoder learns from one column: counts that can be added up over parts of the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import (
    ABSENT,
    BagColumn,
    CategoricalColumn,
    CharacterColumn,
    Column,
    FoldedBag,
    Kind,
    NumericColumn,
)
from hedgerow.encoding.imputation import FillBag, FillValue
from hedgerow.encoding.presence import Presence, present_positions
from hedgerow.errors import InputError

Counts: TypeAlias = NDArray[np.int64]
# The place of a column's first occurrence: part of the data, block of the part, index in the block.
First: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class NumberCounts:
    """How often each number occurs beside each value of an alphabet, sorted by both; 0 is left out.

    A numeric column has the single value 0. A bag has the weights of its values.
    """

    ids: NDArray[np.int32]
    numbers: NDArray[np.float32]
    counts: Counts

    @classmethod
    def of(cls, ids: NDArray[np.int32], numbers: NDArray[np.float32], counts: Counts | None = None) -> NumberCounts:
        """The distinct pairs, each with the sum of its counts, 1 by default."""
        order = np.lexsort((numbers, ids))
        ids, numbers = ids[order], numbers[order]
        is_first = np.ones(len(ids), np.bool_)
        is_first[1:] = (ids[1:] != ids[:-1]) | (numbers[1:] != numbers[:-1])
        at = np.flatnonzero(is_first)
        if counts is None:
            summed = np.diff(np.append(at, len(ids)))
        else:
            summed = np.add.reduceat(counts[order], at) if len(at) else counts
        return cls(ids[at], numbers[at], summed.astype(np.int64))

    def renumbered(self, places: NDArray[np.int32]) -> NumberCounts:
        """The same counts with other ids; a negative place leaves the number out."""
        ids = places[self.ids]
        kept = ids >= 0
        return NumberCounts.of(ids[kept], self.numbers[kept], self.counts[kept])

    def __add__(self, other: NumberCounts) -> NumberCounts:
        parts = zip(self.arrays, other.arrays, strict=True)
        ids, numbers, counts = (np.concatenate(pair) for pair in parts)
        return NumberCounts.of(ids, numbers, counts)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        return self.ids, self.numbers, self.counts

    def median(self, value: int, n_zeros: int = 0) -> float:
        """The median of the numbers beside a value, and of `n_zeros` zeros; rounded to single precision, 0 for none."""
        chosen = self.ids == value
        numbers = np.append(self.numbers[chosen].astype(np.float64), 0.0)
        counts = np.append(self.counts[chosen], n_zeros)
        order = np.argsort(numbers, kind="stable")
        ends = np.cumsum(counts[order])
        n = int(ends[-1])
        if n == 0:
            return 0.0
        middle = [numbers[order[np.searchsorted(ends, rank, side="right")]] for rank in ((n - 1) // 2, n // 2)]
        return float(np.float32(np.mean(middle)))


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """Counts of a column over some sequences. Where sequences lack the column, nothing is counted.

    `counts` says at how many positions each value of the alphabet occurs. A numeric column has no alphabet, and the
    number of its values that are not 0 as only count.
    """

    name: str
    kind: Kind
    first: First
    n_positions: int
    n_missing: int
    n_present: int  # positions, as `Presence` counts them
    n_having: int  # sequences with such a position
    alphabet: Alphabet | None
    counts: Counts
    folded: bool = False
    characters: bool = False
    weighted: bool = False  # whether a weight of a bag differs from 1
    numbers: NumberCounts | None = None  # only where a treatment of missing values needs medians
    approximate: bool = False  # whether `n_present` and `n_having` are bounds: see `placement`

    @classmethod
    def of(
        cls, column: Column, starts: NDArray[np.int64], first: First, *, with_numbers: bool = False
    ) -> ColumnStatistics:
        """The statistics of a column; `with_numbers` counts each number, for medians."""
        present = present_positions(column)
        having = np.logical_or.reduceat(present, starts[:-1])
        alphabet, counts = _value_counts(column)
        return cls(
            name=column.name,
            kind=column.kind,
            first=first,
            n_positions=len(column),
            n_missing=column.n_missing,
            n_present=int(np.count_nonzero(present)),
            n_having=int(np.count_nonzero(having)),
            alphabet=alphabet,
            counts=counts,
            folded=isinstance(column, FoldedBag),
            characters=isinstance(column, CharacterColumn),
            weighted=isinstance(column, BagColumn) and column.weights is not None,
            numbers=_number_counts(column) if with_numbers else None,
        )

    @property
    def is_valueless(self) -> bool:
        """Whether no position has a value, so that the column can have any kind."""
        if self.alphabet is None:
            return self.n_missing == self.n_positions
        return len(self.alphabet) == 0

    def __add__(self, other: ColumnStatistics) -> ColumnStatistics:
        """The statistics of both; raises InputError if the columns differ in kind."""
        mine, its = _in_one_kind(self, other)
        alphabet, counts, numbers = mine.alphabet, mine.counts, _sum(mine.numbers, its.numbers)
        if mine.alphabet is None or its.alphabet is None:
            counts = mine.counts + its.counts
        else:
            alphabet = mine.alphabet.merged(its.alphabet)
            counts = np.zeros(len(alphabet), np.int64)
            places = [part.alphabet.into(alphabet) for part in (mine, its) if part.alphabet is not None]
            for part, place in zip((mine, its), places, strict=True):
                counts[place] += part.counts
            if mine.numbers is not None and its.numbers is not None:
                numbers = mine.numbers.renumbered(places[0]) + its.numbers.renumbered(places[1])
        return replace(
            mine,
            first=min(mine.first, its.first),
            n_positions=mine.n_positions + its.n_positions,
            n_missing=mine.n_missing + its.n_missing,
            n_present=mine.n_present + its.n_present,
            n_having=mine.n_having + its.n_having,
            alphabet=alphabet,
            counts=counts,
            weighted=mine.weighted or its.weighted,
            numbers=numbers,
            approximate=mine.approximate or its.approximate,
        )

    def presence(self, n_positions: int, n_sequences: int) -> Presence:
        """The shares among all positions and sequences."""
        if self.n_present == n_positions:
            return Presence(1.0, 1.0)
        return Presence(self.n_present / n_positions, self.n_having / n_sequences)

    def kept(self, min_freq: int) -> NDArray[np.bool_]:
        """Which values occur at `min_freq` positions or more."""
        kept: NDArray[np.bool_] = self.counts >= min_freq
        return kept

    def fill_value(self, kept: NDArray[np.bool_], n_positions: int) -> FillValue:
        """The fill value of `imputation.fill_value`, as a code of the values that are `kept`; others are absent."""
        n_known = n_positions - self.n_missing
        if self.alphabet is None:
            assert self.numbers is not None
            return self.numbers.median(0, n_zeros=n_known - int(self.counts[0]))
        counts = self.counts[kept]
        if self.kind == "categorical":
            if n_known == 0 or not len(counts):
                return ABSENT
            best = int(counts.argmax())
            return best if counts[best] > n_known - int(counts.sum()) else ABSENT
        ids = np.flatnonzero(2 * counts > n_known)
        weights = [1.0] * len(ids)
        if self.weighted:
            assert self.numbers is not None
            weights = [self.numbers.median(int(i)) for i in np.flatnonzero(kept)[ids]]
        return FillBag(tuple(ids.tolist()), tuple(weights))


def _value_counts(column: Column) -> tuple[Alphabet | None, Counts]:
    """(the values that occur, the number of positions of each)."""
    if isinstance(column, NumericColumn):
        return None, np.array([np.count_nonzero(np.nan_to_num(column.values))], np.int64)
    assert isinstance(column.alphabet, Alphabet)  # columns of X hold no pairs
    ids = column.codes if isinstance(column, CategoricalColumn) else column.ids
    counts = np.bincount(ids[ids >= 0], minlength=len(column.alphabet))
    occurs = counts > 0
    alphabet = column.alphabet if occurs.all() else column.alphabet.subset(occurs)
    return alphabet, counts[occurs].astype(np.int64)


def _number_counts(column: Column) -> NumberCounts | None:
    if isinstance(column, CategoricalColumn):
        return None
    if isinstance(column, NumericColumn):
        known = column.values[(column.values != 0) & ~np.isnan(column.values)]
        return NumberCounts.of(np.zeros(len(known), np.int32), known)
    at = column.ids >= 0
    ids = column.ids[at]
    used, ranks = np.unique(ids, return_inverse=True)
    del used  # the alphabet of the statistics has only the ids that occur
    weights = np.ones(len(ids), np.float32) if column.weights is None else column.weights[at]
    return NumberCounts.of(ranks.astype(np.int32), weights)


def _sum(left: NumberCounts | None, right: NumberCounts | None) -> NumberCounts | None:
    return left + right if left is not None and right is not None else left or right


def _in_one_kind(a: ColumnStatistics, b: ColumnStatistics) -> tuple[ColumnStatistics, ColumnStatistics]:
    """Both statistics with the kind of the one that has values."""
    if a.kind == b.kind:
        if a.characters != b.characters:
            raise InputError(
                "sequences must all have one form, but some are str, which are read letter by letter, and some are "
                "lists of strings; use one of them"
            )
        return a, b
    if a.is_valueless:
        return _without_values(a, b), b
    if b.is_valueless:
        return a, _without_values(b, a)
    raise InputError(
        f"column {a.name!r} must be of one kind, but it is {a.kind} in one part of the data and {b.kind} in another; "
        "convert it"
    )


def _without_values(column: ColumnStatistics, like: ColumnStatistics) -> ColumnStatistics:
    empty = NumberCounts(np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.int64))
    return replace(
        column,
        kind=like.kind,
        alphabet=None if like.alphabet is None else Alphabet.of([]),
        counts=np.zeros(int(like.alphabet is None), np.int64),
        numbers=None if like.numbers is None else empty,
        characters=like.characters,
        folded=like.folded,
    )
