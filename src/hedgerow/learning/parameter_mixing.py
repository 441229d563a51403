"""Iterative parameter mixing of structured perceptrons and SVMs (McDonald, Hall & Mann 2010).

In each epoch every part of the data starts from the same weights and learns from its own sequences; the next weights
are the mean of what the parts have learned, in which a part counts with its share n_p / N of the examples. The result
depends on the division of the sequences into parts. With a single part it is the result of the local learner.

An SVM keeps V, with w = N C / 2t V (margin.py). After epoch e a part has seen t = e n_p examples, so its weights are
C N / (2 e n_p) V_p. The mean of the weights is then C / 2e times the sum of all V_p, and a part starts the next epoch
with n_p / N times that sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.mapped_pages import MappedPages
from hedgerow.errors import InputError
from hedgerow.group import ALONE
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.early_stopping import check_dev_data, stop_early
from hedgerow.learning.epochs import batch_size, epoch_orders, frequent_attributes, learn_epoch
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.learning.margin import MarginRules, margin_trainer
from hedgerow.learning.seeds import fit_seeds, step_seed
from hedgerow.learning.temperature import with_temperature
from hedgerow.learning.weight_vector import WeightVector
from hedgerow.potentials.linear import LinearPotential


class EpochWeights(NamedTuple):
    """What a part has learned in an epoch.

    vector       w of a perceptron or V of an SVM, after the last example
    mean         the mean of the weights w after each example; None unless `averaging` is "average"
    counted      what the mean counts with in the mean of all epochs
    n_examples   the number of examples
    violations   the number of examples that changed the weights
    """

    vector: WeightVector
    mean: WeightVector | None
    counted: int
    n_examples: int
    violations: int


class MarginPart:
    """A part of the data that a perceptron or an SVM learns from, epoch by epoch.

    Parameters
    ----------
    training
        The sequences of this part.
    space
        What all parts have in common: window, scalings and n-grams (`LinearSpace.bare` with all transitions).
    kept
        By attribute, whether it may have weights; from the merged counts of all parts.
    rules
        Those of a perceptron or an SVM.
    n_times_c
        N C of an SVM, where N is the number of examples in all parts; 0 for a perceptron.

    Raises
    ------
    InputError
        If the rules are those of a voted perceptron.
    """

    def __init__(
        self,
        training: TrainingData,
        space: LinearSpace,
        kept: NDArray[np.bool_],
        rules: MarginRules,
        n_times_c: float = 0.0,
    ) -> None:
        if rules.averaging == "vote":
            raise InputError(
                'the votes of parts cannot be mixed, but got averaging="vote"; use averaging="average" or "none"'
            )
        self.training, self.space, self._kept, self._rules = training, space, kept, rules
        self._n_times_c = n_times_c
        self._pages = MappedPages.of_columns(training.sequences.columns, training.codes)

    def run_epoch(self, first: WeightVector, order: NDArray[np.int64], epoch: int) -> EpochWeights:
        """Learn once from the sequences in `order`, which are all of this part with positive weight.

        Parameters
        ----------
        first
            w of a perceptron or V of an SVM, at the beginning of the epoch.
        order
            The sequences; as many in each epoch.
        epoch
            The number of the epoch, from 1.
        """
        n, averages = len(order), self._rules.averaging == "average"
        if n == 0:
            return EpochWeights(first, first if averages else None, 0, 0, 0)
        n_seen, n_threads = (epoch - 1) * n, self.training.n_threads
        trainer = self._trainer(first, n_seen, self._rules)
        violations = learn_epoch(trainer, order, self._rules.batch or batch_size(n), n_threads, self._pages)
        counted, scale = n, 1.0
        if self._n_times_c:
            # The vector N C / 2t V after example t counts t times: the mean is N C / 2 (sum of V) / (sum of t).
            counted = n * n_seen + n * (n + 1) // 2
            scale = self._n_times_c / 2 * n / counted
        mean = WeightVector.of(trainer, mean=True, scale=scale, n_threads=n_threads) if averages else None
        last = WeightVector.of(trainer, mean=False, scale=1.0, n_threads=n_threads)
        return EpochWeights(last, mean, counted, n, violations)

    def objective(self, weights: WeightVector) -> tuple[float, float]:
        """|w|^2, and the weighted sum of the hinge losses of the sequences of this part."""
        trainer = self._trainer(weights, 0, replace(self._rules, averaging="none"))
        found = trainer.objective(np.flatnonzero(self.training.weights), False, 1.0, self.training.n_threads)
        self._pages.release()
        return found

    def _trainer(self, first: WeightVector, n_seen: int, rules: MarginRules) -> _core.MarginTrainer:
        trainer = margin_trainer(self.training, self.space, self._kept, rules, self._n_times_c)
        trainer.start_from(first.starts, first.labels, first.weights, first.n_grams, n_seen=n_seen)
        return trainer


class MixingLearner:
    """The learner of StructuredPerceptron and StructuredSVM where processes have the sequences in parts."""

    def __init__(self, training: TrainingData, rules: MarginRules) -> None:
        check_dev_data(rules.stopping, training.dev)
        self.training, self.rules = training, rules
        space = LinearSpace.bare(training, rules.window, all_transitions=True, scale=rules.scale)
        attributes = space.attributes(training)
        kept = frequent_attributes(attributes, training, rules.min_freq)
        self._n_examples = int(np.count_nonzero(training.all_weights))
        self._share = np.count_nonzero(training.weights) / self._n_examples
        n_times_c = 0.0 if rules.C is None else self._n_examples * rules.C
        self._space = space
        self._part = MarginPart(replace(training, group=ALONE), space, kept, rules, n_times_c)
        self._vector = WeightVector.zeros(attributes.n_basic, training.topology.n_cells)  # w, or the sum of all V
        self._learned = self._vector  # the weights of the model
        # What `_learned` counts in the mean: as in the local learner, the first vector of a perceptron counts once.
        self._counted = 1 if rules.C is None else 0
        self._potential = self._learned.potential(space)

    @property
    def training_log(self) -> list[Record]:
        return []

    @property
    def potential(self) -> LinearPotential:
        return self._potential

    def __iter__(self) -> Iterator[Record]:
        best = yield from stop_early(self._epochs(), self.rules.stopping, lambda: self._potential)
        if best is not None:
            self._potential = best

    def _epochs(self) -> Iterator[Record]:
        rules, group = self.rules, self.training.group
        for epoch, order in enumerate(self._orders(), 1):
            first = self._vector if rules.C is None else self._vector.times(self._share)
            parts = group.gather_objects(self._part.run_epoch(first, order, epoch))
            violations = sum(part.violations for part in parts)
            self._mix(parts, epoch)
            converged = rules.C is None and violations == 0
            if converged and rules.averaging == "average":  # the remaining epochs would change nothing, but count
                self._count(self._vector, (rules.epochs - epoch) * self._n_examples)
            self._potential = self._learned.potential(self._space)
            record = {"unit": "epoch", "step": epoch, **self._training_scores(violations), "parts": group.size}
            yield record | self._dev_scores()
            if epoch == rules.epochs or converged:
                return

    def _orders(self) -> Iterator[NDArray[np.int64]]:
        """The orders of this part: those of the local learner in the first part, others in the other parts."""
        seed, rank = self.rules.random_state, self.training.group.rank
        return epoch_orders(self._part.training, seed if rank == 0 else step_seed(fit_seeds(seed)[0], rank))

    def _mix(self, parts: list[EpochWeights], epoch: int) -> None:
        """Set the vector that the next epoch begins with, and the weights of the model."""
        C, shares = self.rules.C, [part.n_examples / self._n_examples for part in parts]
        factors = shares if C is None else [1.0] * len(parts)
        self._vector = WeightVector.sum([part.vector for part in parts], factors)
        means = [part.mean for part in parts if part.mean is not None]
        if means:
            self._count(WeightVector.sum(means, shares), sum(part.counted for part in parts))
        else:
            self._learned = self._vector.times(1.0 if C is None else C / (2 * epoch))

    def _count(self, mean: WeightVector, counted: int) -> None:
        """Add weights that count so much to the mean of all epochs."""
        total = self._counted + counted
        self._learned = WeightVector.sum([self._learned, mean], [self._counted / total, counted / total])
        self._counted = total

    def _training_scores(self, violations: int) -> Record:
        """The loss: of an SVM its objective, of a perceptron the share of sequences that it labelled wrong."""
        C = self.rules.C
        if C is None:
            return {"loss": violations / self._n_examples, "mistakes": violations}
        by_part = self.training.group.gather(np.array([self._part.objective(self._learned)]))
        squared_size, hinges = by_part[0][0, 0], sum(float(part[0, 1]) for part in by_part)
        return {"loss": self.training.per_sequence(squared_size / 2 + C / 2 * hinges), "violations": violations}

    def _dev_scores(self) -> Record:
        dev = self.training.dev
        if dev is None:
            return {}
        self._potential, record = with_temperature(self._potential, self.training, dev)
        return record
