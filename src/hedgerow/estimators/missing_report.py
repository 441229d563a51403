"""Missing values in training data: a warning about columns without any value, and a report of rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hedgerow.data.columns import CategoricalColumn, Column, NumericColumn
from hedgerow.data.sequences import Sequences
from hedgerow.errors import MissingColumnWarning, first_few, warn_user


def warn_of_missing_columns(sequences: Sequences) -> None:
    """Warn once about all columns that hold only missing values."""
    warn_of_columns([column.name for column in sequences.columns if column.n_missing and not _has_values(column)])


def warn_of_columns(empty: Sequence[str]) -> None:
    """Warn of columns without any value, if there are some."""
    if empty:
        warn_user(
            f"these columns have only missing values in training: {first_few(empty)}; nothing is learned from them: "
            "leave them out, or check how they were read",
            MissingColumnWarning,
        )


def missing_report(sequences: Sequences, method: str) -> dict[str, Any]:
    """The share of missing values of each column that has some, and how they are handled; empty if none has."""
    rates = {column.name: column.n_missing / len(column) for column in sequences.columns}
    rates = {name: rate for name, rate in rates.items() if rate}
    return {"missing": {"method": method, "rates": rates}} if rates else {}


def _has_values(column: Column) -> bool:
    if isinstance(column, NumericColumn):
        return column.n_missing < len(column)
    return bool(((column.codes if isinstance(column, CategoricalColumn) else column.ids) >= 0).any())
