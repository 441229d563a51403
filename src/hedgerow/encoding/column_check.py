"""Columns at prediction against columns of training: what differs is an error or a warning, never silent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import ABSENT, CategoricalColumn, Column, NumericColumn
from hedgerow.data.sequences import Sequences
from hedgerow.errors import AbsentColumnWarning, InputError, first_few, warn_user

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
        present = _present(column)
        n_present = int(np.count_nonzero(present))
        if n_present == len(present):
            return cls(1.0, 1.0)
        having = np.logical_or.reduceat(present, starts[:-1])
        return cls(n_present / len(present), float(having.mean()))

    def expected_in(self, sequences: Sequences) -> bool:
        """Whether it is unlikely that these sequences lack the column by chance.

        Both shares must say so: an optional key may stand at one position of every sequence, or at every position of
        few sequences.
        """
        by_positions: float = (1 - self.positions) ** sequences.n_positions
        by_sequences: float = (1 - self.sequences) ** len(sequences)
        return max(by_positions, by_sequences) < UNLIKELY


NEVER = Presence(0.0, 0.0)


def check_columns(training: dict[str, Presence], sequences: Sequences) -> None:
    """Compare the columns with those of training.

    Raises InputError when no column is common to both, or rows have another width. Warns of columns that are absent
    from all sequences. A key of dicts is optional: it is reported if its absence is unlikely to be chance.
    """
    names = [column.name for column in sequences.columns]
    if not sequences.optional_columns and len(names) != len(training) and _numbered(names) and _numbered([*training]):
        raise InputError(f"the rows of X must have {len(training)} columns, as in training, but they have {len(names)}")
    new = [name for name in names if name not in training]
    if len(new) == len(names):
        raise InputError(
            f"X must have columns of training, but it has none of them; training had {first_few([*training])}, "
            f"and X has {first_few(names)}"
        )
    absent = [
        name
        for name, presence in training.items()
        if name not in names and (presence.expected_in(sequences) or not sequences.optional_columns)
    ]
    if absent:
        added = f"; X has columns that training did not have: {first_few(new)}" if new else ""
        warn_user(
            f"X lacks columns that training had: {first_few(absent)}{added}; "
            "nothing that was learned from the absent columns is used: name the columns as in training",
            AbsentColumnWarning,
        )


def _numbered(names: Sequence[str]) -> bool:
    """Whether these are the names that the columns of arrays and tuples get."""
    return all(name == f"x{c}" for c, name in enumerate(names))


def _present(column: Column) -> NDArray[np.bool_]:
    """Where the column has a value or a missing one. An absent number is stored as 0, and so 0 counts as absent."""
    present: NDArray[np.bool_]
    if isinstance(column, CategoricalColumn):
        present = column.codes != ABSENT
    elif isinstance(column, NumericColumn):
        present = column.values != 0
    else:
        present = np.diff(column.starts) > 0
    return present
