"""The weight vector of a perceptron or an SVM, and sums of such vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.errors import InputError
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.potentials.linear import Features, LinearPotential
from hedgerow.utilities import Floats32


@dataclass(frozen=True, eq=False)
class WeightVector:
    """Attribute i has weights[f] for labels[f], for f in starts[i]..starts[i + 1]; `n_grams` has a weight by cell."""

    starts: NDArray[np.int64]
    labels: NDArray[np.int32]
    weights: Floats32
    n_grams: Floats32

    @classmethod
    def zeros(cls, n_ids: int, n_cells: int) -> Self:
        """The weights before the first epoch."""
        nothing = np.zeros(0, np.int32), np.zeros(0, np.float32)
        return cls(np.zeros(n_ids + 1, np.int64), *nothing, np.zeros(n_cells, np.float32))

    @classmethod
    def of(cls, trainer: _core.MarginTrainer, *, mean: bool, scale: float, n_threads: int) -> Self:
        """The current weights of a trainer, or their mean, times `scale`."""
        (starts, labels, weights), n_grams = trainer.weights(mean, scale, n_threads)
        return cls(starts, labels, weights, n_grams)

    @classmethod
    def sum(cls, vectors: Sequence[Self], factors: Sequence[float]) -> Self:
        """The sum of vectors times their factors, in the given order; weights of 0 are left out."""
        k = 1 + max((int(vector.labels.max(initial=0)) for vector in vectors), default=0)
        n_ids = len(vectors[0].starts) - 1
        keys = [np.repeat(np.arange(n_ids), np.diff(vector.starts)) * k + vector.labels for vector in vectors]
        features, places = np.unique(np.concatenate(keys), return_inverse=True)
        with np.errstate(over="ignore", invalid="ignore"):  # `potential` refuses weights that are not finite
            pairs = list(zip(vectors, factors, strict=True))
            terms = np.concatenate([factor * vector.weights.astype(np.float64) for vector, factor in pairs])
            weights = np.bincount(places, terms, minlength=len(features)).astype(np.float32)
            cells = [factor * vector.n_grams.astype(np.float64) for vector, factor in pairs]
            n_grams = np.sum(cells, axis=0).astype(np.float32)
        features, weights = features[weights != 0], weights[weights != 0]
        starts = np.searchsorted(features // k, np.arange(n_ids + 1)).astype(np.int64)
        return cls(starts, (features % k).astype(np.int32), weights, n_grams)

    def times(self, factor: float) -> Self:
        """The vector times a factor."""
        return self if factor == 1 else self.sum([self], [factor])

    def potential(self, space: LinearSpace) -> LinearPotential:
        """The potential of these weights; raises InputError if they are not finite."""
        if not (np.isfinite(self.weights).all() and np.isfinite(self.n_grams).all()):
            raise InputError("the weights are too large; lower C, sample_weight or the weights of attributes")
        return LinearPotential(
            window=space.window,
            scalings=space.scalings,
            state_features=Features(self.starts, self.labels, space.state.width),
            state_weights=self.weights,
            edge_features=None,
            edge_weights=None,
            n_grams=space.n_grams,
            n_gram_weights=self.n_grams[space.n_grams.cells],
            conjunctions=space.conjunctions,
        )
