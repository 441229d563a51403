"""The negative log-likelihood of a part of the data: losses by sequence, and sums that are exact.

Sequences are processed in blocks to bound memory. Sums over positions are exact (`learning/sum_limits.py`), so neither
the blocks nor the division of the data into parts nor the number of threads changes a bit of their total.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.mapped_pages import PAGE_POSITIONS, MappedPages
from hedgerow.errors import InputError
from hedgerow.inference.blocks import sequence_blocks
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.base import TrainingData, edge_counts
from hedgerow.learning.linear_space import LinearSpace, edge_codes, gold_codes
from hedgerow.learning.sum_limits import SumLimits
from hedgerow.utilities import Floats, Floats64

BLOCK = 2**20  # scores of a block: 4 MB
# Memory for postings: where attributes occur, 4 bytes an occurrence. Blocks beyond it find theirs at each evaluation.
POSTINGS_BYTES = 2**29


class PartSums(NamedTuple):
    """What a part adds to the likelihood and its gradient.

    losses      weight times -log P(labels), by sequence
    gradient    of the weights of state and edge features
    expected    counts of the cells of the transition table

    Gradients and counts of parts can be added in any order: the sums are exact.
    """

    losses: Floats64
    gradient: Floats64
    expected: Floats64


class _Block(NamedTuple):
    """Consecutive sequences; `starts` count from the first position of the block."""

    number: int
    sequences: slice
    first: int
    last: int
    starts: NDArray[np.int64]


class LikelihoodPart:
    """Minus the weighted log-likelihood of some sequences, as a function of the weights.

    Parameters
    ----------
    training
        The sequences of this part.
    space
        The features, which all parts have in common.
    limits
        What bounds the sums over all parts.
    double
        Compute all in double precision: slower, and needed only to follow another library step by step. Sums then
        depend on their order.

    Raises
    ------
    InputError
        If a weight or a value of an attribute exceeds the limits.
    """

    def __init__(self, training: TrainingData, space: LinearSpace, limits: SumLimits, *, double: bool = False) -> None:
        if training.weights.max(initial=0.0) > limits.largest_weight:
            raise InputError(
                f"the weights of a part must be at most {limits.largest_weight:g}, the largest of all parts, but one "
                f"is {training.weights.max():g}; merge the limits of all parts"
            )
        self.training, self.space, self.limits = training, space, limits
        self._double = double
        self._dtype = np.dtype(np.float64 if double else np.float32)
        self._scorer: Any = _core.LinearScorer64 if double else _core.LinearScorer
        self._attributes = space.attributes(training)
        self._features = [(space.state, 0)]
        if space.edge is not None:
            self._features.append((space.edge, training.order))
        self._cells = space.n_grams.cells if training.order == 1 else None  # only their counts are wanted
        self._pages = MappedPages.of_columns(training.sequences.columns, training.codes)
        self._kept: dict[int, list[_core.LinearPostings]] = {}
        self._kept_bytes = 0
        longest = max((block.last - block.first for block in self._blocks()), default=0)
        # Buffers for the scores of a block and its residuals, reused because fresh memory is slow.
        self._scores = [np.empty((longest, features.width), self._dtype) for features, _ in self._features]
        self._residuals = [
            np.empty((0 if double else longest, features.width), np.int32) for features, _ in self._features
        ]

    @property
    def observed(self) -> Floats64:
        """The gold counts of the cells of the transition table. The counts of parts can be added in any order."""
        return edge_counts(self.training, self.limits)

    def _blocks(self) -> Iterator[_Block]:
        starts = self.training.sequences.starts
        size = max(BLOCK // max(features.width for features, _ in self._features), 1)
        for number, there in enumerate(sequence_blocks(starts, size)):
            own = starts[there.start : there.stop + 1]
            yield _Block(number, there, int(own[0]), int(own[-1]), own - own[0])

    def _postings(self, block: _Block) -> list[_core.LinearPostings]:
        """Where attributes occur in a block, for each kind of features."""
        if block.number in self._kept:
            return self._kept[block.number]
        reader, largest = self._attributes.reader, self.limits.largest_values
        try:
            found = [
                _core.LinearPostings(reader, features.core, block.first, block.last, skip, largest)
                for features, skip in self._features
            ]
        except ValueError as rule:
            raise InputError(f"the limits of the sums do not fit the data: {rule}; merge those of all parts") from None
        size = sum(postings.n_bytes for postings in found)
        if self._kept_bytes + size <= POSTINGS_BYTES:
            self._kept[block.number] = found
            self._kept_bytes += size
        return found

    def _split(self, row: Floats64) -> list[Floats64]:
        state, edge, n_grams = self.space.split(row)
        return [state, n_grams] if self.space.edge is None else [state, edge, n_grams]

    def evaluate(self, weights: Floats64) -> PartSums:
        """The losses and sums at these weights."""
        training, space = self.training, self.space
        *by_attribute, n_grams = self._split(weights.astype(self._dtype))
        scorers = [
            self._scorer(features.core, np.ascontiguousarray(own))
            for (features, _), own in zip(self._features, by_attribute, strict=True)
        ]
        table = space.n_grams.table(n_grams)
        gradient = np.zeros(len(weights) - len(space.n_grams))
        gradients = np.split(gradient, [len(space.state)])
        losses, expected = np.zeros(len(training.weights)), np.zeros(table.shape)
        n_read = 0
        for block in self._blocks():
            losses[block.sequences], answers, counts = self._infer(block, scorers, table)
            expected += counts
            for i, postings in enumerate(self._postings(block)):
                self._add_gradient(i, postings, answers[i], block, gradients[i])
            n_read += block.last - block.first
            if n_read >= PAGE_POSITIONS:
                self._pages.release()
                n_read = 0
        return PartSums(losses * training.weights, gradient, expected)

    def _infer(self, block: _Block, scorers: list[Any], table: Floats) -> tuple[Floats64, list[Any], Floats64]:
        """(-log P by sequence, probabilities by kind of feature, expected counts of the cells of the transition table)

        Gold is scored by the same sums as all paths, so that their rounding errors cancel.
        """
        training = self.training
        k, n = len(training.labels), block.last - block.first
        scores = [room[:n] for room in self._scores]
        for scorer, own, (_, skip) in zip(scorers, scores, self._features, strict=True):
            scorer.score(self._attributes.reader, block.first, block.last, skip, own, training.n_threads)
        edge = scores[1].reshape(n, -1, k) if len(scores) > 1 else None
        gold = slice(block.first, block.last)
        lattice = Lattice(
            training.topology, block.starts, state=scores[0], edge=edge, table=table, beam=training.beam,
            allowed=None if training.allowed is None else training.allowed[gold], keep=training.codes[gold],
            n_threads=training.n_threads,
        )  # fmt: skip
        weights = training.weights[block.sequences]
        unit = 0.0 if self._double else self.limits.count_unit
        if edge is None:
            log_z, state, counts = lattice.summed_pairs(weights, unit, self._cells)
            answers = [state]
        else:
            log_z, state, pair = lattice.pair_marginals()
            counts = np.zeros(table.shape)
            _core.add_pairs_by_row(k, training.order, block.starts, pair, weights, unit, counts)
            answers = [state, pair.reshape(n, -1)]
        return log_z - lattice.score(training.codes[gold]), answers, counts

    def _add_gradient(
        self, kind: int, postings: _core.LinearPostings, answer: Any, block: _Block, gradient: Floats64
    ) -> None:
        """gradient += the sum over occurrences of value * weight of the sequence * (answer - gold)"""
        training, limits = self.training, self.limits
        gold = edge_codes(training, block.sequences) if kind else gold_codes(training, block.sequences)
        weights = training.weights[block.sequences]
        if self._double:
            there = np.flatnonzero(gold >= 0)
            answer[there, gold[there]] -= 1
            answer *= np.repeat(weights, np.diff(block.starts))[:, None]
            postings.add_gradient(answer, gradient, training.n_threads)
            return
        residuals = self._residuals[kind][: len(answer)]
        factors = weights / limits.residual_unit
        _core.whole_residuals(answer, gold, block.starts, factors, residuals, training.n_threads)
        postings.add_whole_gradient(residuals, limits.residual_unit, limits.value_unit, gradient, training.n_threads)
