"""Windows: the offsets at which columns are read."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from hedgerow.errors import InputError

# Each offset adds an id for every value of every column, and so time and memory even when a model file is loaded. The
# limit protects against files that claim a huge window.
LONGEST = 10_000

# A window as users describe it; see Window.of.
WindowSpec: TypeAlias = int | tuple[int, int] | list[int]
WINDOW_RULE = "a number n (offsets -n..n), a pair (left, right) or a list of distinct offsets"


@dataclass(frozen=True)
class Window:
    """Offsets from a position at which columns are read, increasing; 0 is the position itself.

    Outside the sequence a window reads a padding symbol. A window is a shifted read: nothing is copied.
    """

    offsets: tuple[int, ...]

    @classmethod
    def of(cls, spec: object) -> Window:
        """The window that a parameter describes.

        Parameters
        ----------
        spec
            A number n: the offsets -n..n. A pair (left, right), as a tuple: `left` positions before and `right`
            positions after; a negative left is an offset, so (-2, 1) is the same as (2, 1). A list of offsets, in any
            order.

        Raises
        ------
        InputError
            If `spec` is something else, or names an offset twice.
        """
        if isinstance(spec, Window):
            return spec
        if isinstance(spec, (list, range, np.ndarray)):
            offsets = tuple(sorted(_integer(offset, spec) for offset in spec))
        elif isinstance(spec, tuple):
            offsets = _between(spec)
        else:
            n = _integer(spec, spec)
            offsets = tuple(range(-n, n + 1))
        if not offsets or len(set(offsets)) < len(offsets):
            raise _refused(spec)
        return cls(offsets)

    @classmethod
    def from_stored(cls, offsets: object) -> Window:
        """The window of a model file, which lists every offset: a small file cannot describe a huge window."""
        if not isinstance(offsets, list):
            raise _refused(offsets)
        return cls.of(offsets)

    @property
    def is_trivial(self) -> bool:
        """Whether only the position itself is read, so that no padding can occur."""
        return self.offsets == (0,)


HERE = Window((0,))


def _between(pair: tuple[object, ...]) -> tuple[int, ...]:
    if len(pair) != 2:
        raise _refused(pair)
    left, right = (_integer(side, pair) for side in pair)
    if left >= 0 > right:
        raise _refused(pair)
    return tuple(range(-abs(left), right + 1))


def _integer(value: object, spec: object) -> int:
    if isinstance(value, (bool, np.bool_)):
        raise _refused(spec)
    try:
        integer = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise _refused(spec) from None
    if abs(integer) > LONGEST:
        raise _refused(spec)
    return integer


def _refused(spec: object) -> InputError:
    return InputError(f"window must be {WINDOW_RULE}, but got {spec!r}")
