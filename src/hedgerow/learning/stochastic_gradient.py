"""Weights by stochastic gradient steps on the likelihood, one sequence after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from hedgerow import _core
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.epochs import epoch_orders, lattices
from hedgerow.learning.likelihood import LinearSpace
from hedgerow.learning.quasi_newton import PERIOD
from hedgerow.potentials.linear import LinearPotential

FIRST_GUESS = 0.1  # of the rate of the first step
TRIALS = 1000  # sequences that rates are tried on
FACTOR = 2.0  # between rates tried
MOST_TRIALS = 10


@dataclass(frozen=True)
class StochasticRules:
    max_iter: int
    tol: float
    random_state: int | None


class StochasticGradientLearner:
    """The learner of LinearCRF for stochastic gradient descent; the weights are the mean over all steps."""

    def __init__(self, training: TrainingData, space: LinearSpace, l2: float, rules: StochasticRules) -> None:
        self.training, self.space, self.l2, self.rules = training, space, l2, rules
        self._rows = space.rows(training)
        self._weights = np.zeros(space.n_weights)
        self._n_examples = int(np.count_nonzero(training.weights))

    @property
    def history(self) -> list[Record]:
        return []

    @property
    def potential(self) -> LinearPotential:
        return self.space.potential(self._weights)

    def trainer(self, rate: float) -> _core.StochasticTrainer:
        """Steps that begin with this rate, each with its share of the penalty."""
        training, space = self.training, self.space
        return _core.StochasticTrainer(
            self._rows.reader, training.codes, training.weights, space.state.starts, space.state.outputs,
            space.n_grams.cells, len(training.labels), training.order, rate=rate,
            decay=2 * self.l2 / self._n_examples,
        )  # fmt: skip

    def _calibrated(self) -> float:
        """The rate that does best in one pass over a sample: the first guess, doubled or halved while that helps."""
        sample = next(epoch_orders(self.training, self.rules.random_state))[:TRIALS]

        def loss(rate: float) -> float:
            trainer = self.trainer(rate)
            trainer.epoch(sample)
            value = trainer.loss(sample) + self.l2 * trainer.squared_size * len(sample) / self._n_examples
            return value if math.isfinite(value) else math.inf

        best, least = FIRST_GUESS, loss(FIRST_GUESS)
        for factor in (FACTOR, 1 / FACTOR):
            for _ in range(MOST_TRIALS):
                tried = loss(best * factor)
                if tried >= least:
                    break
                best, least = best * factor, tried
            if best != FIRST_GUESS:
                break
        return best

    def __iter__(self) -> Iterator[Record]:
        rules, training = self.rules, self.training
        rate = self._calibrated()
        trainer = self.trainer(rate)
        values = []
        for epoch, order in enumerate(islice(epoch_orders(training, rules.random_state), rules.max_iter), 1):
            trainer.epoch(order)
            self._weights = trainer.mean()
            potential = self.potential
            values.append(self._objective(potential))
            record: Record = {"iteration": epoch, "objective": values[-1], "rate": rate}
            yield record | training.held_out(potential)
            if len(values) > PERIOD and values[-1 - PERIOD] - values[-1] <= rules.tol * abs(values[-1]):
                return

    def _objective(self, potential: LinearPotential) -> float:
        """What the quasi-Newton steps of the other solvers lower."""
        value = self.l2 * float(np.square(self._weights).sum())
        for sequences, positions, lattice in lattices(self.training, potential):
            unlikely = lattice.log_partition() - lattice.score(self.training.codes[positions])
            value += float(unlikely @ self.training.weights[sequences])
        return value
