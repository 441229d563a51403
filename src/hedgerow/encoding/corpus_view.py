"""CorpusView: what encoded sequences have besides their columns if they come from a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.ragged import ranges
from hedgerow.encoding.encoder import Encoder
from hedgerow.encoding.gold_labels import GoldLabels
from hedgerow.encoding.imputation import Treatment

if TYPE_CHECKING:
    from hedgerow.encoding.corpus_folder import CorpusFolder


@dataclass(frozen=True)
class Recipe:
    """How a corpus was encoded: the template as JSON, the treatment of missing values, and the least frequency."""

    features: Mapping[str, Any] | None
    missing: Treatment | None
    min_freq: int


@dataclass(frozen=True, eq=False)
class CorpusView:
    """The encoder and the labels of some sequences of a corpus; with `folder`, they are sequences first..last of it."""

    encoder: Encoder
    gold: GoldLabels | None
    weights: NDArray[np.float64] | None
    recipe: Recipe
    missing: Mapping[str, float]  # share of missing values of the columns of X that have some
    folder: CorpusFolder | None
    first: int
    last: int

    @property
    def place(self) -> tuple[str, str, int, int]:
        """(folder, its checksum, first, last): what another process needs to open the same sequences."""
        assert self.folder is not None
        return str(self.folder.path), self.folder.checksum, self.first, self.last

    def range(self, first: int, last: int, starts: NDArray[np.int64]) -> CorpusView:
        """The view of sequences first..last of these; `starts` are theirs."""
        gold, weights = self.gold, self.weights
        if gold is not None:
            values = gold.values[int(gold.starts[first]) : int(gold.starts[last])]
            gold = GoldLabels(gold.kind, values, starts, gold.alphabet)
        return replace(
            self,
            gold=gold,
            weights=None if weights is None else weights[first:last],
            first=self.first + first,
            last=self.first + last,
        )

    def taken(
        self, sequences: NDArray[np.int64], old_starts: NDArray[np.int64], starts: NDArray[np.int64]
    ) -> CorpusView:
        """The view of chosen sequences, which are in memory."""
        gold, weights = self.gold, self.weights
        if gold is not None:
            positions = ranges(old_starts[sequences], np.diff(starts))
            gold = GoldLabels(gold.kind, gold.values[positions], starts, gold.alphabet)
        chosen = None if weights is None else weights[sequences]
        return replace(self, gold=gold, weights=chosen, folder=None, first=0, last=len(sequences))

    def shard_ranges(self) -> list[tuple[int, int]]:
        """The parts of the range that lie in one shard each, counted from its first sequence."""
        n = self.last - self.first
        if self.folder is None:
            return [(0, n)]
        inside = [
            (max(shard.first - self.first, 0), min(shard.last - self.first, n)) for shard in self.folder.index.shards
        ]
        return [(first, last) for first, last in inside if first < last]
