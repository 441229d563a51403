"""What a hidden Markov model counts: label contexts with labels, and values with labels.

Counts of parts of the data merge to those of the whole, bit for bit, also with sample weights: weights are rounded once
to multiples of a unit, so that sums are exact (`learning/sum_limits.py`), and sums of numbers are exact in any case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import BagColumn, CategoricalColumn, Column, NumericColumn
from hedgerow.encoding.exact_sums import ExactSums, mean_and_variance
from hedgerow.inference.blocks import sequence_blocks
from hedgerow.learning.base import COUNT_POSITIONS, TrainingData
from hedgerow.learning.sum_limits import SumLimits
from hedgerow.topology import Topology, positions_in_sequence
from hedgerow.utilities import Floats64


@dataclass(frozen=True, eq=False)
class NumberSums:
    """By label, the sums of weights, of weighted values and of weighted squares of a numeric column."""

    sums: ExactSums

    @classmethod
    def of(cls, values: Floats64, labels: NDArray[np.int32], weights: Floats64, k: int) -> Self:
        there = ~np.isnan(values)
        x, y, w = values[there], labels[there], weights[there]
        terms, of_sum = np.concatenate([w, w * x, w * x**2]), np.concatenate([y, y + k, y + 2 * k])
        return cls(ExactSums.of(terms, of_sum, 3 * k))

    def merge(self, others: Iterable[Self]) -> Self:
        return type(self)(self.sums.merge(other.sums for other in others))

    def by_label(self) -> tuple[list[tuple[float, float] | None], tuple[float, float] | None]:
        """((mean, variance) of each label, those of the column); None where no weight counts."""
        totals, _ = self.sums.whole_totals()
        k = len(totals) // 3
        weights, values, squares = totals[:k], totals[k : 2 * k], totals[2 * k :]
        found = [_moments(*of_label) for of_label in zip(weights, values, squares, strict=True)]
        return found, _moments(sum(weights), sum(values), sum(squares))


def _moments(weight: int, total: int, squares: int) -> tuple[float, float] | None:
    return mean_and_variance(weight, total, squares) if weight > 0 else None


@dataclass(frozen=True, eq=False)
class TransitionCounts:
    """Weighted counts of labels after label contexts.

    contexts    for each length m up to the order: (contexts of m labels, labels) at all positions with m labels before
    first       the same at the positions with exactly m labels before, for each m below the order
    """

    contexts: tuple[Floats64, ...]
    first: tuple[Floats64, ...]

    @classmethod
    def of(cls, training: TrainingData, limits: SumLimits | None = None) -> Self:
        """The counts of training data; with the limits of all parts if these are a part."""
        parts = [
            cls._of_block(block, training.topology) for block in _blocks(training, limits or SumLimits.of(training))
        ]
        return parts[0].merge(parts[1:])

    @classmethod
    def _of_block(cls, block: _Block, topology: Topology) -> Self:
        k, position = topology.n_labels, positions_in_sequence(block.starts)
        contexts, at_first = [], []
        for m in range(topology.order + 1):
            last = topology.last_labels(block.codes, block.starts, m)
            contexts.append(_count(last, block.codes, block.weights, k**m, k))
            if m < topology.order:
                there = position == m
                at_first.append(_count(last[there], block.codes[there], block.weights[there], k**m, k))
        return cls(tuple(contexts), tuple(at_first))

    def merge(self, others: Iterable[Self]) -> Self:
        """The counts of this part and the others, in any order."""
        parts = [self, *others]
        contexts = zip(*(part.contexts for part in parts), strict=True)
        first = zip(*(part.first for part in parts), strict=True)
        return type(self)(tuple(map(_merged, contexts)), tuple(map(_merged, first)))


@dataclass(frozen=True, eq=False)
class HMMCounts:
    """Weighted counts of labels after label contexts, and by column of values with labels, or the sums of numbers."""

    transitions: TransitionCounts
    emissions: tuple[Floats64 | NumberSums, ...]

    @classmethod
    def of(cls, training: TrainingData, limits: SumLimits | None = None) -> Self:
        """The counts of training data; with the `count_limits` of all parts if these are a part."""
        limits = count_limits(training) if limits is None else limits
        largest = np.ones(len(training.sequences.columns)) if limits.largest_values is None else limits.largest_values
        k, found = len(training.labels), []
        for block in _blocks(training, limits):
            columns = training.sequences[block.sequences].columns
            found.append(
                tuple(
                    _emissions(column, block, k, limits, float(bound))
                    for column, bound in zip(columns, largest, strict=True)
                )
            )
        return cls(TransitionCounts.of(training, limits), tuple(map(_merged, zip(*found, strict=True))))

    def merge(self, others: Iterable[Self]) -> Self:
        """The counts of this part and the others, in any order."""
        parts = [self, *others]
        return type(self)(
            self.transitions.merge(part.transitions for part in parts[1:]),
            tuple(map(_merged, zip(*(part.emissions for part in parts), strict=True))),
        )


def count_limits(training: TrainingData) -> SumLimits:
    """What bounds the counts of training data; `largest_values` are the largest weights in the bags of each column."""
    largest = [
        np.abs(column.weights).max(initial=0.0) if isinstance(column, BagColumn) and column.weights is not None else 1.0
        for column in training.sequences.columns
    ]
    limits = SumLimits.of(training)
    return SumLimits(limits.n_positions, limits.largest_weight, np.array(largest, np.float32))


class _Block(NamedTuple):
    """Consecutive sequences: where they start, the gold labels and the rounded weights of their positions."""

    sequences: slice
    starts: NDArray[np.int64]
    codes: NDArray[np.int32]
    weights: Floats64


def _blocks(training: TrainingData, limits: SumLimits) -> Iterator[_Block]:
    """All sequences, one block at a time, to bound memory."""
    starts, weights = training.sequences.starts, limits.rounded_weights(training.weights)
    for block in sequence_blocks(starts, COUNT_POSITIONS):
        own = starts[block.start : block.stop + 1]
        codes = np.asarray(training.codes[own[0] : own[-1]])
        yield _Block(block, own - own[0], codes, np.repeat(weights[block], np.diff(own)))


def _merged(parts: tuple[Any, ...]) -> Any:
    if isinstance(parts[0], NumberSums):
        return parts[0].merge(parts[1:])
    return sum(parts[1:], parts[0])


def _emissions(column: Column, block: _Block, k: int, limits: SumLimits, largest: float) -> Floats64 | NumberSums:
    if isinstance(column, CategoricalColumn):
        return _count(column.codes, block.codes, block.weights, len(column.alphabet), k)
    if isinstance(column, NumericColumn):
        return NumberSums.of(column.values.astype(np.float64), block.codes, block.weights, k)
    lengths = np.diff(column.starts)
    weights = np.repeat(block.weights, lengths)
    if column.weights is not None:
        weights = limits.rounded_weights(weights * np.abs(column.weights), largest)
    return _count(column.ids, np.repeat(block.codes, lengths), weights, len(column.alphabet), k)


def _count(values: NDArray[np.integer[Any]], labels: NDArray[np.int32], weights: Floats64, n: int, k: int) -> Floats64:
    """Weighted counts (n values, k labels); missing and absent values count nothing."""
    there = values >= 0
    cells = values[there].astype(np.int64) * k + labels[there]
    counts = np.bincount(cells, weights[there], minlength=n * k).astype(np.float64)  # ints when there are none
    return counts.reshape(n, k)
