"""The encoder: the columns and alphabets of training, and new sequences encoded with them.

With a treatment of missing values the encoder also replaces them by a fill value learned in training. The treatment
"indicator" adds columns that mark where values were missing.
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
from hedgerow.encoding.imputation import (
    INDICATOR,
    FillValue,
    Treatment,
    fill_missing,
    fill_value,
    fill_value_from_json,
    fill_value_to_json,
    indicator_column,
    indicator_name,
)
from hedgerow.errors import InputError


@dataclass(frozen=True)
class ColumnSpec:
    """What the encoder stores about one column: a column of training, or an indicator column."""

    name: str
    kind: Kind
    alphabet: Alphabet | None  # None if the column is numeric
    fill_value: FillValue | None = None  # replaces missing values; None without a treatment
    indicates: str | None = None  # of an indicator column: the column whose missing values it marks
    local: bool = False  # windows read the column at offset 0 only; never stored in a file
    presence: Presence = NEVER
    folded: bool = False  # the bag of numeric keys that are mostly absent


@dataclass(frozen=True)
class Encoder:
    """The columns of training in their order, followed by the indicator columns."""

    columns: tuple[ColumnSpec, ...]

    @classmethod
    def fit(cls, sequences: Sequences, treatment: Treatment | None = None) -> Encoder:
        """Learn the columns, their alphabets and, with a treatment, their fill values.

        An alphabet holds only the values that occur in `sequences`: a cross-validation fold may lack some values of
        the full data.

        Parameters
        ----------
        sequences
            The training sequences.
        treatment
            "impute" learns fill values. "indicator" also adds an indicator column for every column that has missing
            values in `sequences`. None leaves missing values as they are.

        Raises
        ------
        InputError
            If a column already has the name of an indicator column.
        """
        if not sequences.columns:
            raise InputError("X holds nothing but empty dicts; give at least one attribute")
        specs = tuple(_spec(column, sequences.starts) for column in sequences.columns)
        if treatment is not None:
            pairs = zip(specs, sequences.columns, strict=True)
            specs = tuple(replace(spec, fill_value=fill_value(_align(column, spec)[0])) for spec, column in pairs)
        return cls(specs + (_indicator_specs(sequences) if treatment == "indicator" else ()))

    @property
    def fills_missing(self) -> bool:
        """Whether `transform` replaces all missing values."""
        return self.columns[0].fill_value is not None

    def transform(self, sequences: Sequences) -> Encoded:
        """Encode sequences with the columns and alphabets of training, and fill missing values.

        Parameters
        ----------
        sequences
            Raw sequences.

        Returns
        -------
        The encoded sequences. Values and columns that training never saw are left out and counted in `.unseen`. A
        column of training that X lacks is missing at every position, or absent if X holds dicts, with an
        AbsentColumnWarning. The alphabets are the encoder's own objects.

        Raises
        ------
        InputError
            If a column has another kind than in training, or X and training have no column in common, unless all
            columns are optional.
        """
        aligned = self._is_aligned(sequences)
        return self._filled(
            Encoded.trusted(sequences.starts, sequences.columns) if aligned else self._aligned(sequences)
        )

    def _aligned(self, sequences: Sequences) -> Encoded:
        sequences = self._refolded(sequences)
        if len(sequences):
            check_columns([spec for spec in self.columns if spec.indicates is None], sequences)
        unread = {column.name: column for column in sequences.columns}
        unseen: dict[str, int] = {}
        columns: dict[str, Column] = {}
        for spec in self.columns:
            if spec.indicates is not None and spec.alphabet is not None:
                columns[spec.name] = indicator_column(spec.name, columns[spec.indicates].missing(), spec.alphabet)
            elif spec.name in unread:
                columns[spec.name], unseen[spec.name] = _encode_checked(unread.pop(spec.name), spec)
            else:
                without = _missing if is_missing_without(spec, sequences) else _absent
                columns[spec.name] = without(spec, sequences.n_positions)
        unseen |= {name: _occurrences(column) for name, column in unread.items()}
        counted = {name: count for name, count in unseen.items() if count}
        return Encoded.trusted(sequences.starts, tuple(columns.values()), counted)

    def _refolded(self, sequences: Sequences) -> Sequences:
        numeric = {spec.name for spec in self.columns if spec.alphabet is None}
        others = {spec.name for spec in self.columns if spec.alphabet is not None}
        folded = next((spec.alphabet for spec in self.columns if spec.folded), None)
        return refold(sequences, numeric, others, folded)

    def _filled(self, sequences: Encoded) -> Encoded:
        columns = tuple(
            column if spec.fill_value is None else fill_missing(column, spec.fill_value)
            for spec, column in zip(self.columns, sequences.columns, strict=True)
        )
        if all(column is before for column, before in zip(columns, sequences.columns, strict=True)):
            return sequences
        return Encoded.trusted(sequences.starts, columns, sequences.unseen)

    def nothing(self) -> Encoded:
        """One sequence of one position at which every column is absent: a carrier of the columns without data."""
        columns = tuple(_absent(spec, 1) for spec in self.columns)
        return Encoded.of_columns(np.array([0, 1]), columns)

    def _is_aligned(self, sequences: Sequences) -> bool:
        return len(self.columns) == len(sequences.columns) and all(
            spec.name == column.name and spec.kind == column.kind and _alphabet(column) is spec.alphabet
            for spec, column in zip(self.columns, sequences.columns, strict=True)
        )

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """(metadata for JSON, arrays), from which `from_arrays` builds an equal encoder."""
        arrays: dict[str, NDArray[Any]] = {}
        for i, spec in enumerate(self.columns):
            if spec.alphabet is not None:
                arrays[f"{i}.blob"] = spec.alphabet.blob
                arrays[f"{i}.offsets"] = spec.alphabet.offsets
        return {"columns": [_spec_to_json(spec) for spec in self.columns]}, arrays

    @classmethod
    def from_arrays(cls, metadata: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Encoder:
        """The encoder that `to_arrays` described; raises InputError if the description is not valid."""
        entries = metadata.get("columns") if isinstance(metadata, Mapping) else None
        if not isinstance(entries, list) or not entries:
            raise InputError("the description of an encoder must have a list of columns, but it has none")
        specs = tuple(_spec_from_json(i, entry, arrays) for i, entry in enumerate(entries))
        twice = first_duplicate(spec.name for spec in specs)
        if twice is not None:
            raise InputError(f"the columns of an encoder must have distinct names, but {twice!r} occurs twice")
        _check_treatment(specs)
        return cls(specs)


def _spec_to_json(spec: ColumnSpec) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": spec.name, "kind": spec.kind}
    if spec.indicates is None:
        entry["presence"] = [spec.presence.positions, spec.presence.sequences]
    if spec.fill_value is not None:
        entry["typical"] = fill_value_to_json(spec.fill_value)
    if spec.indicates is not None:
        entry["marks"] = spec.indicates
    if spec.folded:
        entry["folded"] = True
    return entry


def _spec_from_json(i: int, entry: object, arrays: Mapping[str, NDArray[Any]]) -> ColumnSpec:
    match entry:
        case {"name": str(name), "kind": ("categorical" | "numeric" | "bag") as kind, **details}:
            alphabet = None if kind == "numeric" else _stored_alphabet(i, arrays)
            value = fill_value_from_json(details["typical"], kind, alphabet) if "typical" in details else None
            indicates, presence = details.get("marks"), _presence_from_json(details.get("presence"))
            if indicates is None and presence is not None:
                folded = details.get("folded", False) is True
                if not folded or (kind == "bag" and name == FOLDED):
                    return ColumnSpec(name, kind, alphabet, value, presence=presence, folded=folded)
            if isinstance(indicates, str):
                return ColumnSpec(name, kind, alphabet, value, indicates)
    raise InputError(f"column {i} of an encoder must have a name and a known kind, but got {entry!r}")


def _presence_from_json(shares: object) -> Presence | None:
    match shares:
        case [float(positions), float(sequences)] if 0 <= positions <= 1 and 0 <= sequences <= 1:
            return Presence(positions, sequences)
    return None


def _check_treatment(specs: tuple[ColumnSpec, ...]) -> None:
    """Raise InputError unless the columns have all a fill value or all none, and indicator columns follow them."""
    names = [spec.name for spec in specs if spec.indicates is None]
    fills = specs[0].fill_value is not None
    for i, spec in enumerate(specs):
        if i < len(names):
            valid = spec.indicates is None and (spec.fill_value is not None) == fills
        else:
            valid = spec.indicates in names and spec.fill_value is None and fills
            valid = valid and spec.kind == "categorical" and list(spec.alphabet or ()) == [INDICATOR]
        if not valid:
            raise InputError(
                f"column {i} of an encoder, {spec.name!r}, does not match the treatment of missing values of the "
                "other columns"
            )


def _stored_alphabet(i: int, arrays: Mapping[str, NDArray[Any]]) -> Alphabet:
    blob, offsets = arrays.get(f"{i}.blob"), arrays.get(f"{i}.offsets")
    if blob is None or offsets is None:
        raise InputError(f"column {i} of an encoder must have an alphabet, but it has none")
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


def _indicator_specs(sequences: Sequences) -> tuple[ColumnSpec, ...]:
    """An indicator column for each column that has missing values."""
    alphabet, names = Alphabet.of([INDICATOR]), {column.name for column in sequences.columns}
    incomplete = [column.name for column in sequences.columns if column.missing().any()]
    for name in incomplete:
        if indicator_name(name) in names:
            raise InputError(
                f"missing values of column {name!r} are marked in a column {indicator_name(name)!r}, but X already has "
                'a column of that name; rename it, or use missing="impute"'
            )
    return tuple(ColumnSpec(indicator_name(name), "categorical", alphabet, None, name) for name in incomplete)


def _absent(spec: ColumnSpec, n: int) -> Column:
    """The column at n positions where it is absent."""
    if spec.alphabet is None:
        numeric = LocalNumericColumn if spec.local else NumericColumn
        return numeric(spec.name, np.zeros(n, np.float32))
    if spec.kind == "categorical":
        categorical = LocalColumn if spec.local else CategoricalColumn
        return categorical(spec.name, np.full(n, ABSENT, np.int32), spec.alphabet)
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
    """The column in the kind of training.

    A column without any value, here or in training, can have any kind. Other columns must have the kind of training;
    otherwise InputError is raised.
    """
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
    starts = starts_of(kept)[column.starts]  # how many values are kept before each bag
    weights = None if column.weights is None else column.weights[kept]
    return trusted(type(column), column.name, starts, ids[kept], weights, spec.alphabet), left_out


def _occurrences(column: Column) -> int:
    """The number of values that are neither missing nor absent. A number 0 counts as absent."""
    if isinstance(column, NumericColumn):
        return int(np.count_nonzero(np.nan_to_num(column.values)))
    ids = column.codes if isinstance(column, CategoricalColumn) else column.ids
    return int(np.count_nonzero(ids >= 0))
