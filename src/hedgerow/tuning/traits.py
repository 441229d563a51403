"""What spaces and costs depend on: the kind of columns and a few counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hedgerow.data.columns import BagColumn, CategoricalColumn, NumericColumn, is_local
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.encoded import Encoded
from hedgerow.tuning.data import RaceData

MANY_WORDS = 300  # a column beside others, with at least so many distinct values, holds words
Kind = Literal["letters", "words", "columns", "bags", "numbers"]


@dataclass(frozen=True)
class Traits:
    """Counts of the data, and what its columns are.

    `attributes` is the number of values at a position, over all columns.
    """

    X: Sequences | Encoded
    kind: Kind
    n_labels: int
    n_positions: int
    attributes: float
    has_missing: bool

    @property
    def is_encoded(self) -> bool:
        """Whether columns were derived before, so that no template applies."""
        return isinstance(self.X, Encoded)

    @property
    def reads_windows(self) -> bool:
        """Whether a window changes what is read: derived columns have offsets of their own."""
        return not all(map(is_local, self.X.columns))

    @classmethod
    def of(cls, data: RaceData) -> Traits:
        values = sum(_values_at_a_position(column, data.X) for column in data.X.columns)
        missing = any(_has_missing(column) for column in data.X.columns)
        return cls(data.X, _kind(data.X), len(data.labels), data.X.n_positions, values, missing)


def _kind(X: Sequences | Encoded) -> Kind:
    if any(isinstance(column, BagColumn) for column in X.columns):
        return "bags"
    numeric = sum(isinstance(column, NumericColumn) for column in X.columns)
    if 2 * numeric > len(X.columns):
        return "numbers"
    texts = [column.alphabet for column in X.columns if isinstance(column, CategoricalColumn)]
    if len(X.columns) == 1 and not isinstance(X, Encoded):
        return "letters" if all(len(value) == 1 for value in texts[0]) else "words"
    return "words" if max(map(len, texts)) >= MANY_WORDS else "columns"


def _values_at_a_position(column: object, X: Sequences | Encoded) -> float:
    return len(column.ids) / X.n_positions if isinstance(column, BagColumn) else 1.0


def _has_missing(column: object) -> bool:
    if isinstance(column, NumericColumn):
        return bool(np.isnan(column.values).any())
    return isinstance(column, CategoricalColumn) and bool((column.codes < 0).any())
