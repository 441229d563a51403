"""What a beam search goes by: weights of attributes, and of label n-grams of any length.

The score of a label at a position is the sum of the weights of (attribute, label) for what the window reads, and of
(the last j labels, label) for j up to the order. Which labels are the last depends on the direction of the search.
Future features, if there are any, are read at the position itself as numeric columns after all others.

A label is a digit of so many bits that K fits them too, which is `start`: nothing labelled yet. An n-gram of j labels
has the number of its digits, most recent label first, plus 2^(bits j) - 1; so 0 is that of no labels, a bias.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.encoding import NO_CONJUNCTIONS, AttributeReader, Conjunctions, Encoder, Scaling, Window
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.future.potential import FuturePotential, feature_encoder, with_features
from hedgerow.potentials.base import Potential, Stored, require_array, stored_temperature, strip_prefix
from hedgerow.potentials.linear import Features, scalings_of, scored
from hedgerow.potentials.registry import register
from hedgerow.search.beam_search import Search
from hedgerow.topology import Topology

Direction = Literal["left-to-right", "right-to-left"]
Weights = NDArray[np.float32]

MOST_EDGES = 2**28  # scores of a position by trees over future features
MOST_HYPOTHESES = 2**31 - 1
LARGEST = 1e30  # of a weight, so that sums of many are numbers


@dataclass(frozen=True, eq=False)
class LabelGrams:
    """The n-grams that have weights: `cells` are their numbers times K plus the label they speak of, rising."""

    cells: NDArray[np.int64]
    n_labels: int
    order: int

    def __post_init__(self) -> None:
        if self._bits * (max(self.order, 1) + 1) >= 62:
            raise InputError(
                f"order {self.order} with {self.n_labels} labels needs n-grams that 64 bits cannot number; "
                "take a lower order"
            )

    @property
    def _bits(self) -> int:
        return self.n_labels.bit_length()

    def __len__(self) -> int:
        return len(self.cells)

    def labels(self, gram: int) -> list[int]:
        """The labels of an n-gram, most recent first; K is `start`."""
        bits = self._bits
        length = ((gram + 1).bit_length() - 1) // bits
        digits = gram + 1 - (1 << bits * length)
        return [digits >> bits * (length - 1 - i) & ((1 << bits) - 1) for i in range(length)]


@register
@dataclass(frozen=True, eq=False)
class SearchPotential(Potential):
    """`temperature` is what scores are divided by where they are read as log-probabilities."""

    window: Window
    scalings: Mapping[str, Scaling]
    state_features: Features
    state_weights: Weights
    n_grams: LabelGrams
    n_gram_weights: Weights
    direction: Direction
    future: FuturePotential | None = None
    temperature: float = 1.0
    grams: _core.SearchGrams = field(init=False, repr=False)
    _scorer: _core.LinearScorer = field(init=False, repr=False)
    kind: ClassVar[str] = "search"
    conjunctions: ClassVar[Conjunctions] = NO_CONJUNCTIONS

    def __post_init__(self) -> None:
        n_grams = self.n_grams
        grams = _core.SearchGrams(n_grams.n_labels, n_grams.order, n_grams.cells, self.n_gram_weights)
        object.__setattr__(self, "grams", grams)
        object.__setattr__(self, "_scorer", _core.LinearScorer(self.state_features.core, self.state_weights))

    def answers(self, encoded: Encoded, topology: Topology, *, beam: int | None = None, n_threads: int = 1) -> Search:
        """Beam searches over the sequences; without a beam every hypothesis is kept."""
        hypotheses = min(self.n_grams.n_labels ** max(self.n_grams.order, 1), MOST_HYPOTHESES)
        return Search(
            self.grams,
            encoded.starts,
            self.state_scores(encoded, n_threads),
            hypotheses if beam is None else beam,
            backward=self.direction == "right-to-left",
            temperature=self.temperature,
            n_threads=n_threads,
        )

    def scores_per_position(self, topology: Topology) -> int:
        return topology.n_labels

    def state_scores(self, sequences: Encoded, n_threads: int = 1) -> NDArray[np.float32]:
        """(positions, labels): what the attributes say, whatever the labels before."""
        rows = AttributeReader(self.seen(sequences, n_threads), self.window, self.scalings)
        return scored(self._scorer, rows, self.n_grams.n_labels, 0, n_threads)

    def seen(self, sequences: Encoded, n_threads: int = 1) -> Encoded:
        """The sequences with the columns that future features make."""
        return sequences if self.future is None else with_features(sequences, self.future.values(sequences, n_threads))

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        metadata: dict[str, Any] = {
            "window": list(self.window.offsets),
            "scalings": {name: [scaling.mean, scaling.deviation] for name, scaling in self.scalings.items()},
            "order": self.n_grams.order,
            "direction": self.direction,
            "temperature": self.temperature,
        }
        arrays: dict[str, NDArray[Any]] = {
            "state.starts": self.state_features.starts,
            "state.labels": self.state_features.outputs,
            "state.weights": self.state_weights,
            "n_grams.cells": self.n_grams.cells,
            "n_grams.weights": self.n_gram_weights,
        }
        if self.future is not None:
            described, of_future = self.future.to_arrays()
            metadata["future"] = {"order": self.future.trees.tree_order, **described}
            arrays |= {f"future.{name}": array for name, array in of_future.items()}
        return metadata, arrays

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        metadata, arrays, encoder, n_labels, _ = stored
        direction, reach = metadata["direction"], metadata["order"]
        if direction not in get_args(Direction):
            raise InputError(f"the direction of a search is of the unknown kind {direction!r}")
        if type(reach) is not int or reach < 0:
            raise InputError(f"the order of a search must be a number of at least 0, but is {reach!r}")
        future = _future(metadata.get("future"), arrays, encoder, n_labels)
        columns = encoder if future is None else feature_encoder(encoder, len(future.features))
        cells = require_array(arrays, "n_grams.cells", np.int64)
        if (np.diff(cells) <= 0).any():
            raise InputError("the n-grams of a search must be rising numbers")
        try:
            starts = require_array(arrays, "state.starts", np.int64)
            features = Features(starts, require_array(arrays, "state.labels", np.int32), n_labels)
            potential = cls(
                Window.from_stored(metadata["window"]), scalings_of(metadata, columns), features,
                _weights(arrays, "state.weights", len(features)), LabelGrams(cells, n_labels, reach),
                _weights(arrays, "n_grams.weights", len(cells)), direction, future,
                stored_temperature(metadata["temperature"]),
            )  # fmt: skip
            potential.state_scores(encoder.nothing())
        except ValueError as rule:
            raise InputError(f"the weights of the search are not as they must be: {rule}") from None
        return potential


def _future(stored: Any, arrays: Mapping[str, NDArray[Any]], encoder: Encoder, n_labels: int) -> FuturePotential | None:
    match stored:
        case None:
            return None
        case {"order": int(order)} if order >= 0 and n_labels ** (min(order, 64) + 1) <= MOST_EDGES:
            own = Stored(stored, strip_prefix("future.", arrays), encoder, n_labels, order)
            return FuturePotential.from_arrays(own)
    raise InputError(f"future features must have an order, but {stored!r} came")


def _weights(arrays: Mapping[str, NDArray[Any]], name: str, n: int) -> Weights:
    weights = require_array(arrays, name, np.float32)
    if len(weights) != n or not (np.abs(weights) <= LARGEST).all():
        raise InputError(f"the potential's array {name!r} must hold {n} numbers no larger than {LARGEST:g}")
    return weights
