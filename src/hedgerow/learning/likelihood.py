"""The negative log-likelihood of linear models and its gradient.

The weight vector holds the weights of state features, then of edge features if there are any, then of n-grams.
Sequences are processed in blocks to bound memory. The gradient of a block is summed attribute by attribute, so the
number of threads does not change the result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.encoding import NO_CONJUNCTIONS, AttributeReader, Conjunctions, Scaling, Window, fit_scalings
from hedgerow.encoding.window import WindowSpec
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.base import TrainingData, edge_counts
from hedgerow.potentials.linear import Features, LinearPotential, NGrams
from hedgerow.topology import Topology
from hedgerow.utilities import Floats, Floats64

BLOCK = 2**20  # scores of a block: 4 MB


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearSpace:
    """The features of a linear model. `potential` combines them with a weight vector."""

    window: Window
    scalings: dict[str, Scaling]
    state: Features
    edge: Features | None
    n_grams: NGrams
    conjunctions: Conjunctions = NO_CONJUNCTIONS
    reader: AttributeReader | None = None  # of the sequences whose features these are, if it has been built

    @classmethod
    def of(
        cls,
        training: TrainingData,
        window: WindowSpec,
        *,
        min_freq: int = 1,
        observed_only: bool = True,
        all_transitions: bool = False,
        edges: bool = False,
        edge_columns: Collection[str] = (),
        scale: bool = True,
    ) -> LinearSpace:
        """The features that training has. Scaled numbers need a bias, because their mean is subtracted.

        With `edge_columns`, the attributes of these columns have the edge features, and the others the state features.
        """
        rows, scalings = _read(training, window, scale)
        k, every = len(training.labels), not observed_only
        state = Features.observed(rows, training.codes, k, min_freq=min_freq, all_outputs=every)
        edge = None
        if edges:
            edge = Features.observed(rows, edge_codes(training), k ** (training.order + 1), min_freq=min_freq,
                                     all_outputs=every)  # fmt: skip
        if edge and edge_columns:
            of_edges = rows.of_columns(edge_columns)
            state, edge = state.where(~of_edges[state.attributes]), edge.where(of_edges[edge.attributes])
        n_grams = NGrams.observed(
            edge_counts(training), k, training.order, bias=scale and bool(scalings), every=all_transitions
        )
        return cls(window=rows.window, scalings=scalings, state=state, edge=edge, n_grams=n_grams, reader=rows)

    @classmethod
    def bare(
        cls,
        training: TrainingData,
        window: WindowSpec,
        *,
        all_transitions: bool = False,
        edges: bool = False,
        bias: bool = False,
        scale: bool = True,
    ) -> LinearSpace:
        """Features of labels alone, without attributes. Scaled numbers need a bias; `bias` adds one in any case."""
        rows, scalings = _read(training, window, scale)
        k = len(training.labels)
        nothing = np.zeros(rows.n_ids + 1, np.int64), np.zeros(0, np.int32)
        edge = Features(*nothing, k ** (training.order + 1)) if edges else None
        n_grams = NGrams.observed(edge_counts(training), k, training.order,
                                    bias=bias or (scale and bool(scalings)), every=all_transitions)  # fmt: skip
        return cls(
            window=rows.window, scalings=scalings, state=Features(*nothing, k), edge=edge, n_grams=n_grams, reader=rows
        )

    @property
    def n_weights(self) -> int:
        return len(self.state) + (0 if self.edge is None else len(self.edge)) + len(self.n_grams)

    def split(self, weights: NDArray[np.floating]) -> tuple[NDArray, NDArray, NDArray]:  # type: ignore[type-arg]
        """Views of the weights of state features, of edge features and of n-grams."""
        first = len(self.state)
        last = len(weights) - len(self.n_grams)
        return weights[:first], weights[first:last], weights[last:]

    def attributes(self, training: TrainingData) -> AttributeReader:
        """The reader of the attributes at each training position."""
        if self.reader is not None and self.reader.sequences is training.sequences:
            return self.reader
        return AttributeReader(training.sequences, self.window, self.scalings, self.conjunctions)

    def potential(self, weights: Floats64) -> LinearPotential:
        """The potential of a weight vector, without the features whose weight is 0."""
        state, edge, n_grams = (some.astype(np.float32) for some in self.split(weights))
        return LinearPotential(
            window=self.window,
            scalings=self.scalings,
            state_features=self.state.where(state != 0),
            state_weights=state[state != 0],
            edge_features=None if self.edge is None else self.edge.where(edge != 0),
            edge_weights=None if self.edge is None else edge[edge != 0],
            n_grams=replace(self.n_grams, cells=self.n_grams.cells[n_grams != 0]),
            n_gram_weights=n_grams[n_grams != 0],
            conjunctions=self.conjunctions,
        )


def _read(training: TrainingData, window: WindowSpec, scale: bool) -> tuple[AttributeReader, dict[str, Scaling]]:
    scalings = fit_scalings(training.sequences, scale=scale)
    return AttributeReader(training.sequences, Window.of(window), scalings), scalings


class _Block(NamedTuple):
    """Consecutive sequences.

    `starts` count from the first position of the block. For each kind of feature, `postings` say where attributes
    occur, and `gold` is the index of the gold output of each position in the flat scores.
    """

    first: int
    last: int
    sequences: slice
    starts: NDArray[np.int64]
    postings: list[_core.LinearPostings]
    gold: list[NDArray[np.int64]]


class Likelihood:
    """Minus the weighted sum of log P(labels | sequence) as a function of the weights.

    With `double` all is computed in double precision: slower, and needed only to follow another library step by step.
    """

    def __init__(self, training: TrainingData, space: LinearSpace, *, double: bool = False) -> None:
        self.training, self.space = training, space
        self._dtype = np.dtype(np.float64 if double else np.float32)
        self._scorer: Any = _core.LinearScorer64 if double else _core.LinearScorer
        self._attributes = space.attributes(training)
        self._features, outputs = [(space.state, 0)], [training.codes]
        if space.edge is not None:
            self._features.append((space.edge, training.order))
            outputs.append(edge_codes(training))
        self._blocks = list(self._cut(outputs))
        longest = max(block.last - block.first for block in self._blocks)
        # Buffers for the scores of a block, reused because fresh memory is slow.
        self._scores = [np.empty((longest, features.width), self._dtype) for features, _ in self._features]
        self._is_weighted = not (training.weights == 1).all()
        self._observed = space.n_grams.summed(edge_counts(training))

    def _cut(self, outputs: list[NDArray[np.int32]]) -> Iterator[_Block]:
        starts = self.training.sequences.starts
        size = max(BLOCK // max(features.width for features, _ in self._features), 1)
        begin = 0
        for end in range(1, len(starts)):
            if starts[end] - starts[begin] >= size or end == len(starts) - 1:
                first, last = int(starts[begin]), int(starts[end])
                postings = [
                    _core.LinearPostings(self._attributes.reader, features.core, first, last, skip)
                    for features, skip in self._features
                ]
                gold = [
                    _places(of[first:last], features.width)
                    for of, (features, _) in zip(outputs, self._features, strict=True)
                ]
                yield _Block(first, last, slice(begin, end), starts[begin : end + 1] - first, postings, gold)
                begin = end

    def _split(self, row: Floats64) -> list[Floats64]:
        state, edge, n_grams = self.space.split(row)
        return [state, n_grams] if self.space.edge is None else [state, edge, n_grams]

    def _subtract_gold(self, answer: Floats, gold: NDArray[np.int64], block: _Block) -> None:
        """answer <- weight of the sequence * (answer - gold)"""
        answer.reshape(-1)[gold] -= 1
        if self._is_weighted:
            weights = self.training.weights[block.sequences].astype(self._dtype)
            answer *= np.repeat(weights, np.diff(block.starts))[:, None]

    def __call__(self, weights: Floats64) -> tuple[float, Floats64]:
        """The value and its gradient."""
        training, space = self.training, self.space
        *by_attribute, n_grams = self._split(weights.astype(self._dtype))
        scorers = [
            self._scorer(features.core, np.ascontiguousarray(own))
            for (features, _), own in zip(self._features, by_attribute, strict=True)
        ]
        table = space.n_grams.table(n_grams)
        gradient = np.zeros(len(weights))
        *gradients, n_gram_gradient = self._split(gradient)
        expected = np.zeros(table.shape)
        value = 0.0
        for block in self._blocks:
            losses, residuals, counts = self._infer(block, scorers, table)
            value += float(training.weights[block.sequences] @ losses)
            expected += counts
            for postings, residual, own in zip(block.postings, residuals, gradients, strict=True):
                postings.add_gradient(residual, own, training.n_threads)
        n_gram_gradient += space.n_grams.summed(expected) - self._observed
        return value, gradient

    def _infer(self, block: _Block, scorers: list[Any], table: Floats) -> tuple[Floats64, list[Any], Floats64]:
        """(-log P by sequence, residuals by kind of feature, expected counts of the cells of the transition table)

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
        if edge is None:
            log_z, state, counts = lattice.summed_pairs(weights)
            answers = [state]
        else:
            log_z, state, pair = lattice.pair_marginals()
            counts = _by_row(pair, block.starts, weights, training.topology)
            answers = [state, pair.reshape(n, -1)]
        losses = log_z - lattice.score(training.codes[gold])
        for answer, places in zip(answers, block.gold, strict=True):
            self._subtract_gold(answer, places, block)
        return losses, answers, counts


def _places(outputs: NDArray[np.int32], width: int) -> NDArray[np.int64]:
    """Indices of the outputs in flat rows of this width; negative outputs are left out."""
    there = np.flatnonzero(outputs >= 0)
    return there * width + outputs[there]


def edge_codes(training: TrainingData) -> NDArray[np.int32]:
    """(label context, label) of each position as one number; -1 where the context is shorter than the order."""
    k, topology = len(training.labels), training.topology
    contexts = topology.last_labels(training.codes, training.sequences.starts, training.order)
    return np.where(contexts >= 0, contexts * k + training.codes, -1).astype(np.int32)


def _by_row(pair: Floats, starts: NDArray[np.int64], weights: Floats64, topology: Topology) -> Floats64:
    """Pair marginals (positions, label contexts, labels) summed by row of the transition table."""
    by_position = np.repeat(weights, np.diff(starts))
    return np.concatenate(
        [
            np.einsum("t,thk->hk", by_position[there], pair[there, : topology.n_labels**m], optimize=False)
            for m, there in enumerate(topology.positions_by_length(starts))
        ]
    )
