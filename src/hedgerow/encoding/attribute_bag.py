"""Dicts as bags of attributes, for models whose training read lists of attribute strings.

CRFsuite knows attributes only: {"word": "the", "title": True} is the list ["word:the", "title"]. A model of such lists
can so label dicts.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import BAG, BagColumn, CategoricalColumn, Column, FoldedBag, NumericColumn, trusted
from hedgerow.data.ragged import starts_of
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError

# Names of attributes; and for each occurrence its position, its index among the names, and its weight.
_Attributes: TypeAlias = tuple[list[str], NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]


def as_attribute_bag(sequences: Sequences) -> Sequences:
    """The same sequences with one column, a bag of all attributes; weights of an attribute that occurs twice add up.

    Text gives the attribute "key:text", a number the attribute "key" with the number as weight, and a bag the
    attributes "key:member". Raises InputError where a value is missing.
    """
    names: list[str] = []
    read = [_attributes(column) for column in sequences.columns]
    firsts = np.cumsum([0, *(len(own) for own, *_ in read)])
    for own, *_ in read:
        names += own
    alphabet = Alphabet.of(names)
    ranks = alphabet.ids(names)
    empty = np.zeros(0, np.int64)
    positions = np.concatenate([empty, *(at for _, at, _, _ in read)])
    ids = ranks[np.concatenate([empty, *(i + first for (_, _, i, _), first in zip(read, firsts, strict=False))])]
    weights = np.concatenate([np.zeros(0, np.float32), *(w for *_, w in read)])
    return Sequences.trusted(sequences.starts, (merged_bag(positions, ids, weights, alphabet, sequences.n_positions),))


def merged_bag(
    positions: NDArray[np.int64], ids: NDArray[np.int32], weights: NDArray[np.float32], alphabet: Alphabet, n: int
) -> BagColumn:
    """The bag "bag" of n positions; the weights of an attribute that a position has twice are added."""
    order = np.lexsort((ids, positions))
    positions, ids, weights = positions[order], ids[order], weights[order]
    first = np.ones(len(ids), np.bool_)
    first[1:] = (ids[1:] != ids[:-1]) | (positions[1:] != positions[:-1])
    if not first.all():
        weights = np.add.reduceat(weights, np.flatnonzero(first))
        positions, ids = positions[first], ids[first]
    of_ones = bool((weights == 1).all())
    starts = starts_of(np.bincount(positions, minlength=n))
    return trusted(BagColumn, BAG, starts, ids, None if of_ones else weights, alphabet)


def _attributes(column: Column) -> _Attributes:
    if column.n_missing:
        raise InputError(
            f"column {column.name!r} must not have missing values, because training read lists of attributes, which "
            "are present or absent; leave the key out"
        )
    if isinstance(column, NumericColumn):
        at = np.flatnonzero(column.values)
        return [column.name], at, np.zeros(len(at), np.int64), column.values[at]
    if isinstance(column, CategoricalColumn):
        at = np.flatnonzero(column.codes >= 0)
        return _prefixed(column), at, column.codes[at].astype(np.int64), np.ones(len(at), np.float32)
    at = np.repeat(np.arange(len(column)), np.diff(column.starts))
    weights = np.ones(len(column.ids), np.float32) if column.weights is None else column.weights
    return _prefixed(column), at, column.ids.astype(np.int64), weights


def _prefixed(column: CategoricalColumn | BagColumn) -> list[str]:
    """The values of the column with its name in front of them."""
    if isinstance(column, FoldedBag):
        return list(column.alphabet)
    return [f"{column.name}:{value}" for value in column.alphabet]
