"""The potential of a beam search: weights of attributes, and of label n-grams of any length.

The score of a label at a position is the sum of the weights of (attribute, label) over the attributes in the window,
and of (the last j labels, label) for j up to the order. Which labels are the last ones depends on the direction of the
search. Future features are numeric columns after all others, read at the position itself.
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
from hedgerow.future.features import feature_encoder, with_features
from hedgerow.future.potential import FuturePotential
from hedgerow.inference.lattice import known_labels
from hedgerow.potentials.base import (
    KnownLabels,
    Potential,
    Stored,
    add_prefix,
    require_array,
    stored_temperature,
    strip_prefix,
)
from hedgerow.potentials.linear import Features, scalings_of, scored, stored_features, stored_weights, weights_to_arrays
from hedgerow.potentials.registry import register
from hedgerow.potentials.trial import try_once
from hedgerow.search.beam_search import BeamSearch
from hedgerow.search.label_ngrams import SparseNGrams
from hedgerow.topology import Topology
from hedgerow.utilities import finite_deviation

Direction = Literal["left-to-right", "right-to-left"]
Weights = NDArray[np.float32]

MAX_EDGES = 2**28  # scores that trees over future features may give to one position
MAX_HYPOTHESES = 2**31 - 1
MAX_WEIGHT = 1e30  # sums of many such weights are still finite


@register
@dataclass(frozen=True, eq=False)
class SearchPotential(Potential):
    """Weights of features; scores are divided by `temperature` where they are used as log-probabilities."""

    window: Window
    scalings: Mapping[str, Scaling]
    state_features: Features
    state_weights: Weights
    n_grams: SparseNGrams
    n_gram_weights: Weights
    direction: Direction
    future: FuturePotential | None = None
    temperature: float = 1.0
    core_n_grams: _core.SparseNGramWeights = field(init=False, repr=False)
    _scorer: _core.LinearScorer = field(init=False, repr=False)
    kind: ClassVar[str] = "search"
    conjunctions: ClassVar[Conjunctions] = NO_CONJUNCTIONS

    def __post_init__(self) -> None:
        object.__setattr__(self, "core_n_grams", self._core_n_grams(np.zeros(0, np.int64)))
        object.__setattr__(self, "_scorer", _core.LinearScorer(self.state_features.core, self.state_weights))

    def answers(
        self,
        encoded: Encoded,
        topology: Topology,
        *,
        known: KnownLabels | None = None,
        beam: float | None = None,
        n_threads: int = 1,
        temperature: float = 1.0,
    ) -> BeamSearch:
        """Beam searches over the sequences; without a beam every hypothesis is kept."""
        all_hypotheses = min(self.n_grams.n_labels ** max(self.n_grams.order, 1), MAX_HYPOTHESES)
        constraints, n_grams = topology.constraints, self.core_n_grams
        allowed = None if known is None else known_labels(known, topology.n_labels)
        if constraints is not None:
            allowed = constraints.on_some_path(allowed, encoded.starts)
            n_grams = self._core_n_grams(self.n_grams.forbidden(constraints, self.direction == "right-to-left"))
        return BeamSearch(
            n_grams=n_grams,
            starts=encoded.starts,
            state=self.state_scores(encoded, n_threads),
            beam=all_hypotheses if beam is None else int(beam),
            backward=self.direction == "right-to-left",
            temperature=self.temperature * temperature,
            n_threads=n_threads,
            constraints=constraints,
            allowed=allowed,
        )

    @property
    def n_gram_spread(self) -> float:
        """The standard deviation of the weights of label n-grams; one that has no weight counts as 0."""
        return finite_deviation(np.append(self.n_gram_weights, np.float32(0)))

    def _core_n_grams(self, forbidden: NDArray[np.int64]) -> _core.SparseNGramWeights:
        """The weights of n-grams. Forbidden pairs depend on the previous label, so they need an order of at least 1."""
        n_grams = self.n_grams
        order = max(n_grams.order, 1) if len(forbidden) else n_grams.order
        return _core.SparseNGramWeights(n_grams.n_labels, order, n_grams.cells, self.n_gram_weights, forbidden)

    def scores_per_position(self, topology: Topology) -> int:
        return topology.n_labels

    def state_scores(self, encoded: Encoded, n_threads: int = 1) -> NDArray[np.float32]:
        """(positions, labels): the scores from attributes, without those from previous labels."""
        attributes = AttributeReader(self.with_future(encoded, n_threads), self.window, self.scalings)
        return scored(self._scorer, attributes, self.n_grams.n_labels, 0, n_threads)

    def with_future(self, encoded: Encoded, n_threads: int = 1) -> Encoded:
        """The sequences with the columns of future features."""
        return encoded if self.future is None else with_features(encoded, self.future.values(encoded, n_threads))

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        metadata, arrays = weights_to_arrays(self)
        metadata |= {"order": self.n_grams.order, "direction": self.direction, "temperature": self.temperature}
        if self.future is not None:
            future, future_arrays = self.future.to_arrays()
            metadata["future"] = {"order": self.future.trees.tree_order, **future}
            arrays |= add_prefix("future.", future_arrays)
        return metadata, arrays

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        metadata, arrays, encoder, n_labels, _ = stored
        direction, order = metadata["direction"], metadata["order"]
        if direction not in get_args(Direction):
            raise InputError(f"the search has the unknown direction {direction!r}")
        if type(order) is not int or order < 0:
            raise InputError(f"the order of a search must be an integer of at least 0; it is {order!r}")
        future = _stored_future(metadata.get("future"), arrays, encoder, n_labels)
        columns = encoder if future is None else feature_encoder(encoder, len(future.features))
        cells = require_array(arrays, "n_grams.cells", np.int64)
        if (np.diff(cells) <= 0).any():
            raise InputError("the n-grams of a search must be rising numbers")
        try:
            features = stored_features(arrays, "state.starts", "state.labels", n_labels)
            potential = cls(
                window=Window.from_stored(metadata["window"]),
                scalings=scalings_of(metadata, columns),
                state_features=features,
                state_weights=stored_weights(arrays, "state.weights", len(features), MAX_WEIGHT),
                n_grams=SparseNGrams(cells, n_labels, order),
                n_gram_weights=stored_weights(arrays, "n_grams.weights", len(cells), MAX_WEIGHT),
                direction=direction,
                future=future,
                temperature=stored_temperature(metadata["temperature"]),
            )
        except ValueError as rule:
            raise InputError(f"the weights of the search break a rule: {rule}") from None
        try_once("the weights of the search", lambda: potential.state_scores(encoder.nothing()))
        return potential


def _stored_future(
    stored: Any, arrays: Mapping[str, NDArray[Any]], encoder: Encoder, n_labels: int
) -> FuturePotential | None:
    match stored:
        case None:
            return None
        case {"order": int(order)} if order >= 0 and n_labels ** (min(order, 64) + 1) <= MAX_EDGES:
            own = Stored(stored, strip_prefix("future.", arrays), encoder, n_labels, order)
            return FuturePotential.from_arrays(own)
    raise InputError(f"future features must have an order; they are {stored!r}")
