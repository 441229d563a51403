"""What `fit` says about missing values: a warning of columns without any value, and a report of rates."""

from __future__ import annotations

import warnings

from hedgerow.data.columns import CategoricalColumn, Column, NumericColumn
from hedgerow.data.sequences import Sequences
from hedgerow.errors import MissingColumnWarning, first_few
from hedgerow.learning.base import Record


def warn_of_missing_columns(sequences: Sequences) -> None:
    """Once for all columns that hold missing values and no others."""
    empty = [column.name for column in sequences.columns if column.missing().any() and not _has_values(column)]
    if empty:
        warnings.warn(
            f"columns should have a value somewhere in training, but these have only missing ones: {first_few(empty)}; "
            "nothing is learned from what they might hold: leave them out, or look at how they were read",
            MissingColumnWarning,
            stacklevel=3,
        )


def missing_report(sequences: Sequences, method: str) -> Record:
    """By column which share of the values is missing, and what becomes of them; nothing if none is."""
    rates = {column.name: float(column.missing().mean()) for column in sequences.columns}
    rates = {name: rate for name, rate in rates.items() if rate}
    return {"missing": {"method": method, "rates": rates}} if rates else {}


def _has_values(column: Column) -> bool:
    if isinstance(column, NumericColumn):
        return not column.missing().all()
    return bool(((column.codes if isinstance(column, CategoricalColumn) else column.ids) >= 0).any())
