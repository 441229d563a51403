"""The encoder: what training saw of each column, and new sequences put into those terms.

With a treatment it also fills in what is missing, by what the columns of training hold, and may mark it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import (
    ABSENT,
    FOLDED,
    MISSING,
    BagColumn,
    CategoricalColumn,
    Column,
    FoldedBag,
    Kind,
    LocalColumn,
    LocalNumericColumn,
    NumericColumn,
    trusted,
)
from hedgerow.data.ragged import first_duplicate, starts_of
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.column_check import NEVER, Presence, check_columns, is_missing_without
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.folding import refold
from hedgerow.encoding.imputation import MARK, Treatment, Typical, fill, from_stored, mark, mark_name, stored, typical
from hedgerow.errors import InputError


@dataclass(frozen=True)
class ColumnSpec:
    """Name and kind of a column, and its values unless it is numeric.

    It is one of training, with what fills it in if there is a treatment; or it marks the missing values of one; or it
    is local, which is not for files.
    """

    name: str
    kind: Kind
    alphabet: Alphabet | None
    typical: Typical | None = None
    marks: str | None = None
    local: bool = False
    presence: Presence = NEVER
    folded: bool = False


@dataclass(frozen=True)
class Encoder:
    """The columns of training in their order, and then those that mark their missing values."""

    columns: tuple[ColumnSpec, ...]

    @classmethod
    def fit(cls, sequences: Sequences, treatment: Treatment | None = None) -> Encoder:
        """Remembers every column, and of its alphabet the values that occur: a fold may lack some.

        With a treatment it learns what to fill in; "indicator" marks every column that has missing values here, and
        raises InputError when a column already has the name that this needs.
        """
        if not sequences.columns:
            raise InputError("X holds nothing but empty dicts; give at least one attribute")
        specs = tuple(_spec(column, sequences.starts) for column in sequences.columns)
        if treatment is not None:
            pairs = zip(specs, sequences.columns, strict=True)
            specs = tuple(replace(spec, typical=typical(_align(column, spec)[0])) for spec, column in pairs)
        return cls(specs + (_marking(sequences) if treatment == "indicator" else ()))

    @property
    def fills(self) -> bool:
        """Whether no missing value is left."""
        return self.columns[0].typical is not None

    def transform(self, sequences: Sequences) -> Encoded:
        """The sequences in the columns and alphabets of training, these very objects, missing values filled in.

        Values and columns that training never saw are left out and counted in `.unseen`. A column that is not there is
        missing everywhere, or absent if X holds dicts, with an AbsentColumnWarning. Raises InputError when
        a column changed its kind, or no column is one of training unless all are optional.
        """
        aligned = self._is_aligned(sequences)
        return self._filled(
            Encoded.trusted(sequences.starts, sequences.columns) if aligned else self._aligned(sequences)
        )

    def _aligned(self, sequences: Sequences) -> Encoded:
        sequences = self._refolded(sequences)
        if len(sequences):
            check_columns([spec for spec in self.columns if spec.marks is None], sequences)
        raw = {column.name: column for column in sequences.columns}
        unseen: dict[str, int] = {}
        columns: dict[str, Column] = {}
        for spec in self.columns:
            if spec.marks is not None and spec.alphabet is not None:
                columns[spec.name] = mark(spec.name, columns[spec.marks].missing(), spec.alphabet)
            elif spec.name in raw:
                columns[spec.name], unseen[spec.name] = _encode_checked(raw.pop(spec.name), spec)
            else:
                without = _missing if is_missing_without(spec, sequences) else _absent
                columns[spec.name] = without(spec, sequences.n_positions)
        unseen |= {name: _occurrences(column) for name, column in raw.items()}
        counted = {name: count for name, count in unseen.items() if count}
        return Encoded.trusted(sequences.starts, tuple(columns.values()), counted)

    def _refolded(self, sequences: Sequences) -> Sequences:
        numeric = {spec.name for spec in self.columns if spec.alphabet is None}
        others = {spec.name for spec in self.columns if spec.alphabet is not None}
        folded = next((spec.alphabet for spec in self.columns if spec.folded), None)
        return refold(sequences, numeric, others, folded)

    def _filled(self, sequences: Encoded) -> Encoded:
        columns = tuple(
            column if spec.typical is None else fill(column, spec.typical)
            for spec, column in zip(self.columns, sequences.columns, strict=True)
        )
        if all(column is before for column, before in zip(columns, sequences.columns, strict=True)):
            return sequences
        return Encoded.trusted(sequences.starts, columns, sequences.unseen)

    def nothing(self) -> Encoded:
        """One position where every column is absent: the columns without data."""
        columns = tuple(_absent(spec, 1) for spec in self.columns)
        return Encoded.of_columns(np.array([0, 1]), columns)

    def _is_aligned(self, sequences: Sequences) -> bool:
        return len(self.columns) == len(sequences.columns) and all(
            spec.name == column.name and spec.kind == column.kind and _alphabet(column) is spec.alphabet
            for spec, column in zip(self.columns, sequences.columns, strict=True)
        )

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """(metadata for JSON, arrays) from which `from_arrays` builds an equal encoder."""
        arrays: dict[str, NDArray[Any]] = {}
        for i, spec in enumerate(self.columns):
            if spec.alphabet is not None:
                arrays[f"{i}.blob"] = spec.alphabet.blob
                arrays[f"{i}.offsets"] = spec.alphabet.offsets
        return {"columns": [_described(spec) for spec in self.columns]}, arrays

    @classmethod
    def from_arrays(cls, metadata: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Encoder:
        """The encoder that `to_arrays` described; raises InputError if the description is not valid."""
        described = metadata.get("columns") if isinstance(metadata, Mapping) else None
        if not isinstance(described, list) or not described:
            raise InputError("the description of an encoder must list its columns")
        specs = tuple(_stored_spec(i, entry, arrays) for i, entry in enumerate(described))
        twice = first_duplicate(spec.name for spec in specs)
        if twice is not None:
            raise InputError(f"columns of an encoder must have distinct names, but {twice!r} occurs twice")
        _check_treatment(specs)
        return cls(specs)


def _described(spec: ColumnSpec) -> dict[str, Any]:
    described: dict[str, Any] = {"name": spec.name, "kind": spec.kind}
    if spec.marks is None:
        described["presence"] = [spec.presence.positions, spec.presence.sequences]
    if spec.typical is not None:
        described["typical"] = stored(spec.typical)
    if spec.marks is not None:
        described["marks"] = spec.marks
    if spec.folded:
        described["folded"] = True
    return described


def _stored_spec(i: int, entry: object, arrays: Mapping[str, NDArray[Any]]) -> ColumnSpec:
    match entry:
        case {"name": str(name), "kind": ("categorical" | "numeric" | "bag") as kind, **more}:
            alphabet = None if kind == "numeric" else _stored_alphabet(i, arrays)
            value = from_stored(more["typical"], kind, alphabet) if "typical" in more else None
            marks, presence = more.get("marks"), _stored_presence(more.get("presence"))
            if marks is None and presence is not None:
                folded = more.get("folded", False) is True
                if not folded or (kind == "bag" and name == FOLDED):
                    return ColumnSpec(name, kind, alphabet, value, presence=presence, folded=folded)
            if isinstance(marks, str):
                return ColumnSpec(name, kind, alphabet, value, marks)
    raise InputError(f"column {i} of an encoder must have a name and a known kind, but got {entry!r}")


def _stored_presence(shares: object) -> Presence | None:
    match shares:
        case [float(positions), float(sequences)] if 0 <= positions <= 1 and 0 <= sequences <= 1:
            return Presence(positions, sequences)
    return None


def _check_treatment(specs: tuple[ColumnSpec, ...]) -> None:
    """All columns of training have something to fill in, or none has; marks come after them, and hold one value."""
    names = [spec.name for spec in specs if spec.marks is None]
    for i, spec in enumerate(specs):
        if i < len(names):
            whole = spec.marks is None and (spec.typical is None) == (specs[0].typical is None)
        else:
            whole = spec.marks in names and spec.typical is None and specs[0].typical is not None
            whole = whole and spec.kind == "categorical" and list(spec.alphabet or ()) == [MARK]
        if not whole:
            raise InputError(f"column {i} of an encoder, {spec.name!r}, fits no treatment of missing values")


def _stored_alphabet(i: int, arrays: Mapping[str, NDArray[Any]]) -> Alphabet:
    blob, offsets = arrays.get(f"{i}.blob"), arrays.get(f"{i}.offsets")
    if blob is None or offsets is None:
        raise InputError(f"column {i} of an encoder lacks its alphabet")
    return Alphabet(blob, offsets)


def _alphabet(column: Column) -> Alphabet | None:
    return None if isinstance(column, NumericColumn) else column.alphabet


def _spec(column: Column, starts: NDArray[np.int64]) -> ColumnSpec:
    presence = Presence.of(column, starts)
    if isinstance(column, NumericColumn):
        return ColumnSpec(column.name, column.kind, None, presence=presence)
    ids = column.codes if isinstance(column, CategoricalColumn) else column.ids
    occurs = np.zeros(len(column.alphabet), np.bool_)
    occurs[ids if ids.min(initial=0) >= 0 else ids[ids >= 0]] = True
    alphabet = column.alphabet if occurs.all() else column.alphabet.subset(occurs)
    return ColumnSpec(column.name, column.kind, alphabet, presence=presence, folded=isinstance(column, FoldedBag))


def _marking(sequences: Sequences) -> tuple[ColumnSpec, ...]:
    """Columns that mark the missing values of those that have some."""
    alphabet, names = Alphabet.of([MARK]), {column.name for column in sequences.columns}
    marked = [column.name for column in sequences.columns if column.missing().any()]
    for name in marked:
        if mark_name(name) in names:
            raise InputError(
                f"missing values of column {name!r} are marked in a column {mark_name(name)!r}, but there is one of "
                'that name already; rename it, or take missing="impute"'
            )
    return tuple(ColumnSpec(mark_name(name), "categorical", alphabet, None, name) for name in marked)


def _absent(spec: ColumnSpec, n: int) -> Column:
    if spec.alphabet is None:
        number = LocalNumericColumn if spec.local else NumericColumn
        return number(spec.name, np.zeros(n, np.float32))
    if spec.kind == "categorical":
        kind = LocalColumn if spec.local else CategoricalColumn
        return kind(spec.name, np.full(n, ABSENT, np.int32), spec.alphabet)
    bag = FoldedBag if spec.folded else BagColumn
    return bag(spec.name, np.zeros(n + 1, np.int64), np.empty(0, np.int32), None, spec.alphabet)


def _missing(spec: ColumnSpec, n: int) -> Column:
    if spec.alphabet is None:
        return NumericColumn(spec.name, np.full(n, np.nan, np.float32))
    if spec.kind == "categorical":
        return CategoricalColumn(spec.name, np.full(n, MISSING, np.int32), spec.alphabet)
    return BagColumn(spec.name, np.arange(n + 1), np.full(n, MISSING, np.int32), None, spec.alphabet)


def _encode_checked(column: Column, spec: ColumnSpec) -> tuple[Column, int]:
    """The column in the kind and alphabet of training, and how many values were left out."""
    adapted = _adapt(column, spec)
    aligned, left_out = _align(adapted, spec)
    return aligned, left_out if adapted is column else _occurrences(column)


def _adapt(column: Column, spec: ColumnSpec) -> Column:
    """A column without any value, here or in training, has no kind of its own; others must agree."""
    if column.kind == spec.kind:
        return column
    valueless = (
        len(column.alphabet) == 0
        if isinstance(column, CategoricalColumn)
        else isinstance(column, NumericColumn) and bool(column.missing().all())
    ) or (spec.alphabet is not None and len(spec.alphabet) == 0)
    if not valueless:
        raise InputError(
            f"column {column.name!r} must be {spec.kind}, as in training, but it is {column.kind}; convert it"
        )
    missing = column.missing()
    if spec.alphabet is None:
        return NumericColumn(spec.name, np.where(missing, np.float32(np.nan), np.float32(0)))
    if spec.kind == "categorical":
        return CategoricalColumn(spec.name, np.where(missing, MISSING, ABSENT).astype(np.int32), spec.alphabet)
    ids = np.full(int(missing.sum()), MISSING, np.int32)
    return BagColumn(spec.name, starts_of(missing), ids, None, spec.alphabet)


def _align(column: Column, spec: ColumnSpec) -> tuple[Column, int]:
    """The column in the alphabet of training, and how many values were left out."""
    if spec.alphabet is None or isinstance(column, NumericColumn) or column.alphabet is spec.alphabet:
        return column, 0
    if isinstance(column, CategoricalColumn):
        codes, left_out = column.alphabet.recode(column.codes, spec.alphabet)
        return trusted(CategoricalColumn, column.name, codes, spec.alphabet), left_out
    ids, left_out = column.alphabet.recode(column.ids, spec.alphabet)
    if left_out == 0:
        return trusted(type(column), column.name, column.starts, ids, column.weights, spec.alphabet), 0
    kept = ids != ABSENT
    starts = starts_of(kept)[column.starts]  # how many are kept before each
    weights = None if column.weights is None else column.weights[kept]
    return trusted(type(column), column.name, starts, ids[kept], weights, spec.alphabet), left_out


def _occurrences(column: Column) -> int:
    """How many attributes a column holds: values that are neither missing nor absent (for numbers: 0)."""
    if isinstance(column, NumericColumn):
        return int(np.count_nonzero(np.nan_to_num(column.values)))
    ids = column.codes if isinstance(column, CategoricalColumn) else column.ids
    return int(np.count_nonzero(ids >= 0))
