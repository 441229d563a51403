"""Reads y, in any of its forms: labels are checked against the sequences and stored end to end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.column_store import ColumnStore
from hedgerow.data.columns import CategoricalColumn, column_of
from hedgerow.data.ragged import place, starts_of
from hedgerow.errors import InputError, type_name
from hedgerow.utilities import counted, is_masked

LabelKind: TypeAlias = Literal["strings", "integers", "bools"]


@dataclass(frozen=True)
class FlatLabels:
    """The labels of all positions, end to end.

    `values` is an array of int64 or bool, or of int32 codes of the strings in `alphabet`.
    """

    kind: LabelKind
    values: NDArray[Any]
    starts: NDArray[np.int64]
    alphabet: Alphabet | None = None

    def tolist(self) -> list[Any]:
        """The label of each position."""
        if self.alphabet is None:
            labels: list[Any] = self.values.tolist()
            return labels
        names = list(self.alphabet)
        return [names[code] for code in self.values.tolist()]


def read_labels(y: object, sequences: ColumnStore | None) -> FlatLabels:
    """The labels of `y`; FlatLabels are returned as they are.

    Raises InputError unless there is one label for each position of the sequences.
    """
    labels = y if isinstance(y, FlatLabels) else None
    rows = [] if labels is not None else [_row(row, i) for i, row in enumerate(_listed(y))]
    starts = labels.starts if labels is not None else starts_of([len(row) for row in rows])
    if sequences is not None:
        _check_lengths(starts, sequences)
    return _flat(rows, starts) if labels is None else labels


def _flat(rows: list[Any], starts: NDArray[np.int64]) -> FlatLabels:
    if starts[-1] == 0:
        raise InputError("y must hold at least one label, but it is empty")
    dtypes = {row.dtype.kind if isinstance(row, np.ndarray) else "list" for row in rows}
    if dtypes == {"b"}:
        return FlatLabels("bools", np.concatenate(rows), starts)
    if dtypes <= {"i", "u"}:
        return FlatLabels("integers", as_int64(np.concatenate(rows)), starts)
    flat = list(chain.from_iterable(row.tolist() if isinstance(row, np.ndarray) else row for row in rows))
    if isinstance(flat[0], str):
        return _strings(flat, starts)
    kind = _common_kind(flat, starts)
    if kind == "integers":
        return FlatLabels(kind, as_int64(flat), starts)
    return FlatLabels(kind, np.array(flat, np.bool_), starts)


def _strings(flat: list[Any], starts: NDArray[np.int64]) -> FlatLabels:
    """Labels of which the first is a string. Reading them shows whether all are, faster than `_common_kind`."""
    try:
        column = column_of(_core.ingest_values([flat], starts, "label"))
    except InputError:
        _common_kind(flat, starts)  # its message names the label that is no string
        raise
    assert isinstance(column, CategoricalColumn)
    assert isinstance(column.alphabet, Alphabet)
    if column.n_missing:
        _common_kind(flat, starts)
    return FlatLabels("strings", column.codes, starts, column.alphabet)


def _listed(y: object) -> list[Any]:
    rule = f"y must be a list with a list of labels for each sequence, but got {type_name(y)}"
    if isinstance(y, (str, bytes, Mapping, set, frozenset)) or not isinstance(y, Iterable):
        raise InputError(rule)
    try:
        return list(y)
    except TypeError as error:  # sparse matrices and 0-d arrays have __iter__, but it raises
        raise InputError(f"{rule} ({error})") from error


def _row(labels: Any, i: int) -> Any:
    """The labels of sequence i, as a 1-D array or a list."""
    if isinstance(labels, (list, tuple)):
        return labels
    if isinstance(labels, str):
        raise InputError(
            f"the labels of sequence {i} must be a list, but got the str {labels!r}; "
            "use list(...) if each character is a label; give [X] and [y] if X and y are one sequence"
        )
    if isinstance(labels, np.ndarray):
        if labels.ndim != 1:
            raise InputError(
                f"the labels of sequence {i} must have 1 dimension, but they have {labels.ndim}; flatten them"
            )
        return labels.tolist() if is_masked(labels) else labels  # masked entries become None
    if isinstance(labels, (bytes, Mapping, set, frozenset)) or not isinstance(labels, Iterable):
        raise InputError(
            f"the labels of sequence {i} must be a list, but got {type_name(labels)}; "
            "give a list of labels for each sequence"
        )
    return list(labels)


def _check_lengths(starts: NDArray[np.int64], sequences: ColumnStore) -> None:
    if len(starts) != len(sequences.starts):
        raise InputError(
            f"y must hold a list of labels for each sequence, but X has {counted(len(sequences), 'sequence')} "
            f"and y has {counted(len(starts) - 1, 'list')}"
        )
    lengths = np.diff(starts)
    different = np.flatnonzero(lengths != sequences.lengths)
    if len(different):
        i = int(different[0])
        positions, labels = counted(int(sequences.lengths[i]), "position"), counted(int(lengths[i]), "label")
        raise InputError(f"sequence {i} has {positions} but {labels}; give one label for each position")


def _kind_of(kind: type) -> LabelKind | None:
    if issubclass(kind, str):
        return "strings"
    if issubclass(kind, (bool, np.bool_)):
        return "bools"
    return "integers" if issubclass(kind, (int, np.integer)) else None


def _is_missing(label: Any) -> bool:
    if isinstance(label, (float, np.floating)):
        return bool(np.isnan(label))
    return label is None or type(label).__name__ in ("NAType", "NaTType")  # types of pandas, which is not imported here


def _common_kind(flat: list[Any], starts: NDArray[np.int64]) -> LabelKind:
    kinds = {kind: _kind_of(kind) for kind in set(map(type, flat))}
    expected = kinds[type(flat[0])]
    if expected is not None and set(kinds.values()) == {expected}:
        return expected
    # Report a missing label first: NaN turns a column of integers into floats, but the missing label is the cause.
    at = next((t for t, label in enumerate(flat) if _is_missing(label)), None)
    if at is not None:
        sequence, position = place(starts, at)
        raise InputError(
            f"sequence {sequence}, position {position} has no label ({flat[at]}); partial labels are not supported "
            "yet: label every position or drop the sequence"
        )
    at = next(t for t, label in enumerate(flat) if kinds[type(label)] is None or kinds[type(label)] != expected)
    label = flat[at]
    sequence, position = place(starts, at)
    subject = f"sequence {sequence}, position {position}"
    if kinds[type(label)] is None:
        raise InputError(
            f"{subject}: labels must be strings, integers or bools, but got {type_name(label)}; convert them"
        )
    raise InputError(
        f"{subject}: labels must be all strings, all integers or all bools, but got {label!r} after {flat[0]!r}; "
        "convert them"
    )


def refuse_nul(labels: Iterable[str]) -> None:
    """Raise InputError for a label that ends in a NUL character, which numpy's arrays of text drop."""
    for label in labels:
        if label.endswith("\0"):
            raise InputError(f"labels must not end in a NUL character, but {label!r} does; rename it")


def as_int64(values: list[Any] | NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """The integers as int64; raises InputError if one does not fit."""
    rule = "labels that are integers must fit 64 bits, but got a larger one; use strings"
    try:
        array = np.array(values, np.int64)
    except OverflowError:
        raise InputError(rule) from None
    if isinstance(values, np.ndarray) and values.dtype.kind == "u" and (array < 0).any():
        raise InputError(rule)
    return array
