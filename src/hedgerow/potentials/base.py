"""Potentials: learned scores of label sequences, and the arrays of a model file that hold them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import Encoder
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.inference.answers import Answers
from hedgerow.inference.blocks import blocks
from hedgerow.inference.lattice import Lattice
from hedgerow.topology import Topology

MIN_TEMPERATURE = 1e-6  # temperatures, by which scores are divided, lie between this and its inverse


class Scores(NamedTuple):
    """Log-scores in the shapes a lattice takes; a part that is not there is None."""

    state: NDArray[np.floating[Any]] | None = None  # (positions, labels)
    edge: NDArray[np.floating[Any]] | None = None  # (positions, histories, labels)
    table: NDArray[np.floating[Any]] | None = None  # (histories of every length, labels)
    normalised: bool = False  # whether the scores of a path add up to its log-probability


class Stored(NamedTuple):
    """What a model file holds of a potential, and what that must fit."""

    metadata: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    encoder: Encoder
    n_labels: int
    order: int


def strip_prefix(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin so, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


class Potential(ABC):
    """Learned scores of label sequences, frozen.

    Encoded sequences must have the columns and alphabets of the encoder that the potential was learned with.
    """

    kind: ClassVar[str]

    @abstractmethod
    def answers(self, encoded: Encoded, topology: Topology, *, beam: int | None = None, n_threads: int = 1) -> Answers:
        """Inference over the sequences; `beam` bounds the hypotheses kept at a position, None keeps all."""

    def answers_by_block(
        self, encoded: Encoded, topology: Topology, *, beam: int | None = None, n_threads: int = 1
    ) -> Iterator[Answers]:
        """Inference over one block of consecutive sequences at a time, to bound memory."""
        for block in blocks(encoded.starts, self.scores_per_position(topology)):
            is_everything = block == slice(0, len(encoded))
            part = encoded if is_everything else encoded[block]
            yield self.answers(part, topology, beam=beam, n_threads=n_threads)

    def scores_per_position(self, topology: Topology) -> int:
        """How many scores `answers` computes for a position, which decides how many sequences fit in a block."""
        return int(topology.n_labels ** (topology.order + 1))

    @abstractmethod
    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """(metadata for JSON, arrays) from which `from_arrays` makes an equal potential."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, stored: Stored) -> Self:
        """The potential that `to_arrays` described; raises InputError unless it fits encoder, labels and order."""


class ScoredPotential(Potential):
    """A potential whose path scores are sums of local scores: a lattice answers."""

    @abstractmethod
    def scores(self, encoded: Encoded, n_threads: int = 1) -> Scores:
        """The log-scores of every position of the sequences."""

    def lattice(self, encoded: Encoded, topology: Topology, *, beam: int | None = None, n_threads: int = 1) -> Lattice:
        """The lattice of the scores."""
        scores = self.scores(encoded, n_threads)
        return Lattice(topology, encoded.starts, **scores._asdict(), beam=beam, n_threads=n_threads)

    def answers(self, encoded: Encoded, topology: Topology, *, beam: int | None = None, n_threads: int = 1) -> Answers:
        return self.lattice(encoded, topology, beam=beam, n_threads=n_threads)


def stored_temperature(stored: object) -> float:
    """A temperature of a model file."""
    if not (isinstance(stored, float) and MIN_TEMPERATURE <= stored <= 1 / MIN_TEMPERATURE):
        low, high = MIN_TEMPERATURE, 1 / MIN_TEMPERATURE
        raise InputError(f"the temperature must be a number from {low:g} to {high:g}; it is {stored!r}")
    return stored


def stored_table(table: NDArray[Any] | None, n_labels: int, order: int) -> NDArray[np.float32] | None:
    """A table of transitions of a model file, or none."""
    shape = (Topology(n_labels, order).n_rows, n_labels)
    if table is not None and (table.dtype != np.float32 or table.shape != shape or not np.isfinite(table).all()):
        raise InputError(f"the table of transitions must hold {shape} finite numbers")
    return table
