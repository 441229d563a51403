"""Imputation: the value that replaces missing values of a column, and indicator columns that mark where they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Values
from hedgerow.data.columns import ABSENT, BagColumn, CategoricalColumn, Column, Kind, NumericColumn, trusted
from hedgerow.data.ragged import starts_of
from hedgerow.errors import InputError

Treatment: TypeAlias = Literal["impute", "indicator", "published-indicator"]

INDICATOR = "missing"  # the only value of an indicator column


@dataclass(frozen=True)
class FillBag:
    """A bag that replaces missing bags: strictly increasing ids, and a weight for each."""

    ids: tuple[int, ...]
    weights: tuple[float, ...]


#: A categorical code or ABSENT, a number, or a bag.
FillValue: TypeAlias = int | float | FillBag


def adds_indicators(treatment: Treatment | None) -> bool:
    """Whether columns mark where values were missing."""
    return treatment in ("indicator", "published-indicator")


def zero_value(kind: Kind) -> FillValue:
    """What replaces missing values by the published rule of indicators: all boolean features of the column are 0.

    Absent for a categorical column, 0 for a numeric one, the empty bag for a bag.
    """
    zeros: dict[Kind, FillValue] = {"categorical": ABSENT, "numeric": 0.0, "bag": FillBag((), ())}
    return zeros[kind]


def fill_value(column: Column, treatment: Treatment = "impute") -> FillValue:
    """What replaces missing values of a column: a typical value, or with "published-indicator" `zero_value`."""
    return zero_value(column.kind) if treatment == "published-indicator" else _typical_value(column)


def _typical_value(column: Column) -> FillValue:
    """The most frequent value of a categorical column, the median of a numeric one, the majority values of a bag.

    Absent positions count like a value of their own. The fill value of a column without any value is ABSENT, 0 or the
    empty bag.
    """
    known = ~column.missing()
    if isinstance(column, CategoricalColumn):
        counts = np.bincount(column.codes[known] - ABSENT)  # argmax breaks ties: ABSENT first, then the lowest code
        return int(counts.argmax()) + ABSENT if len(counts) else ABSENT
    if isinstance(column, NumericColumn):
        return _median(column.values[known])
    return _majority_bag(column, int(known.sum()))


def _majority_bag(column: BagColumn, n_known: int) -> FillBag:
    """The values that more than half of the known bags contain, each with the median of its weights."""
    counts = np.bincount(column.ids[column.ids >= 0], minlength=len(column.alphabet))
    ids = np.flatnonzero(2 * counts > n_known)
    weights = [1.0] * len(ids)
    if column.weights is not None and len(ids):
        entries = np.flatnonzero(np.isin(column.ids, ids))
        entries = entries[np.argsort(column.ids[entries], kind="stable")]
        by_id = np.split(column.weights[entries], np.cumsum(counts[ids])[:-1])
        weights = [_median(of_one_id) for of_one_id in by_id]
    return FillBag(tuple(ids.tolist()), tuple(weights))


def _median(values: NDArray[np.float32]) -> float:
    """The median, computed in double precision and rounded to single; 0 if there are no values."""
    return float(np.float32(np.median(values.astype(np.float64)))) if len(values) else 0.0


def fill_missing(column: Column, value: FillValue) -> Column:
    """The column with missing values replaced by `value`; the same object if no value is missing."""
    if not column.n_missing:
        return column
    missing = column.missing()
    if isinstance(value, FillBag):
        assert isinstance(column, BagColumn)
        return _fill_missing_bags(column, missing, value)
    if isinstance(column, CategoricalColumn):
        return trusted(
            CategoricalColumn, column.name, np.where(missing, np.int32(value), column.codes), column.alphabet
        )
    assert isinstance(column, NumericColumn)
    return trusted(NumericColumn, column.name, np.where(missing, np.float32(value), column.values))


def _fill_missing_bags(column: BagColumn, missing: NDArray[np.bool_], value: FillBag) -> BagColumn:
    old_sizes = np.diff(column.starts)
    starts = starts_of(np.where(missing, len(value.ids), old_sizes))
    filled, kept = np.repeat(missing, np.diff(starts)), np.repeat(~missing, old_sizes)
    ids = np.empty(starts[-1], np.int32)
    ids[filled], ids[~filled] = np.tile(value.ids, missing.sum()), column.ids[kept]
    weights = None
    if column.weights is not None or any(weight != 1 for weight in value.weights):
        weights = np.ones(starts[-1], np.float32)
        weights[filled] = np.tile(value.weights, missing.sum())
        if column.weights is not None:
            weights[~filled] = column.weights[kept]
    return trusted(type(column), column.name, starts, ids, weights, column.alphabet)


def indicator_name(name: str) -> str:
    """The name of the indicator column of column `name`."""
    return f"{name} missing"


def indicator_column(name: str, missing: NDArray[np.bool_], alphabet: Values) -> CategoricalColumn:
    """A categorical column that has its only value where `missing` is true, and is absent elsewhere."""
    return trusted(CategoricalColumn, name, np.where(missing, np.int32(0), np.int32(ABSENT)), alphabet)


def fill_value_to_json(value: FillValue) -> Any:
    """The fill value in types that JSON has."""
    return {"ids": list(value.ids), "weights": list(value.weights)} if isinstance(value, FillBag) else value


def fill_value_from_json(entry: object, kind: Kind, alphabet: Values | None) -> FillValue:
    """The fill value that `fill_value_to_json` described; raises InputError if no column of this kind can hold it."""
    n = 0 if alphabet is None else len(alphabet)
    match entry:
        case int() if kind == "categorical" and type(entry) is int and (entry == ABSENT or 0 <= entry < n):
            return entry
        case float() if kind == "numeric" and _fits_single(entry):
            return entry
        case {"ids": list(ids), "weights": list(weights)} if kind == "bag":
            valid_ids = all(type(i) is int and 0 <= i < n for i in ids) and ids == sorted(set(ids))
            if valid_ids and len(ids) == len(weights) and all(type(w) is float and _fits_single(w) for w in weights):
                return FillBag(tuple(ids), tuple(weights))
    raise InputError(
        f"the fill value of a {kind} column with {n} distinct values must be a value of that column, but got {entry!r}"
    )


def _fits_single(number: float) -> bool:
    return bool(abs(number) <= float(np.finfo(np.float32).max))
