"""Variants of one sequence, each with one value of one column changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import MISSING, BagColumn, CategoricalColumn, Column, NumericColumn, trusted
from hedgerow.data.ragged import starts_of
from hedgerow.data.sequences import Sequences
from hedgerow.encoding import Encoder
from hedgerow.encoding.column_spec import ColumnSpec, in_kind_of, without_values
from hedgerow.encoding.folding import refold
from hedgerow.utilities import Floats32


class Member(NamedTuple):
    """A member that a bag gains or loses."""

    name: str
    gained: bool


NewValue: TypeAlias = str | float | Member | None  # None makes the value missing


class Change(NamedTuple):
    """One value of a sequence is replaced."""

    column: int  # among the columns of the sequence
    place: int  # the position whose value it is
    value: NewValue


@dataclass(frozen=True)
class RawSequence:
    """One sequence with the columns of training that may be changed, and what the encoder stores about each."""

    sequences: Sequences
    specs: tuple[ColumnSpec | None, ...]  # None for a column that the model does not read

    @classmethod
    def of(cls, encoder: Encoder, sequences: Sequences) -> RawSequence:
        """The sequence with every key where training stored it; keys of dicts that it lacks are absent."""
        training = {spec.name: spec for spec in encoder.raw_columns if spec.indicates is None}
        sequences = refold(Encoder(encoder.raw_columns)._as_attributes(sequences), training)
        columns = {column.name: column for column in sequences.columns}
        for name, spec in training.items():
            if name in columns:
                columns[name] = in_kind_of(spec, columns[name])
            elif sequences.optional_columns:
                columns[name] = without_values(spec, np.zeros(sequences.n_positions, np.bool_))
        kept = tuple(map(_compact, columns.values()))
        own = Sequences.trusted(sequences.starts, kept, None, sequences.optional_columns)
        return cls(own, tuple(training.get(column.name) for column in kept))

    @property
    def n_positions(self) -> int:
        return self.sequences.n_positions

    def variants(self, changes: Sequence[Change]) -> Sequences:
        """The sequence once for each change."""
        n = self.n_positions
        columns = []
        for number, column in enumerate(self.sequences.columns):
            own = [(i, one.place, one.value) for i, one in enumerate(changes) if one.column == number]
            columns.append(_changed(column, len(changes), own))
        starts = np.arange(len(changes) + 1, dtype=np.int64) * n
        return Sequences.trusted(starts, tuple(columns), None, self.sequences.optional_columns)


Own: TypeAlias = list[tuple[int, int, NewValue]]  # (variant, position, new value)


def _compact(column: Column) -> Column:
    """The column with an alphabet of only the values that occur; a slice of a large X has the alphabet of all of X."""
    if isinstance(column, NumericColumn):
        return column
    ids = column.codes if isinstance(column, CategoricalColumn) else column.ids
    there = np.unique(ids[ids >= 0]).tolist()
    return _in_alphabet(column, Alphabet.of([column.alphabet[i] for i in there]))


def _in_alphabet(column: CategoricalColumn | BagColumn, alphabet: Alphabet) -> CategoricalColumn | BagColumn:
    """The column in another alphabet, which has all values that occur."""
    ids = column.codes if isinstance(column, CategoricalColumn) else column.ids
    there = ids >= 0
    used, places = np.unique(ids[there], return_inverse=True)
    moved = ids.copy()
    moved[there] = alphabet.ids([column.alphabet[i] for i in used.tolist()])[places.reshape(-1)]
    if isinstance(column, CategoricalColumn):
        return trusted(type(column), column.name, moved, alphabet)
    return trusted(type(column), column.name, column.starts, moved, column.weights, alphabet)


def _tiled(column: Column, n: int) -> NDArray[np.int64]:
    return np.tile(np.arange(len(column)), n)


@singledispatch
def _changed(column: Column, n: int, own: Own) -> Column:
    """The column of n variants, with the changes that concern it."""
    raise NotImplementedError(type(column).__name__)


@_changed.register
def _changed_numbers(column: NumericColumn, n: int, own: Own) -> Column:
    values = np.tile(column.values, n)
    for i, place, value in own:
        assert value is None or isinstance(value, float)
        values[i * len(column) + place] = np.nan if value is None else value
    return trusted(type(column), column.name, values)


@_changed.register
def _changed_categories(column: CategoricalColumn, n: int, own: Own) -> Column:
    texts = [value for _, _, value in own if isinstance(value, str)]
    alphabet = Alphabet.of([*column.alphabet, *texts])
    wider = _in_alphabet(column, alphabet)
    assert isinstance(wider, CategoricalColumn)
    codes = np.tile(wider.codes, n)
    at = [i * len(column) + place for i, place, value in own if isinstance(value, str)]
    codes[np.array(at, np.int64)] = alphabet.ids(texts)
    codes[np.array([i * len(column) + place for i, place, value in own if value is None], np.int64)] = MISSING
    return trusted(type(column), column.name, codes, alphabet)


@_changed.register
def _changed_bags(column: BagColumn, n: int, own: Own) -> Column:
    if not own:
        return column.take(_tiled(column, n))
    members = [value.name for _, _, value in own if isinstance(value, Member)]
    wider = _in_alphabet(column, Alphabet.of([*column.alphabet, *members]))
    assert isinstance(wider, BagColumn)
    assert isinstance(wider.alphabet, Alphabet)
    codes = dict(zip(members, wider.alphabet.ids(members).tolist(), strict=True))
    weights = np.ones(len(wider.ids), np.float32) if wider.weights is None else wider.weights
    parts: list[_Bags] = [_Bags(np.diff(wider.starts), wider.ids, weights)] * n
    for i, place, value in own:
        assert isinstance(value, Member)
        parts[i] = parts[i].changed(place, codes[value.name], value.gained)
    sizes, ids, weights = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return trusted(
        type(column), column.name, starts_of(sizes), ids, None if column.weights is None else weights, wider.alphabet
    )


class _Bags(NamedTuple):
    """The bags of one sequence: their sizes, and their ids and weights end to end."""

    sizes: NDArray[np.int64]
    ids: NDArray[np.int32]
    weights: Floats32

    def changed(self, place: int, code: int, gained: bool) -> _Bags:
        """These bags, where that of a position gains an id with the weight 1, or loses one."""
        first = int(self.sizes[:place].sum())
        own = self.ids[first : first + int(self.sizes[place])]
        if gained and len(own) and own[0] == MISSING:
            ids, weights = self.ids.copy(), self.weights.copy()
            ids[first], weights[first] = code, 1.0
            return self._replace(ids=ids, weights=weights)
        at = first + int(np.searchsorted(own, code))
        sizes = self.sizes.copy()
        sizes[place] += 1 if gained else -1
        if gained:
            return _Bags(sizes, np.insert(self.ids, at, np.int32(code)), np.insert(self.weights, at, np.float32(1)))
        return _Bags(sizes, np.delete(self.ids, at), np.delete(self.weights, at))
