"""Potentials: learned scores of label sequences, and the arrays of a model file that hold them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import Encoder
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.inference.answers import Answers
from hedgerow.inference.blocks import blocks
from hedgerow.inference.lattice import Lattice, known_labels
from hedgerow.topology import Topology
from hedgerow.utilities import Floats

MIN_TEMPERATURE = 1e-6  # temperatures, by which scores are divided, lie between this and its inverse


KnownLabels: TypeAlias = NDArray[np.int32]  # a label code for each position, -1 where the label is not known


class Scores(NamedTuple):
    """Log-scores in the shapes of a lattice; None for those that a potential does not have."""

    state: Floats | None = None  # (positions, labels)
    edge: Floats | None = None  # (positions, label contexts, labels)
    table: Floats | None = None  # (label contexts of every length, labels)
    normalised: bool = False  # whether the scores of a path add up to its log-probability

    def divided(self, temperature: float) -> Scores:
        """The scores divided by the temperature, in new arrays of the same type."""
        if temperature == 1:
            return self
        state, edge, table = (
            None if array is None else array / array.dtype.type(temperature)
            for array in (self.state, self.edge, self.table)
        )
        return Scores(state, edge, table)


class Stored(NamedTuple):
    """A potential in a model file, with the encoder, number of labels and order that it must fit."""

    metadata: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    encoder: Encoder
    n_labels: int
    order: int

    def nested(self, metadata: Any, prefix: str, **changes: Any) -> Stored:
        """The potential that this one contains, whose arrays have the prefix."""
        return self._replace(metadata=metadata, arrays=strip_prefix(prefix, self.arrays), **changes)


def add_prefix(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Arrays of a contained object, named for the object that contains it."""
    return {prefix + name: array for name, array in arrays.items()}


def strip_prefix(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Arrays under `prefix`, keyed without it: the opposite of `add_prefix`."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def numbered_arrays(prefix: str, arrays: Mapping[str, NDArray[Any]], n: int) -> list[dict[str, NDArray[Any]]]:
    """The arrays of n nested objects, which are named `prefix` + number + "." + name.

    Raises InputError if an array belongs to none of the objects.
    """
    nested: list[dict[str, NDArray[Any]]] = [{} for _ in range(n)]
    for name, array in strip_prefix(prefix, arrays).items():
        number, _, own_name = name.partition(".")
        if not number.isdecimal() or len(number) > 9 or int(number) >= n:
            raise InputError(f"array {prefix + name!r} has a number that is not below {n}")
        nested[int(number)][own_name] = array
    return nested


def require_array(arrays: Mapping[str, NDArray[Any]], name: str, dtype: Any, ndim: int = 1) -> NDArray[Any]:
    """An array of a model file; raises InputError if it is absent or has another type or number of dimensions."""
    array = arrays.get(name)
    if array is None or array.dtype != dtype or array.ndim != ndim:
        raise InputError(f"the potential's array {name!r} must have {ndim} dimensions of {np.dtype(dtype)}")
    return array


class Potential(ABC):
    """Learned scores of label sequences, frozen.

    Encoded sequences must have the columns and alphabets of the encoder that the potential was learned with.
    """

    kind: ClassVar[str]

    @abstractmethod
    def answers(
        self,
        encoded: Encoded,
        topology: Topology,
        *,
        known: KnownLabels | None = None,
        beam: float | None = None,
        n_threads: int = 1,
        temperature: float = 1.0,
    ) -> Answers:
        """Inference over the sequences, under the constraints of the topology.

        `known` has the label code of each position, -1 where it is not known. `beam` bounds the hypotheses kept at a
        position, None keeps all. Scores are divided by the `temperature`.
        """

    def answers_by_block(
        self,
        encoded: Encoded,
        topology: Topology,
        *,
        known: KnownLabels | None = None,
        beam: float | None = None,
        n_threads: int = 1,
        temperature: float = 1.0,
    ) -> Iterator[Answers]:
        """Inference over one block of consecutive sequences at a time, to bound memory."""
        for block in blocks(encoded.starts, self.scores_per_position(topology)):
            is_everything = block == slice(0, len(encoded))
            some = encoded if is_everything else encoded[block]
            own = None if known is None else known[encoded.starts[block.start] : encoded.starts[block.stop]]
            yield self.answers(some, topology, known=own, beam=beam, n_threads=n_threads, temperature=temperature)

    def scores_per_position(self, topology: Topology) -> int:
        """How many scores `answers` computes for a position, which decides how many sequences fit in a block."""
        return int(topology.n_labels ** (topology.order + 1))

    @abstractmethod
    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """(metadata for JSON, arrays) from which `from_arrays` builds an equal potential."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, stored: Stored) -> Self:
        """The potential that `to_arrays` described; raises InputError unless it fits encoder, labels and order."""


class ScoredPotential(Potential):
    """A potential whose path scores are sums of local scores; its inference is a lattice."""

    @abstractmethod
    def scores(self, encoded: Encoded, n_threads: int = 1) -> Scores:
        """The log-scores of every position of the sequences."""

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
        """The lattice of the scores."""
        scores = self.scores(encoded, n_threads).divided(temperature)
        allowed = None if known is None else known_labels(known, topology.n_labels)
        return Lattice(topology, encoded.starts, **scores._asdict(), allowed=allowed, beam=beam, n_threads=n_threads)

    def answers(
        self,
        encoded: Encoded,
        topology: Topology,
        *,
        known: KnownLabels | None = None,
        beam: float | None = None,
        n_threads: int = 1,
        temperature: float = 1.0,
    ) -> Answers:
        return self.lattice(encoded, topology, known=known, beam=beam, n_threads=n_threads, temperature=temperature)


def stored_temperature(stored: object) -> float:
    """The temperature in a model file; raises InputError if it is out of range."""
    if not (isinstance(stored, float) and MIN_TEMPERATURE <= stored <= 1 / MIN_TEMPERATURE):
        low, high = MIN_TEMPERATURE, 1 / MIN_TEMPERATURE
        raise InputError(f"the temperature must be a number from {low:g} to {high:g}; it is {stored!r}")
    return stored


def stored_table(table: NDArray[Any] | None, n_labels: int, order: int) -> NDArray[np.float32] | None:
    """The transition table in a model file, or None; raises InputError if its shape or values are wrong."""
    shape = (Topology(n_labels, order).n_rows, n_labels)
    if table is not None and (table.dtype != np.float32 or table.shape != shape or not np.isfinite(table).all()):
        raise InputError(f"the transition table must hold {shape} finite numbers")
    return table
