"""The encoder: what training saw of each column, and new sequences put into those terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.alphabet import Alphabet
from hedgerow.columns import (
    ABSENT,
    MISSING,
    BagColumn,
    CategoricalColumn,
    Column,
    Kind,
    NumericColumn,
    first_duplicate,
    starts_of,
    trusted,
)
from hedgerow.errors import InputError
from hedgerow.sequences import Sequences


@dataclass(frozen=True)
class ColumnSpec:
    """Name and kind of a column of training, and its values unless it is numeric."""

    name: str
    kind: Kind
    alphabet: Alphabet | None


@dataclass(frozen=True)
class Encoder:
    """The columns of training in their order."""

    columns: tuple[ColumnSpec, ...]

    @classmethod
    def fit(cls, sequences: Sequences) -> Encoder:
        """Remembers every column, and of its alphabet the values that occur: a fold may lack some."""
        return cls(tuple(_spec(column) for column in sequences.columns))

    def transform(self, sequences: Sequences) -> Sequences:
        """The sequences in the columns and alphabets of training, these very objects.

        Values and columns that training never saw are left out and counted in `.unseen`; columns that are
        not there are absent everywhere. Raises InputError when a column changed its kind.
        """
        if self._is_aligned(sequences):
            return sequences
        given = {column.name: column for column in sequences.columns}
        unseen: dict[str, int] = {}
        columns = []
        for spec in self.columns:
            column = given.pop(spec.name, None)
            if column is None:
                column = _absent(spec, sequences.n_positions)
            else:
                column, unseen[spec.name] = _align(_adapt(column, spec), spec)
            columns.append(column)
        unseen |= {name: _occurrences(column) for name, column in given.items()}
        counted = {name: count for name, count in unseen.items() if count}
        return Sequences.trusted(sequences.starts, tuple(columns), counted)

    def nothing(self) -> Sequences:
        """One position where every column is absent: the columns without data."""
        columns = tuple(_absent(spec, 1) for spec in self.columns)
        return Sequences.of_columns(np.array([0, 1]), columns)

    def _is_aligned(self, sequences: Sequences) -> bool:
        return len(self.columns) == len(sequences.columns) and all(
            spec.name == column.name and spec.kind == column.kind and _alphabet(column) is spec.alphabet
            for spec, column in zip(self.columns, sequences.columns, strict=True)
        )

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """(metadata for JSON, arrays) from which `from_state` makes an equal encoder."""
        arrays: dict[str, NDArray[Any]] = {}
        for i, spec in enumerate(self.columns):
            if spec.alphabet is not None:
                arrays[f"{i}.blob"] = spec.alphabet.blob
                arrays[f"{i}.offsets"] = spec.alphabet.offsets
        return {"columns": [{"name": spec.name, "kind": spec.kind} for spec in self.columns]}, arrays

    @classmethod
    def from_state(cls, metadata: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Encoder:
        """The encoder that `state` described; raises InputError when there is anything wrong with that."""
        described = metadata.get("columns") if isinstance(metadata, Mapping) else None
        if not isinstance(described, list) or not described:
            raise InputError("the description of an encoder must list its columns")
        specs = tuple(_stored_spec(i, entry, arrays) for i, entry in enumerate(described))
        twice = first_duplicate(spec.name for spec in specs)
        if twice is not None:
            raise InputError(f"columns of an encoder must have distinct names, but {twice!r} came twice")
        return cls(specs)


def _stored_spec(i: int, entry: object, arrays: Mapping[str, NDArray[Any]]) -> ColumnSpec:
    match entry:
        case {"name": str(name), "kind": "numeric"}:
            return ColumnSpec(name, "numeric", None)
        case {"name": str(name), "kind": ("categorical" | "bag") as kind}:
            return ColumnSpec(name, kind, _stored_alphabet(i, arrays))
    raise InputError(f"column {i} of an encoder must have a name and a known kind, but {entry!r} came")


def _stored_alphabet(i: int, arrays: Mapping[str, NDArray[Any]]) -> Alphabet:
    blob, offsets = arrays.get(f"{i}.blob"), arrays.get(f"{i}.offsets")
    if blob is None or offsets is None:
        raise InputError(f"column {i} of an encoder lacks its alphabet")
    return Alphabet(blob, offsets)


def _alphabet(column: Column) -> Alphabet | None:
    return None if isinstance(column, NumericColumn) else column.alphabet


def _spec(column: Column) -> ColumnSpec:
    if isinstance(column, NumericColumn):
        return ColumnSpec(column.name, column.kind, None)
    ids = column.codes if isinstance(column, CategoricalColumn) else column.ids
    occurs = np.zeros(len(column.alphabet), np.bool_)
    occurs[ids[ids >= 0]] = True
    alphabet = column.alphabet if occurs.all() else column.alphabet.subset(occurs)
    return ColumnSpec(column.name, column.kind, alphabet)


def _absent(spec: ColumnSpec, n: int) -> Column:
    if spec.alphabet is None:
        return NumericColumn(spec.name, np.zeros(n, np.float32))
    if spec.kind == "categorical":
        return CategoricalColumn(spec.name, np.full(n, ABSENT, np.int32), spec.alphabet)
    return BagColumn(spec.name, np.zeros(n + 1, np.int64), np.empty(0, np.int32), None, spec.alphabet)


def _adapt(column: Column, spec: ColumnSpec) -> Column:
    """A column without any value has no kind of its own and takes that of training; others must agree."""
    if column.kind == spec.kind:
        return column
    valueless = (
        len(column.alphabet) == 0
        if isinstance(column, CategoricalColumn)
        else isinstance(column, NumericColumn) and bool(column.missing().all())
    )
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
        return trusted(BagColumn, column.name, column.starts, ids, column.weights, spec.alphabet), 0
    kept = ids != ABSENT
    starts = starts_of(kept)[column.starts]  # how many are kept before each
    weights = None if column.weights is None else column.weights[kept]
    return trusted(BagColumn, column.name, starts, ids[kept], weights, spec.alphabet), left_out


def _occurrences(column: Column) -> int:
    """How many attributes a column holds: values that are neither missing nor absent (for numbers: 0)."""
    if isinstance(column, NumericColumn):
        return int(np.count_nonzero(np.nan_to_num(column.values)))
    ids = column.codes if isinstance(column, CategoricalColumn) else column.ids
    return int(np.count_nonzero(ids >= 0))
