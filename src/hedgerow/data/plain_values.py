"""Values of columns as plain Python values: what a user would have written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import (
    ABSENT,
    BAG,
    MISSING,
    SYMBOL,
    BagColumn,
    CategoricalColumn,
    CharacterColumn,
    Column,
    FoldedBag,
    NumericColumn,
)
from hedgerow.utilities import Floats32

_LARGEST = float(np.finfo(np.float32).max)


def as_lists(starts: NDArray[np.int64], columns: Sequence[Column]) -> list[Any]:
    """Sequences as a user would have written them; see Sequences.tolist."""
    bounds = list(pairwise(starts.tolist()))
    if len(columns) == 1 and _is_nameless(columns[0]):
        flat = values(columns[0], None)
        if isinstance(columns[0], CharacterColumn):
            return ["".join(flat[begin:end]) for begin, end in bounds]
        return [flat[begin:end] for begin, end in bounds]
    rows: list[dict[str, Any]] = [{} for _ in range(int(starts[-1]))]
    for column in columns:
        for row, value in zip(rows, values(column, ...), strict=True):
            if isinstance(column, FoldedBag):
                row.update(value)
            elif value is not ...:
                row[column.name] = value
    return [rows[begin:end] for begin, end in bounds]


def _is_nameless(column: Column) -> bool:
    """Whether a user gives the values of such a column without a name."""
    if isinstance(column, CategoricalColumn):
        return column.name == SYMBOL and not (column.codes == ABSENT).any()
    return isinstance(column, BagColumn) and column.name == BAG and column.weights is None and not column.n_missing


def numbers(column: NumericColumn) -> list[int | float | None]:
    """The numbers as short as they can be written, None where they are missing."""
    return _short(column.values)


def _short(values: Floats32) -> list[Any]:
    """Each number with the digits that identify it as a 32-bit float; None for NaN."""
    found = []
    for text, exact in zip(values.astype(np.str_).tolist(), values.tolist(), strict=True):
        number = float(text)
        # The shortest digits of the largest floats are beyond all 32-bit floats.
        number = exact if abs(number) > _LARGEST else number
        whole = number.is_integer() and abs(number) < 2**24 and text != "-0.0"
        found.append(None if number != number else int(number) if whole else number)
    return found


def values(column: Column, absent: object) -> list[Any]:
    """The values as JSON has them: None where one is missing, `absent` where the key is absent."""
    if isinstance(column, NumericColumn):
        return list(numbers(column))
    if isinstance(column, CategoricalColumn):
        names = np.array([*column.alphabet, absent, None], dtype=object)
        found: list[Any] = names[column.codes].tolist()
        return found
    return list(_bags(column))


def _bags(column: BagColumn) -> Iterator[Any]:
    names: NDArray[Any] = np.array([*column.alphabet, None], dtype=object)
    weights = None if column.weights is None else _short(column.weights)
    ids = column.ids.tolist()
    for begin, end in pairwise(column.starts.tolist()):
        if end > begin and ids[begin] == MISSING:
            yield None
        elif weights is None:
            yield names[ids[begin:end]].tolist()
        else:
            yield dict(zip(names[ids[begin:end]].tolist(), weights[begin:end], strict=True))
