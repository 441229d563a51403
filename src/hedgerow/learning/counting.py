"""Learning of a hidden Markov model: count labelled sequences, smooth and normalise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import BagColumn, CategoricalColumn, Column
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.evaluation import Evaluator
from hedgerow.potentials.table import Discrete, Normal, TablePotential
from hedgerow.topology import positions_in_sequence
from hedgerow.utilities import Floats64

MIN_VARIANCE_SHARE = 1e-9  # of the column's variance, added because a label seen once has the variance 0


class CountingLearner:
    """The learner of HMM, a single round; `smoothing` pseudo-counts are added for each possibility."""

    potential: TablePotential

    def __init__(self, training: TrainingData, smoothing: float) -> None:
        self.training, self.smoothing = training, smoothing
        self.training_log: list[Record] = []

    def __iter__(self) -> Iterator[Record]:
        training = self.training
        transitions = _log(self._transitions())
        emissions = tuple(self._emission(column) for column in training.sequences.columns)
        self.potential = TablePotential(emissions, transitions)
        answers = training.answers(self.potential, training.sequences)
        loss = -training.mean(answers.score(training.codes))
        yield {"unit": "round", "step": 1, "loss": loss} | Evaluator(training).of_potential(self.potential)

    def _transitions(self) -> Floats64:
        """P(label | label context) over the labels that constraints allow to follow; dead ends are left as they are."""
        probabilities, constraints = transition_probabilities(self.training, self.smoothing), self.training.constraints
        if constraints is None or self.training.order == 0:
            return probabilities
        allowed = np.where(constraints.table(self.training.order), probabilities, 0.0)
        totals = allowed.sum(axis=1, keepdims=True)
        return np.where(totals > 0, allowed / np.where(totals > 0, totals, 1.0), probabilities)

    def _emission(self, column: Column) -> Discrete | Normal:
        training = self.training
        k, codes, weights = len(training.labels), training.codes, training.position_weights
        if isinstance(column, CategoricalColumn):
            counts = _count(column.codes, codes, weights, len(column.alphabet), k)
        elif isinstance(column, BagColumn):
            lengths = np.diff(column.starts)
            attribute_weights = np.repeat(weights, lengths)
            if column.weights is not None:
                attribute_weights = attribute_weights * np.abs(column.weights)
            counts = _count(column.ids, np.repeat(codes, lengths), attribute_weights, len(column.alphabet), k)
        else:
            return _normal(column.values.astype(np.float64), codes, weights, k)
        by_label = _smoothed(counts.T, self.smoothing, 1 / max(len(counts), 1))
        return Discrete(_log(np.ascontiguousarray(by_label.T)))  # prediction reads the row of a value


def _count(values: NDArray[np.integer[Any]], labels: NDArray[np.int32], weights: Floats64, n: int, k: int) -> Floats64:
    """Weighted counts (n values, k labels); missing and absent values count nothing."""
    there = values >= 0
    cells = values[there].astype(np.int64) * k + labels[there]
    counts = np.bincount(cells, weights[there], minlength=n * k).astype(np.float64)  # ints when there are none
    return counts.reshape(n, k)


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


def transition_probabilities(training: TrainingData, smoothing: float) -> Floats64:
    """P(label | label context), in the rows of a transition table.

    The row of a context with fewer than `order` labels is about the first positions of sequences only. Its prior comes
    from all positions that have as many labels before them.
    """
    topology, codes, starts = training.topology, training.codes, training.sequences.starts
    k, weights, position = topology.n_labels, training.position_weights, positions_in_sequence(starts)
    expected: Floats64 | float = 1 / k
    rows = []
    for m in range(topology.order + 1):
        contexts = topology.last_labels(codes, starts, m)
        prior = np.repeat(expected, k, axis=0) if isinstance(expected, np.ndarray) else expected
        expected = _smoothed(_count(contexts, codes, weights, k**m, k), smoothing, prior)
        if m == topology.order:
            rows.append(expected)
        else:
            at_start = position == m
            counts = _count(contexts[at_start], codes[at_start], weights[at_start], k**m, k)
            rows.append(_smoothed(counts, smoothing, expected))
    return np.concatenate(rows)


def _normal(values: Floats64, labels: NDArray[np.int32], weights: Floats64, k: int) -> Normal:
    """Mean and variance by label; a label without values has those of the column, a column without values (0, 1)."""
    there = ~np.isnan(values)
    x, y, w = values[there], labels[there], weights[there]
    if not w.sum() > 0:
        return Normal(np.zeros(k), np.ones(k))
    overall = np.average(x, weights=w)
    spread = np.average((x - overall) ** 2, weights=w)
    totals = np.bincount(y, w, minlength=k)
    seen = totals > 0
    safe = np.where(seen, totals, 1)
    mean = np.where(seen, np.bincount(y, w * x, minlength=k) / safe, overall)
    variance = np.where(seen, np.bincount(y, w * (x - mean[y]) ** 2, minlength=k) / safe, spread)
    return Normal(mean, variance + (MIN_VARIANCE_SHARE * spread or 1.0))
