"""Locally normalised potentials: a distribution over labels for every position and label context.

    log P(y | c, x_t) = F^y(c, x_t) - log sum over l of exp F^l(c, x_t)

where F are the scores of another potential. The scores of a path add up to its log-probability, and log Z is 0.

Under constraints the sum is over the labels l that may follow the last label of c and, at the end, may be last. Paths
that come to a dead end lose their probability to the other paths, in proportion. Known labels are evidence: they are
left out of the sum, and the probabilities of paths are conditional on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.constraints import Constraints
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.inference.lattice import Lattice, known_labels
from hedgerow.inference.softmax import log_softmax_in_place
from hedgerow.potentials.base import KnownLabels, Potential, ScoredPotential, Scores, Stored, add_prefix
from hedgerow.potentials.linear import LinearPotential
from hedgerow.potentials.registry import register, restore_scored
from hedgerow.potentials.trees import TreePotential
from hedgerow.topology import Topology
from hedgerow.utilities import Floats

INNER = ("future", "linear", "trees")  # kinds that can be normalised


@register
@dataclass(frozen=True, eq=False)
class LocalPotential(ScoredPotential):
    """`inner` computes F, for the same labels and order."""

    inner: ScoredPotential
    n_labels: int
    order: int
    kind: ClassVar[str] = "local"

    def scores(self, encoded: Encoded, n_threads: int = 1) -> Scores:
        edge = self._edges(self.inner.scores(encoded, n_threads), encoded.starts)
        log_softmax_in_place(edge)
        return Scores(edge=edge, normalised=True)

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
        edge = self._edges(self.inner.scores(encoded, n_threads), encoded.starts)
        allowed = None if known is None else known_labels(known, topology.n_labels)
        options: dict[str, Any] = {"allowed": allowed, "beam": beam, "n_threads": n_threads}
        return local_lattice(edge, encoded.starts, topology, temperature, **options)

    def _edges(self, scores: Scores, starts: NDArray[np.int64]) -> Floats:
        """The scores as one new array (positions, label contexts, labels)."""
        state, edge, table, _ = scores
        if edge is not None:
            return edge
        assert state is not None
        assert table is not None
        *shorter, full = Topology(self.n_labels, self.order).split_rows(table)
        edges: Floats = state[:, None, :] + full
        lengths = np.diff(starts)
        for m, rows in enumerate(shorter):  # positions with m labels before them
            there = starts[:-1][lengths > m] + m
            edges[there, : len(rows)] = state[there, None, :] + rows
        return edges

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        described, arrays = self.inner.to_arrays()
        return {"of": {"kind": self.inner.kind, **described}}, add_prefix("of.", arrays)

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        described = stored.metadata["of"]
        if not isinstance(described, dict) or described.get("kind") not in INNER:
            raise InputError(f"a normalised potential must be of the kinds {', '.join(INNER)}")
        inner = restore_scored(stored.nested(described, "of."))
        if isinstance(inner, TreePotential) and inner.table is not None:
            raise InputError("trees that are normalised by label context have no transition table")
        if isinstance(inner, LinearPotential) and inner.edge_features is not None:
            raise InputError("weights that are normalised by label context have no edge features")
        return cls(inner, stored.n_labels, stored.order)


def local_lattice(
    edge: Floats, starts: NDArray[np.int64], topology: Topology, temperature: float = 1.0, **options: Any
) -> Lattice:
    """The lattice of scores (positions, label contexts, labels) that this function normalises by label context.

    The log-probabilities are divided by the temperature, and then add up to the score of a path. The scores are
    replaced, except that scores of order 0 under constraints make a larger array.
    """
    constraints, order = topology.constraints, topology.lattice_order
    if constraints is not None:
        if order > topology.order:
            edge = np.repeat(edge, topology.n_labels, axis=1)
            topology = replace(topology, order=order)
        _forbid(edge, starts, topology, constraints)
    log_softmax_in_place(edge)
    if temperature != 1:
        edge /= edge.dtype.type(temperature)
    return Lattice(topology, starts, edge=edge, normalised=temperature == 1, **options)


def _forbid(edge: Floats, starts: NDArray[np.int64], topology: Topology, constraints: Constraints) -> None:
    """Set the scores of forbidden labels to minus infinity, except in a dead end, where every label is forbidden."""
    last = np.zeros(len(edge), np.bool_)
    last[starts[1:] - 1] = True
    for length, there in enumerate(topology.positions_by_length(starts)):
        rows = constraints.rows(length)
        for positions, allowed in ((there[~last[there]], rows), (there[last[there]], rows & constraints.last)):
            wrong = ~allowed & allowed.any(axis=1, keepdims=True)
            contexts, labels = np.nonzero(wrong)
            edge[positions[:, None], contexts, labels] = -np.inf


def unnormalised(potential: Potential) -> Potential:
    """The inner potential of a locally normalised one; any other potential itself."""
    return potential.inner if isinstance(potential, LocalPotential) else potential
