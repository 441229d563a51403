"""Columns of CSV and TSV files: numbers or text, as the layout says or as the values show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.columns import Column, NumericColumn, column_of
from hedgerow.formats.exact_values import is_missing
from hedgerow.formats.source import Source
from hedgerow.utilities import counted

_MOSTLY = 0.9  # a column of text is worth a note if more of its values than this are numbers


def read_column(
    source: Source, name: str, values: list[str], lines: NDArray[np.int64], starts: NDArray[np.int64], kind: str | None
) -> tuple[Column, str | None]:
    """A column of the values and, if need be, a note about it.

    Without a kind the column is numeric if every value is a number or a marker for a missing one. Raises InputError,
    with the line, for a value that is no number in a column of numbers.
    """
    if kind == "categorical":
        return _text(name, values, starts), None
    numbers = [_number(value) for value in values]
    others = [i for i, number in enumerate(numbers) if number is None]
    if others and kind == "numeric":
        source.fail(
            int(lines[others[0]]),
            f"column {name!r} holds numbers, as in the training file, but this is {values[others[0]]!r:.40}; write a "
            "number, or nothing where it is missing",
        )
    known = sum(number == number for number in numbers if number is not None)
    if kind == "numeric" or (not others and (known or any(value.lower() == "nan" for value in values))):
        return _numeric(source, name, numbers, lines), _about_markers(name, values)
    note = None
    if len(others) < (1 - _MOSTLY) * (known + len(others)):
        at = others[0]
        note = (
            f"column {name} is text, for {len(others):,} of its {known + len(others):,} values are no numbers, such as "
            f"{values[at]!r:.40} on line {lines[at]}"
        )
    return _text(name, values, starts), note if others else None


def _number(text: str) -> float | None:
    """The number, NaN for a marker for a missing one, or None."""
    try:
        return float(text)
    except ValueError:
        return np.nan if is_missing(text) else None


def _about_markers(name: str, values: list[str]) -> str | None:
    markers = [value for value in values if value and value.lower() != "nan" and is_missing(value)]
    if not markers:
        return None
    shown = ", ".join(map(repr, sorted(set(markers))))
    return f"column {name}: {counted(len(markers), 'value')} {shown} taken as missing"


def _numeric(source: Source, name: str, numbers: list[float | None], lines: NDArray[np.int64]) -> NumericColumn:
    with np.errstate(over="ignore"):
        single = np.array(numbers, np.float64).astype(np.float32)
    infinite = np.flatnonzero(np.isinf(single))
    if len(infinite):
        source.fail(
            int(lines[infinite[0]]),
            f"column {name!r}: numbers must be finite as 32-bit floats, but got {numbers[infinite[0]]}; rescale them, "
            "or write nothing where a value is missing",
        )
    return NumericColumn(name, single)


def _text(name: str, values: list[str], starts: NDArray[np.int64]) -> Column:
    return column_of(_core.ingest_values([[value or None for value in values]], starts, name))
