"""Cascades: the predictions of earlier bits around a position, as columns that a later bit reads.

Bit k reads the predictions of bits k - 1, ..., k - length at the positions t - left .. t + right without t itself
(MSc thesis, section 4.1). There is one column for each bit and offset; the columns are local, so no window shifts them
a second time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import LocalColumn, trusted
from hedgerow.encoding import Encoder
from hedgerow.encoding.column_spec import ColumnSpec

OUTSIDE = 2  # the value of a position outside the sequence
VALUES = Alphabet.of(["0", "1", "outside"])
MAX_DISTANCE = 1000  # positions that a cascade may read to either side

Columns = tuple[LocalColumn, ...]


@dataclass(frozen=True)
class Cascade:
    """How many earlier bits a bit reads, and how many positions to the left and right."""

    length: int
    left: int
    right: int

    @property
    def offsets(self) -> list[int]:
        """The positions that are read, relative to a bit's own position."""
        return [offset for offset in range(-self.left, self.right + 1) if offset != 0]

    def read_by(self, bit: int) -> range:
        """The earlier bits that a bit reads, nearest first; fewer than `length` for the first bits."""
        return range(bit - 1, max(bit - 1 - self.length, -1), -1)

    def columns(self, bit: int, predicted: NDArray[np.bool_], starts: NDArray[np.int64]) -> Columns:
        """The columns in which later bits read the predictions of a bit: one for each offset."""
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
        """The encoder of a bit's data: the columns of all bits, then those of its cascade."""
        specs = (
            ColumnSpec(_name(earlier, offset), "categorical", VALUES, local=True)
            for earlier in self.read_by(bit)
            for offset in self.offsets
        )
        return Encoder(encoder.columns + tuple(specs))


def _name(bit: int, offset: int) -> str:
    return f"bit {bit + 1} at {offset:+d}"
