"""The values that explanations show: those of columns, and why there is none.

The alphabets of training do not have a value that training never saw, and its code is that of an absent value. So these
values are found in the raw sequence, if there is one.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

import numpy as np

from hedgerow.data.columns import ABSENT, MISSING, BagColumn, CategoricalColumn, Column
from hedgerow.data.own_alphabets import with_own_alphabet
from hedgerow.data.ragged import sequence_of
from hedgerow.data.sequences import Sequences
from hedgerow.encoding import Encoder
from hedgerow.encoding.derivation import Derivation
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.encoder import derived_sources
from hedgerow.encoding.rules import Derived, Part
from hedgerow.errors import warnings_to


class NoValue(enum.Enum):
    """Why there is no value."""

    OUTSIDE = "(outside)"
    MISSING = "(missing)"
    ABSENT = "(absent)"
    OTHERS = "(values that it lacks)"  # of a bag that has other values
    NOT_KNOWN = "(absent or unknown)"  # without the raw sequence

    def __str__(self) -> str:
        return self.value


class Unknown(str):
    """A value that training never saw."""

    __slots__ = ()


class Weighted(str):
    """A member of a bag that counts as often as its weight says."""

    weight: float

    @classmethod
    def of(cls, value: str, weight: float) -> str:
        """The value with its weight; the plain value if that is 1."""
        if weight == 1:
            return value
        weighted = cls(value)
        weighted.weight = weight
        return weighted


class RawValues:
    """The categorical values of one raw sequence, in the columns that an encoder has; read when they are needed."""

    def __init__(self, encoder: Encoder, x: Any) -> None:
        self._encoder, self._x = encoder, x

    def at(self, column: str, position: int) -> Unknown | NoValue:
        """A value that training never saw, or why there is none."""
        read = self._columns.get(column)
        if read is None:
            return NoValue.ABSENT
        if not isinstance(read, CategoricalColumn):  # training had texts, this sequence has numbers
            return NoValue.NOT_KNOWN
        code = int(read.codes[position])
        return _none_of(code) if code < 0 else Unknown(read.alphabet[code])

    def texts(self, column: str, positions: Iterable[int]) -> tuple[str | None, ...]:
        """The texts of a column of X; None where there is none."""
        read = next((one for one in self._sequences.columns if one.name == column), None)
        if not isinstance(read, CategoricalColumn):
            return ()
        codes = (int(read.codes[position]) for position in positions)
        return tuple(str(read.alphabet[code]) if code >= 0 else None for code in codes)

    @cached_property
    def _sequences(self) -> Sequences:
        if isinstance(self._x, Sequences):
            columns = tuple(map(with_own_alphabet, self._x.columns))
            return Sequences.trusted(self._x.starts, columns, None, self._x.optional_columns)
        with _silent():
            return Sequences([self._x])

    @cached_property
    def _columns(self) -> dict[str, Column]:
        """Columns with the values of this sequence as their alphabets."""
        encoder, sequences = self._encoder, self._sequences
        with _silent():
            encoded = Encoder(encoder.raw_columns).transform(sequences)
        plan = [Derived(spec.name, spec.rule, spec.hidden) for spec in encoder.derived if spec.rule is not None]
        derivation = Derivation(derived_sources([one.rule for one in plan], encoder.raw, sequences, encoded))
        derived = (derivation.column(spec) for spec in derivation.fit(plan))
        return {column.name: column for column in (*sequences.columns, *derived)}


def value_at(encoded: Encoded, column: str, position: int, offset: int, raw: RawValues | None = None) -> Any:
    """The value of a column at an offset from a position, or why there is none; `raw` is the sequence, if it is one."""
    starts = encoded.starts
    sequence = sequence_of(starts, position)
    at = position + offset
    if not starts[sequence] <= at < starts[sequence + 1]:
        return NoValue.OUTSIDE
    read = encoded.column(column)
    if isinstance(read, CategoricalColumn):
        code = int(read.codes[at])
        if code >= 0:
            return str(read.alphabet[code])
        if code == ABSENT:
            return NoValue.NOT_KNOWN if raw is None else raw.at(column, at)
        return NoValue.MISSING
    if isinstance(read, BagColumn):
        ids = read.ids[read.starts[at] : read.starts[at + 1]]
        if not len(ids):
            return NoValue.ABSENT
        return NoValue.MISSING if ids[0] == MISSING else tuple(str(read.alphabet[int(i)]) for i in ids)
    number = float(read.values[at])
    return NoValue.MISSING if np.isnan(number) else number


def texts_at(
    encoder: Encoder, encoded: Encoded, positions: Iterable[int], raw: RawValues | None
) -> tuple[str | None, ...]:
    """The values of the first categorical column of X, such as words; None where there is none, empty without it."""
    name = next((one.name for one in encoder.raw_columns if one.kind == "categorical" and not one.indicates), None)
    if name is None:
        return ()
    if raw is not None:
        return raw.texts(name, positions)
    for spec in encoder.columns:
        if spec.rule == Part(name, "text") or (spec.rule is None and spec.name == name):
            values = (value_at(encoded, spec.name, position, 0) for position in positions)
            return tuple(value if isinstance(value, str) else None for value in values)
    return ()


def _silent() -> AbstractContextManager[None]:
    """Without warnings, which are the same as when the sequence was encoded before."""
    return warnings_to(lambda message, category: None)


def _none_of(code: int) -> NoValue:
    return NoValue.MISSING if code == MISSING else NoValue.ABSENT
