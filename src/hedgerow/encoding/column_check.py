"""Columns at prediction against columns of training: what differs is an error or a warning, never silent."""

from __future__ import annotations

from collections.abc import Sequence, Set

from hedgerow.data.columns import BAG
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.column_spec import ColumnSpec
from hedgerow.errors import AbsentColumnWarning, InputError, first_few, warn_user
from hedgerow.utilities import counted


def is_missing_without(column: ColumnSpec, sequences: Sequences) -> bool:
    """Whether all values of the column are missing if the sequences lack it.

    Not if they are dicts: a key that is absent from some of them is read as absent or 0, and what is read of a sequence
    must not depend on the others.
    """
    return not sequences.optional_columns and not column.folded


def check_columns(training: Sequence[ColumnSpec], sequences: Sequences, needed: Set[str] = frozenset()) -> None:
    """Compare the columns with those of training.

    Raises InputError when no column is common to both, unless all are optional, or when rows have another width. Warns
    of columns that are absent from all sequences, but raises InputError if one of them is `needed` to derive others. An
    optional key is reported if its absence is unlikely to be chance.
    """
    names = [column.name for column in sequences.columns]
    known = [column.name for column in training]
    here, there = set(names), set(known)
    if here == there:
        return
    if not sequences.optional_columns and len(names) != len(known) and _numbered(names) and _numbered(known):
        raise InputError(
            f"the rows of X must have {counted(len(known), 'column')}, as in training, but they have {len(names)}"
        )
    new = [name for name in names if name not in there]
    required = any(column.presence.positions == 1 and not column.folded for column in training)
    if len(new) == len(names):
        _refuse_other_form(training, sequences)
    if len(new) == len(names) and (required or not sequences.optional_columns):
        raise InputError(
            f"X must have columns of training, but it has none of them; training had {first_few(known)}, "
            f"and X has {first_few(names) if names else 'nothing but empty dicts'}"
        )
    absent = [
        column
        for column in training
        if column.name not in here and (column.presence.expected_in(sequences) or not sequences.optional_columns)
    ]
    lacking = [column.name for column in absent if column.name in needed]
    if lacking:
        what = "the column" if len(lacking) == 1 else "the columns"
        raise InputError(
            f"X must have {what} {first_few(lacking)}, which the template of the model reads, but its columns are "
            f"{first_few(names)}; name the columns as in training"
        )
    if absent:
        added = f"; X has columns that training did not have: {first_few(new)}" if new else ""
        warn_user(
            f"X lacks columns that training had: {first_few([column.name for column in absent])}{added}; "
            f"{_consequences(absent, sequences)}: name the columns as in training",
            AbsentColumnWarning,
        )


def _refuse_other_form(training: Sequence[ColumnSpec], sequences: Sequences) -> None:
    """Raise InputError if attributes were dicts in training and are lists in X."""
    names = [column.name for column in sequences.columns]
    if names == [BAG] and not sequences.optional_columns and any(column.folded for column in training):
        raise InputError(
            "training read dicts of attributes, but X holds lists of strings (or sparse matrices); use one form for "
            "both: write each list as a dict, {attribute: 1.0 for attribute in attributes}"
        )


def _consequences(absent: Sequence[ColumnSpec], sequences: Sequences) -> str:
    """What is done without each of these columns."""
    done: dict[str, list[str]] = {}
    for column in absent:
        if is_missing_without(column, sequences):
            consequence = "treated as missing"
        else:
            consequence = "read as 0" if column.kind == "numeric" else "read as absent"
        done.setdefault(consequence, []).append(column.name)
    return ", ".join(
        f"{first_few(names)} {'is' if len(names) == 1 else 'are'} {consequence}" for consequence, names in done.items()
    )


def _numbered(names: Sequence[str]) -> bool:
    """Whether these are the names that the columns of arrays and tuples get."""
    return all(name == f"x{c}" for c, name in enumerate(names))
