"""Sequences of different lengths, stored end to end in flat arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def starts_of(lengths: Any) -> NDArray[np.int64]:
    """The start of each range of these lengths when they are stored end to end, and the end of the last."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def ranges(begins: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The indices begin, begin + 1, ..., begin + length - 1 of every range, end to end."""
    starts = starts_of(lengths)
    return np.repeat(begins - starts[:-1], lengths) + np.arange(starts[-1])


def place(starts: NDArray[np.int64], flat: int) -> tuple[int, int]:
    """(sequence, position within it) of a position counted over all sequences."""
    sequence = int(np.searchsorted(starts, flat, side="right")) - 1
    return sequence, flat - int(starts[sequence])


def first_duplicate(names: Iterable[str]) -> str | None:
    """The first name that occurs a second time; None if all are distinct."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def sequence_of(starts: NDArray[np.int64], position: int) -> int:
    """The number of the sequence that holds a position, counted over all sequences."""
    return int(np.searchsorted(starts, position, side="right")) - 1
