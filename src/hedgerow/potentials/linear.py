"""Linear potentials: sums of feature weights.

There are three kinds of features:

    state       (attribute, label)                 an attribute of the window, and the label
    edge        (attribute, label context, label)  the same with the previous labels; optional
    n-grams     (last labels, label)               labels alone, for contexts of each length up to the order

A number is an attribute with a scaled value; the weights of its features are multiplied by the value. A conjunction of
attributes is an attribute too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.encoding import NO_CONJUNCTIONS, AttributeReader, Conjunctions, Encoder, Scaling, Window
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.potentials.base import ScoredPotential, Scores, Stored, require_array, stored_temperature
from hedgerow.potentials.registry import register
from hedgerow.potentials.trial import is_cheap, try_once
from hedgerow.topology import Topology
from hedgerow.utilities import Floats32, Floats64

MAX_FEATURES = 2**31  # kernels count features of an attribute or a batch in 32 bits


@dataclass(frozen=True, eq=False)
class Features:
    """The features of attribute i are starts[i]..starts[i + 1]; feature f is for outputs[f], which is below `width`."""

    starts: NDArray[np.int64]
    outputs: NDArray[np.int32]
    width: int
    core: _core.LinearFeatures = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.outputs) >= MAX_FEATURES:
            raise InputError(
                f"a linear model must have fewer than {MAX_FEATURES} features, but the data have {len(self.outputs)}; "
                "raise min_freq, or leave out columns"
            )
        object.__setattr__(self, "core", _core.LinearFeatures(self.starts, self.outputs, self.width))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.starts, self.outputs, self.width)

    def __len__(self) -> int:
        return len(self.outputs)

    def where(self, kept: NDArray[np.bool_]) -> Features:
        """The features for which `kept` is true."""
        if kept.all():
            return self
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        return Features(starts, self.outputs[kept], self.width)

    @property
    def attributes(self) -> NDArray[np.int64]:
        """The attribute of each feature."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


@dataclass(frozen=True)
class NGrams:
    """Features of labels alone: `cells` are numbers of cells in a transition table, in rising order.

    An n-gram counts wherever the last labels are its own, however long the label context is: a row of the table is the
    sum over the n-grams that its context begins with. The row without labels is a bias.
    """

    cells: NDArray[np.int64]
    n_labels: int
    order: int

    @classmethod
    def observed(cls, counts: Floats64, n_labels: int, order: int, *, bias: bool, every: bool) -> NGrams:
        """The n-grams of training; `counts` has the gold labels by cell of the table. With `every`, all n-grams."""
        grams = cls(np.arange(counts.size), n_labels, order)
        kept = np.ones(counts.size, np.bool_) if every else grams.summed(counts) > 0
        kept[:n_labels] = bias
        return cls(np.flatnonzero(kept), n_labels, order)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def _topology(self) -> Topology:
        return Topology(self.n_labels, self.order)

    def table(self, weights: NDArray[Any]) -> NDArray[Any]:
        """The transition table of the weights, of their type."""
        topology = self._topology
        cells = np.zeros(topology.n_cells, weights.dtype)
        cells[self.cells] = weights
        blocks = topology.split_rows(cells.reshape(-1, self.n_labels))
        for m in range(1, self.order + 1):
            # The last digit of a context is its oldest label, so K successive rows share the shorter context.
            blocks[m] = blocks[m] + np.repeat(blocks[m - 1], self.n_labels, axis=0)
        return np.ascontiguousarray(np.concatenate(blocks))

    def summed(self, table: Floats64) -> Floats64:
        """For each n-gram, the sum over the cells of the table to which it contributes."""
        blocks = self._topology.split_rows(table)
        for m in range(self.order, 0, -1):
            shorter = blocks[m].reshape(self.n_labels ** (m - 1), self.n_labels, self.n_labels).sum(axis=1)
            blocks[m - 1] = blocks[m - 1] + shorter
        return np.concatenate(blocks).ravel()[self.cells]


