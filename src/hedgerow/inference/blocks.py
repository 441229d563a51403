"""Blocks of sequences: scores are computed for one block at a time, to bound memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

MAX_BLOCK_SCORES = 2**22  # 16 MB in single precision


def blocks(starts: NDArray[np.int64], scores_per_position: int) -> Iterator[slice]:
    """Slices of consecutive sequences; a block has at most MAX_BLOCK_SCORES scores, or is a single sequence."""
    return sequence_blocks(starts, max(MAX_BLOCK_SCORES // scores_per_position, 1))


def sequence_blocks(starts: NDArray[np.int64], max_positions: int) -> Iterator[slice]:
    """Slices of consecutive sequences; a block has at most so many positions, or is a single sequence."""
    first = 0
    while first < len(starts) - 1:
        last = max(int(np.searchsorted(starts, starts[first] + max_positions, side="right")) - 1, first + 1)
        yield slice(first, last)
        first = last
