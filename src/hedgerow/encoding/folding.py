"""Moves numeric keys of dicts to where training stored them: a column of their own, or the folded bag.

The reader folds keys that are mostly absent in the X at hand. New sequences may therefore be folded differently from
training, and the encoder corrects this.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import FOLDED, Column, FoldedBag, NumericColumn, trusted
from hedgerow.data.ragged import starts_of
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError


def refold(
    sequences: Sequences, numeric: Collection[str], others: Collection[str], folded: Alphabet | None
) -> Sequences:
    """The same sequences, with numeric keys moved to where training stored them.

    Parameters
    ----------
    numeric, others
        Names of the numeric columns of training, and of its other columns.
    folded
        The keys that training folded into a bag; None if training has no such bag.

    Raises
    ------
    InputError
        If a key that training folded holds text or a missing value.
    """
    bag = next((column for column in sequences.columns if isinstance(column, FoldedBag)), None)
    own = {column.name for column in sequences.columns}
    unfolded = [] if bag is None else [name for name in numeric if name in bag.alphabet and name not in own]
    to_fold: list[NumericColumn] = []
    if folded is not None and sequences.optional_columns:
        for column in sequences.columns:
            if isinstance(column, NumericColumn) and column.name not in numeric and column.name not in others:
                to_fold.append(column)
            elif not isinstance(column, (NumericColumn, FoldedBag)) and column.name in folded:
                raise InputError(
                    f"column {column.name!r} must be numeric, as in training, but it is {column.kind}; convert it"
                )
    if not unfolded and not to_fold:
        return sequences
    moved = {column.name for column in to_fold}
    kept: list[Column] = [c for c in sequences.columns if c.name not in moved and not isinstance(c, FoldedBag)]
    kept += [_column_from(bag, name) for name in unfolded if bag is not None]
    kept.append(_bag_from(bag, to_fold, sequences.n_positions))
    return Sequences.trusted(sequences.starts, tuple(kept), sequences.rows, sequences.optional_columns)


def _column_from(bag: FoldedBag, name: str) -> NumericColumn:
    """The weights of one key as a numeric column: 0 where the key is absent."""
    at = np.flatnonzero(bag.ids == bag.alphabet.ids([name])[0])
    values = np.zeros(len(bag), np.float32)
    values[np.searchsorted(bag.starts, at, side="right") - 1] = 1.0 if bag.weights is None else bag.weights[at]
    return NumericColumn(name, values)


def _bag_from(bag: FoldedBag | None, columns: list[NumericColumn], n_positions: int) -> FoldedBag:
    """The bag with the numbers of these columns added; the number 0 is absent."""
    positions, names, weights = [], [column.name for column in columns], []
    for column in columns:
        if column.missing().any():
            raise InputError(
                f"column {column.name!r} must not have missing values, because training stored this key in a bag of "
                "attributes, which are present or absent; leave the key out"
            )
        positions.append(np.flatnonzero(column.values))
        weights.append(column.values[positions[-1]])
    if bag is not None:
        names += bag.alphabet
        positions.append(np.repeat(np.arange(n_positions), np.diff(bag.starts)))
        weights.append(np.ones(len(bag.ids), np.float32) if bag.weights is None else bag.weights)
    alphabet = Alphabet.of(names)
    id_of = alphabet.ids(names)
    ids = np.repeat(id_of[: len(columns)], [len(at) for at in positions[: len(columns)]])
    if bag is not None:
        ids = np.concatenate([ids, id_of[len(columns) :][bag.ids]])
    flat, weight = np.concatenate(positions), np.concatenate(weights)
    order = np.lexsort((ids, flat))
    starts = starts_of(np.bincount(flat, minlength=n_positions))
    return trusted(FoldedBag, FOLDED, starts, ids[order].astype(np.int32), weight[order], alphabet)
