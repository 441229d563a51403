"""What a learner is given and what it offers: it is the loop over rounds, and has a potential after each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import Encoder, Labels
from hedgerow.encoding.encoded import Encoded
from hedgerow.inference.answers import Answers
from hedgerow.inference.decoding import Decode, best_labels, log_likelihood
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.tree_inputs import TreeInputs
from hedgerow.potentials.base import Potential
from hedgerow.topology import Topology

Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class DevData:
    """Held-out data; a code of -1 is a label that training never saw."""

    sequences: Encoded
    codes: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Encoded sequences, label codes, a weight for each sequence, perhaps held-out data."""

    encoder: Encoder
    labels: Labels
    sequences: Encoded
    codes: NDArray[np.int32]
    weights: NDArray[np.float64]
    order: int
    held: DevData | None = None
    decode: Decode = "viterbi"
    n_threads: int = 1
    beam: int | None = None  # nodes of a position that are kept, and gold's; None keeps all
    tree_inputs: TreeInputs = field(default_factory=TreeInputs, repr=False)  # shared by all `replace`d copies

    def __post_init__(self) -> None:
        self.topology  # noqa: B018 - an order that is too high is refused here, before any work

    @property
    def topology(self) -> Topology:
        return Topology(len(self.labels), self.order)

    @property
    def prunes(self) -> bool:
        """Whether the beam is narrower than the lattice."""
        return self.beam is not None and self.beam < self.topology.n_nodes

    def answers(self, potential: Potential, sequences: Encoded) -> Answers:
        """Inference with a potential over training or dev sequences, under the beam."""
        return potential.answers(sequences, self.topology, beam=self.beam, n_threads=self.n_threads)

    def held_out(self, potential: Potential) -> Record:
        """How the potential does on the held-out data; nothing if there are none."""
        if self.held is None:
            return {}
        return dev_scores(self.answers(potential, self.held.sequences), self.held, self.decode)

    @property
    def position_weights(self) -> NDArray[np.float64]:
        return np.repeat(self.weights, self.sequences.lengths)

    def mean(self, by_sequence: NDArray[np.float64]) -> float:
        """The weighted mean over sequences."""
        return float((by_sequence * self.weights).sum() / self.weights.sum())


def split_off_dev(training: TrainingData, share: float, drawn: NDArray[np.integer[Any]]) -> TrainingData:
    """The same training with a share of its sequences held out, at least one; there must be two or more.

    They are the first that were drawn. Those that are left count alike where all their weights would be 0, for
    something has to be learned.
    """
    sequences, n = training.sequences, len(training.sequences)
    away = np.zeros(n, np.bool_)
    away[drawn[: max(1, round(share * n))]] = True
    at = np.repeat(away, sequences.lengths)
    weights = training.weights[~away]
    return replace(
        training,
        sequences=sequences[~away],
        codes=training.codes[~at],
        weights=weights if weights.any() else np.ones(len(weights)),
        held=DevData(sequences[away], training.codes[at]),
    )


class Learner(Protocol):
    """Iterating does the work, a record for each round; stopping early leaves the rounds done so far."""

    def __iter__(self) -> Iterator[Record]: ...

    @property
    def history(self) -> list[Record]:
        """The rounds that it goes on from; empty if it starts from nothing."""
        ...

    @property
    def potential(self) -> Potential:
        """What has been learned so far; asked for only when there is a round, or the loop has ended."""
        ...


def dev_scores(answers: Answers, held: DevData, decode: Decode) -> Record:
    """How a model does on held-out data."""
    return dev_record(best_labels(answers, decode), log_likelihood(answers, held.codes), held)


def dev_record(found: NDArray[np.int32], likelihood: NDArray[np.float64], held: DevData) -> Record:
    """Accuracy, and mean log-likelihood of the sequences without unseen labels (None if there are none)."""
    known = likelihood > -np.inf
    return {
        "dev_accuracy": float(np.mean(found == held.codes)),
        "dev_log_likelihood": float(likelihood[known].mean()) if known.any() else None,
    }


def edge_counts(training: TrainingData) -> NDArray[np.float64]:
    """How often gold takes each edge of the table, sequences times their weights."""
    topology = training.topology
    certain = np.full((training.sequences.n_positions, topology.n_labels), -np.inf, dtype=np.float32)
    certain[np.arange(len(training.codes)), training.codes] = 0
    return Lattice(topology, training.sequences.starts, state=certain).summed_pairs(training.weights)[2]


def by_depth(starts: NDArray[np.int64], order: int) -> list[NDArray[np.int64]]:
    """The positions that have 0, 1, ... labels before them in their sequence; `order` of them or more come last."""
    depth = np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts))
    return [np.flatnonzero(depth == m if m < order else depth >= m) for m in range(order + 1)]
