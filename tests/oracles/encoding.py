"""Slow, obvious twins of the encoder: cells are plain Python values, one for each position."""

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy as np

from hedgerow.data.columns import ABSENT, MISSING, BagColumn, CategoricalColumn, Column, NumericColumn


class _Absent:
    def __repr__(self) -> str:
        return "GONE"


GONE = _Absent()  # a categorical key that is not there; None is a missing value


def flatten(item: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested dicts as "outer:inner"."""
    flat: dict[str, Any] = {}
    for key, value in item.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{prefix}{key}:")
        else:
            flat[prefix + key] = value
    return flat


def is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, (float, np.floating)) and math.isnan(value))


def kind_of(values: list[Any]) -> str:
    for value in values:
        if is_missing(value):
            continue
        if isinstance(value, str):
            return "categorical"
        return "bag" if isinstance(value, (list, set, frozenset)) else "numeric"
    return "categorical"


def cells_of_dicts(X: list[list[dict[str, Any]]]) -> dict[str, tuple[str, list[Any]]]:
    """Each column of X: its kind and its cells."""
    flat = [flatten(item) for sequence in X for item in sequence]
    columns = {}
    for name in dict.fromkeys(name for item in flat for name in item):
        kind = kind_of([item[name] for item in flat if name in item])
        columns[name] = kind, [cell(item, name, kind) for item in flat]
    return columns


def cell(item: dict[str, Any], name: str, kind: str) -> Any:
    if name not in item:
        return {"categorical": GONE, "numeric": 0.0, "bag": []}[kind]
    if is_missing(item[name]):
        return None
    if kind == "numeric":
        return float(np.float32(item[name]))
    return sorted(set(item[name])) if kind == "bag" else str(item[name])


def cells(column: Column) -> list[Any]:
    """The cells of an encoded column, through its alphabet."""
    if isinstance(column, NumericColumn):
        return [None if math.isnan(value) else value for value in column.values.tolist()]
    if isinstance(column, CategoricalColumn):
        special = {ABSENT: GONE, MISSING: None}
        return [special[code] if code < 0 else column.alphabet[code] for code in column.codes.tolist()]
    return [bag_cell(column, t) for t in range(len(column))]


def bag_cell(column: BagColumn, t: int) -> list[str] | None:
    ids = column.ids[column.starts[t] : column.starts[t + 1]].tolist()
    return None if ids == [MISSING] else [column.alphabet[i] for i in ids]


def weighted_cells(column: Column) -> list[Any]:
    """As `cells`, but a bag is a dict from values to weights."""
    if not isinstance(column, BagColumn):
        return cells(column)
    weights = [1.0] * len(column.ids) if column.weights is None else column.weights.tolist()
    return [
        None if bag is None else dict(zip(bag, weights[column.starts[t] :], strict=False))
        for t, bag in enumerate(cells(column))
    ]


def typical_cell(kind: str, given: list[Any]) -> Any:
    """What fills a column in: the most common cell, the median, or what more than half of the bags hold."""
    there = [value for value in given if value is not None]
    if kind == "numeric":
        return float(np.float32(statistics.median(there))) if there else 0.0
    if kind == "categorical":
        best = GONE
        for value in sorted({value for value in there if value is not GONE}):
            if there.count(value) > there.count(best):
                best = value
        return best
    typical = {}
    for value in sorted({value for bag in there for value in bag}):
        weights = [bag[value] for bag in there if value in bag]
        if len(weights) > len(there) / 2:
            typical[value] = float(np.float32(statistics.median(weights)))
    return typical


def filled_cells(kind: str, training: list[Any], given: list[Any]) -> list[Any]:
    """The cells, missing ones filled in by what training holds."""
    return [typical_cell(kind, training) if value is None else value for value in given]


def marked_cells(given: list[Any]) -> list[Any]:
    return ["missing" if value is None else GONE for value in given]


def names_at(
    sequences: list[list[dict[str, Any]]], offsets: list[int], padding: object, local: frozenset[str] = frozenset()
) -> list[list[Any]]:
    """For each position the (column, offset, value) it shows, cells of its sequence read with a shift.

    A cell is a str, a list of str, an int (a bin) or None/GONE. Local columns are read at the position itself.
    """
    rows = []
    for sequence in sequences:
        for t in range(len(sequence)):
            row: list[Any] = []
            for name in sequence[0]:
                for offset in [0] if name in local else offsets:
                    if not 0 <= t + offset < len(sequence):
                        row.append((name, offset, padding))
                        continue
                    value = sequence[t + offset][name]
                    values = value if isinstance(value, list) else [value]
                    row += [(name, offset, v) for v in values if v is not None and v is not GONE]
            rows.append(row)
    return rows
