"""Many linear potentials that vote: the weight vectors of a perceptron, one after the other.

A vector is the one before it and a few changes; it has a vote for each example that it survived. A feature is
attribute * K + label or, after all those, the cell of an n-gram in a lattice's table, laid flat.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.encoding import AttributeReader, Scaling, Window
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.inference.lattice import Lattice
from hedgerow.potentials.base import ScoredPotential, Scores, Stored
from hedgerow.potentials.linear import part, scalings_of
from hedgerow.potentials.registry import register
from hedgerow.potentials.trial import is_cheap
from hedgerow.topology import Topology


@register
@dataclass(frozen=True, eq=False)
class VotedPotential(ScoredPotential):
    """Vector v is made by the changes starts[v] <= c < starts[v + 1]: features[c] grows by amounts[c]."""

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
        return self._log_shares(encoded, None, n_threads)

    def lattice(self, encoded: Encoded, topology: Topology, *, beam: int | None = None, n_threads: int = 1) -> Lattice:
        """A lattice of order 0: positions are independent given the votes. The beam is that of each vector's search."""
        scores = self._log_shares(encoded, beam, n_threads)
        return Lattice(Topology(self.n_labels, 0), encoded.starts, **scores._asdict(), n_threads=n_threads)

    def scores_per_position(self, topology: Topology) -> int:
        return self.n_labels

    def _log_shares(self, encoded: Encoded, beam: int | None, n_threads: int) -> Scores:
        votes = self.votes(encoded, beam, n_threads)
        with np.errstate(divide="ignore"):
            log_shares = np.log(votes / votes.sum(axis=1, keepdims=True))
        return Scores(state=log_shares, normalised=True)

    def votes(self, encoded: Encoded, beam: int | None = None, n_threads: int = 1) -> NDArray[np.float64]:
        """(positions, labels): how many examples those vectors survived whose best path has the label there."""
        rows = AttributeReader(encoded, self.window, self.scalings)
        return _core.votes(
            rows.reader, self.n_labels, self.order, beam or 0, self.starts, self.features, self.amounts, self.survived,
            n_threads,
        )  # fmt: skip

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        scalings = {name: [scaling.mean, scaling.deviation] for name, scaling in self.scalings.items()}
        arrays: dict[str, NDArray[Any]] = {
            "changes.starts": self.starts,
            "changes.features": self.features,
            "changes.amounts": self.amounts,
            "survived": self.survived,
        }
        return {"window": [self.window.left, self.window.right], "scalings": scalings}, arrays

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        metadata, arrays, encoder, n_labels, order = stored
        amounts, survived = part(arrays, "changes.amounts", np.float32), part(arrays, "survived", np.int64)
        if not np.isfinite(amounts).all() or not len(survived) or (survived < 0).any():
            raise InputError("a vector survives no less than 0 examples, and its changes are finite numbers")
        potential = cls(
            Window.of(metadata["window"]), scalings_of(metadata, encoder), n_labels, order,
            part(arrays, "changes.starts", np.int64), part(arrays, "changes.features", np.int64), amounts, survived,
        )  # fmt: skip
        if not is_cheap(n_labels, order):
            return potential
        try:
            potential.votes(encoder.nothing())
        except ValueError as error:
            raise InputError(f"the changes do not fit columns and labels ({error})") from None
        return potential
