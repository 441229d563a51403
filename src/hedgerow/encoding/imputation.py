"""Filling in: what a column typically holds where its value is missing, and columns that mark the places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import ABSENT, BagColumn, CategoricalColumn, Column, Kind, NumericColumn, trusted
from hedgerow.data.ragged import starts_of
from hedgerow.errors import InputError

Treatment: TypeAlias = Literal["impute", "indicator"]

MARK = "missing"  # the only value of a column that marks missing values


@dataclass(frozen=True)
class TypicalBag:
    """Rising ids, and a weight for each."""

    ids: tuple[int, ...]
    weights: tuple[float, ...]


#: The code of a value or ABSENT, a number, or a bag.
Typical: TypeAlias = int | float | TypicalBag


def typical(column: Column) -> Typical:
    """What stands for a missing value: the most common value, the median, the values that most bags hold.

    Absence competes with the values. A column without any value has nothing to give: it is absent, 0 or empty.
    """
    there = ~column.missing()
    if isinstance(column, CategoricalColumn):
        counts = np.bincount(column.codes[there] - ABSENT)  # the first of the most common: absence, then by code
        return int(counts.argmax()) + ABSENT if len(counts) else ABSENT
    if isinstance(column, NumericColumn):
        return _median(column.values[there])
    return _typical_bag(column, int(there.sum()))


def _typical_bag(column: BagColumn, n_there: int) -> TypicalBag:
    counts = np.bincount(column.ids[column.ids >= 0], minlength=len(column.alphabet))
    ids = np.flatnonzero(2 * counts > n_there)
    weights = [1.0] * len(ids)
    if column.weights is not None and len(ids):
        of = np.flatnonzero(np.isin(column.ids, ids))
        of = of[np.argsort(column.ids[of], kind="stable")]
        weights = [_median(part) for part in np.split(column.weights[of], np.cumsum(counts[ids])[:-1])]
    return TypicalBag(tuple(ids.tolist()), tuple(weights))


def _median(values: NDArray[np.float32]) -> float:
    """As single precision has it."""
    return float(np.float32(np.median(values.astype(np.float64)))) if len(values) else 0.0


def fill(column: Column, value: Typical) -> Column:
    """The column with the value wherever one is missing; the column itself when none is."""
    missing = column.missing()
    if not missing.any():
        return column
    if isinstance(value, TypicalBag):
        assert isinstance(column, BagColumn)
        return _fill_bags(column, missing, value)
    if isinstance(column, CategoricalColumn):
        return trusted(
            CategoricalColumn, column.name, np.where(missing, np.int32(value), column.codes), column.alphabet
        )
    assert isinstance(column, NumericColumn)
    return trusted(NumericColumn, column.name, np.where(missing, np.float32(value), column.values))


def _fill_bags(column: BagColumn, missing: NDArray[np.bool_], value: TypicalBag) -> BagColumn:
    was = np.diff(column.starts)
    starts = starts_of(np.where(missing, len(value.ids), was))
    filled, kept = np.repeat(missing, np.diff(starts)), np.repeat(~missing, was)
    ids = np.empty(starts[-1], np.int32)
    ids[filled], ids[~filled] = np.tile(value.ids, missing.sum()), column.ids[kept]
    weights = None
    if column.weights is not None or any(weight != 1 for weight in value.weights):
        weights = np.ones(starts[-1], np.float32)
        weights[filled] = np.tile(value.weights, missing.sum())
        if column.weights is not None:
            weights[~filled] = column.weights[kept]
    return trusted(type(column), column.name, starts, ids, weights, column.alphabet)


def mark_name(name: str) -> str:
    """How the column is called that marks the missing values of another."""
    return f"{name} missing"


def mark(name: str, missing: NDArray[np.bool_], alphabet: Alphabet) -> CategoricalColumn:
    """A column that holds its single value where a value is missing, and nothing elsewhere."""
    return trusted(CategoricalColumn, name, np.where(missing, np.int32(0), np.int32(ABSENT)), alphabet)


def stored(value: Typical) -> Any:
    """As JSON can hold it."""
    return {"ids": list(value.ids), "weights": list(value.weights)} if isinstance(value, TypicalBag) else value


def from_stored(entry: object, kind: Kind, alphabet: Alphabet | None) -> Typical:
    """What `stored` described; raises InputError unless it is a value of such a column."""
    n = 0 if alphabet is None else len(alphabet)
    match entry:
        case int() if kind == "categorical" and type(entry) is int and (entry == ABSENT or 0 <= entry < n):
            return entry
        case float() if kind == "numeric" and _is_single(entry):
            return entry
        case {"ids": list(ids), "weights": list(weights)} if kind == "bag":
            whole = all(type(i) is int and 0 <= i < n for i in ids) and ids == sorted(set(ids))
            if whole and len(ids) == len(weights) and all(type(w) is float and _is_single(w) for w in weights):
                return TypicalBag(tuple(ids), tuple(weights))
    raise InputError(f"what fills a {kind} column of {n} values in must be one of them, but got {entry!r}")


def _is_single(number: float) -> bool:
    return bool(abs(number) <= float(np.finfo(np.float32).max))
