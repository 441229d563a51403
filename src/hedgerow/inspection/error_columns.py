"""Where columns of X have missing values, or values that training never saw, by position."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import BagColumn, CategoricalColumn, Column
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.folding import refold
from hedgerow.inspection.labelling import Labelling

Marked = Iterator[tuple[str, NDArray[np.bool_]]]


def known_columns(labelling: Labelling, raw: Sequences | None) -> list[Column]:
    """The columns of X that training had: as they were read, or encoded if only codes are there."""
    specs = {spec.name: spec for spec in labelling.estimator._fitted().encoder.raw_columns if spec.indicates is None}
    own = labelling.encoded.columns if raw is None else refold(raw, specs).columns
    names = {name for name, spec in specs.items() if spec.rule is None}
    return [column for column in own if column.name in names and len(column) == len(labelling.predicted)]


def missing_by_column(labelling: Labelling, columns: list[Column], raw: Sequences | None) -> Marked | None:
    """(name, where a value is missing) of each column; None if missing values were replaced in the only data."""
    if raw is None and labelling.estimator._fitted().encoder.fills_missing:
        return None
    return ((column.name, column.missing()) for column in columns if column.n_missing)


def unknown_by_column(labelling: Labelling, columns: list[Column], raw: Sequences | None) -> Marked | None:
    """(name, where training never saw a value) of each categorical column and bag; None without raw sequences."""
    if raw is None:
        return None
    alphabets = {spec.name: spec.alphabet for spec in labelling.estimator._fitted().encoder.raw_columns}
    return _unknown([(column, alphabets[column.name]) for column in columns])


def _unknown(pairs: list[tuple[Column, object]]) -> Marked:
    for column, training in pairs:
        if not isinstance(column, (CategoricalColumn, BagColumn)) or not isinstance(training, Alphabet):
            continue
        assert isinstance(column.alphabet, Alphabet)  # columns of X hold no pairs
        ids = column.codes if isinstance(column, CategoricalColumn) else column.ids
        # One entry more, for codes below 0: missing and absent values are not unknown.
        new = np.append(column.alphabet.into(training) < 0, False)[np.maximum(ids, -1)]
        if isinstance(column, BagColumn):
            bag = np.repeat(np.arange(len(column)), np.diff(column.starts))
            new = np.bincount(bag[new], minlength=len(column)) > 0
        if new.any():
            yield column.name, new


def value_codes(columns: list[Column]) -> dict[str, tuple[NDArray[np.int32], int]]:
    """(codes, number of values) of each categorical column that has values."""
    return {
        column.name: (column.codes, len(column.alphabet))
        for column in columns
        if isinstance(column, CategoricalColumn) and (column.codes >= 0).any()
    }
