"""Cascades: what earlier bits predict around a position, as columns that a later bit reads.

Bit k reads the predictions of bits k - 1, ..., k - length at the positions t - left .. t + right without t itself
(MSc thesis, section 4.1). There is a column for each (bit, offset), local, so that no window shifts it a second time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import LocalColumn, trusted
from hedgerow.encoding import Encoder
from hedgerow.encoding.encoder import ColumnSpec

OUTSIDE = 2  # the code of a position that is not in the sequence
VALUES = Alphabet.of(["0", "1", "outside"])
FURTHEST = 1000

Columns = tuple[LocalColumn, ...]


@dataclass(frozen=True)
class Cascade:
    """How many bits back a bit reads, and how far to either side."""

    length: int
    left: int
    right: int

    @property
    def offsets(self) -> list[int]:
        return [offset for offset in range(-self.left, self.right + 1) if offset != 0]

    def seen_by(self, bit: int) -> range:
        """The bits whose predictions bit reads, the nearest first; as many as there are."""
        return range(bit - 1, max(bit - 1 - self.length, -1), -1)

    def columns(self, bit: int, predicted: NDArray[np.bool_], starts: NDArray[np.int64]) -> Columns:
        """What a bit predicts for every position, as its neighbours read it."""
        codes = predicted.astype(np.int32)
        at, lengths = np.arange(len(codes)), np.diff(starts)
        first, last = np.repeat(starts[:-1], lengths), np.repeat(starts[1:] - 1, lengths)
        columns = []
        for offset in self.offsets:
            read = np.clip(at + offset, first, last)
            shifted = np.where(read == at + offset, codes[read], np.int32(OUTSIDE))
            columns.append(trusted(LocalColumn, _name(bit, offset), shifted, VALUES))
        return tuple(columns)

    def encoder(self, encoder: Encoder, bit: int) -> Encoder:
        """The columns that a bit reads: those of all, and its cascade."""
        specs = (
            ColumnSpec(_name(earlier, offset), "categorical", VALUES, local=True)
            for earlier in self.seen_by(bit)
            for offset in self.offsets
        )
        return Encoder(encoder.columns + tuple(specs))


def _name(bit: int, offset: int) -> str:
    return f"bit {bit + 1} at {offset:+d}"
