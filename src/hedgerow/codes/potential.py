"""The potential of an output code: the potentials of its bits, each over two labels, and how words are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import NDArray

from hedgerow.codes.cascade import MAX_DISTANCE, Cascade, Columns
from hedgerow.codes.coupling import label_log_probabilities
from hedgerow.codes.distances import Distance, label_scores
from hedgerow.encoding import Encoder
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.potentials.base import Potential, ScoredPotential, Scores, Stored, stored_table, stored_temperature
from hedgerow.potentials.registry import register, restore
from hedgerow.topology import Topology
from hedgerow.utilities import is_count

MANY_POSITIONS = 50_000  # a bit with fewer is done before several threads have agreed on anything


def threads_within(n_threads: int, sequences: Encoded) -> int:
    """How many of the threads are worth using for a single bit."""
    return n_threads if sequences.n_positions >= MANY_POSITIONS else 1


def bit_probabilities(
    potential: Potential, order: int, sequences: Encoded, n_threads: int
) -> NDArray[np.floating[Any]]:
    """P(the bit is 1) at each position."""
    answers = potential.answers(sequences, Topology(2, order), n_threads=n_threads)
    return answers.marginals()[1][:, 1]


@register
@dataclass(frozen=True, eq=False)
class CodePotential(ScoredPotential):
    """`words` has a row for each label and a column for each bit; `bits` are potentials over two labels, 0 and 1.

    Scores are what `distances` says, or for the lattice `coupling`, divided by `temperature`. A table of transitions is
    there for the lattice alone.
    """

    words: NDArray[np.uint8]
    bits: tuple[Potential, ...]
    bit_order: int
    cascade: Cascade
    distance: Distance
    temperature: float
    table: NDArray[np.float32] | None
    kind: ClassVar[str] = "code"

    def probabilities(self, sequences: Encoded, n_threads: int = 1) -> NDArray[np.float32]:
        """(positions, bits): P(the bit is 1), bits in their order, each fed with what those before it predict."""
        found = np.empty((sequences.n_positions, len(self.bits)), np.float32)
        threads, columns = threads_within(n_threads, sequences), list[Columns]()
        for i, potential in enumerate(self.bits):
            seen = sequences.with_columns(chain.from_iterable(columns[j] for j in self.cascade.read_by(i)))
            found[:, i] = bit_probabilities(potential, self.bit_order, seen, threads)
            if self.cascade.length:
                columns.append(self.cascade.columns(i, found[:, i] > 0.5, sequences.starts))
            if i >= self.cascade.length > 0:
                columns[i - self.cascade.length] = ()  # nobody reads it any more
        return found

    def scores(self, encoded: Encoded, n_threads: int = 1) -> Scores:
        probabilities = self.probabilities(encoded, n_threads)
        if self.distance == "lattice":
            raw = label_log_probabilities(probabilities, self.words)
        else:
            raw = label_scores(probabilities, self.words, self.distance)
        return Scores(state=(raw / self.temperature).astype(np.float32), table=self.table)

    def scores_per_position(self, topology: Topology) -> int:
        return topology.n_labels

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        metadata: dict[str, Any] = {
            "bit_order": self.bit_order,
            "cascade": [self.cascade.length, self.cascade.left, self.cascade.right],
            "distance": self.distance,
            "temperature": self.temperature,
        }
        arrays: dict[str, NDArray[Any]] = {"words": self.words}
        if self.table is not None:
            arrays["table"] = self.table
        described = []
        for i, potential in enumerate(self.bits):
            bit, bit_arrays = potential.to_arrays()
            described.append({"kind": potential.kind, **bit})
            arrays |= {f"bits.{i}.{name}": array for name, array in bit_arrays.items()}
        return {**metadata, "bits": described}, arrays

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        metadata, arrays, encoder, n_labels, order = stored
        described, words = metadata["bits"], arrays.get("words")
        if not isinstance(described, list) or not described:
            raise InputError("a code must list its bits")
        shape = (n_labels, len(described))
        if words is None or words.dtype != np.uint8 or words.shape != shape or not (words <= 1).all():
            raise InputError(f"the words of a code must be {shape} bits")
        cascade, bit_order = _cascade(metadata["cascade"], len(described)), metadata["bit_order"]
        Topology(2, bit_order)
        distance = metadata["distance"]
        if distance not in get_args(Distance):
            raise InputError(f"the code's distance is of the unknown kind {distance!r}")
        parts = _by_bit(arrays, len(described))
        bits = tuple(_bit(entry, parts[i], cascade.encoder(encoder, i), bit_order) for i, entry in enumerate(described))
        table = _table(arrays.get("table"), distance, n_labels, order)
        return cls(words, bits, bit_order, cascade, distance, stored_temperature(metadata["temperature"]), table)


def _cascade(stored: object, n_bits: int) -> Cascade:
    if not isinstance(stored, list) or len(stored) != 3 or not all(is_count(number) for number in stored):
        raise InputError(f"the cascade of a code must be three numbers, but is {stored!r}")
    length, left, right = stored
    if not (0 <= length <= n_bits and 0 <= left <= MAX_DISTANCE and 0 <= right <= MAX_DISTANCE):
        raise InputError(
            f"the cascade of a code reads up to {n_bits} bits and {MAX_DISTANCE} positions; it is {stored!r}"
        )
    return Cascade(length, left, right)


def _by_bit(arrays: Mapping[str, NDArray[Any]], n_bits: int) -> list[dict[str, NDArray[Any]]]:
    parts: list[dict[str, NDArray[Any]]] = [{} for _ in range(n_bits)]
    for name, array in arrays.items():
        head, _, rest = name.partition(".")
        if head != "bits":
            continue
        number, _, own = rest.partition(".")
        if not number.isdecimal() or len(number) > 9 or int(number) >= n_bits:
            raise InputError(f"the code's array {name!r} belongs to none of its {n_bits} bits")
        parts[int(number)][own] = array
    return parts


def _bit(entry: Any, arrays: dict[str, NDArray[Any]], encoder: Encoder, order: int) -> Potential:
    if not isinstance(entry, dict) or entry.get("kind") == "code":
        raise InputError(f"a bit must be a potential, and no output code, but {entry!r} came")
    return restore(Stored(entry, arrays, encoder, 2, order))


def _table(table: NDArray[Any] | None, distance: Distance, n_labels: int, order: int) -> NDArray[np.float32] | None:
    if (table is not None) != (distance == "lattice"):
        raise InputError("a code has a table of transitions if its distance is lattice, and none otherwise")
    return stored_table(table, n_labels, order)
