"""The potential of an opinion pool: the geometric mean of what its models say (Sutton, Sindelar & McCallum 2006).

With n models p_1 ... p_n, each over its own subset of the attributes,

    pool="sequence"    p(y | x) is proportional to the product over i of p_i(y | x)^(1/n)
    pool="position"    p(y_t | x) is proportional to the product over i of p_i(y_t | x)^(1/n)

The first is one lattice: the log-score of a path is the mean of its scores in the lattices of the models, whose
normalisers do not depend on the path. The second is a lattice of order 0 over the means of log-marginals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import Encoder
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.inference.lattice import Lattice, known_labels
from hedgerow.inference.softmax import log_softmax_in_place
from hedgerow.pooling.subsets import encoder_of, read_columns
from hedgerow.potentials.base import (
    KnownLabels,
    ScoredPotential,
    Scores,
    Stored,
    add_prefix,
    numbered_arrays,
)
from hedgerow.potentials.registry import register, restore_scored
from hedgerow.topology import Topology
from hedgerow.utilities import Floats, Floats64

Pooling: TypeAlias = Literal["sequence", "position"]

KINDS = ("linear", "local", "table", "trees")  # of the potentials that a pool can have
SMALLEST = float(np.finfo(np.float32).tiny)  # marginals are not taken below it, so that no model has a veto


@dataclass(frozen=True, eq=False)
class PooledModel:
    """One model of a pool: its potential, and the columns that this potential reads."""

    potential: ScoredPotential
    columns: tuple[str, ...]

    def encoder(self, encoder: Encoder) -> Encoder:
        """The encoder of the columns of this model."""
        return encoder_of(encoder, self.columns)

    def read(self, encoded: Encoded) -> Encoded:
        """The columns of this model."""
        return read_columns(encoded, self.columns)


@register
@dataclass(frozen=True, eq=False)
class PoolPotential(ScoredPotential):
    """Models of the same labels and the same order, and how they are pooled."""

    models: tuple[PooledModel, ...]
    pool: Pooling
    n_labels: int
    order: int
    kind: ClassVar[str] = "pool"

    def scores(self, encoded: Encoded, n_threads: int = 1) -> Scores:
        return self._pooled(encoded, Topology(self.n_labels, self.order), n_threads=n_threads)[0]

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
        """The lattice of the pool. With pool="position" its order is 0, and the beam is that of each model."""
        scores, own = self._pooled(encoded, topology, known=known, beam=beam, n_threads=n_threads)
        allowed = None if known is None else known_labels(known, topology.n_labels)
        return Lattice(
            own,
            encoded.starts,
            **scores.divided(temperature)._asdict(),
            allowed=allowed,
            beam=beam if self.pool == "sequence" else None,
            n_threads=n_threads,
        )

    def _pooled(
        self,
        encoded: Encoded,
        topology: Topology,
        *,
        known: KnownLabels | None = None,
        beam: float | None = None,
        n_threads: int,
    ) -> tuple[Scores, Topology]:
        """The scores of the pool, and the topology of its lattice."""
        if self.pool == "sequence":
            return self._mean_scores(encoded, topology, n_threads)
        state: Floats64 = np.zeros((encoded.n_positions, topology.n_labels))
        for model in self.models:
            read = model.read(encoded)
            answers = model.potential.answers(read, topology, known=known, beam=beam, n_threads=n_threads)
            state += np.log(np.maximum(answers.marginals()[1], SMALLEST, dtype=np.float64))
        state /= len(self.models)
        log_softmax_in_place(state)
        return Scores(state=state, normalised=True), Topology(topology.n_labels, 0, topology.constraints)

    def _mean_scores(self, encoded: Encoded, topology: Topology, n_threads: int) -> tuple[Scores, Topology]:
        """The mean of the scores of all lattices. These know the constraints, by which a local model normalises."""
        state = edge = table = None
        for model in self.models:
            lattice = model.potential.lattice(model.read(encoded), topology, n_threads=n_threads)
            state, edge, table = (
                _added(lattice.state, state),
                _added(lattice.edge, edge),
                _added(lattice.table, table),
            )
        n = len(self.models)
        return Scores(_divided(state, n), _divided(edge, n), _divided(table, n)), lattice.topology

    def scores_per_position(self, topology: Topology) -> int:
        return max(model.potential.scores_per_position(topology) for model in self.models)

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        described, arrays = list[dict[str, Any]](), dict[str, NDArray[Any]]()
        for i, model in enumerate(self.models):
            metadata, own = model.potential.to_arrays()
            described.append({"columns": list(model.columns), "of": {"kind": model.potential.kind, **metadata}})
            arrays |= add_prefix(f"models.{i}.", own)
        return {"pool": self.pool, "models": described}, arrays

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        pool, described = stored.metadata["pool"], stored.metadata["models"]
        if pool not in get_args(Pooling):
            raise InputError(f"the models of a pool are pooled by sequence or by position, but pool is {pool!r}")
        if not isinstance(described, list) or not described:
            raise InputError("a pool must list its models")
        nested = numbered_arrays("models.", stored.arrays, len(described))
        models = tuple(
            _stored_model(entry, stored._replace(arrays=own)) for entry, own in zip(described, nested, strict=True)
        )
        return cls(models=models, pool=pool, n_labels=stored.n_labels, order=stored.order)


def _added(scores: Floats | None, total: Floats | None) -> Floats | None:
    if scores is None or total is None:
        return total if scores is None else scores
    return total + scores


def _divided(total: Floats | None, n: int) -> Floats | None:
    return None if total is None else total / total.dtype.type(n)


def _stored_model(entry: Any, stored: Stored) -> PooledModel:
    match entry:
        case {"columns": list(columns), "of": {"kind": str(kind)} as metadata} if kind in KINDS:
            pass
        case _:
            raise InputError(f"a model of a pool must have columns and be of the kinds {', '.join(KINDS)}")
    known = [spec.name for spec in stored.encoder.columns]
    if not columns or columns != [name for name in known if name in columns]:
        raise InputError(f"a model of a pool must list columns of the encoder in their order, but lists {columns!r}")
    own = encoder_of(stored.encoder, columns)
    return PooledModel(restore_scored(stored._replace(metadata=metadata, encoder=own)), tuple(columns))
