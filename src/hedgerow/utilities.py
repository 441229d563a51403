"""Array types and small functions that every package may use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

Floats: TypeAlias = NDArray[np.floating[Any]]
Floats32: TypeAlias = NDArray[np.float32]
Floats64: TypeAlias = NDArray[np.float64]


def is_count(value: object) -> bool:
    """Whether the value is an integer that fits 64 bits; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and abs(int(value)) < 2**63


BEAM_RULE = "an integer of at least 1, a number between 0 and 1, or None"


def is_beam(value: object) -> bool:
    """Whether a lattice can have this beam: a count of at least 1, or a bound between 0 and 1."""
    if isinstance(value, (float, np.floating)):
        return bool(0 < value < 1)
    return is_count(value) and value >= 1  # type: ignore[operator]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array if it is read-only; otherwise a view of it that cannot be written to."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.setflags(write=False)
    return view


def is_masked(array: NDArray[Any]) -> bool:
    """Whether this is a masked array. Without the module numpy.ma there is none; importing it takes time."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(array, masked.MaskedArray)


def finite_deviation(values: Floats | None) -> float:
    """The standard deviation of the finite values; 0 if there are none."""
    finite = np.zeros(0) if values is None else values[np.isfinite(values)]
    return float(finite.std(dtype=np.float64)) if finite.size else 0.0


def counted(n: int, noun: str) -> str:
    """A number and what it counts: "1 column", "2,000 columns"."""
    return f"{n} {noun}" if n == 1 else f"{n:,} {noun}s"


def duration(seconds: float) -> str:
    """A time, such as 0.4 s or 3 min 20 s."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


class once(Generic[T]):  # noqa: N801 - used like property
    """A property that is computed when it is first read, and then kept.

    Unlike `functools.cached_property` it holds no lock meanwhile, so that computing it may wait for another thread.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function, self._name, self.__doc__ = function, function.__name__, function.__doc__

    def __get__(self, owner: Any, kind: type | None = None) -> T:
        value = self._function(owner)
        owner.__dict__[self._name] = value
        return value
