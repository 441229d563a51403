"""Quasi-Newton minimisation: L-BFGS and, with an L1 penalty, OWL-QN (Andrew & Gao 2007)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from hedgerow import _core
from hedgerow.errors import ConvergenceWarning, warn_user
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.early_stopping import Stopping
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.likelihood import Likelihood, Objective
from hedgerow.learning.linear_learner import LinearLearner
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.utilities import Floats64

Function = Callable[[Floats64], tuple[float, Floats64]]

MEMORY = 16
IMPROVEMENT_PERIOD = 10  # iterations over which the improvement is compared with the tolerance
MAX_HALVINGS = 20
MAX_WEIGHT_STEP = 4.0  # the first directions are poor, and inference is slow for large weights
SUFFICIENT_DECREASE = 1e-4  # share of the decrease that the gradient predicts (Armijo's rule)
ROUNDING = 1e-7  # of a position's share in the likelihood, summed in single precision
DOUBLE_ROUNDING = 1e-15  # the same in double precision
FLAT_GRADIENT = 1e-3  # relative to the weights; below this, single precision may find no decrease


@dataclass(frozen=True)
class Penalty:
    """l1 times the sum of absolute values plus l2 times the sum of squares: CRFsuite's c1 and c2."""

    l1: float
    l2: float


@dataclass(frozen=True, kw_only=True)
class QuasiNewtonRules:
    """`tol`: stop when ten iterations lower the loss by less than this share of it.

    `memory` is the number of steps from which the inverse Hessian is approximated. No step changes a weight by more
    than `max_weight_step`. With `double` the likelihood is computed in double precision.
    """

    penalty: Penalty
    max_iter: int
    tol: float
    stopping: Stopping | None = None
    memory: int = MEMORY
    max_weight_step: float = MAX_WEIGHT_STEP
    double: bool = False


class Minimizer:
    """Iterating makes steps to the minimum; `weights` is the point reached and `value` its penalised value.

    With an L1 penalty a step stays in the orthant where it starts: a weight that would change its sign becomes 0.

    Parameters
    ----------
    tol
        Iteration ends when the gradient, relative to the weights, or the improvement of ten steps, relative to the
        value, is at most this.
    noise
        What rounding may add to a value. A step to a value that is higher than the lowest one by less is accepted,
        because the gradient is more precise than that.
    comparable
        Whether the first value can be compared with later ones; if not, the first step is always accepted.
    memory, max_weight_step
        As in `QuasiNewtonRules`.
    """

    def __init__(
        self,
        function: Function,
        start: Floats64,
        penalty: Penalty,
        *,
        tol: float,
        n_threads: int,
        noise: float = 0.0,
        comparable: bool = True,
        memory: int = MEMORY,
        max_weight_step: float = MAX_WEIGHT_STEP,
    ) -> None:
        self._function, self._penalty, self._tol, self._n_threads = function, penalty, tol, n_threads
        self._noise, self._max_weight_step = noise, max_weight_step
        self._keeps_orthant = penalty.l1 > 0
        self.weights = start
        self._memory = _core.QuasiNewton(len(start), memory)
        self.value, self._gradient = self._evaluate(start)
        if not comparable:
            self.value = np.inf
        self._values = [self.value]

    def _evaluate(self, weights: Floats64) -> tuple[float, Floats64]:
        """The penalised value, and the gradient of what is smooth in it (without the L1 penalty)."""
        value, gradient = self._function(weights)
        value += _core.penalize(weights, self._penalty.l1, self._penalty.l2, gradient, self._n_threads)
        return value, gradient

    @property
    def is_converged(self) -> bool:
        """Whether the tolerance is reached."""
        return self._relative_gradient(self._slope()) <= self._tol or self._improves_little()

    @property
    def gradient_norm(self) -> float:
        """The Euclidean norm of the gradient; with an L1 penalty, of the pseudo-gradient."""
        return self._norm(self._slope())

    def _relative_gradient(self, slope: Floats64) -> float:
        return self._norm(slope) / max(1.0, self._norm(self.weights))

    def _improves_little(self) -> bool:
        if len(self._values) <= IMPROVEMENT_PERIOD:
            return False
        return self._values[-1 - IMPROVEMENT_PERIOD] - self.value <= self._tol * abs(self.value)

    def __iter__(self) -> Iterator[float]:
        """Yields the length of each step."""
        while True:
            slope = self._slope()
            steepness = self._relative_gradient(slope)
            if steepness <= self._tol:
                return
            direction = self._memory.down(slope, self._keeps_orthant, self._n_threads)
            first = 1.0 if len(self._values) > 1 else 1 / self._norm(slope)
            most = self._max_weight_step
            longest = max(direction.max(initial=most), -direction.min(initial=-most))
            first = min(first, most / float(longest))
            length = self._search(direction, slope, first)
            predicted = -self._dot(slope, direction)
            if length == 0 and predicted > self._noise and self._memory.forget():
                continue  # once more, along the gradient
            if length == 0:
                if steepness > FLAT_GRADIENT and predicted > self._noise:
                    self._warn_of_no_decrease()
                return
            self._values.append(self.value)
            yield length
            if self._improves_little():
                return

    def _warn_of_no_decrease(self) -> None:
        warn_user(
            f"the fit ended before the minimum of the loss: after {len(self._values) - 1} iterations no step lowered "
            "it further; the weights so far are kept. Usual causes are large numbers in X (use scale=True), a narrow "
            "beam (widen it) and too little regularisation (raise l2)",
            ConvergenceWarning,
        )

    def _dot(self, a: Floats64, b: Floats64) -> float:
        """The dot product; numpy's would use all threads of the machine."""
        return _core.dot(a, b, self._n_threads)

    def _norm(self, a: Floats64) -> float:
        return math.sqrt(self._dot(a, a))

    def _slope(self) -> Floats64:
        """The gradient; with an L1 penalty, the pseudo-gradient."""
        if not self._keeps_orthant:
            return self._gradient
        return _core.slope(self.weights, self._gradient, self._penalty.l1, self._n_threads)

    def _search(self, direction: Floats64, slope: Floats64, length: float) -> float:
        """Halve the step until the value falls enough; returns its length, 0 if no step is short enough."""
        for _ in range(MAX_HALVINGS):
            weights, step = _core.step(self.weights, direction, length, self._keeps_orthant, self._n_threads)
            value, gradient = self._evaluate(weights)
            # Compared with the lowest value, so that rises by rounding cannot add up.
            highest = min(self._values) + self._noise + SUFFICIENT_DECREASE * self._dot(slope, step)
            if np.isfinite(value) and value <= highest:
                self._memory.remember(step, gradient - self._gradient, self._n_threads)
                self.weights, self.value, self._gradient = weights, value, gradient
                return length
            length /= 2
        return 0.0


