"""Conjunctions: attributes that are present at a position if all their member attributes are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core


@dataclass(frozen=True, eq=False)
class Conjunctions:
    """Conjunction c has the attribute ids members[starts[c]:starts[c + 1]], strictly increasing.

    Raises ValueError if the arrays are not valid.
    """

    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    core: _core.Conjunctions = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "core", _core.Conjunctions(self.starts, self.members))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.starts, self.members)

    @classmethod
    def of(cls, sets: Iterable[tuple[int, ...]]) -> Conjunctions:
        """The conjunctions with these sets of member ids."""
        listed = list(sets)
        starts = np.cumsum([0, *map(len, listed)], dtype=np.int64)
        return cls(starts, np.fromiter(chain.from_iterable(listed), np.int32, count=int(starts[-1])))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def sets(self) -> list[tuple[int, ...]]:
        """The member ids of each conjunction."""
        members = self.members.tolist()
        return [tuple(members[begin:end]) for begin, end in pairwise(self.starts.tolist())]


NO_CONJUNCTIONS = Conjunctions.of([])
