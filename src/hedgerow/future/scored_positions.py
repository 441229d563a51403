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


class ScoredPositions:
    """Sequences with gold label contexts, the values of the features so far, and the label scores so far.

    `plain` are the sequences as encoded, `with_contexts` the same with gold labels of earlier positions as columns.
    `binnings` are those of the numeric columns of `plain`.
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
    ) -> None:
        self.plain, self.with_contexts, self.codes, self.n_threads = plain, with_contexts, codes, n_threads
        known = np.logical_and.reduceat(codes >= 0, plain.starts[:-1])
        self.sequence_weights = np.where(known, weights, 0.0)
        self.weights = np.where(codes >= 0, np.repeat(weights, plain.lengths), 0.0)
        self.values: list[Floats] = []
        self.scores = np.zeros((len(codes), 1, n_labels), np.float32)
        if constraints is not None:  # a softmax gives forbidden labels the probability 0, whatever is added
            self.scores[~constraints.beside_gold(codes, plain.starts)[:, None]] = -np.inf
        self._binnings = binnings
        self._instance_tree_data: _core.TreeData | None = None

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
            self._instance_tree_data = _core.TreeData(self.instances.reader, 0, growth, self.n_threads)
        return self._instance_tree_data

    def discovery_data(self, tree_data: _core.TreeData | None = None) -> DiscoveryData:
        """What the lower level reads."""
        scores = self.scores[:, 0].astype(np.float64)
        return DiscoveryData(self.instances, self.codes, self.weights, scores, self.n_threads, tree_data)

    @property
    def log_likelihood(self) -> float:
        """Mean log P(gold label) of a position."""
        return float((self._log_gold() * self.weights).sum() / self.weights.sum())

    @property
    def loss(self) -> float | None:
        """Mean of -log P(gold labels) of a sequence; None if every sequence has a label that training never saw."""
        weights = self.sequence_weights
        if not weights.any():
            return None
        sums = np.add.reduceat(self._log_gold(), self.plain.starts[:-1])
        return -float((sums * weights).sum() / weights.sum())

    def _log_gold(self) -> Floats:
        gold: Floats = _core.log_gold(self.scores[:, 0], self.codes, None, None, self.n_threads)
        return gold
