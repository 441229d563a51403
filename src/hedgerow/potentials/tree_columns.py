"""The columns that trees read: columns of the encoder, label statistics, and the scores of a linear model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import ScoreColumn, trusted
from hedgerow.encoding import Encoder
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.potentials.base import Stored, add_prefix, strip_prefix
from hedgerow.potentials.label_statistics import LabelStatistics
from hedgerow.potentials.linear import LinearPotential
from hedgerow.topology import Topology
from hedgerow.utilities import Floats32

LEAST_PROBABILITY = 1e-6  # of a label, before its logarithm is a score


class TreeInput(NamedTuple):
    """What trees read, and the scores to which theirs are added (positions, labels); None for 0."""

    sequences: Encoded
    offset: Floats32 | None


class TreeMatrices(NamedTuple):
    """The input of trees with few objects: to a single sequence, hundreds of columns cost more than its trees."""

    sequences: Encoded  # the columns of the encoder that trees read as they are
    matrices: list[Floats32]  # (columns, positions): the columns that follow them
    offset: Floats32 | None


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeColumns:
    """How the input of trees is made from encoded sequences.

    `kept` are the columns of the encoder that trees read as they are. The log-marginals of the linear potential are
    columns too, and the trees' scores are added to them.
    """

    kept: tuple[str, ...]
    statistics: LabelStatistics | None
    linear: LinearPotential | None
    topology: Topology

    def read(self, encoded: Encoded, n_threads: int) -> TreeInput:
        """The input of the trees for these sequences."""
        numbers = [] if self.statistics is None else self.statistics.numbers(encoded, n_threads)
        return self.joined(encoded, numbers, self._linear_scores(encoded, n_threads))

    def read_matrices(self, encoded: Encoded, n_threads: int) -> TreeMatrices:
        """The same input, with the columns that the encoder does not have as matrices."""
        matrices = [] if self.statistics is None else [self.statistics.matrix(encoded, n_threads)]
        linear = self._linear_scores(encoded, n_threads)
        if linear is not None:
            matrices.append(np.ascontiguousarray(linear.T))
        kept = tuple(encoded.column(name) for name in self.kept)
        return TreeMatrices(Encoded.trusted(encoded.starts, kept, encoded.unseen), matrices, linear)

    def matrix_names(self) -> list[list[str]]:
        """The names of the rows of each matrix."""
        names = [] if self.statistics is None else [self.statistics.names()]
        return names if self.linear is None else [*names, [linear_name(i) for i in range(self.topology.n_labels)]]

    def joined(self, encoded: Encoded, numbers: Sequence[ScoreColumn], linear: Floats32 | None) -> TreeInput:
        """The input of the trees from statistics and linear scores that were computed elsewhere."""
        scores = [] if linear is None else score_columns(linear)
        columns = (*(encoded.column(name) for name in self.kept), *numbers, *scores)
        return TreeInput(Encoded.trusted(encoded.starts, columns, encoded.unseen), linear)

    def _linear_scores(self, encoded: Encoded, n_threads: int) -> Floats32 | None:
        return None if self.linear is None else log_marginals(self.linear, encoded, self.topology, n_threads)

    def in_words(self, encoder: Encoder, classes: Sequence[object]) -> dict[str, str]:
        """What to call the columns that the encoder does not have, by name."""
        words: dict[str, str] = {}
        if self.statistics is not None:
            words |= zip(self.statistics.names(), self.statistics.described(encoder, classes), strict=True)
        if self.linear is not None:
            words |= {linear_name(i): f"linear log P({label})" for i, label in enumerate(classes)}
        return words

    def summary(self) -> dict[str, Any]:
        """What a training log says of the columns."""
        statistics = [] if self.statistics is None else list(self.statistics.columns)
        return {"read": list(self.kept), "statistics": statistics, "linear": self.linear is not None}

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        metadata: dict[str, Any] = {"kept": list(self.kept)}
        arrays: dict[str, NDArray[Any]] = {}
        for name, contained in (("statistics", self.statistics), ("linear", self.linear)):
            if contained is not None:
                metadata[name], own = contained.to_arrays()
                arrays |= add_prefix(f"{name}.", own)
        return metadata, arrays

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        """The columns that `to_arrays` described; raises InputError unless they fit encoder, labels and order."""
        metadata, arrays, encoder, n_labels, order = stored
        kept, statistics, linear = metadata.get("kept"), None, None
        names = {spec.name for spec in encoder.columns}
        if not (isinstance(kept, list) and all(isinstance(name, str) and name in names for name in kept)):
            raise InputError("the columns that trees read must be columns of the encoder")
        if "statistics" in metadata:
            own = strip_prefix("statistics.", arrays)
            statistics = LabelStatistics.from_arrays(metadata["statistics"], own, encoder, n_labels)
        if "linear" in metadata:
            linear = LinearPotential.from_arrays(stored.nested(metadata["linear"], "linear."))
        return cls(kept=tuple(kept), statistics=statistics, linear=linear, topology=Topology(n_labels, order))


def same_columns(one: TreeColumns | None, other: TreeColumns | None) -> bool:
    """Whether trees that read one can go on with the other."""
    if one is None or other is None:
        return one is other
    kinds = [(c.kept, c.statistics is None, c.linear is None) for c in (one, other)]
    if kinds[0] != kinds[1] or one.statistics is None or other.statistics is None:
        return kinds[0] == kinds[1]
    return one.statistics.equals(other.statistics)


def log_marginals(potential: LinearPotential, encoded: Encoded, topology: Topology, n_threads: int) -> Floats32:
    """The logarithms of the label probabilities of each position."""
    blocks = potential.answers_by_block(encoded, topology, n_threads=n_threads)
    marginals = np.concatenate([block.marginals()[1] for block in blocks])
    logarithms: Floats32 = np.log(np.maximum(marginals, LEAST_PROBABILITY)).astype(np.float32)
    return logarithms


def score_columns(scores: Floats32) -> list[ScoreColumn]:
    """Linear scores as columns."""
    by_label = np.ascontiguousarray(scores.T)
    return [trusted(ScoreColumn, linear_name(i), values) for i, values in enumerate(by_label)]


def linear_name(label: int) -> str:
    return f"linear.{label}"
