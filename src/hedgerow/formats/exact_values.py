"""Numbers as a file has them, for conversion: columns of X hold them as 32-bit floats."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_MARKERS = {"", "na", "n/a", "nan", "null", "none", "?"}
_CODE = re.compile(r"[-+]?0\d")  # a number with leading zeros, such as a postal code


def is_missing(text: str) -> bool:
    """Whether a value of a column of numbers is a marker for a missing one: empty, NA, N/A, nan, null, None or ?."""
    return text.strip().lower() in _MARKERS


def as_text(value: Any) -> str:
    """A value as text: "" where it is missing; an absent number is 0."""
    if isinstance(value, str):
        return value
    return "" if value is None else "0" if value is ... else str(int(value) if isinstance(value, bool) else value)


def typed(values: Iterable[Any]) -> list[Any]:
    """Texts of numbers as numbers, None where one is missing; texts, if one has leading zeros; others as they are."""
    listed = list(values)
    if any(isinstance(value, str) and _CODE.match(value.strip()) for value in listed):
        return [None if isinstance(value, str) and is_missing(value) else value for value in listed]
    return [_number(value) if isinstance(value, str) else value for value in listed]


def _number(text: str) -> int | float | None:
    if is_missing(text):
        return None
    try:
        return int(text)
    except ValueError:
        return float(text)
