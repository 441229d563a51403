"""Variants of one sequence, each with one value of one column changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import NamedTuple, Self, TypeAlias

import numpy as np

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import ABSENT, MISSING, BagColumn, CategoricalColumn, Column, NumericColumn, trusted
from hedgerow.data.ragged import starts_of
from hedgerow.data.sequences import Sequences
from hedgerow.encoding import Encoder
from hedgerow.encoding.column_spec import ColumnSpec, in_kind_of, without_values
from hedgerow.encoding.folding import refold

Value: TypeAlias = str | float | None  # None is a missing or absent value


class Change(NamedTuple):
    """One value of a sequence is replaced.

    A bag gains the member `new_value`, and `value` is None; or it loses the member `value`, and `new_value` is None.
    """

    column: int  # among the columns of the sequence
    place: int  # the position whose value changes
    value: Value
    new_value: Value


@dataclass(frozen=True)
class RawSequence:
    """The raw columns of one sequence that a model reads; `optional` if they are keys of dicts."""

    columns: tuple[Column, ...]
    optional: bool
    n_positions: int

    @classmethod
    def of(cls, encoder: Encoder, sequences: Sequences) -> Self:
        """The columns with every key where training stored it; keys of dicts that the sequence lacks are absent."""
        training = columns_of_training(encoder)
        sequences = refold(Encoder(encoder.raw_columns)._as_attributes(sequences), training)
        there = {column.name: column for column in sequences.columns}
        nowhere, columns = np.zeros(sequences.n_positions, np.bool_), list[Column]()
        for name, spec in training.items():
            if name in there:
                columns.append(in_kind_of(spec, there[name]))
            elif sequences.optional_columns:
                columns.append(without_values(spec, nowhere))
        return cls(tuple(columns), sequences.optional_columns, sequences.n_positions)

    def with_texts(self, texts: Mapping[str, Sequence[str]]) -> Self:
        """The same values, in columns whose alphabets have these texts and no others that do not occur."""
        columns = tuple(_with_texts(column, texts.get(column.name, ())) for column in self.columns)
        return type(self)(columns, self.optional, self.n_positions)

    def variants(self, changes: Sequence[Change]) -> Sequences:
        """The sequence once for each change; the alphabets must have the new texts."""
        n, columns = self.n_positions, []
        every = np.tile(np.arange(n), len(changes))
        for number, column in enumerate(self.columns):
            own = {i * n + one.place: one for i, one in enumerate(changes) if one.column == number}
            copies = column.take(every)
            columns.append(_changed(copies, own) if own else copies)
        starts = np.arange(len(changes) + 1, dtype=np.int64) * n
        return Sequences.trusted(starts, tuple(columns), None, self.optional)


def columns_of_training(encoder: Encoder) -> dict[str, ColumnSpec]:
    """What the encoder stores about each column of X, by name."""
    return {spec.name: spec for spec in encoder.raw_columns if spec.indicates is None}


def _with_texts(column: Column, texts: Sequence[str]) -> Column:
    if isinstance(column, NumericColumn):
        return column
    ids = column.codes if isinstance(column, CategoricalColumn) else column.ids
    used = np.unique(ids[ids >= 0])
    own = [column.alphabet[i] for i in used.tolist()]
    alphabet = Alphabet.of([*own, *texts])
    moved = ids.copy()
    moved[ids >= 0] = alphabet.ids(own)[np.searchsorted(used, ids[ids >= 0])]
    if isinstance(column, CategoricalColumn):
        return trusted(type(column), column.name, moved, alphabet)
    return trusted(type(column), column.name, column.starts, moved, column.weights, alphabet)


@singledispatch
def _changed(column: Column, changes: Mapping[int, Change]) -> Column:
    """The column with another value at each position of `changes`."""
    raise NotImplementedError(type(column).__name__)


@_changed.register
def _changed_numbers(column: NumericColumn, changes: Mapping[int, Change]) -> Column:
    values = column.values.copy()
    values[list(changes)] = [np.nan if one.new_value is None else one.new_value for one in changes.values()]
    return trusted(type(column), column.name, values)


@_changed.register
def _changed_categories(column: CategoricalColumn, changes: Mapping[int, Change]) -> Column:
    assert isinstance(column.alphabet, Alphabet)
    texts = [one.new_value if isinstance(one.new_value, str) else None for one in changes.values()]
    new = column.alphabet.codes(texts)
    codes = column.codes.copy()
    codes[list(changes)] = np.where(new == ABSENT, np.int32(MISSING), new)
    return trusted(type(column), column.name, codes, column.alphabet)


@_changed.register
def _changed_bags(column: BagColumn, changes: Mapping[int, Change]) -> Column:
    losses = {at: one.value for at, one in changes.items() if isinstance(one.value, str)}
    gains = {at: one.new_value for at, one in changes.items() if isinstance(one.new_value, str)}
    positions = np.repeat(np.arange(len(column)), np.diff(column.starts))
    lost = np.full(len(column), ABSENT, np.int32)
    lost[list(losses)] = column.alphabet.ids(list(losses.values()))
    gaining = np.zeros(len(column), np.bool_)
    gaining[list(gains)] = True
    kept = (column.ids != lost[positions]) & ~((column.ids == MISSING) & gaining[positions])
    positions = np.concatenate([positions[kept], np.array(list(gains), np.int64)])
    ids = np.concatenate([column.ids[kept], column.alphabet.ids(list(gains.values()))])
    order = np.lexsort((ids, positions))
    starts = starts_of(np.bincount(positions, minlength=len(column)))
    weights = column.weights
    if weights is not None:
        weights = np.concatenate([weights[kept], np.ones(len(gains), np.float32)])[order]
    return trusted(type(column), column.name, starts, ids[order], weights, column.alphabet)
