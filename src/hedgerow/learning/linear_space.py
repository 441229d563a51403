"""The features of a linear model, from counts that can be merged.

The weight vector holds the weights of state features, then of edge features if there are any, then of n-grams.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import (
    NO_CONJUNCTIONS,
    AttributeReader,
    Conjunctions,
    Scaling,
    Window,
    fit_scalings,
    numeric_moments,
)
from hedgerow.encoding.moments import Moments
from hedgerow.encoding.window import WindowSpec
from hedgerow.learning.base import TrainingData, edge_counts
from hedgerow.learning.feature_counts import FeatureCounts
from hedgerow.potentials.linear import Features, LinearPotential, NGrams
from hedgerow.utilities import Floats64


@dataclass(frozen=True, eq=False, kw_only=True)
class SpaceCounts:
    """What the features of a linear model are chosen from. Counts of parts of the data merge to those of the whole.

    `transitions` says which cells of the transition table gold labels use; `moments` are those of numeric columns,
    empty if numbers are not scaled.
    """

    state: FeatureCounts
    edge: FeatureCounts | None
    transitions: NDArray[np.bool_]
    moments: dict[str, Moments]

    @classmethod
    def of(cls, training: TrainingData, window: WindowSpec, *, edges: bool = False, scale: bool = True) -> Self:
        """The counts of a part of the data, or of all."""
        moments = numeric_moments(training.sequences) if scale else {}
        # Which attributes occur where does not depend on the mean and deviation of numbers.
        reader = AttributeReader(training.sequences, Window.of(window), _scalings(training, moments, scale))
        return cls._read(reader, training, edges=edges, moments=moments)

    @classmethod
    def _read(
        cls, reader: AttributeReader, training: TrainingData, *, edges: bool, moments: dict[str, Moments]
    ) -> Self:
        k, edge = len(training.labels), None
        if edges:
            edge = FeatureCounts.of(reader, lambda block: edge_codes(training, block), k ** (training.order + 1))
        return cls(
            state=FeatureCounts.of(reader, lambda block: gold_codes(training, block), k),
            edge=edge,
            transitions=edge_counts(training) > 0,
            moments=moments,
        )

    def merge(self, others: Iterable[Self]) -> Self:
        """The counts of this part and the others, in any order."""
        parts = [self, *others]
        edges = [part.edge for part in parts if part.edge is not None]
        return type(self)(
            state=self.state.merge(part.state for part in parts[1:]),
            edge=edges[0].merge(edges[1:]) if edges else None,
            transitions=np.logical_or.reduce([part.transitions for part in parts]),
            moments={name: own.merge(part.moments[name] for part in parts[1:]) for name, own in self.moments.items()},
        )


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
        counts: SpaceCounts | None = None,
        min_freq: int = 1,
        observed_only: bool = True,
        all_transitions: bool = False,
        edges: bool = False,
        edge_columns: Collection[str] = (),
        scale: bool = True,
    ) -> LinearSpace:
        """The features that training has. Scaled numbers need a bias, because their mean is subtracted.

        With `edge_columns`, the attributes of these columns have the edge features, and the others the state features.
        With `counts`, the features are those of all the data that were counted; `training` is any part of them.
        """
        if training.group.size > 1 and counts is None:
            counts = training.group.merged(SpaceCounts.of(training, window, edges=edges, scale=scale))
        moments = {} if not scale else numeric_moments(training.sequences) if counts is None else counts.moments
        scalings = _scalings(training, moments, scale)
        rows = AttributeReader(training.sequences, Window.of(window), scalings)
        if counts is None:
            counts = SpaceCounts._read(rows, training, edges=edges, moments=moments)
        k, every = len(training.labels), not observed_only
        state = counts.state.features(min_freq, all_outputs=every)
        edge = None if counts.edge is None else counts.edge.features(min_freq, all_outputs=every)
        if edge and edge_columns:
            of_edges = rows.of_columns(edge_columns)
            state, edge = state.where(~of_edges[state.attributes]), edge.where(of_edges[edge.attributes])
        seen = counts.transitions.astype(np.float64)
        n_grams = NGrams.observed(seen, k, training.order, bias=scale and bool(scalings), every=all_transitions)
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
        moments: dict[str, Moments] | None = None,
    ) -> LinearSpace:
        """Features of labels alone, without attributes. Scaled numbers need a bias; `bias` adds one in any case.

        `moments` are those of the numbers in all parts of the data, if `training` is one of them.
        """
        if moments is None:
            moments = numeric_moments(training.sequences) if scale else {}
            moments = {name: training.group.merged(own) for name, own in moments.items()}
        scalings = _scalings(training, moments, scale)
        rows = AttributeReader(training.sequences, Window.of(window), scalings)
        k = len(training.labels)
        nothing = np.zeros(rows.n_ids + 1, np.int64), np.zeros(0, np.int32)
        edge = Features(*nothing, k ** (training.order + 1)) if edges else None
        n_grams = NGrams.observed(edge_counts(training), k, training.order,
                                    bias=bias or (scale and bool(scalings)), every=all_transitions)  # fmt: skip
        return cls(
            window=rows.window, scalings=scalings, state=Features(*nothing, k), edge=edge, n_grams=n_grams, reader=rows
        )

    def __getstate__(self) -> dict[str, Any]:
        """The fields without the reader, which belongs to the sequences of this process."""
        return {field.name: getattr(self, field.name) for field in fields(self)} | {"reader": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

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


def _scalings(training: TrainingData, moments: dict[str, Moments], scale: bool) -> dict[str, Scaling]:
    """The scalings of numeric columns, from moments if numbers are scaled."""
    if not scale:
        return fit_scalings(training.sequences, scale=False)
    return {name: Scaling.of(some) for name, some in moments.items()}


def gold_codes(training: TrainingData, sequences: slice) -> NDArray[np.int32]:
    """The gold label of each position of consecutive sequences."""
    starts = training.sequences.starts
    return np.asarray(training.codes[starts[sequences.start] : starts[sequences.stop]])


def edge_codes(training: TrainingData, sequences: slice) -> NDArray[np.int32]:
    """(label context, label) of each of these positions as one number; -1 where the context is shorter than `order`."""
    codes, starts = gold_codes(training, sequences), training.sequences.starts[sequences.start : sequences.stop + 1]
    contexts = training.topology.last_labels(codes, starts - starts[0], training.order)
    return np.where(contexts >= 0, contexts * len(training.labels) + codes, -1).astype(np.int32)
