"""Learning from best paths, one sequence at a time: the structured perceptron and the structured SVM.

Perceptron (Collins 2002): where the best path z is not gold y, w <- w + Phi(x, y) - Phi(x, z). In a tie the wrong path
counts as the best, because the smallest change of the weights could make it so.

SVM (Pegasos): example t multiplies w by 1 - 1/t; z is the best path after the loss of each path is added to its score,
and where z is not y, w <- w + (N C / 2t) (Phi(x, y) - Phi(x, z)). So w is always N C / 2t times a sum V of such
differences, and the code keeps V: the SVM is a perceptron that adds 2t / (N C) times the loss to the score. It
minimises 1/2 |w|^2 + C/2 (sum over sequences of max over z of loss(y, z) - w (Phi(x, y) - Phi(x, z))).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.mapped_pages import MappedPages
from hedgerow.encoding.window import WindowSpec
from hedgerow.learning.attribute_pairs import with_pairs
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.early_stopping import Stopping, check_dev_data, stop_early
from hedgerow.learning.epochs import batch_size, epoch_orders, frequent_attributes, learn_epoch
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.learning.temperature import with_temperature
from hedgerow.learning.weight_vector import WeightVector
from hedgerow.potentials.linear import LinearPotential
from hedgerow.potentials.votes import VotedPotential

Averaging = Literal["average", "vote", "none"]
Loss = Literal["hamming", "zero-one"]

TIE = 2.0**-10  # a perceptron adds this to the score of each wrong label


@dataclass(frozen=True, kw_only=True)
class MarginRules:
    """`C` is None for a perceptron, which has no loss function.

    `batch` is that of `epochs.batch_size`, `degree` that of attribute_pairs.py.
    """

    window: WindowSpec
    epochs: int
    averaging: Averaging
    random_state: int | None
    min_freq: int = 1
    scale: bool = True
    early_update: bool = False
    C: float | None = None
    loss: Loss = "hamming"
    stopping: Stopping | None = None
    batch: int | None = None
    degree: Literal[1, 2] = 1


def margin_space(
    training: TrainingData, window: WindowSpec, *, degree: Literal[1, 2], min_freq: int, scale: bool
) -> tuple[LinearSpace, NDArray[np.bool_]]:
    """(the features besides those of attributes, by attribute whether it may have weights)"""
    space = LinearSpace.bare(training, window, all_transitions=True, scale=scale)
    kept = frequent_attributes(space.attributes(training), training, min_freq)
    if degree == 2:
        space = with_pairs(space, training, min_freq)
        kept = np.concatenate([kept, np.ones(len(space.conjunctions), np.bool_)])
    return space, kept


def margin_trainer(
    training: TrainingData, space: LinearSpace, kept: NDArray[np.bool_], rules: MarginRules, n_times_c: float = 0.0
) -> _core.MarginTrainer:
    """Learning that begins with weights of 0; `kept` says which attributes may have weights."""
    topology = training.topology
    return _core.MarginTrainer(
        space.attributes(training).reader, training.codes, training.weights, kept,
        len(training.labels), training.order, topology.forbidden_cells, topology.never_last,
        bias=rules.scale and bool(space.scalings),
        hamming=rules.loss == "hamming",
        margin=0.0 if n_times_c else TIE, growth=2 / n_times_c if n_times_c else 0.0,
        beam=(training.beam or 0) if training.prunes else 0, early=rules.early_update,
        summed=rules.averaging == "average", recorded=rules.averaging == "vote",
    )  # fmt: skip


class MarginLearner:
    """The learner of StructuredPerceptron and StructuredSVM."""

    def __init__(self, training: TrainingData, rules: MarginRules) -> None:
        check_dev_data(rules.stopping, training.dev)
        self.training, self.rules = training, rules
        self._space, kept = margin_space(
            training, rules.window, degree=rules.degree, min_freq=rules.min_freq, scale=rules.scale
        )
        self._n_examples = int(np.count_nonzero(training.weights))
        self._batch = rules.batch or batch_size(self._n_examples)
        self._n_times_c = 0.0 if rules.C is None else self._n_examples * rules.C  # N C of an SVM
        self._pages = MappedPages.of_columns(training.sequences.columns, training.codes)
        self._trainer = margin_trainer(training, self._space, kept, rules, self._n_times_c)
        self._potential: LinearPotential | VotedPotential | None = None  # of the examples seen so far

    @property
    def training_log(self) -> list[Record]:
        return []

    @property
    def potential(self) -> LinearPotential | VotedPotential:
        if self._potential is None:
            self._potential = self._voted() if self.rules.averaging == "vote" else self._linear()
        return self._potential

    def __iter__(self) -> Iterator[Record]:
        best = yield from stop_early(self._epochs(), self.rules.stopping, lambda: self.potential)
        if best is not None:
            self._potential = best

    def learn_all(self) -> LinearPotential:
        """Learn without a training log, whose losses take as long as learning itself."""
        rules = self.rules
        for _, order in zip(range(rules.epochs), epoch_orders(self.training, rules.random_state), strict=False):
            self._learn(order)
        return self._linear()

    def _learn(self, order: NDArray[np.int64]) -> int:
        return learn_epoch(self._trainer, order, self._batch, self.training.n_threads, self._pages)

    def _epochs(self) -> Iterator[Record]:
        rules = self.rules
        for epoch, order in enumerate(epoch_orders(self.training, rules.random_state), 1):
            self._potential = None
            mistakes = self._learn(order)
            converged = rules.C is None and mistakes == 0
            if converged:  # the remaining epochs would change nothing, but count in the mean
                self._trainer.stay((rules.epochs - epoch) * len(order))
            yield {"unit": "epoch", "step": epoch, **self._training_scores(mistakes), **self._dev_scores()}
            if epoch == rules.epochs or converged:
                return

    def _training_scores(self, mistakes: int) -> Record:
        """The loss: of an SVM its objective, of a perceptron the share of sequences that it labelled wrong."""
        if self.rules.C is None:
            return {"loss": mistakes / max(self._n_examples, 1), "mistakes": mistakes}
        return {"loss": self.training.per_sequence(self._objective()), "violations": mistakes}

    def _linear(self) -> LinearPotential:
        mean, n_threads = self.rules.averaging == "average", self.training.n_threads
        weights = WeightVector.of(self._trainer, mean=mean, scale=self._scale(mean), n_threads=n_threads)
        return weights.potential(self._space)

    def _scale(self, mean: bool) -> float:
        """The factor of the perceptron's weights, or of their mean.

        In the mean of an SVM the vector after example t counts t times (Lacoste-Julien, Schmidt & Bach 2012). As
        that vector is N C / 2t V, the mean is N C / T times the plain mean of V.
        """
        if not self._n_times_c:
            return 1.0
        return self._n_times_c / ((1 if mean else 2) * max(self._trainer.n_seen, 1))

    def _voted(self) -> VotedPotential:
        starts, features, amounts, survived = self._trainer.changes()
        return VotedPotential(
            window=self._space.window,
            scalings=self._space.scalings,
            n_labels=len(self.training.labels),
            order=self.training.order,
            starts=starts,
            features=features,
            amounts=amounts,
            survived=survived,
        )

    def _objective(self) -> float:
        C, mean = self.rules.C, self.rules.averaging == "average"
        assert C is not None
        squared_size, hinges = self._trainer.objective(
            np.flatnonzero(self.training.weights), mean, self._scale(mean), self.training.n_threads
        )
        return float(squared_size / 2 + C / 2 * hinges)

    def _dev_scores(self) -> Record:
        dev = self.training.dev
        if dev is None:
            return {}
        potential = self.potential
        if not isinstance(potential, LinearPotential):
            return Evaluator(self.training).of_potential(potential)
        self._potential, record = with_temperature(potential, self.training, dev)
        return record
