"""Training data, and the interface of a learner: an iterable of records, with a potential after each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.constraints import Constraints
from hedgerow.encoding import Encoder, Labels
from hedgerow.encoding.encoded import Encoded
from hedgerow.group import ALONE, Group
from hedgerow.inference.answers import Answers
from hedgerow.inference.blocks import sequence_blocks
from hedgerow.inference.decoding import Decode
from hedgerow.learning.sum_limits import SumLimits
from hedgerow.learning.tree_inputs import TreeInputs
from hedgerow.potentials.base import Potential
from hedgerow.topology import Topology
from hedgerow.utilities import once

#: A line of the training log: "unit" ("round", "iteration", "epoch", "bit" or "model"), "step" (from 1), "loss", scores
#: of the dev data ("dev_loss", "dev_accuracy", "dev_span_f1"), and fields of the algorithm.
Record = dict[str, Any]

COUNT_POSITIONS = 2**20  # positions whose gold transitions are counted at once, to bound memory


@dataclass(frozen=True, eq=False)
class DevData:
    """Sequences that a fit evaluates its model on but does not learn from.

    A code of -1 is a label that training never saw. `span_f1` returns the span F1 of predicted label codes; None if
    the labels do not mark spans. In a group each process has some of the sequences; `span_f1` is for all of them.
    """

    sequences: Encoded
    codes: NDArray[np.int32]
    span_f1: Callable[[NDArray[np.int32]], float] | None = None
    group: Group = ALONE
    gold: list[Any] | None = None  # gold labels as the user gave them

    @once
    def n_sequences(self) -> int:
        """The number of dev sequences of all processes."""
        return self.group.count(len(self.sequences))


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingData:
    """Encoded sequences, their gold label codes and weights, and the settings that every learner has.

    In a group, `sequences`, `codes`, `weights` and `groups` are those of this process; the properties `all_...` and
    `n_...` are about the sequences of all processes.
    """

    encoder: Encoder
    labels: Labels
    sequences: Encoded
    codes: NDArray[np.int32]
    weights: NDArray[np.float64]  # of the sequences
    order: int
    groups: NDArray[np.int64] | None = None  # of the sequences: those of a group are never split apart
    dev: DevData | None = None
    decode: Decode = "viterbi"
    n_threads: int = 1
    beam: float | None = None  # nodes kept at a position, besides gold's, or a bound below 1; None keeps all
    constraints: Constraints | None = None  # which label sequences exist; gold keeps them
    allowed: NDArray[np.bool_] | None = None  # (positions, labels): labels that the softmax of a local model is over
    group: Group = ALONE
    tree_inputs: TreeInputs = field(default_factory=TreeInputs, repr=False)  # shared by all `replace`d copies

    def __post_init__(self) -> None:
        self.topology  # noqa: B018 - refuses an order that is too high, before any work

    @property
    def topology(self) -> Topology:
        return Topology(len(self.labels), self.order, self.constraints)

    @property
    def prunes(self) -> bool:
        """Whether the beam is narrower than the lattice."""
        return self.beam is not None and self.beam < self.topology.n_nodes

    def answers(self, potential: Potential, sequences: Encoded) -> Answers:
        """Inference with a potential over training or dev sequences, under the beam."""
        return potential.answers(sequences, self.topology, beam=self.beam, n_threads=self.n_threads)

    @property
    def position_weights(self) -> NDArray[np.float64]:
        """The weight of each position: that of its sequence."""
        return np.repeat(self.weights, self.sequences.lengths)

    @once
    def n_sequences(self) -> int:
        return self.group.count(len(self.sequences))

    @once
    def n_positions(self) -> int:
        return self.group.count(self.sequences.n_positions)

    @once
    def all_weights(self) -> NDArray[np.float64]:
        """The weights of all sequences."""
        return self.group.concatenated(self.weights)

    @once
    def all_groups(self) -> NDArray[np.int64] | None:
        """The groups of all sequences."""
        return None if self.groups is None else self.group.concatenated(self.groups)

    @once
    def own(self) -> slice:
        """Where the sequences of this process lie among all sequences."""
        return self.group.own(len(self.sequences))

    @once
    def limits(self) -> SumLimits:
        """What bounds sums over the positions of all sequences, without values of attributes."""
        return self.group.merged(SumLimits.of(self))

    @once
    def has_missing(self) -> bool:
        """Whether some value is missing."""
        return self.group.any(any(column.n_missing for column in self.sequences.columns))

    def mean(self, by_sequence: NDArray[np.float64]) -> float:
        """The weighted mean over sequences."""
        values = self.group.concatenated(by_sequence)
        return float((values * self.all_weights).sum() / self.all_weights.sum())

    def per_sequence(self, total: float) -> float:
        """A sum over weighted sequences, divided by their number: the unit of `loss` in the training log."""
        return float(total / self.all_weights.sum())


class Learner(Protocol):
    """Iterating over a learner trains: it yields one record after each step.

    A caller may stop iterating after any record; the potential is then that of the steps done so far.
    """

    def __iter__(self) -> Iterator[Record]: ...

    @property
    def training_log(self) -> list[Record]:
        """Records of an earlier fit that the learner continues; empty for a new fit."""
        ...

    @property
    def potential(self) -> Potential:
        """What has been learned so far; defined after the first record, and when the loop has ended."""
        ...


def edge_counts(training: TrainingData, limits: SumLimits | None = None) -> NDArray[np.float64]:
    """How often gold labels use each cell of the transition table; a sequence counts with its weight.

    With the limits of all parts of the data, the counts of parts add up to those of the whole, bit for bit. In a group
    they are those of all processes.
    """
    topology, starts = training.topology, training.sequences.starts
    weights = (limits or training.limits).rounded_weights(training.weights)
    counts = np.zeros(topology.n_cells)
    for block in sequence_blocks(starts, COUNT_POSITIONS):
        own = starts[block.start : block.stop + 1]
        codes = training.codes[own[0] : own[-1]]
        cells = topology.table_rows(codes, own - own[0]) * topology.n_labels + codes
        counts += np.bincount(cells, np.repeat(weights[block], np.diff(own)), minlength=topology.n_cells)
    return training.group.sum(counts).reshape(topology.n_rows, topology.n_labels)