@register
@dataclass(frozen=True, eq=False, kw_only=True)
class LinearPotential(ScoredPotential):
    """Features and their weights. Scores are divided by `temperature`, which does not change the best path."""

    window: Window
    scalings: Mapping[str, Scaling]
    state_features: Features
    state_weights: Floats32
    edge_features: Features | None
    edge_weights: Floats32 | None
    n_grams: NGrams
    n_gram_weights: Floats32
    temperature: float = 1.0
    conjunctions: Conjunctions = NO_CONJUNCTIONS
    _scorers: list[_core.LinearScorer] = field(init=False, repr=False)
    kind: ClassVar[str] = "linear"

    def scores(self, encoded: Encoded, n_threads: int = 1) -> Scores:
        if not hasattr(self, "_scorers"):  # built once, at the first use
            object.__setattr__(self, "_scorers", self._make_scorers())
        attributes = AttributeReader(encoded, self.window, self.scalings, self.conjunctions)
        state, *edge = (
            scored(scorer, attributes, features.width, skip, n_threads)
            for scorer, features, skip in zip(
                self._scorers, (self.state_features, self.edge_features), (0, self.n_grams.order), strict=False
            )
            if features is not None
        )
        k = self.n_grams.n_labels
        return Scores(
            state=state,
            edge=edge[0].reshape(len(state), -1, k) if edge else None,
            table=self.n_grams.table(self._divided(self.n_gram_weights)),
        )

    def scores_per_position(self, topology: Topology) -> int:
        """The transition table is the same at all positions."""
        return topology.n_labels if self.edge_features is None else super().scores_per_position(topology)

    def _make_scorers(self) -> list[_core.LinearScorer]:
        scorers = [_core.LinearScorer(self.state_features.core, self._divided(self.state_weights))]
        if self.edge_features is not None and self.edge_weights is not None:
            scorers.append(_core.LinearScorer(self.edge_features.core, self._divided(self.edge_weights)))
        return scorers

    def _divided(self, weights: Floats32) -> Floats32:
        return weights if self.temperature == 1 else weights / np.float32(self.temperature)

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        metadata, arrays = weights_to_arrays(self)
        if self.edge_features is not None and self.edge_weights is not None:
            arrays |= {
                "edge.starts": self.edge_features.starts,
                "edge.cells": self.edge_features.outputs,
                "edge.weights": self.edge_weights,
            }
        if len(self.conjunctions):
            arrays |= {
                "conjunctions.starts": self.conjunctions.starts,
                "conjunctions.members": self.conjunctions.members,
            }
        if self.temperature != 1:
            metadata["temperature"] = self.temperature
        return metadata, arrays

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        metadata, arrays, encoder, n_labels, order = stored
        window = Window.from_stored(metadata["window"])
        scalings = scalings_of(metadata, encoder)
        cells = require_array(arrays, "n_grams.cells", np.int64)
        n_cells = Topology(n_labels, order).n_cells
        if len(cells) and (cells[0] < 0 or cells[-1] >= n_cells or (np.diff(cells) <= 0).any()):
            raise InputError(f"the n-grams must be numbers in rising order below {n_cells}")
        try:
            state = stored_features(arrays, "state.starts", "state.labels", n_labels)
            edge = None
            if "edge.starts" in arrays:
                edge = stored_features(arrays, "edge.starts", "edge.cells", n_labels ** (order + 1))
        except ValueError as rule:
            raise InputError(f"the features of the potential are wrong: {rule}") from None
        potential = cls(
            window=window,
            scalings=scalings,
            state_features=state,
            state_weights=stored_weights(arrays, "state.weights", len(state)),
            edge_features=edge,
            edge_weights=None if edge is None else stored_weights(arrays, "edge.weights", len(edge)),
            n_grams=NGrams(cells, n_labels, order),
            n_gram_weights=stored_weights(arrays, "n_grams.weights", len(cells)),
            temperature=stored_temperature(metadata.get("temperature", 1.0)),
            conjunctions=_conjunctions(arrays, encoder, window, scalings),
        )
        tried = potential
        if not is_cheap(n_labels, order):
            tried = replace(
                potential, edge_features=None, edge_weights=None, n_grams=NGrams(cells[:0], n_labels, 0),
                n_gram_weights=potential.n_gram_weights[:0],
            )  # fmt: skip
        try_once("the features", lambda: tried.scores(encoder.nothing()))
        return potential


