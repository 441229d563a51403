"""Refusal of missing values by models that cannot use them."""

from __future__ import annotations

from hedgerow.data.ragged import place
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.utilities import counted


def refuse_missing(sequences: Encoded, data: str, model: str) -> None:
    """Raise InputError if a column has missing values; `data` and `model` are names for the message."""
    for column in sequences.columns:
        if column.n_missing:
            sequence, position = place(sequences.starts, int(column.missing().argmax()))
            found = counted(column.n_missing, "missing value")
            raise InputError(
                f"{data} has {found} in column {column.name!r}, the first in sequence "
                f"{sequence}, position {position}, but {model} accepts none; "
                'fit with missing="impute" or "indicator", or fill them in'
            )
