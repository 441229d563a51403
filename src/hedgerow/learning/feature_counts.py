"""How often attributes occur with outputs: the counts of parts of the data can be merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.mapped_pages import PAGE_POSITIONS, MappedPages
from hedgerow.encoding import AttributeReader
from hedgerow.inference.blocks import sequence_blocks
from hedgerow.potentials.linear import Features

#: The outputs at the positions of some consecutive sequences; negative where nothing is counted.
Outputs = Callable[[slice], NDArray[np.int32]]


@dataclass(frozen=True, eq=False)
class FeatureCounts:
    """Attribute i occurs counts[j] times with outputs[j], which is below `width`, for j in starts[i]..starts[i + 1]."""

    starts: NDArray[np.int64]
    outputs: NDArray[np.int32]
    counts: NDArray[np.int64]
    width: int

    @classmethod
    def of(cls, attributes: AttributeReader, outputs: Outputs, width: int) -> Self:
        """The counts of all positions, one block of sequences at a time, to bound memory."""
        starts, pages = attributes.sequences.starts, MappedPages.of_columns(attributes.sequences.columns)
        found = [cls(np.zeros(attributes.n_ids + 1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64), width)]
        for block in sequence_blocks(starts, PAGE_POSITIONS):
            first, last = int(starts[block.start]), int(starts[block.stop])
            of, own, counts = _core.count_features(attributes.reader, first, last, outputs(block), width)
            found.append(cls(of, own, counts, width))
            pages.release()
            # Merged when the new counts are as many as the old ones, so that few are merged again and again.
            if sum(len(part.outputs) for part in found[1:]) > len(found[0].outputs):
                found = [found[0].merge(found[1:])]
        return found[0].merge(found[1:])

    def merge(self, others: Iterable[Self]) -> Self:
        """The counts of this part and the others."""
        parts = [self, *others]
        if len(parts) == 1:
            return self
        keys = np.concatenate([part._keys for part in parts])
        order = np.argsort(keys, kind="stable")  # linear in their number, for each part is sorted
        keys = keys[order]
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else order
        counts = np.concatenate([part.counts for part in parts])[order]
        attributes, outputs = np.divmod(keys[first], self.width)
        starts = np.searchsorted(attributes, np.arange(len(self.starts)))
        summed = np.add.reduceat(counts, first) if len(first) else counts
        return type(self)(starts.astype(np.int64), outputs.astype(np.int32), summed, self.width)

    @property
    def _keys(self) -> NDArray[np.int64]:
        """A number for each pair of attribute and output, rising."""
        keys: NDArray[np.int64] = self._attributes * self.width + self.outputs
        return keys

    @property
    def _attributes(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @property
    def by_attribute(self) -> NDArray[np.int64]:
        """How often each attribute occurs."""
        summed = np.concatenate([[0], np.cumsum(self.counts)])
        totals: NDArray[np.int64] = summed[self.starts[1:]] - summed[self.starts[:-1]]
        return totals

    def features(self, min_freq: int = 1, *, all_outputs: bool = False) -> Features:
        """Features that occur at least min_freq times; with `all_outputs`, every output of attributes that do."""
        if all_outputs:
            n_outputs = np.where(self.by_attribute >= max(min_freq, 1), self.width, 0)
            outputs = np.tile(np.arange(self.width, dtype=np.int32), np.count_nonzero(n_outputs))
            return Features(np.concatenate([[0], np.cumsum(n_outputs)]), outputs, self.width)
        return Features(self.starts, self.outputs, self.width).where(self.counts >= min_freq)
