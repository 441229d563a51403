"""Weights by quasi-Newton steps: L-BFGS and, with an L1 penalty, OWL-QN (Andrew & Gao 2007)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.errors import ConvergenceWarning
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.likelihood import Likelihood, LinearSpace
from hedgerow.potentials.linear import LinearPotential

Floats = NDArray[np.float64]
Function = Callable[[Floats], tuple[float, Floats]]

MEMORY = 16  # steps that the guess at the Hessian is made of
PERIOD = 10  # iterations over which improvement is judged
MOST_HALVINGS = 20
LONGEST_STEP = 4.0  # of a weight; the first directions are poor, and far out inference is slow
SUFFICIENT = 1e-4  # of the fall that the gradient promises
ROUNDING = 1e-7  # of a position's share in the likelihood, summed in single precision
FLAT = 1e-3  # a gradient so small beside the weights, and single precision may see no way down


@dataclass(frozen=True)
class Penalty:
    """l1 times the sum of sizes plus l2 times the sum of squares: CRFsuite's c1 and c2."""

    l1: float
    l2: float


class Minimizer:
    """Iterating takes steps, down to where ten of them gain less than `tol` of the value; `weights` is the best point.

    `noise` is what rounding may add to a value: a step that loses less is taken, for the gradient is surer than that.
    With an L1 penalty a step stays in the orthant that it starts in: a weight that would change its sign becomes 0.
    A value at the start that is not `comparable` with others is no reason to refuse the first step.
    """

    def __init__(
        self,
        function: Function,
        start: Floats,
        penalty: Penalty,
        tol: float,
        n_threads: int,
        noise: float = 0.0,
        comparable: bool = True,
    ) -> None:
        self._function, self._penalty, self._tol, self._n_threads = function, penalty, tol, n_threads
        self._noise = noise
        self._within = penalty.l1 > 0  # the orthant of each step
        self.weights = start
        self._memory = _core.QuasiNewton(len(start), MEMORY)
        self.value, self._gradient = self._evaluate(start)
        if not comparable:
            self.value = np.inf
        self._values = [self.value]

    def _evaluate(self, weights: Floats) -> tuple[float, Floats]:
        """The penalised value, and the gradient of its smooth part."""
        value, gradient = self._function(weights)
        value += _core.penalize(weights, self._penalty.l1, self._penalty.l2, gradient, self._n_threads)
        return value, gradient

    def __iter__(self) -> Iterator[float]:
        """Yields the length of each step."""
        while True:
            slope = self._slope()
            steepness = self._norm(slope) / max(1.0, self._norm(self.weights))
            if steepness <= self._tol:
                return
            direction = self._memory.down(slope, self._within, self._n_threads)
            first = 1.0 if len(self._values) > 1 else 1 / self._norm(slope)
            longest = max(direction.max(initial=LONGEST_STEP), -direction.min(initial=-LONGEST_STEP))
            first = min(first, LONGEST_STEP / float(longest))
            length = self._search(direction, slope, first)
            promised = -self._dot(slope, direction)
            if length == 0 and promised > self._noise and self._memory.forget():
                continue  # once more, straight down
            if length == 0:
                if steepness > FLAT and promised > self._noise:
                    warnings.warn(
                        f"no step lowers the objective of {self.value:g}, although it is not flat there (the gradient "
                        f"is {steepness:.3g} of the weights); the best point so far is kept",
                        ConvergenceWarning,
                        stacklevel=2,
                    )
                return
            self._values.append(self.value)
            yield length
            if len(self._values) > PERIOD:
                gained = self._values[-1 - PERIOD] - self.value
                if gained <= self._tol * abs(self.value):
                    return

    def _dot(self, a: Floats, b: Floats) -> float:
        """Not numpy's, which takes all threads that there are."""
        return _core.dot(a, b, self._n_threads)

    def _norm(self, a: Floats) -> float:
        return math.sqrt(self._dot(a, a))

    def _slope(self) -> Floats:
        """The gradient; where a weight of 0 makes it undefined, what is left of it after the penalty."""
        if not self._within:
            return self._gradient
        return _core.slope(self.weights, self._gradient, self._penalty.l1, self._n_threads)

    def _search(self, direction: Floats, slope: Floats, length: float) -> float:
        """Halves the step until it gains enough; 0 if none does."""
        for _ in range(MOST_HALVINGS):
            weights, step = _core.step(self.weights, direction, length, self._within, self._n_threads)
            value, gradient = self._evaluate(weights)
            if np.isfinite(value) and value <= self.value + self._noise + SUFFICIENT * self._dot(slope, step):
                self._memory.remember(step, gradient - self._gradient, self._n_threads)
                self.weights, self.value, self._gradient = weights, value, gradient
                return length
            length /= 2
        return 0.0


def likelihood_minimizer(
    training: TrainingData, space: LinearSpace, start: Floats, penalty: Penalty, tol: float
) -> Minimizer:
    """Down minus the penalised log-likelihood of the training data."""
    noise = ROUNDING * float(training.position_weights.sum())
    # All labels are tied while the weights are 0, so that what a beam keeps then is arbitrary.
    return Minimizer(
        Likelihood(training, space), start, penalty, tol, training.n_threads, noise, comparable=not training.prunes
    )


class QuasiNewtonLearner:
    """The learner of LinearCRF for L-BFGS and OWL-QN."""

    def __init__(self, training: TrainingData, space: LinearSpace, penalty: Penalty, max_iter: int, tol: float) -> None:
        self.training, self.space, self.penalty, self.max_iter, self.tol = training, space, penalty, max_iter, tol
        self._weights = np.zeros(space.n_weights)

    @property
    def history(self) -> list[Record]:
        return []

    @property
    def potential(self) -> LinearPotential:
        return self.space.potential(self._weights)

    def __iter__(self) -> Iterator[Record]:
        training = self.training
        minimizer = likelihood_minimizer(training, self.space, self._weights, self.penalty, self.tol)
        for iteration, length in enumerate(minimizer, 1):
            self._weights = minimizer.weights
            record: Record = {"iteration": iteration, "objective": minimizer.value, "step": length}
            if self.penalty.l1:
                record["n_active"] = int(np.count_nonzero(self._weights))
            if training.held is not None:
                record |= training.held_out(self.potential)
            yield record
            if iteration == self.max_iter:
                return
