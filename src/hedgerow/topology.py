"""Topology: how many labels there are, how many previous labels a label depends on, and which may follow which."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InputError

MAX_TABLE = 2**28  # a gibibyte, of which learning needs several


@dataclass(frozen=True)
class Topology:
    """How many labels, how far back a label looks, and which edges exist at all."""

    n_labels: int
    order: int = 1
    allowed: NDArray[np.bool_] | None = None  # (n_rows, n_labels); None allows every edge

    def __post_init__(self) -> None:
        n_labels, order = self.n_labels, self.order
        if not (is_count(n_labels) and is_count(order) and n_labels >= 1 and order >= 0):
            raise InputError(
                f"a lattice needs n_labels >= 1 and order >= 0, integers; n_labels is {n_labels!r}, order {order!r}"
            )
        if max(n_labels, 2) ** min(order + 1, 64) > MAX_TABLE:
            raise InputError(
                f"order {order} with {n_labels} labels needs {n_labels}^{order + 1} numbers for each position, "
                f"which is more than {MAX_TABLE * 4 >> 30} GiB; take a lower order or a beam over a lower order"
            )
        if self.allowed is not None and self.allowed.shape != (self.n_rows, self.n_labels):
            raise InputError(
                f"allowed must have shape {(self.n_rows, self.n_labels)} (histories, labels); "
                f"its shape is {self.allowed.shape}"
            )

    @property
    def n_histories(self) -> int:
        """Histories of full length: K^order."""
        return int(self.n_labels**self.order)

    @property
    def n_nodes(self) -> int:
        """Nodes of a position, which a beam chooses among: K^order, and K for order 0."""
        return int(self.n_labels ** max(self.order, 1))

    @property
    def n_rows(self) -> int:
        """Histories of every length from none to order: the rows of a table."""
        return int(sum(self.n_labels**m for m in range(self.order + 1)))

    def histories(self) -> list[tuple[int, ...]]:
        """The labels of each table row, most recent first; the first row is `start`, the empty history."""
        return [h for m in range(self.order + 1) for h in product(range(self.n_labels), repeat=m)]

    def allowing(self, follows: Callable[[int | None, int], bool]) -> Topology:
        """This topology with only those edges where `follows(previous, label)` holds; previous is None at start."""
        rows = [[follows(h[0] if h else None, label) for label in range(self.n_labels)] for h in self.histories()]
        return replace(self, allowed=np.array(rows, dtype=bool))


def is_count(value: object) -> bool:
    """Whether this is an integer that fits 64 bits; True and False are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and abs(int(value)) < 2**63
