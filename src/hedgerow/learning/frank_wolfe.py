"""A structured SVM to a known distance from the optimum, by Frank-Wolfe steps on its dual.

Lacoste-Julien, Jaggi, Schmidt & Pletscher (2013): the dual has a share for each path of each sequence. A step takes
one sequence, finds its most violating path and moves shares to it, as far as the dual rises. The weights follow from
the shares. Here the paths of each sequence are kept, and all its shares move to where the dual is highest
(src/core/linear/working_set.hpp has the formulas). The primal less the dual, the duality gap, bounds how far the
objective is from its least value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hedgerow import _core
from hedgerow.data.mapped_pages import MappedPages
from hedgerow.encoding.window import WindowSpec
from hedgerow.errors import ConvergenceWarning, warn_user
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.early_stopping import Stopping, check_dev_data, stop_early
from hedgerow.learning.epochs import batch_size, epoch_orders
from hedgerow.learning.margin import Loss, margin_space
from hedgerow.learning.temperature import with_temperature
from hedgerow.learning.weight_vector import WeightVector
from hedgerow.potentials.linear import LinearPotential

# Passes over the kept paths in an iteration, which also finds all paths twice: for a step and for the gap. On
# CoNLL-2000 a gap of 1e-3 takes 21 s with one such pass, 16.5 s with three, 22 s with six and 29 s with ten.
KEPT_PASSES = 3


@dataclass(frozen=True, kw_only=True)
class FrankWolfeRules:
    """`tol`: stop when the duality gap is at most this share of the objective."""

    window: WindowSpec
    C: float
    loss: Loss
    max_iter: int
    tol: float
    random_state: int | None
    min_freq: int = 1
    degree: Literal[1, 2] = 1
    scale: bool = True
    stopping: Stopping | None = None


class FrankWolfeLearner:
    """The learner of StructuredSVM with solver="frank-wolfe"."""

    def __init__(self, training: TrainingData, rules: FrankWolfeRules) -> None:
        check_dev_data(rules.stopping, training.dev)
        self.training, self.rules = training, rules
        self._space, kept = margin_space(
            training, rules.window, degree=rules.degree, min_freq=rules.min_freq, scale=rules.scale
        )
        self._batch = batch_size(int(np.count_nonzero(training.weights)))
        self._pages = MappedPages.of_columns(training.sequences.columns, training.codes)
        topology = training.topology
        self._trainer = _core.FrankWolfeTrainer(
            self._space.attributes(training).reader, training.codes, training.weights, kept,
            len(training.labels), training.order, topology.forbidden_cells, topology.never_last,
            bias=rules.scale and bool(self._space.scalings),
            hamming=rules.loss == "hamming", cost=rules.C / 2,
        )  # fmt: skip
        self._potential: LinearPotential | None = None  # of the iterations so far

    @property
    def training_log(self) -> list[Record]:
        return []

    @property
    def potential(self) -> LinearPotential:
        if self._potential is None:
            (starts, labels, weights), n_grams = self._trainer.weights(self.training.n_threads)
            self._potential = WeightVector(starts, labels, weights, n_grams).potential(self._space)
        return self._potential

    def __iter__(self) -> Iterator[Record]:
        best = yield from stop_early(self._iterations(), self.rules.stopping, lambda: self.potential)
        if best is not None:
            self._potential = best

    def _iterations(self) -> Iterator[Record]:
        orders = epoch_orders(self.training, self.rules.random_state)
        for iteration in range(1, self.rules.max_iter + 1):
            self._potential = None
            order = next(orders)
            self._trainer.epoch(order, self._batch, self.training.n_threads)
            for _ in range(KEPT_PASSES):
                self._trainer.improve(next(orders))
            primal, dual = map(self.training.per_sequence, self._trainer.objectives(order, self.training.n_threads))
            self._pages.release()
            yield {"unit": "iteration", "step": iteration, "loss": primal, "gap": primal - dual, **self._dev_scores()}
            if primal - dual <= self.rules.tol * primal:
                return
        warn_user(
            f"the fit ended after max_iter={self.rules.max_iter} iterations with a duality gap of "
            f"{(primal - dual) / primal:.2g} of the loss, above tol={self.rules.tol:g}; raise max_iter or tol",
            ConvergenceWarning,
        )

    def _dev_scores(self) -> Record:
        if self.training.dev is None:
            return {}
        self._potential, record = with_temperature(self.potential, self.training, self.training.dev)
        return record
