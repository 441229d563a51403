"""The potential of an output code: a potential over two labels for each bit, and how code words are compared."""

from __future__ import annotations

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
from hedgerow.potentials.base import (
    Potential,
    ScoredPotential,
    Scores,
    Stored,
    add_prefix,
    numbered_arrays,
    stored_table,
    stored_temperature,
)
from hedgerow.potentials.registry import register, restore
from hedgerow.topology import Topology
from hedgerow.utilities import is_count

MANY_POSITIONS = 50_000  # a bit on fewer positions is finished before several threads would pay


def threads_for_one_bit(n_threads: int, sequences: Encoded) -> int:
    """How many of the threads to use for a single bit."""
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
    """Scores of labels from the probabilities of their bits.

    `code_words` has a row for each label and a column for each bit; `bits` are potentials over the labels 0 and 1.
    Scores are those of `distances`, or with distance="lattice" those of `coupling`, divided by `temperature`. There is
    a transition table only with distance="lattice".
    """

    code_words: NDArray[np.uint8]
    bits: tuple[Potential, ...]
    bit_order: int
    cascade: Cascade
    distance: Distance
    temperature: float
    table: NDArray[np.float32] | None
    kind: ClassVar[str] = "code"

    def probabilities(self, encoded: Encoded, n_threads: int = 1) -> NDArray[np.float32]:
        """(positions, bits): P(the bit is 1). Bits of a cascade read the predictions of earlier bits."""
        p = np.empty((encoded.n_positions, len(self.bits)), np.float32)
        threads, columns = threads_for_one_bit(n_threads, encoded), list[Columns]()
        for i, potential in enumerate(self.bits):
            read = encoded.with_columns(chain.from_iterable(columns[j] for j in self.cascade.read_by(i)))
            p[:, i] = bit_probabilities(potential, self.bit_order, read, threads)
            if self.cascade.length:
                columns.append(self.cascade.columns(i, p[:, i] > 0.5, encoded.starts))
            if i >= self.cascade.length > 0:
                columns[i - self.cascade.length] = ()  # no later bit reads it
        return p

    def scores(self, encoded: Encoded, n_threads: int = 1) -> Scores:
        probabilities = self.probabilities(encoded, n_threads)
        if self.distance == "lattice":
            scores = label_log_probabilities(probabilities, self.code_words)
        else:
            scores = label_scores(probabilities, self.code_words, self.distance)
        return Scores(state=(scores / self.temperature).astype(np.float32), table=self.table)

    def scores_per_position(self, topology: Topology) -> int:
        return topology.n_labels

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        arrays: dict[str, NDArray[Any]] = {"code_words": self.code_words}
        if self.table is not None:
            arrays["table"] = self.table
        bits = []
        for i, potential in enumerate(self.bits):
            bit, bit_arrays = potential.to_arrays()
            bits.append({"kind": potential.kind, **bit})
            arrays |= add_prefix(f"bits.{i}.", bit_arrays)
        metadata: dict[str, Any] = {
            "bit_order": self.bit_order,
            "cascade": [self.cascade.length, self.cascade.left, self.cascade.right],
            "distance": self.distance,
            "temperature": self.temperature,
            "bits": bits,
        }
        return metadata, arrays

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        metadata, arrays, encoder, n_labels, order = stored
        described, code_words = metadata["bits"], arrays.get("code_words")
        if not isinstance(described, list) or not described:
            raise InputError("a code must list its bits")
        shape = (n_labels, len(described))
        if code_words is None or code_words.dtype != np.uint8 or code_words.shape != shape or (code_words > 1).any():
            raise InputError(f"the code words must be an array {shape} of bits")
        cascade, bit_order = _stored_cascade(metadata["cascade"], len(described)), metadata["bit_order"]
        Topology(2, bit_order)
        distance = metadata["distance"]
        if distance not in get_args(Distance):
            raise InputError(f"the code has the unknown distance {distance!r}")
        nested = numbered_arrays("bits.", arrays, len(described))
        bits = tuple(
            _stored_bit(entry, nested[i], cascade.encoder(encoder, i), bit_order) for i, entry in enumerate(described)
        )
        return cls(
            code_words=code_words,
            bits=bits,
            bit_order=bit_order,
            cascade=cascade,
            distance=distance,
            temperature=stored_temperature(metadata["temperature"]),
            table=_stored_transitions(arrays.get("table"), distance, n_labels, order),
        )


def _stored_cascade(stored: object, n_bits: int) -> Cascade:
    if not isinstance(stored, list) or len(stored) != 3 or not all(is_count(number) for number in stored):
        raise InputError(f"the cascade of a code must be three numbers, but is {stored!r}")
    length, left, right = stored
    if not (0 <= length <= n_bits and 0 <= left <= MAX_DISTANCE and 0 <= right <= MAX_DISTANCE):
        raise InputError(
            f"the cascade of a code reads at most {n_bits} bits and {MAX_DISTANCE} positions; it is {stored!r}"
        )
    return Cascade(length, left, right)


def _stored_bit(entry: Any, arrays: dict[str, NDArray[Any]], encoder: Encoder, order: int) -> Potential:
    if not isinstance(entry, dict) or entry.get("kind") == "code":
        raise InputError(f"a bit must be a potential other than an output code, but is {entry!r}")
    return restore(Stored(entry, arrays, encoder, 2, order))


def _stored_transitions(
    table: NDArray[Any] | None, distance: Distance, n_labels: int, order: int
) -> NDArray[np.float32] | None:
    if (table is not None) != (distance == "lattice"):
        raise InputError('a code has a transition table if and only if its distance is "lattice"')
    return stored_table(table, n_labels, order)
