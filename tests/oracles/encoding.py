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


def leaves(item: dict[str, Any], outer: str = "") -> dict[tuple[str, str], Any]:
    """The values that are not dicts, by (names of the dicts around it joined with ":", key)."""
    found: dict[tuple[str, str], Any] = {}
    for key, value in item.items():
        if isinstance(value, dict):
            found |= leaves(value, joined(outer, key))
        else:
            found[outer, key] = value
    return found


def joined(outer: str, inner: str) -> str:
    return f"{outer}:{inner}" if outer else inner


def is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, (float, np.floating)) and math.isnan(value))


def kind_of(values: list[Any]) -> str:
    for value in values:
        if value is GONE or is_missing(value):
            continue
        if isinstance(value, str):
            return "categorical"
        return "bag" if isinstance(value, (list, set, frozenset)) else "numeric"
    return "categorical"


def is_number(value: Any) -> bool:
    return not is_missing(value) and not isinstance(value, (str, list, set, frozenset))


def dicts_of_numbers(positions: list[dict[tuple[str, str], Any]]) -> set[str]:
    """The nested dicts that hold only numbers, at all positions; None may stand in place of such a dict."""
    every = [(outer, inner, value) for position in positions for (outer, inner), value in position.items()]
    mixed = {outer for outer, _, value in every if not is_number(value)}
    mixed |= {joined(outer, inner) for outer, inner, value in every if not is_missing(value)}
    return {outer for outer, _, _ in every} - mixed - {""}


def cells_of_dicts(X: list[list[dict[str, Any]]]) -> dict[str, tuple[str, list[Any]]]:
    """Each column of X: its kind and its cells. A bag is a dict of weights."""
    positions = [leaves(item) for sequence in X for item in sequence]
    bags = dicts_of_numbers(positions)
    columns: dict[str, list[Any]] = {}
    for t, position in enumerate(positions):
        for (outer, inner), value in position.items():
            name = outer if outer in bags else joined(outer, inner)
            column = columns.setdefault(name, [GONE] * len(positions))
            if outer in bags:
                column[t] = ({} if column[t] is GONE else column[t]) | ({inner: value} if value else {})
            else:
                column[t] = value
    kinds = {name: "bag" if name in bags else kind_of(column) for name, column in columns.items()}
    return {name: (kinds[name], [cell(value, kinds[name]) for value in column]) for name, column in columns.items()}


def cell(value: Any, kind: str) -> Any:
    if value is GONE:
        return {"categorical": GONE, "numeric": 0.0, "bag": {}}[kind]
    if is_missing(value):
        return None
    if kind == "numeric":
        return float(np.float32(value))
    if kind == "bag":
        weights = value if isinstance(value, dict) else dict.fromkeys(value, 1.0)
        return {member: float(np.float32(weights[member])) for member in sorted(weights)}
    return str(value)


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


def fill_cell(kind: str, given: list[Any]) -> Any:
    """The fill value: the most common cell, the median, or what more than half of the bags hold."""
    there = [value for value in given if value is not None]
    if kind == "numeric":
        return float(np.float32(statistics.median(there))) if there else 0.0
    if kind == "categorical":
        best = GONE
        for value in sorted({value for value in there if value is not GONE}):
            if there.count(value) > there.count(best):
                best = value
        return best
    majority = {}
    for value in sorted({value for bag in there for value in bag}):
        weights = [bag[value] for bag in there if value in bag]
        if len(weights) > len(there) / 2:
            majority[value] = float(np.float32(statistics.median(weights)))
    return majority


def filled_cells(kind: str, training: list[Any], given: list[Any]) -> list[Any]:
    """The cells, missing ones filled in by what training holds."""
    return [fill_cell(kind, training) if value is None else value for value in given]


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


def bin_edges(values: list[float], max_bins: int) -> list[np.float32]:
    """Edges midway between neighbouring values, all of them or at the quantiles."""
    present = sorted(v for v in values if not math.isnan(v))
    distinct = sorted(set(present))
    ends = list(range(1, len(distinct)))  # bins end before these values
    if len(distinct) > max_bins:
        reached = [sum(v <= last for v in present) for last in distinct]
        shares = [k * len(present) / max_bins for k in range(1, max_bins)]
        first = {next(i for i, count in enumerate(reached) if count >= share) for share in shares}
        ends = [i + 1 for i in sorted(first) if i + 1 < len(distinct)]
    edges = []
    for end in ends:
        middle = np.float32((distinct[end - 1] + distinct[end]) / 2)
        edges.append(middle if middle > distinct[end - 1] else np.float32(distinct[end]))
    return edges