def likelihood_minimizer(likelihood: Objective, start: Floats64, rules: QuasiNewtonRules) -> Minimizer:
    """The minimiser of the penalised negative log-likelihood."""
    return Minimizer(
        likelihood,
        start,
        rules.penalty,
        tol=rules.tol,
        n_threads=likelihood.n_threads,
        noise=(DOUBLE_ROUNDING if rules.double else ROUNDING) * likelihood.total_weight,
        comparable=likelihood.comparable,
        memory=rules.memory,
        max_weight_step=rules.max_weight_step,
    )


class QuasiNewtonLearner(LinearLearner):
    """The learner of LinearCRF for L-BFGS and OWL-QN."""

    def __init__(self, training: TrainingData, space: LinearSpace, rules: QuasiNewtonRules) -> None:
        super().__init__(training, space, rules.penalty.l2, rules.stopping)
        self.rules = rules
        self._evaluator = Evaluator(training)

    def _steps(self) -> Iterator[Record]:
        yield from self._iterations(self._objective(), 0)

    def _objective(self) -> Objective:
        """What the iterations minimise, without the penalty."""
        return Likelihood(self.training, self.space, double=self.rules.double)

    def _iterations(self, likelihood: Objective, n_before: int) -> Iterator[Record]:
        """Iterations from the weights so far, after `n_before` other steps."""
        minimizer = likelihood_minimizer(likelihood, self._weights, self.rules)
        if n_before >= self.rules.max_iter:
            return
        for iteration, length in enumerate(minimizer, n_before + 1):
            self._weights = minimizer.weights
            yield self._record(iteration, minimizer.value, length, minimizer.gradient_norm)
            if iteration == self.rules.max_iter:
                if not minimizer.is_converged:
                    self._warn_of_max_iter()
                return

    def _record(self, step: int, value: float, step_size: float, gradient_norm: float) -> Record:
        loss = self.training.per_sequence(value)
        record: Record = {"unit": "iteration", "step": step, "loss": loss, "step_size": step_size}
        record["gradient_norm"] = gradient_norm
        if self.rules.penalty.l1:
            record["n_active"] = int(np.count_nonzero(self._weights))
        if self.training.dev is not None:
            record |= self._evaluator.of_potential(self.potential)
        return record

    def _warn_of_max_iter(self) -> None:
        warn_user(
            f"the fit ended after max_iter={self.rules.max_iter} iterations, before it reached the tolerance of "
            f"tol={self.rules.tol:g}; raise max_iter or tol",
            ConvergenceWarning,
        )
