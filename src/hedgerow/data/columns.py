"""The three kinds of column. A column has a value for every position, end to end over all sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet, Values
from hedgerow.data.ragged import ranges, starts_of
from hedgerow.errors import InputError
from hedgerow.utilities import read_only

MISSING = -1  # code of None or NaN: the value exists but is unknown
ABSENT = -2  # code of a key that is not there
BAG = "bag"  # name of the only column of lists of strings and of sparse matrices
SYMBOL = "symbol"  # name of the only column of str and of lists of str
FOLDED = "attributes"  # name of the bag of numeric keys that are mostly absent

Kind: TypeAlias = Literal["categorical", "numeric", "bag"]
# Positions to select: a slice of step 1, or indices.
Positions: TypeAlias = slice | NDArray[np.int64]


class _Base:
    """Base class of columns: they are pickled as their fields, so that the arrays of a copy are read-only too."""

    __match_args__: ClassVar[tuple[str, ...]]

    _n_missing: ClassVar[int | None] = None  # until it is counted

    def missing(self) -> NDArray[np.bool_]:
        """Whether the value is missing, by position."""
        raise NotImplementedError

    @property
    def n_missing(self) -> int:
        """The number of missing values; counted on first use."""
        if self._n_missing is None:
            n_missing = int(np.count_nonzero(self.missing()))
            object.__setattr__(self, "_n_missing", n_missing)  # cached_property would take a lock
            return n_missing
        return self._n_missing

    def __reduce__(self) -> tuple[Any, ...]:
        return trusted, (type(self), *(getattr(self, field) for field in self.__match_args__))


@dataclass(frozen=True, eq=False)
class CategoricalColumn(_Base):
    """At each position the code of a value of the alphabet, or MISSING or ABSENT."""

    name: str
    codes: NDArray[np.int32]
    alphabet: Values
    kind: ClassVar[Kind] = "categorical"

    def __post_init__(self) -> None:
        _keep(self, "codes", np.int32)
        _check_range(self.name, self.codes, ABSENT, len(self.alphabet))

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, positions: Positions) -> Self:
        return trusted(type(self), self.name, self.codes[positions], self.alphabet)

    def missing(self) -> NDArray[np.bool_]:
        missing: NDArray[np.bool_] = self.codes == MISSING
        return missing


class CharacterColumn(CategoricalColumn):
    """The characters of sequences that are str."""


class LocalColumn(CategoricalColumn):
    """A categorical column that windows read at offset 0 only."""


@dataclass(frozen=True, eq=False)
class NumericColumn(_Base):
    """A number at each position: NaN if it is missing, 0.0 if the key is absent."""

    name: str
    values: NDArray[np.float32]
    kind: ClassVar[Kind] = "numeric"

    def __post_init__(self) -> None:
        _keep(self, "values", np.float32)
        if np.isinf(self.values).any():
            at = int(np.flatnonzero(np.isinf(self.values))[0])
            raise InputError(
                f"column {self.name!r} must hold finite numbers, but row {at} is infinite; use NaN where a value is "
                "missing"
            )

    def __len__(self) -> int:
        return len(self.values)

    def take(self, positions: Positions) -> Self:
        return trusted(type(self), self.name, self.values[positions])

    def missing(self) -> NDArray[np.bool_]:
        return np.isnan(self.values)


class LocalNumericColumn(NumericColumn):
    """A numeric column that windows read at offset 0 only."""


class ScoreColumn(LocalNumericColumn):
    """Numbers that a model computed from other columns."""


@dataclass(frozen=True, eq=False)
class BagColumn(_Base):
    """A set of values of the alphabet at each position: position t has ids[starts[t]:starts[t + 1]], increasing.

    A missing bag has the single id MISSING; an absent bag is empty. `weights` is None if every weight is 1.
    """

    name: str
    starts: NDArray[np.int64]
    ids: NDArray[np.int32]
    weights: NDArray[np.float32] | None
    alphabet: Alphabet
    kind: ClassVar[Kind] = "bag"

    def __post_init__(self) -> None:
        _keep(self, "starts", np.int64)
        _keep(self, "ids", np.int32)
        starts, ids = self.starts, self.ids
        if len(starts) == 0 or starts[0] != 0 or starts[-1] != len(ids) or (np.diff(starts) < 0).any():
            raise InputError(f"the starts of bag {self.name!r} must increase from 0 to its number of ids, {len(ids)}")
        _check_range(self.name, ids, MISSING, len(self.alphabet))
        first = np.zeros(len(ids), np.bool_)
        first[starts[:-1][np.diff(starts) > 0]] = True
        if not (first[1:] | (np.diff(ids) > 0)).all():
            raise InputError(f"the ids of bag {self.name!r} must increase strictly within a position")
        if (np.repeat(np.diff(starts), np.diff(starts))[ids == MISSING] > 1).any():
            raise InputError(f"a missing position of bag {self.name!r} must have no other ids, but one has")
        if self.weights is not None:
            _keep(self, "weights", np.float32)
            if len(self.weights) != len(ids) or not np.isfinite(self.weights).all():
                raise InputError(f"bag {self.name!r} must have one finite weight for each of its {len(ids)} ids")

    def __len__(self) -> int:
        return len(self.starts) - 1

    def take(self, positions: Positions) -> Self:
        if isinstance(positions, slice):
            starts = self.starts[positions.start : positions.stop + 1]
            kept: Positions = slice(int(starts[0]), int(starts[-1]))
            starts = starts - starts[0]
        else:
            lengths = np.diff(self.starts)[positions]
            starts = starts_of(lengths)
            kept = ranges(self.starts[positions], lengths)
        weights = None if self.weights is None else self.weights[kept]
        return trusted(type(self), self.name, starts, self.ids[kept], weights, self.alphabet)

    def missing(self) -> NDArray[np.bool_]:
        mask = np.zeros(len(self), np.bool_)
        filled = np.diff(self.starts) > 0
        mask[filled] = self.ids[self.starts[:-1][filled]] == MISSING
        return mask


class FoldedBag(BagColumn):
    """Numeric keys of dicts that are many and mostly absent: the keys that are not 0, with their values as weights."""


class LocalBag(BagColumn):
    """A bag that windows read at offset 0 only."""


Column: TypeAlias = CategoricalColumn | NumericColumn | BagColumn
C = TypeVar("C", bound=_Base)


def is_local(column: Column) -> bool:
    """Whether windows read the column at offset 0 only."""
    return isinstance(column, (LocalColumn, LocalNumericColumn, LocalBag))


def column_of(parts: tuple[Any, ...]) -> Column:
    """The column that the compiled reader returned as (name, kind, arrays...)."""
    name, kind, *arrays = parts
    if kind == "categorical":
        codes, blob, offsets = arrays
        return trusted(CategoricalColumn, name, codes, Alphabet.trusted(blob, offsets))
    if kind == "numeric":
        return trusted(NumericColumn, name, arrays[0])
    starts, ids, weights, blob, offsets = arrays
    alphabet = Alphabet.trusted(blob, offsets)
    if kind == "folded":
        return trusted(FoldedBag, FOLDED, starts, ids, weights, alphabet)
    return trusted(BagColumn, name, starts, ids, weights, alphabet)


def trusted(cls: type[C], *values: Any) -> C:
    """Build a column from fields that are known to be valid, without checks; arrays become read-only."""
    column = cls.__new__(cls)
    for field, value in zip(cls.__match_args__, values, strict=True):
        object.__setattr__(column, field, read_only(value) if isinstance(value, np.ndarray) else value)
    return column


def _keep(column: Column, field: str, dtype: type[np.generic]) -> None:
    array = getattr(column, field)
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != dtype:
        raise InputError(f"the {field} of column {column.name!r} must be a 1-D array of {dtype.__name__}")
    object.__setattr__(column, field, read_only(np.ascontiguousarray(array)))


def _check_range(name: str, ids: NDArray[np.int32], lowest: int, n: int) -> None:
    if len(ids) and (ids.min() < lowest or ids.max() >= n):
        raise InputError(f"the codes of column {name!r} must lie in its alphabet of {n} values, but one does not")
