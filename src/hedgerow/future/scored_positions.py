"""Positions of training or dev data with their label scores, as both levels of FutureMEMM read them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.constraints import Constraints
from hedgerow.encoding import HERE, AttributeReader, Binning, Window
from hedgerow.encoding.encoded import Encoded
from hedgerow.future.discovery import DiscoveryData
from hedgerow.future.features import with_features
from hedgerow.future.instance_bags import Floats
from hedgerow.group import ALONE, Group
from hedgerow.learning.exact_totals import total, weighted_total
from hedgerow.utilities import once


class ScoredPositions:
    """Sequences with gold label contexts, the values of the features so far, and the label scores so far.

    `plain` are the sequences as encoded, `with_contexts` the same with gold labels of earlier positions as columns.
    `binnings` are those of the numeric columns of `plain`. In a group, each process has some of the sequences, and
    means are over those of all processes.
    """

    def __init__(
        self,
        *,
        plain: Encoded,
        with_contexts: Encoded,
        codes: NDArray[np.int32],
        weights: Floats,
        binnings: Mapping[str, Binning],
        n_labels: int,
        n_threads: int,
        constraints: Constraints | None = None,
        group: Group = ALONE,
    ) -> None:
        self.plain, self.with_contexts, self.codes, self.n_threads = plain, with_contexts, codes, n_threads
        self.group = group
        known = np.logical_and.reduceat(codes >= 0, plain.starts[:-1])
        self.sequence_weights = np.where(known, weights, 0.0)
        self.weights = np.where(codes >= 0, np.repeat(weights, plain.lengths), 0.0)
        self._loss_weights = np.repeat(self.sequence_weights, plain.lengths)
        self.values: list[Floats] = []
        scores = np.zeros((len(codes), 1, n_labels), np.float32)
        if constraints is not None:  # a softmax gives forbidden labels the probability 0, whatever is added
            scores[~constraints.beside_gold(codes, plain.starts)[:, None]] = -np.inf
        self.scores = scores
        self._binnings = binnings
        self._instance_tree_data: _core.TreeData | None = None

    @property
    def scores(self) -> NDArray[np.float32]:
        """(positions, 1, labels). Read-only: what is computed from it is kept until other scores are assigned."""
        return self._scores

    @scores.setter
    def scores(self, scores: NDArray[np.float32]) -> None:
        scores.flags.writeable = False
        self._scores = scores
        self._log_gold: Floats | None = None

    def attributes(self, window: Window, binnings: Mapping[str, Binning]) -> AttributeReader:
        """The reader of the top level: columns, gold labels and features."""
        sequences = with_features(self.with_contexts, self.values)
        return AttributeReader(sequences, window, binnings, n_threads=self.n_threads)

    @cached_property
    def instances(self) -> AttributeReader:
        """The reader of the lower level: single positions, without labels and features."""
        return AttributeReader(self.plain, HERE, self._binnings, n_threads=self.n_threads)

    def instance_tree_data(self, growth: _core.GrowthRules) -> _core.TreeData:
        """The binned matrix of `instances`, built once for all features."""
        if self._instance_tree_data is None:
            self._instance_tree_data = _core.TreeData(
                self.instances.reader, 0, growth, self.n_threads, exchange=self.group
            )
        return self._instance_tree_data

    def discovery_data(self, tree_data: _core.TreeData | None = None) -> DiscoveryData:
        """What the lower level reads."""
        scores = self.scores[:, 0].astype(np.float64)
        return DiscoveryData(self.instances, self.codes, self.weights, scores, self.n_threads, tree_data, self.group)

    @property
    def log_likelihood(self) -> float:
        """Mean log P(gold label) of a position."""
        return weighted_total(self._gold(), self.weights, self.group) / self._total_weight

    @property
    def loss(self) -> float | None:
        """Mean of -log P(gold labels) of a sequence; None if every sequence has a label that training never saw."""
        if self._total_sequence_weight == 0:
            return None
        return -weighted_total(self._gold(), self._loss_weights, self.group) / self._total_sequence_weight

    @once
    def _total_weight(self) -> float:
        return total(self.weights, self.group)

    @once
    def _total_sequence_weight(self) -> float:
        return total(self.sequence_weights, self.group)

    def _gold(self) -> Floats:
        """log P(gold label) of each position."""
        if self._log_gold is None:
            self._log_gold = _core.log_gold(self.scores[:, 0], self.codes, None, None, self.n_threads)
        return self._log_gold
