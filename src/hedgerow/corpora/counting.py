"""What the passes of `encode` count: statistics and labels of the first, missing and unseen values of the last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.corpora.source_blocks import RawBlock
from hedgerow.corpora.state import Settings
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.encoder import Encoder
from hedgerow.encoding.encoder_draft import EncoderDraft
from hedgerow.encoding.encoder_statistics import EncoderStatistics
from hedgerow.encoding.gold_labels import LabelSet
from hedgerow.encoding.presence import Presence, present_positions
from hedgerow.errors import InputError


@dataclass
class Learned:
    """What the first pass has counted."""

    statistics: EncoderStatistics | None = None
    labels: LabelSet | None = None
    labelled: bool | None = None  # whether sequences have labels; None before the first
    weighted: bool = False
    layout: dict[str, Any] | None = None
    n_positions: int = 0
    n_sequences: int = 0

    def add(self, blocks: list[RawBlock], settings: Settings, shard: int) -> None:
        """Count a shard; raises InputError if its columns or labels do not fit those before."""
        counted: EncoderStatistics | None = None
        for b, block in enumerate(blocks):
            self._check_labels(block)
            self.n_positions += block.X.n_positions
            self.n_sequences += len(block.X)
            self.weighted |= block.sample_weight is not None
            if block.y is not None:
                own = LabelSet.of(block.y)
                self.labels = own if self.labels is None else self.labels.merge(own)
            if settings.like is None:
                found = EncoderStatistics.of(block.X, settings.recipe.missing, place=(shard, b))
                counted = found if counted is None else counted.merge(found)
        if counted is not None:
            self.statistics = counted if self.statistics is None else self.statistics.merge(counted)

    def missing_shares(self) -> dict[str, float]:
        """The share of missing values of the columns of X that have some."""
        if self.statistics is None:
            return {}
        counts = {column.name: column.n_missing for column in self.statistics.placed()}
        return {name: count / self.n_positions for name, count in counts.items() if count}

    def _check_labels(self, block: RawBlock) -> None:
        labelled = block.y is not None
        if self.labelled is None:
            self.labelled = labelled
        if self.labelled != labelled:
            raise InputError(
                "either all sequences of the source must have labels or none, but some have and some have not; encode "
                "them apart"
            )


class CodeCounts:
    """Counts of the last pass: missing values by column, values left out, and the presence of bags of dicts."""

    def __init__(self, encoder: Encoder, draft: EncoderDraft | None, earlier: Mapping[str, Any]) -> None:
        self._encoder = encoder
        self._approximate = frozenset() if draft is None else draft.approximate
        self.missing: dict[str, int] = dict.fromkeys((spec.name for spec in encoder.columns), 0)
        self.missing |= earlier.get("missing", {})
        self.unseen: dict[str, int] = dict(earlier.get("unseen", {}))
        self._present: dict[str, list[int]] = {name: [0, 0] for name in self._approximate}
        self._present |= {name: list(counts) for name, counts in earlier.get("presence", {}).items()}

    def add(self, X: Sequences, encoded: Encoded, n_threads: int) -> None:
        for column in encoded.columns:
            self.missing[column.name] += column.n_missing
        for name, count in encoded.unseen.items():
            self.unseen[name] = self.unseen.get(name, 0) + count
        if self._approximate:
            aligned = self._encoder.aligned_part(X, n_threads)
            for name in self._approximate:
                present = present_positions(aligned.column(name))
                having = np.logical_or.reduceat(present, X.starts[:-1])
                self._present[name][0] += int(np.count_nonzero(present))
                self._present[name][1] += int(np.count_nonzero(having))

    def presence(self, learned: Learned) -> dict[str, Presence]:
        shares = {}
        for name, (positions, sequences) in self._present.items():
            shares[name] = Presence(positions / learned.n_positions, sequences / learned.n_sequences)
        return shares

    def to_json(self) -> dict[str, dict[str, Any]]:
        return {"missing": dict(self.missing), "unseen": dict(self.unseen), "presence": dict(self._present)}
