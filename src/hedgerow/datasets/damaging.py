"""Remove values at random, to measure how models handle missing values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import MISSING, BagColumn, CategoricalColumn, Column, NumericColumn, trusted
from hedgerow.data.ragged import ranges, starts_of
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError


def damage(X: object, rate: float, seed: int) -> Sequences:
    """Make values missing completely at random.

    Parameters
    ----------
    X
        Sequences in any form that `fit` accepts.
    rate : float
        Probability, from 0 to 1, that a value becomes missing, independently of all other values. A value is what a
        column has at a position: a letter, a number, or a whole bag. Absent values stay absent.
    seed : int
        The same seed removes the same values.

    Returns
    -------
    Sequences
        A copy of X for `fit` and `predict`.

    Raises
    ------
    InputError
        If the rate is not from 0 to 1, or the seed is not an integer of at least 0.

    Examples
    --------
    >>> import hedgerow as hr
    >>> damaged = hr.datasets.damage(["abc", "ab"], rate=0.5, seed=0)
    >>> len(damaged)
    2
    """
    if isinstance(rate, bool) or not isinstance(rate, (int, float, np.number)) or not 0 <= rate <= 1:
        raise InputError(f"rate must be a number from 0 to 1, the share of values to remove; it is {rate!r}")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"seed must be an integer of at least 0; it is {seed!r}")
    sequences = Sequences(X)
    rng = np.random.default_rng(int(seed))
    columns = tuple(_with_missing(column, rng.random(len(column)) < rate) for column in sequences.columns)
    return Sequences.trusted(sequences.starts, columns)


def _with_missing(column: Column, removed: NDArray[np.bool_]) -> Column:
    if isinstance(column, NumericColumn):
        return trusted(NumericColumn, column.name, np.where(removed, np.float32(np.nan), column.values))
    if isinstance(column, CategoricalColumn):
        codes = np.where(removed & (column.codes >= 0), np.int32(MISSING), column.codes)
        return trusted(CategoricalColumn, column.name, codes, column.alphabet)
    sizes = np.diff(column.starts)
    removed = removed & (sizes > 0)
    lengths = np.where(removed, 1, sizes)
    starts = starts_of(lengths)
    ids = np.full(starts[-1], MISSING, np.int32)
    weights = None if column.weights is None else np.ones(starts[-1], np.float32)
    old = ranges(column.starts[:-1][~removed], sizes[~removed])
    new = ranges(starts[:-1][~removed], sizes[~removed])
    ids[new] = column.ids[old]
    if weights is not None and column.weights is not None:
        weights[new] = column.weights[old]
    return trusted(BagColumn, column.name, starts, ids, weights, column.alphabet)
