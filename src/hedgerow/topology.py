"""Topology: how many labels there are, how many previous labels a label depends on, and which may follow which.

The *label context* of a position is the last `order` labels before it, or all of them where there are fewer. A context
of m labels has a number below K^m: its labels are the digits in base K, the most recent label first. A transition table
has one row for each context of 0, 1, ..., `order` labels, the shorter contexts first; row 0 is `start`, no labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.constraints import Constraints
from hedgerow.errors import InputError
from hedgerow.utilities import is_count

MAX_TABLE_CELLS = 2**28  # 1 GiB in single precision, of which learning needs several


@dataclass(frozen=True)
class Topology:
    """The labels, the order of the scores, and the constraints: None allows every label sequence."""

    n_labels: int
    order: int = 1
    constraints: Constraints | None = None

    def __post_init__(self) -> None:
        n_labels, order = self.n_labels, self.order
        if not (is_count(n_labels) and is_count(order) and n_labels >= 1 and order >= 0):
            raise InputError(
                f"a lattice needs n_labels >= 1 and order >= 0, integers; n_labels is {n_labels!r}, order {order!r}"
            )
        if max(n_labels, 2) ** min(order + 1, 64) > MAX_TABLE_CELLS:
            raise InputError(
                f"order {order} with {n_labels} labels needs {n_labels}^{order + 1} numbers for each position, "
                f"which is more than {MAX_TABLE_CELLS * 4 >> 30} GiB; use a lower order"
            )
        if self.constraints is not None and self.constraints.n_labels != n_labels:
            raise InputError(
                f"the constraints must be about the {n_labels} labels, but they are about {self.constraints.n_labels}"
            )

    @property
    def lattice_order(self) -> int:
        """The order of the lattice: at least 1 with constraints, which depend on the previous label."""
        return self.order if self.constraints is None else max(self.order, 1)

    @property
    def forbidden_cells(self) -> NDArray[np.int64]:
        """The cells of a transition table of `lattice_order` that the constraints forbid."""
        if self.constraints is None:
            return np.zeros(0, np.int64)
        return np.flatnonzero(~self.constraints.table(self.lattice_order))

    @property
    def never_last(self) -> NDArray[np.int32]:
        """The labels that cannot be the last of a sequence."""
        if self.constraints is None:
            return np.zeros(0, np.int32)
        return np.flatnonzero(~self.constraints.last).astype(np.int32)

    @property
    def n_contexts(self) -> int:
        """Label contexts of full length: K^order."""
        return int(self.n_labels**self.order)

    @property
    def n_nodes(self) -> int:
        """Nodes of a position, from which a beam selects: K^order, and K for order 0."""
        return int(self.n_labels ** max(self.order, 1))

    @property
    def n_rows(self) -> int:
        """Rows of a transition table: label contexts of every length."""
        return self.first_row(self.order + 1)

    @property
    def n_cells(self) -> int:
        """Cells of a transition table: a row for each label context, a column for each label."""
        return self.n_rows * self.n_labels

    def first_row(self, length: int) -> int:
        """The table row of the first label context with this many labels."""
        return int(sum(self.n_labels**m for m in range(length)))

    def split_rows(self, table: NDArray[Any]) -> list[NDArray[Any]]:
        """The rows of a table by the length of their label context, 0 to order: views."""
        return np.split(table, [self.first_row(length) for length in range(1, self.order + 1)])

    def contexts(self) -> list[tuple[int, ...]]:
        """The labels of each table row, most recent first; the first row is `start`, without labels."""
        return [labels for m in range(self.order + 1) for labels in product(range(self.n_labels), repeat=m)]

    def context_lengths(self, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many labels the context of each position has: the labels before it in its sequence, at most `order`."""
        return np.minimum(positions_in_sequence(starts), self.order)

    def positions_by_length(self, starts: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """The positions whose label context has 0, 1, ..., `order` labels."""
        lengths = self.context_lengths(starts)
        return [np.flatnonzero(lengths == m) for m in range(self.order + 1)]

    def last_labels(self, codes: NDArray[np.integer[Any]], starts: NDArray[np.int64], length: int) -> NDArray[np.int64]:
        """The number of the last `length` labels before each position; -1 where the sequence has fewer."""
        numbers = np.zeros(len(codes), np.int64)
        at = np.arange(len(codes))
        for back in range(1, length + 1):
            numbers = numbers * self.n_labels + codes[np.maximum(at - back, 0)]
        return np.where(positions_in_sequence(starts) >= length, numbers, -1)

    def context_numbers(self, codes: NDArray[np.integer[Any]], starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of the label context of each position, among the contexts of its length."""
        lengths = self.context_lengths(starts)
        numbers = np.zeros(len(codes), np.int64)
        for m in range(1, self.order + 1):
            numbers = np.where(lengths == m, self.last_labels(codes, starts, m), numbers)
        return numbers

    def table_rows(self, codes: NDArray[np.integer[Any]], starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The table row of the label context of each position."""
        first_rows = np.array([self.first_row(m) for m in range(self.order + 1)])
        rows: NDArray[np.int64] = first_rows[self.context_lengths(starts)] + self.context_numbers(codes, starts)
        return rows

    def allowing(
        self, follows: Callable[[int | None, int], bool], last: Callable[[int], bool] = lambda _: True
    ) -> Topology:
        """This topology with the transitions where `follows(previous, label)` is true; previous is None at start.

        `last(label)` says whether a label may be the last of a sequence.
        """
        labels = range(self.n_labels)
        pairs = np.array([[follows(previous, label) for label in labels] for previous in (None, *labels)], np.bool_)
        return replace(self, constraints=Constraints(pairs, np.array([last(label) for label in labels], np.bool_)))


def positions_in_sequence(starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each position in its sequence, from 0."""
    return np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts))
