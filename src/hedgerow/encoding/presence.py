"""How often training has a column, and whether new sequences lack it by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import ABSENT, CategoricalColumn, Column, NumericColumn
from hedgerow.data.sequences import Sequences

# A key that is optional may be absent from all of X by chance. It is reported when the chance is below this.
UNLIKELY = 1e-3


@dataclass(frozen=True)
class Presence:
    """How often training has a column: the share of positions, and the share of sequences with such a position."""

    positions: float
    sequences: float

    @classmethod
    def of(cls, column: Column, starts: NDArray[np.int64]) -> Presence:
        if isinstance(column, CategoricalColumn) and column.codes.min() > ABSENT:
            return cls(1.0, 1.0)
        present = present_positions(column)
        n_present = int(np.count_nonzero(present))
        if n_present == len(present):
            return cls(1.0, 1.0)
        having = np.logical_or.reduceat(present, starts[:-1])
        return cls(n_present / len(present), float(having.mean()))

    def expected_in(self, sequences: Sequences) -> bool:
        """Whether it is unlikely that these sequences lack the column by chance.

        Both shares must agree: an optional key may be at one position of every sequence, or at every position of
        few sequences. A column that every training position has is always expected; so a number must never be 0,
        because its absence changes nothing that 0 does not.
        """
        by_positions: float = (1 - self.positions) ** sequences.n_positions
        by_sequences: float = (1 - self.sequences) ** len(sequences)
        return max(by_positions, by_sequences) < UNLIKELY


NEVER = Presence(0.0, 0.0)


def present_positions(column: Column) -> NDArray[np.bool_]:
    """Where the column has a value or a missing one. An absent number is stored as 0, and so 0 counts as absent."""
    present: NDArray[np.bool_]
    if isinstance(column, CategoricalColumn):
        present = column.codes != ABSENT
    elif isinstance(column, NumericColumn):
        present = column.values != 0
    else:
        present = np.diff(column.starts) > 0
    return present
