"""Values taken away at random, to study what models make of missing ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import MISSING, BagColumn, CategoricalColumn, Column, NumericColumn, trusted
from hedgerow.data.ragged import ranges, starts_of
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError


def damage(X: object, rate: float, seed: int) -> Sequences:
    """The sequences with each value missing with probability `rate`, whatever it is and whatever else is missing.

    A value is what a column has at a position: a letter, a number, a whole bag; what is absent stays absent. The same
    seed takes the same values. Raises InputError unless the rate is from 0 to 1 and the seed an integer of at least 0.
    """
    if isinstance(rate, bool) or not isinstance(rate, (int, float, np.number)) or not 0 <= rate <= 1:
        raise InputError(f"rate must be a number from 0 to 1, the share of values to take away; it is {rate!r}")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"seed must be an integer of at least 0; it is {seed!r}")
    sequences = Sequences(X)
    rng = np.random.default_rng(int(seed))
    columns = tuple(_damaged(column, rng.random(len(column)) < rate) for column in sequences.columns)
    return Sequences.trusted(sequences.starts, columns)


def _damaged(column: Column, gone: NDArray[np.bool_]) -> Column:
    if isinstance(column, NumericColumn):
        return trusted(NumericColumn, column.name, np.where(gone, np.float32(np.nan), column.values))
    if isinstance(column, CategoricalColumn):
        codes = np.where(gone & (column.codes >= 0), np.int32(MISSING), column.codes)
        return trusted(CategoricalColumn, column.name, codes, column.alphabet)
    sizes = np.diff(column.starts)
    gone = gone & (sizes > 0)
    lengths = np.where(gone, 1, sizes)
    starts = starts_of(lengths)
    ids = np.full(starts[-1], MISSING, np.int32)
    weights = None if column.weights is None else np.ones(starts[-1], np.float32)
    kept, there = ranges(column.starts[:-1][~gone], sizes[~gone]), ranges(starts[:-1][~gone], sizes[~gone])
    ids[there] = column.ids[kept]
    if weights is not None and column.weights is not None:
        weights[there] = column.weights[kept]
    return trusted(BagColumn, column.name, starts, ids, weights, column.alphabet)
