"""Passive-aggressive learning and AROW: steps from the best path to gold whose length depends on the mistake.

Where the best path z is not gold y, let d = Phi(x, y) - Phi(x, z), and let the cost be the loss of z minus w d.

Passive-aggressive (Crammer et al. 2006): w <- w + step d, the smallest change after which the cost would be 0:
step = cost / |d|^2. PA-I limits the step to c. PA-II makes it cost / (|d|^2 + 1 / 2c).

AROW (Crammer et al. 2009; Mejer and Crammer 2010 for sequences): every weight has a variance v, which shrinks as the
weight is used. w <- w + cost / (gamma + sum of v d^2) v d, and then 1 / v <- 1 / v + d^2 / gamma.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from hedgerow import _core
from hedgerow.errors import InputError
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.epochs import epoch_orders
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.potentials.linear import LinearPotential
from hedgerow.utilities import Floats64


@dataclass(frozen=True, kw_only=True)
class StepRules:
    """Step = cost / (slack + sum of v d^2), at most `largest_step`. The loss is (wrong labels) ** loss_power."""

    loss_power: float
    slack: float = 0.0
    largest_step: float = math.inf
    variance: float = 1.0
    shrinks: bool = False

    @classmethod
    def passive_aggressive(cls, kind: Literal[0, 1, 2], c: float, *, error_sensitive: bool) -> Self:
        """PA, PA-I or PA-II. The loss is the square root of the number of wrong labels, or 1."""
        return cls(
            loss_power=0.5 if error_sensitive else 0.0,
            slack=0.5 / c if kind == 2 else 0.0,
            largest_step=c if kind == 1 else math.inf,
        )

    @classmethod
    def arow(cls, variance: float, gamma: float) -> Self:
        """The loss is the number of wrong labels; `variance` is that of each weight at the start."""
        return cls(loss_power=1.0, slack=gamma, variance=variance, shrinks=True)


@dataclass(frozen=True, kw_only=True)
class PathStepRules:
    """`tol`: stop after an epoch whose mean cost is below this."""

    steps: StepRules
    epochs: int
    averaging: bool
    random_state: int | None
    tol: float = 0.0


class PathStepLearner:
    """The learner of first-order models without a bias by passive-aggressive or AROW steps."""

    def __init__(self, training: TrainingData, space: LinearSpace, rules: PathStepRules) -> None:
        self.training, self.space, self.rules = training, space, rules
        self._trainer = self.trainer()
        self._potential: LinearPotential | None = None  # of the epochs so far

    def trainer(self) -> _core.PathStepTrainer:
        """Steps that begin with weights of 0."""
        training, space, steps = self.training, self.space, self.rules.steps
        return _core.PathStepTrainer(
            space.attributes(training).reader, space.state.core, training.codes, training.weights, space.n_grams.cells,
            loss_power=steps.loss_power, slack=steps.slack, largest_step=steps.largest_step,
            variance=steps.variance, shrinks=steps.shrinks, averaged=self.rules.averaging,
        )  # fmt: skip

    @property
    def training_log(self) -> list[Record]:
        return []

    @property
    def potential(self) -> LinearPotential:
        if self._potential is None:
            self._potential = self.space.potential(self._weights())
        return self._potential

    def _weights(self) -> Floats64:
        weights = self._trainer.weights()
        if not (np.abs(weights) <= np.finfo(np.float32).max).all():
            raise InputError(
                "the weights are too large, because values of attributes are close to 0; leave these attributes out"
            )
        return weights

    def __iter__(self) -> Iterator[Record]:
        rules, evaluator = self.rules, Evaluator(self.training)
        for epoch, order in enumerate(epoch_orders(self.training, rules.random_state), 1):
            self._potential = None
            mistakes, cost = self._trainer.epoch(order)
            loss = self.training.per_sequence(cost)
            converged = loss < rules.tol
            if mistakes == 0 and not converged:  # the remaining epochs would change nothing, but count in the mean
                self._trainer.stay((rules.epochs - epoch) * len(order))
                converged = True
            record: Record = {"unit": "epoch", "step": epoch, "loss": loss, "mistakes": mistakes}
            yield record | evaluator.of_potential(self.potential)
            if epoch == rules.epochs or converged:
                return
