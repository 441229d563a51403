"""Codes of the labels in y, with a warning about labels that training never saw."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.read_y import FlatLabels, read_labels
from hedgerow.encoding import Labels
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError, UnseenLabelWarning, first_few, warn_user
from hedgerow.utilities import counted

COUNTED_AS_WRONG = "all positions with such a label count as wrong, and the log-likelihood of their sequences is -inf"


def label_codes(
    labels: Labels, y: object, encoded: Encoded, name: str = "y", consequence: str = COUNTED_AS_WRONG
) -> NDArray[np.int32]:
    """The codes of y; -1 for labels that training never saw, with one warning for all of them.

    `name` is the argument of the user that y is, and `consequence` what becomes of such labels.
    """
    gold = read_named_labels(y, encoded, name)
    codes = labels.codes(gold, encoded)
    if (codes < 0).any():
        unseen = labels.unseen(gold)
        warn_user(
            f"{counted(len(unseen), 'distinct label')} of {name} never occurred in training "
            f"({first_few(unseen)}): {consequence}",
            UnseenLabelWarning,
        )
    return codes


def read_named_labels(y: object, encoded: Encoded, name: str) -> FlatLabels:
    """The labels of y; an InputError begins with the name of the argument if that is another one than y."""
    try:
        return read_labels(y, encoded)
    except InputError as error:
        if name == "y":
            raise
        raise InputError(f"{name}: {error}") from None
