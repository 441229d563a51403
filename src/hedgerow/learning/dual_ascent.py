"""Linear weights by dual coordinate ascent: few passes over the data bring them near the optimum.

A sweep visits every batch of sequences once (src/core/linear/dual_ascent.hpp has the formulas). The penalised loss is
then computed exactly. Where sweeps become slow, quasi-Newton iterations finish the fit.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Literal

import numpy as np

from hedgerow import _core
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.epochs import by_content
from hedgerow.learning.likelihood import Likelihood
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.learning.quasi_newton import IMPROVEMENT_PERIOD, QuasiNewtonLearner, QuasiNewtonRules
from hedgerow.utilities import Floats64

MIN_SEQUENCES = 200  # with fewer, which are often long, L-BFGS is as fast
MIN_BATCHES = 256  # if there are so many sequences; fewer make slower progress
BATCH_SEQUENCES = 8  # more make slower progress, fewer leave little work for threads between two meetings
MAX_N_GRAM_RESIDUALS = 2**27  # numbers kept for the n-grams of all batches: 1 GB
MAX_RESIDUALS = 2**28  # numbers kept for all positions and labels: 1 GB
# On a quarter of CoNLL-2000, sweeps to 1e-4 of the optimum: l2=1 15, l2=0.1 21 (L-BFGS: 62 and 105 iterations), l1=1
# 30 to 5e-4 (OWL-QN: 270).
CAUTION = 0.7  # factor of the first steps
CAUTION_FACTOR = 0.8  # of later steps, after each sweep that has raised the loss
LEAST_L2 = 0.5  # a pull towards the weights of the last sweep adds what the L2 penalty lacks
LEAST_L2_WITH_L1 = 1.0
WINDOW = 3  # sweeps between the losses from which the rest of the way is estimated
SLOW_RATIO = 0.8  # of the improvements of two windows: slower is left to quasi-Newton steps
SLOW_IMPROVEMENT = 1e-2  # of IMPROVEMENT_PERIOD sweeps: faster is never left to them


class DualAscentLearner(QuasiNewtonLearner):
    """The learner of LinearCRF with solver="auto": sweeps, then quasi-Newton iterations if the sweeps are slow."""

    @staticmethod
    def can_learn(training: TrainingData, space: LinearSpace) -> bool:
        """Whether sweeps pay: there are many sequences and few n-grams, and neither edge features nor a beam.

        They must fit into memory, too: sweeps keep a residual for each position and label.
        """
        if space.edge is not None or training.prunes or np.count_nonzero(training.weights) < MIN_SEQUENCES:
            return False
        if training.sequences.n_positions * len(training.labels) > MAX_RESIDUALS:
            return False
        return _n_batches(training) * len(space.n_grams) <= MAX_N_GRAM_RESIDUALS

    def __init__(self, training: TrainingData, space: LinearSpace, rules: QuasiNewtonRules) -> None:
        super().__init__(training, space, rules)
        self._likelihood = Likelihood(training, space)

    def _steps(self) -> Iterator[Record]:
        n_sweeps = yield from self._sweeps()
        if n_sweeps is not None:
            yield from self._iterations(self._likelihood, n_sweeps)

    def _trainer(self) -> _core.DualTrainer:
        training, space, penalty = self.training, self.space, self.rules.penalty
        topology = training.topology
        order = by_content(training)  # the order of the user's data does not change the result
        least = LEAST_L2_WITH_L1 if penalty.l1 else LEAST_L2
        return _core.DualTrainer(
            space.attributes(training).reader, training.codes, training.weights, order[training.weights[order] > 0],
            space.state.core, space.n_grams.cells,
            topology.lattice_order, topology.forbidden_cells, topology.never_last, l1=penalty.l1, l2=penalty.l2,
            pull=max(least - penalty.l2, 0.0), n_batches=_n_batches(training),
        )  # fmt: skip

    def _sweeps(self) -> Generator[Record, None, int | None]:
        """The records of the sweeps. Returns their number if iterations must follow, else None."""
        training, rules, trainer = self.training, self.rules, self._trainer()
        rng, caution = np.random.default_rng(0), CAUTION
        values = [np.inf]
        best, lowest = self._weights, np.inf
        for sweep in range(1, rules.max_iter + 1):
            trainer.move_centre()
            step_size = trainer.sweep(rng.permutation(_n_batches(training)), caution, training.n_threads)
            weights = trainer.weights()
            value, slope = self._evaluate(weights)
            if value > values[-1]:
                caution *= CAUTION_FACTOR
            values.append(value)
            if value < lowest:
                best, lowest = weights, value
            ending = _ending(values[1:], rules.tol)
            self._weights = weights if ending is None else best
            yield self._record(sweep, value if ending is None else lowest, step_size, slope)
            if ending is not None:
                return sweep if ending == "slow" else None
        self._weights = best
        self._warn_of_max_iter()
        return None

    def _evaluate(self, weights: Floats64) -> tuple[float, float]:
        """(penalised loss, norm of its gradient or pseudo-gradient)"""
        penalty, n_threads = self.rules.penalty, self.training.n_threads
        value, gradient = self._likelihood(weights)
        value += _core.penalize(weights, penalty.l1, penalty.l2, gradient, n_threads)
        slope = _core.slope(weights, gradient, penalty.l1, n_threads) if penalty.l1 else gradient
        return value, float(np.sqrt(_core.dot(slope, slope, n_threads)))


def _n_batches(training: TrainingData) -> int:
    n = int(np.count_nonzero(training.weights))
    return max(min(n, MIN_BATCHES), n // BATCH_SEQUENCES, 1)


def _ending(values: list[float], tol: float) -> Literal["converged", "slow"] | None:
    """ "converged" if what is left is below `tol` of the loss, "slow" if sweeps have become slow; else None.

    The improvements of two windows of sweeps, assumed to go on as a geometric series, give what is left. Losses that
    rise and fall by more than the tolerance are not converged.
    """
    if len(values) <= 2 * WINDOW:
        return None
    lowest = np.minimum.accumulate(values)
    most = tol * abs(lowest[-1])
    before, last = lowest[-1 - 2 * WINDOW] - lowest[-1 - WINDOW], lowest[-1 - WINDOW] - lowest[-1]
    if last < SLOW_RATIO * before:
        left = max(last, last * last / (before - last), max(values[-WINDOW:]) - lowest[-1])
        return "converged" if left <= most else None
    if len(values) <= IMPROVEMENT_PERIOD:
        return None
    improvement = lowest[-1 - IMPROVEMENT_PERIOD] - lowest[-1]
    return "slow" if improvement <= SLOW_IMPROVEMENT * abs(lowest[-1]) else None
