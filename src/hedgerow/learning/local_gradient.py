"""Weights of a locally normalised linear model (MEMM), by quasi-Newton steps.

Training is learning of order 0 with gold label n-grams as columns. Dev data are evaluated as in prediction: by a
lattice over all label contexts, where the model also depends on its own mistakes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hedgerow.encoding import AttributeReader
from hedgerow.encoding.window import WindowSpec
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.early_stopping import check_dev_data, stop_early
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.label_contexts import with_n_grams
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.learning.quasi_newton import QuasiNewtonLearner, QuasiNewtonRules
from hedgerow.potentials.linear import Features, LinearPotential, NGrams
from hedgerow.potentials.local import LocalPotential


class LocalGradientLearner:
    """The learner of MEMM(learner="linear")."""

    def __init__(
        self,
        training: TrainingData,
        rules: QuasiNewtonRules,
        *,
        window: WindowSpec,
        min_freq: int = 1,
        scale: bool = True,
    ) -> None:
        check_dev_data(rules.stopping, training.dev)
        self.training, self.stopping = training, rules.stopping
        expanded, self._table_rows = with_n_grams(training)
        space = LinearSpace.of(expanded, window, min_freq=min_freq, scale=scale)
        # The inner learner has no dev data: what it labels are positions with gold label contexts.
        self._inner = QuasiNewtonLearner(expanded, space, replace(rules, stopping=None))
        self._best: LocalPotential | None = None  # set when early stopping has ended the fit

    @property
    def training_log(self) -> list[Record]:
        return []

    @property
    def potential(self) -> LocalPotential:
        if self._best is not None:
            return self._best
        training = self.training
        return LocalPotential(self._with_n_grams(self._inner.potential), len(training.labels), training.order)

    def __iter__(self) -> Iterator[Record]:
        self._best = yield from stop_early(self._iterations(), self.stopping, lambda: self.potential)

    def _iterations(self) -> Iterator[Record]:
        evaluator = Evaluator(self.training)
        for record in self._inner:
            yield record if self.training.dev is None else record | evaluator.of_potential(self.potential)

    def _with_n_grams(self, potential: LinearPotential) -> LinearPotential:
        """The weights of n-gram columns as weights of n-grams."""
        training, k = self.training, len(self.training.labels)
        first_id = AttributeReader(training.sequences, potential.window, potential.scalings).n_ids
        features, weights = potential.state_features, potential.state_weights
        of_attributes = slice(0, int(features.starts[first_id]))
        of_columns = slice(of_attributes.stop, None)
        rows = self._table_rows[features.attributes[of_columns] - first_id]
        cells = np.concatenate([potential.n_grams.cells, rows * k + features.outputs[of_columns]])
        n_gram_weights = np.concatenate([potential.n_gram_weights, weights[of_columns]])
        ascending = np.argsort(cells)
        return replace(
            potential,
            state_features=Features(features.starts[: first_id + 1], features.outputs[of_attributes], k),
            state_weights=weights[of_attributes],
            n_grams=NGrams(cells[ascending], k, training.order),
            n_gram_weights=n_gram_weights[ascending],
        )
