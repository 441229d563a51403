"""Weights by stochastic gradient steps on the likelihood, one sequence at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from hedgerow import _core
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.early_stopping import Stopping
from hedgerow.learning.epochs import epoch_orders, lattices
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.linear_learner import LinearLearner
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.learning.quasi_newton import IMPROVEMENT_PERIOD
from hedgerow.potentials.linear import LinearPotential

FIRST_RATE = 0.1  # learning rate where the calibration starts
CALIBRATION_SEQUENCES = 1000
RATE_FACTOR = 2.0  # between the learning rates that the calibration tries
MAX_RATE_TRIALS = 10


@dataclass(frozen=True, kw_only=True)
class StochasticRules:
    """`tol`: stop when ten epochs lower the loss by less than this share."""

    epochs: int
    tol: float
    random_state: int | None
    stopping: Stopping | None = None


class StochasticGradientLearner(LinearLearner):
    """The learner of LinearCRF for stochastic gradient descent; the weights are the mean over all steps."""

    def __init__(self, training: TrainingData, space: LinearSpace, l2: float, rules: StochasticRules) -> None:
        super().__init__(training, space, l2, rules.stopping)
        self.rules = rules
        self._attributes = space.attributes(training)
        self._n_examples = int(np.count_nonzero(training.weights))

    def trainer(self, rate: float) -> _core.StochasticTrainer:
        """Steps that begin with this learning rate, each with its share of the penalty."""
        training, space = self.training, self.space
        return _core.StochasticTrainer(
            self._attributes.reader, training.codes, training.weights, space.state.starts, space.state.outputs,
            space.n_grams.cells, len(training.labels), training.topology.lattice_order,
            training.topology.forbidden_cells, training.topology.never_last, rate=rate,
            decay=2 * self.l2 / self._n_examples,
        )  # fmt: skip

    def _calibrated_rate(self) -> float:
        """The learning rate that does best in one pass over a sample: FIRST_RATE, doubled or halved while it helps."""
        sample = next(epoch_orders(self.training, self.rules.random_state))[:CALIBRATION_SEQUENCES]

        def loss(rate: float) -> float:
            trainer = self.trainer(rate)
            trainer.epoch(sample)
            value = trainer.loss(sample) + self.l2 * trainer.squared_size * len(sample) / self._n_examples
            return value if math.isfinite(value) else math.inf

        best, lowest = FIRST_RATE, loss(FIRST_RATE)
        for factor in (RATE_FACTOR, 1 / RATE_FACTOR):
            for _ in range(MAX_RATE_TRIALS):
                tried = loss(best * factor)
                if tried >= lowest:
                    break
                best, lowest = best * factor, tried
            if best != FIRST_RATE:
                break
        return best

    def _steps(self) -> Iterator[Record]:
        rules, training, evaluator = self.rules, self.training, Evaluator(self.training)
        rate = self._calibrated_rate()
        trainer = self.trainer(rate)
        values = []
        for epoch, order in enumerate(islice(epoch_orders(training, rules.random_state), rules.epochs), 1):
            trainer.epoch(order)
            self._weights = trainer.mean()
            potential = self.potential
            values.append(self._objective(potential))
            record: Record = {"unit": "epoch", "step": epoch, "loss": training.per_sequence(values[-1]), "rate": rate}
            yield record | evaluator.of_potential(potential)
            if len(values) > IMPROVEMENT_PERIOD:
                improvement = values[-1 - IMPROVEMENT_PERIOD] - values[-1]
                if improvement <= rules.tol * abs(values[-1]):
                    return

    def _objective(self, potential: LinearPotential) -> float:
        """The penalised negative log-likelihood, which the quasi-Newton solvers minimise too."""
        value = self.l2 * float(np.square(self._weights).sum())
        for sequences, positions, lattice in lattices(self.training, potential):
            losses = lattice.log_partition() - lattice.score(self.training.codes[positions])
            value += float(losses @ self.training.weights[sequences])
        return value