def scored(scorer: _core.LinearScorer, attributes: AttributeReader, width: int, skip: int, n_threads: int) -> Floats32:
    """The scores (positions, width) of all positions."""
    n = attributes.sequences.n_positions
    scores = np.empty((n, width), np.float32)
    scorer.score(attributes.reader, 0, n, skip, scores, n_threads)
    return scores


class _HasWeights(Protocol):
    """The fields that linear potentials and beam searches have in common."""

    @property
    def window(self) -> Window: ...
    @property
    def scalings(self) -> Mapping[str, Scaling]: ...
    @property
    def state_features(self) -> Features: ...
    @property
    def state_weights(self) -> Floats32: ...
    @property
    def n_grams(self) -> _HasCells: ...
    @property
    def n_gram_weights(self) -> Floats32: ...


class _HasCells(Protocol):
    @property
    def cells(self) -> NDArray[np.int64]: ...


def weights_to_arrays(potential: _HasWeights) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """(metadata, arrays) of the window, the features and their weights."""
    scalings = {name: [scaling.mean, scaling.deviation] for name, scaling in potential.scalings.items()}
    return {"window": list(potential.window.offsets), "scalings": scalings}, {
        "state.starts": potential.state_features.starts,
        "state.labels": potential.state_features.outputs,
        "state.weights": potential.state_weights,
        "n_grams.cells": potential.n_grams.cells,
        "n_grams.weights": potential.n_gram_weights,
    }


def stored_features(arrays: Mapping[str, NDArray[Any]], starts: str, outputs: str, width: int) -> Features:
    return Features(require_array(arrays, starts, np.int64), require_array(arrays, outputs, np.int32), width)


def _conjunctions(
    arrays: Mapping[str, NDArray[Any]], encoder: Encoder, window: Window, scalings: Mapping[str, Scaling]
) -> Conjunctions:
    if "conjunctions.starts" not in arrays:
        return NO_CONJUNCTIONS
    starts = require_array(arrays, "conjunctions.starts", np.int64)
    members = require_array(arrays, "conjunctions.members", np.int32)
    n_ids = AttributeReader(encoder.nothing(), window, scalings).n_ids
    if (members >= n_ids).any():
        raise InputError(f"the members of conjunctions must be below {n_ids}, the number of attributes")
    try:
        return Conjunctions(starts, members)
    except ValueError as rule:
        raise InputError(f"the conjunctions of the potential are wrong: {rule}") from None


def scalings_of(metadata: Mapping[str, Any], encoder: Encoder) -> dict[str, Scaling]:
    """The scalings of the encoder's numeric columns, from the metadata."""
    numeric = [spec.name for spec in encoder.columns if spec.alphabet is None]
    stored = {name: [float(number) for number in metadata["scalings"][name]] for name in numeric}
    return {name: Scaling(mean, deviation) for name, (mean, deviation) in stored.items()}


def stored_weights(
    arrays: Mapping[str, NDArray[Any]], name: str, n: int, largest: float = float(np.finfo(np.float32).max)
) -> Floats32:
    """The weights in an array; raises InputError unless there are n, none larger than `largest`."""
    weights = require_array(arrays, name, np.float32)
    if len(weights) != n or not (np.abs(weights) <= largest).all():
        raise InputError(f"the potential's array {name!r} must hold {n} numbers of at most {largest:g}")
    return weights
