"""What a second model predicts otherwise: position by position, and sequence by sequence."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.inspection.labelling import Labelling

BETTER, WORSE, OTHER = range(3)
NAMES = ("better than the other model", "worse than the other model", "changed, with as many right labels")
UNCHANGED = -1


class Changes(NamedTuple):
    """The flat positions where two models differ, the label of the second one there, and a code for each sequence."""

    positions: NDArray[np.int64]
    labels: list[Any]
    by_sequence: NDArray[np.int64]  # BETTER, WORSE or OTHER where labels differ, otherwise UNCHANGED

    @classmethod
    def of(cls, labelling: Labelling, other: Labelling) -> Changes:
        """Changes from `other` to `labelling`, which have the same sequences and gold labels; labels by value."""
        own, theirs = labelling.classes[labelling.predicted], other.classes[other.predicted]
        differs = own != theirs
        gain = labelling.right.astype(np.int64) - other.right.astype(np.int64)
        sums = np.concatenate([[0], np.cumsum(gain)])[labelling.starts]
        changed = np.diff(np.concatenate([[0], np.cumsum(differs)])[labelling.starts]) > 0
        gains = np.diff(sums)
        codes = np.select([~changed, gains > 0, gains < 0], [UNCHANGED, BETTER, WORSE], OTHER)
        positions = np.flatnonzero(differs)
        return cls(positions, theirs[positions].tolist(), codes)
