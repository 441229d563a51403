"""Windows: the offsets at which columns are read."""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InputError

# Every offset costs an id for each value and time and memory when a model is loaded: far more than can be learned.
LONGEST = 10_000


@dataclass(frozen=True)
class Window:
    """`left` positions before a position, itself, and `right` positions after it.

    Outside the sequence a window reads a padding symbol. It is a shifted read, never a copy.
    """

    left: int
    right: int

    @classmethod
    def of(cls, spec: object) -> Window:
        """From an int w (w on either side) or a pair (left, right); raises InputError for anything else."""
        if isinstance(spec, Window):
            return spec
        pair = spec if isinstance(spec, (tuple, list)) else (spec, spec)
        if len(pair) != 2:
            raise InputError(f"window must be a number or a pair (left, right), but got {spec!r}")
        return cls(*(_count(side, spec) for side in pair))

    @property
    def offsets(self) -> NDArray[np.int64]:
        return np.arange(-self.left, self.right + 1, dtype=np.int64)

    @property
    def is_trivial(self) -> bool:
        """Whether only the position itself is read, so that there is nothing to pad."""
        return self.left == self.right == 0


def _count(side: object, spec: object) -> int:
    rule = f"window must be a whole number from 0 to {LONGEST}, or a pair (left, right), but got {spec!r}"
    if isinstance(side, (bool, np.bool_)):
        raise InputError(rule)
    try:
        count = operator.index(side)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(rule) from None
    if not 0 <= count <= LONGEST:
        raise InputError(rule)
    return count
