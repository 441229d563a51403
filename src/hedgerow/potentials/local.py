"""Locally normalised potentials: at every position, and for every history, a distribution over labels.

    log P(y | h, x_t) = F^y(h, x_t) - log sum over l of exp F^l(h, x_t)

where F is what another potential says. The scores of a path then add up to its log-probability, and log Z is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.inference.softmax import log_softmax_in_place
from hedgerow.potentials.base import Potential, ScoredPotential, Scores, Stored, strip_prefix
from hedgerow.potentials.linear import LinearPotential
from hedgerow.potentials.registry import register, restore_scored
from hedgerow.potentials.trees import TreePotential
from hedgerow.topology import Topology
from hedgerow.utilities import Floats

INNER = ("future", "linear", "trees")  # kinds that can be normalised


@register
@dataclass(frozen=True, eq=False)
class LocalPotential(ScoredPotential):
    """`inner` says F, of the same labels and order."""

    inner: ScoredPotential
    n_labels: int
    order: int
    kind: ClassVar[str] = "local"

    def scores(self, encoded: Encoded, n_threads: int = 1) -> Scores:
        edge = self._edges(self.inner.scores(encoded, n_threads), encoded.starts)
        log_softmax_in_place(edge)
        return Scores(edge=edge, normalised=True)

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
        return {"of": {"kind": self.inner.kind, **described}}, {f"of.{name}": part for name, part in arrays.items()}

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        metadata, arrays, encoder, n_labels, order = stored
        described = metadata["of"]
        if not isinstance(described, dict) or described.get("kind") not in INNER:
            raise InputError(f"what is normalised must be a potential of the kinds {', '.join(INNER)}")
        own = Stored(described, strip_prefix("of.", arrays), encoder, n_labels, order)
        inner = restore_scored(own)
        if isinstance(inner, TreePotential) and inner.table is not None:
            raise InputError("trees that are normalised by history have no table of transitions")
        if isinstance(inner, LinearPotential) and inner.edge_features is not None:
            raise InputError("weights that are normalised by history have no edge features")
        return cls(inner, n_labels, order)


def unnormalised(potential: Potential) -> Potential:
    """What a locally normalised potential normalises; any other is as it is."""
    return potential.inner if isinstance(potential, LocalPotential) else potential
