"""Given labels as codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.read_y import read_labels
from hedgerow.encoding import Labels
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import UnseenLabelWarning, first_few, warn_user


def label_codes(labels: Labels, y: object, encoded: Encoded) -> NDArray[np.int32]:
    """The codes of y; -1 for labels that training never saw, with one warning for all of them."""
    given = read_labels(y, encoded)
    codes = labels.codes(given, encoded)
    if (codes < 0).any():
        unseen = labels.unseen(given)
        warn_user(
            f"{len(unseen)} of the given labels never occurred in training ({first_few(unseen)}): they count as wrong, "
            "and their sequences have no likelihood",
            UnseenLabelWarning,
        )
    return codes
