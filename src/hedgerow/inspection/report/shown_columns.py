"""The values that the browser of sequences shows: one text for each position, and more columns in the panel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.column_store import ColumnStore
from hedgerow.data.columns import BagColumn, CategoricalColumn, Column, NumericColumn
from hedgerow.data.plain_values import values
from hedgerow.inspection.report.markup import shown, shown_value
from hedgerow.inspection.report.page import json_bytes

MISSING_TEXT, ABSENT_TEXT = "(missing)", "(absent)"
MOST_COLUMNS = 100  # columns of the panel
_DIGITS = "{:.4g}"


class Texts(NamedTuple):
    """Distinct texts, and the code of the text of each position."""

    name: str
    alphabet: list[str]
    codes: list[int]

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "values": self.alphabet, "codes": self.codes}


def texts_of(name: str, found: Iterable[str]) -> Texts:
    """Texts with codes in the order in which they first occur."""
    codes: dict[str, int] = {}
    by_position = [codes.setdefault(text, len(codes)) for text in found]
    return Texts(shown(name), list(codes), by_position)


def main_column(store: ColumnStore) -> Column | None:
    """The column whose value is the text of a position: the first categorical one, or else the first bag."""
    kinds = (CategoricalColumn, BagColumn)
    return next((column for kind in kinds for column in store.columns if isinstance(column, kind)), None)


def position_texts(store: ColumnStore, positions: NDArray[np.int64]) -> Texts | None:
    """The text of each of some positions; None where all columns are numbers."""
    column = main_column(store)
    return None if column is None else column_texts(column, positions)


def panel_columns(store: ColumnStore, positions: NDArray[np.int64], room: int) -> tuple[list[Texts], list[str]]:
    """(the values of the other columns at some positions, the names of the columns that are left out).

    Of the first columns those are kept that fit into `room` bytes of the page.
    """
    main = main_column(store)
    others = [column for column in store.columns if column is not main]
    kept, left_out = [], []
    for column in others[:MOST_COLUMNS]:
        found = column_texts(column, positions)
        size = json_bytes(found.to_json())
        if size <= room:
            kept.append(found)
            room -= size
        else:
            left_out.append(column.name)
    return kept, left_out + [column.name for column in others[MOST_COLUMNS:]]


def column_texts(column: Column, positions: NDArray[np.int64]) -> Texts:
    """The values of a column at some positions as texts."""
    if isinstance(column, CategoricalColumn):
        codes, inverse = np.unique(column.codes[positions], return_inverse=True)
        special = {-1: MISSING_TEXT, -2: ABSENT_TEXT}
        alphabet = [special[code] if code < 0 else shown_value(column.alphabet[code]) for code in codes.tolist()]
        return Texts(shown(column.name), alphabet, inverse.ravel().tolist())
    chosen = column.take(positions)
    if isinstance(chosen, NumericColumn):
        return texts_of(column.name, map(_number, chosen.values.tolist()))
    return texts_of(column.name, map(_bag, values(chosen, None)))


def _number(value: float) -> str:
    return MISSING_TEXT if value != value else _DIGITS.format(value)


def _bag(value: Any) -> str:
    if value is None:
        return MISSING_TEXT
    if isinstance(value, dict):
        return shown(", ".join(f"{name}: {_number(weight)}" for name, weight in value.items()))
    return shown(", ".join(map(str, value)))
