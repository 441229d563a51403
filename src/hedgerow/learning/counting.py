"""Learning of a hidden Markov model: smooth and normalise the counts of labelled sequences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.hmm_counts import HMMCounts, NumberSums, TransitionCounts, count_limits
from hedgerow.potentials.table import Discrete, Normal, TablePotential
from hedgerow.utilities import Floats64

MIN_VARIANCE_SHARE = 1e-9  # of the column's variance, added because a label seen once has the variance 0


class CountingLearner:
    """The learner of HMM, a single round; `smoothing` pseudo-counts are added for each possibility.

    `counts` are those of all the data if `training` is a part of them.
    """

    potential: TablePotential

    def __init__(self, training: TrainingData, smoothing: float, counts: HMMCounts | None = None) -> None:
        self.training, self.smoothing, self.counts = training, smoothing, counts
        self.training_log: list[Record] = []

    def __iter__(self) -> Iterator[Record]:
        training = self.training
        counts = all_counts(training) if self.counts is None else self.counts
        emissions = tuple(self._emission(column) for column in counts.emissions)
        self.potential = TablePotential(emissions, _log(self._transitions(counts.transitions)))
        answers = training.answers(self.potential, training.sequences)
        loss = -training.mean(answers.score(training.codes))
        yield {"unit": "round", "step": 1, "loss": loss} | Evaluator(training).of_potential(self.potential)

    def _transitions(self, counts: TransitionCounts) -> Floats64:
        """P(label | label context) over the labels that constraints allow to follow; dead ends are left as they are."""
        probabilities, constraints = transition_probabilities(counts, self.smoothing), self.training.constraints
        if constraints is None or self.training.order == 0:
            return probabilities
        allowed = np.where(constraints.table(self.training.order), probabilities, 0.0)
        totals = allowed.sum(axis=1, keepdims=True)
        return np.where(totals > 0, allowed / np.where(totals > 0, totals, 1.0), probabilities)

    def _emission(self, counts: Floats64 | NumberSums) -> Discrete | Normal:
        if isinstance(counts, NumberSums):
            return _normal(counts)
        by_label = _smoothed(counts.T, self.smoothing, 1 / max(len(counts), 1))
        return Discrete(_log(np.ascontiguousarray(by_label.T)))  # prediction reads the row of a value


def all_counts(training: TrainingData) -> HMMCounts:
    """The counts of the sequences of all processes."""
    group = training.group
    return group.merged(HMMCounts.of(training, group.merged(count_limits(training))))


def _smoothed(counts: Floats64, smoothing: float, prior: Floats64 | float) -> Floats64:
    """Each row of counts as probabilities; a row without counts is its prior."""
    strength = smoothing * counts.shape[1]
    totals = counts.sum(axis=1, keepdims=True) + strength
    prior = np.broadcast_to(prior, counts.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(totals > 0, (counts + strength * prior) / totals, prior)


def _log(probabilities: Floats64) -> Floats64:
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def transition_probabilities(counts: TransitionCounts, smoothing: float) -> Floats64:
    """P(label | label context), in the rows of a transition table.

    The row of a context with fewer than `order` labels is about the first positions of sequences only. Its prior comes
    from all positions that have as many labels before them.
    """
    k = counts.contexts[0].shape[1]
    expected: Floats64 | float = 1 / k
    rows = []
    for m, of_length in enumerate(counts.contexts):
        prior = np.repeat(expected, k, axis=0) if isinstance(expected, np.ndarray) else expected
        expected = _smoothed(of_length, smoothing, prior)
        is_longest = m == len(counts.contexts) - 1
        rows.append(expected if is_longest else _smoothed(counts.first[m], smoothing, expected))
    return np.concatenate(rows)


def _normal(sums: NumberSums) -> Normal:
    """Mean and variance by label; a label without values has those of the column, a column without values (0, 1)."""
    by_label, overall = sums.by_label()
    if overall is None:
        return Normal(np.zeros(len(by_label)), np.ones(len(by_label)))
    mean, variance = np.array([moments or overall for moments in by_label]).T
    return Normal(mean.copy(), variance + (MIN_VARIANCE_SHARE * overall[1] or 1.0))
