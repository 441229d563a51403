"""Pairs of attributes as attributes: what a polynomial kernel of degree 2 adds to a linear model.

Let s be the number of attributes that two positions share. With a weight for each attribute and each pair of
attributes, the product of the two positions is

    s + s (s - 1) / 2 = ((1 + 2 s)^2 - 1) / 8

So a perceptron or SVM with pairs is the kernel machine with this kernel. Pairs that no training position has would
keep the weight 0, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import CategoricalColumn, NumericColumn
from hedgerow.data.mapped_pages import MappedPages
from hedgerow.encoding import AttributeReader, Conjunctions
from hedgerow.errors import InputError
from hedgerow.inference.blocks import sequence_blocks
from hedgerow.learning.base import TrainingData
from hedgerow.learning.linear_space import LinearSpace

BLOCK_POSITIONS = 2**13  # whose pairs are listed at once, to bound memory
MAX_PAIRS = 2**28  # their conjunctions take about 6 GB


def with_pairs(space: LinearSpace, training: TrainingData, min_freq: int) -> LinearSpace:
    """The space with a conjunction for each pair of attributes that at least `min_freq` training positions have.

    Numbers and weighted bags take no part in pairs. Raises InputError if there are too many pairs.
    """
    reader = space.attributes(training)
    found = _pairs(reader, min_freq)
    conjunctions = Conjunctions(2 * np.arange(len(found) + 1, dtype=np.int64), found.ravel())
    enlarged = AttributeReader(training.sequences, space.window, space.scalings, conjunctions)
    return replace(space, conjunctions=conjunctions, reader=enlarged)


def _pairs(reader: AttributeReader, min_freq: int) -> NDArray[np.int32]:
    """The pairs (n, 2) of ids that occur together often enough, the smaller id first, sorted."""
    joins = _joining(reader)
    keys, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    waiting: list[NDArray[np.int64]] = []
    pages, starts = MappedPages.of_columns(reader.sequences.columns), reader.sequences.starts
    for block in sequence_blocks(starts, BLOCK_POSITIONS):
        waiting += _keys(reader, joins, int(starts[block.start]), int(starts[block.stop]))
        pages.release()
        # Counted when the new pairs are as many as the old ones, so that few are sorted again and again.
        if sum(map(len, waiting)) > len(keys):
            keys, counts = _merged(keys, counts, waiting)
            waiting = []
    keys, counts = _merged(keys, counts, waiting)
    keys = keys[counts >= min_freq]
    return np.stack(np.divmod(keys, reader.n_basic), axis=1).astype(np.int32)


def _joining(reader: AttributeReader) -> NDArray[np.bool_]:
    """By id, whether the attribute is there or not there, without a value."""
    plain = [
        column.name
        for column in reader.sequences.columns
        if isinstance(column, CategoricalColumn)
        or not (isinstance(column, NumericColumn) or column.weights is not None)
    ]
    return reader.of_columns(plain)


def _keys(reader: AttributeReader, joins: NDArray[np.bool_], first: int, last: int) -> Iterator[NDArray[np.int64]]:
    """A number for each pair at each of the positions first..last."""
    starts, ids = reader.ids(first, last)
    rows = np.repeat(np.arange(last - first), np.diff(starts))[joins[ids]]
    ids = ids[joins[ids]].astype(np.int64)
    order = np.lexsort((ids, rows))
    rows, ids = rows[order], ids[order]
    is_new = np.ones(len(ids), np.bool_)  # a bag may have an attribute twice
    is_new[1:] = (rows[1:] != rows[:-1]) | (ids[1:] != ids[:-1])
    rows, ids = rows[is_new], ids[is_new]
    for step in range(1, len(ids)):  # each id with the one `step` places after it, if that has the same position
        together = rows[step:] == rows[:-step]
        if not together.any():
            return
        yield ids[:-step][together] * reader.n_basic + ids[step:][together]


def _merged(
    keys: NDArray[np.int64], counts: NDArray[np.int64], more: list[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys and how often each occurs, with keys that occur once each in `more`."""
    new, new_counts = np.unique(np.concatenate([np.zeros(0, np.int64), *more]), return_counts=True)
    merged, places = np.unique(np.concatenate([keys, new]), return_inverse=True)
    if len(merged) > MAX_PAIRS:
        raise InputError(
            f"degree=2 needs a weight for each pair of attributes that occur together, and these are more than "
            f"{MAX_PAIRS:,}; use a narrower window, fewer columns or degree=1"
        )
    total = np.bincount(places, np.concatenate([counts, new_counts]), minlength=len(merged))
    return merged, total.astype(np.int64)
