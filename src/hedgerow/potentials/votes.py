"""The voted perceptron: all weight vectors of training vote for the label of each position.

A weight vector is stored as its changes against the vector before it. It has one vote for each example that it labelled
without a mistake. Feature numbers are attribute * K + label, followed by the cells of the transition table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.constraints import Constraints
from hedgerow.encoding import AttributeReader, Scaling, Window
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.inference.lattice import Lattice, known_labels
from hedgerow.potentials.base import KnownLabels, ScoredPotential, Scores, Stored, require_array
from hedgerow.potentials.linear import scalings_of
from hedgerow.potentials.registry import register
from hedgerow.potentials.trial import is_cheap, try_once
from hedgerow.topology import Topology


@register
@dataclass(frozen=True, eq=False, kw_only=True)
class VotedPotential(ScoredPotential):
    """Vector v adds the changes starts[v]..starts[v + 1] to the vector before it: amounts[c] to features[c]."""

    window: Window
    scalings: Mapping[str, Scaling]
    n_labels: int
    order: int
    starts: NDArray[np.int64]
    features: NDArray[np.int64]
    amounts: NDArray[np.float32]
    survived: NDArray[np.int64]
    kind: ClassVar[str] = "votes"

    def scores(self, encoded: Encoded, n_threads: int = 1) -> Scores:
        """The logarithm of each label's share of the votes at each position; -inf without a vote."""
        return _log_shares(self.votes(encoded, n_threads=n_threads))

    def lattice(
        self,
        encoded: Encoded,
        topology: Topology,
        *,
        known: KnownLabels | None = None,
        beam: float | None = None,
        n_threads: int = 1,
        temperature: float = 1.0,
    ) -> Lattice:
        """A lattice of order 0: positions are independent given the votes. The beam is that of each vector's search.

        Constraints and known labels hold for the path of each vector, so that some allowed path has votes everywhere.
        They hold again for the lattice of the votes, because votes of different vectors need not fit together.
        """
        votes = self.votes(encoded, topology.constraints, known, beam, n_threads)
        scores = _log_shares(votes).divided(temperature)
        allowed = None if known is None else known_labels(known, self.n_labels)
        independent = Topology(self.n_labels, 0, topology.constraints)
        return Lattice(independent, encoded.starts, **scores._asdict(), allowed=allowed, n_threads=n_threads)

    def scores_per_position(self, topology: Topology) -> int:
        return self.n_labels

    def votes(
        self,
        encoded: Encoded,
        constraints: Constraints | None = None,
        known: KnownLabels | None = None,
        beam: float | None = None,
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """(positions, labels): the votes of the vectors whose best path has the label there."""
        attributes = AttributeReader(encoded, self.window, self.scalings)
        topology = Topology(self.n_labels, self.order, constraints)
        return _core.votes(
            attributes.reader, self.n_labels, self.order, beam or 0, self.starts, self.features, self.amounts,
            self.survived, topology.forbidden_cells, topology.never_last, known, n_threads,
        )  # fmt: skip

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        scalings = {name: [scaling.mean, scaling.deviation] for name, scaling in self.scalings.items()}
        arrays: dict[str, NDArray[Any]] = {
            "changes.starts": self.starts,
            "changes.features": self.features,
            "changes.amounts": self.amounts,
            "survived": self.survived,
        }
        return {"window": list(self.window.offsets), "scalings": scalings}, arrays

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        metadata, arrays, encoder, n_labels, order = stored
        amounts = require_array(arrays, "changes.amounts", np.float32)
        survived = require_array(arrays, "survived", np.int64)
        if not np.isfinite(amounts).all() or not len(survived) or (survived < 0).any():
            raise InputError("the changes of a voted perceptron must be finite, and its votes at least 0")
        potential = cls(
            window=Window.from_stored(metadata["window"]),
            scalings=scalings_of(metadata, encoder),
            n_labels=n_labels,
            order=order,
            starts=require_array(arrays, "changes.starts", np.int64),
            features=require_array(arrays, "changes.features", np.int64),
            amounts=amounts,
            survived=survived,
        )
        if is_cheap(n_labels, order):
            try_once("the changes", lambda: potential.votes(encoder.nothing()))
        return potential


def _log_shares(votes: NDArray[np.float64]) -> Scores:
    with np.errstate(divide="ignore"):
        log_shares = np.log(votes / votes.sum(axis=1, keepdims=True))
    return Scores(state=log_shares, normalised=True)
