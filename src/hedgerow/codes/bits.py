"""Learning the bits of a code: each is a problem of two labels on the same sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.codes.cascade import Cascade, Columns
from hedgerow.codes.potential import bit_probabilities
from hedgerow.data.ragged import ranges
from hedgerow.encoding import Labels
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.inference.decoding import Decode
from hedgerow.learning.base import DevData, Learner, Record, TrainingData
from hedgerow.potentials.base import Potential

FOLDS = 3
ZERO_OR_ONE = Labels(np.array([0, 1]))

#: The learner of a bit, by its number, on sequences labelled 0 and 1.
MakeLearner = Callable[[TrainingData, int], Learner]


class Stopped(Exception):  # noqa: N818 - nothing is wrong
    """A bit was given up because the whole fit was."""


@dataclass(frozen=True)
class Base:
    """What learns a bit: the order and decoding of its lattice, and its learner; `alone` if it knows no neighbours."""

    order: int
    decode: Decode
    learner: MakeLearner
    alone: bool


@dataclass(frozen=True, eq=False)
class LearnedBit:
    """A potential and how its learning went; what it says of the held-out data; and what later bits read of it."""

    potential: Potential
    record: Record
    held: NDArray[np.floating[Any]] | None
    columns: Columns
    held_columns: Columns

    def forgotten(self) -> LearnedBit:
        """Without what was said of the data, which is as long as they are."""
        return LearnedBit(self.potential, self.record, None, (), ())


@dataclass(frozen=True, eq=False)
class BitTrainer:
    """Learns bits on one training set, encoded once. `stop` ends what is under way, after the round."""

    training: TrainingData
    base: Base
    cascade: Cascade
    cross: bool
    stop: Event

    def learn(
        self, bit: int, column: NDArray[np.uint8], before: Sequence[LearnedBit], n_threads: int, is_read: bool
    ) -> LearnedBit:
        """The bit whose labels with a 1 are those of the column; `is_read`: later bits read what it predicts."""
        seen = [before[i] for i in self.cascade.read_by(bit)]
        training = self._problem(bit, column, seen, n_threads)
        potential, record = self._run(training, bit)
        held = training.dev
        told = None if held is None else self._ask(potential, held.sequences, n_threads)
        if not is_read:
            return LearnedBit(potential, record, told, (), ())
        if self.cross:
            predicted = self._out_of_fold(training, bit, [earlier.columns for earlier in seen])
        else:
            predicted = self._ask(potential, training.sequences, n_threads) > 0.5
        columns = self.cascade.columns(bit, predicted, training.sequences.starts)
        if held is None or told is None:
            return LearnedBit(potential, record, told, columns, ())
        return LearnedBit(
            potential, record, told, columns, self.cascade.columns(bit, told > 0.5, held.sequences.starts)
        )

    def _problem(self, bit: int, column: NDArray[np.uint8], seen: Sequence[LearnedBit], n_threads: int) -> TrainingData:
        """The same sequences, labelled by the bit, with what the bits that it sees predict as more columns."""
        whole, bits, held = self.training, column.astype(np.int32), None
        if whole.dev is not None:
            codes = np.where(whole.dev.codes < 0, np.int32(-1), bits[whole.dev.codes])
            held = DevData(
                whole.dev.sequences.with_columns(chain.from_iterable(earlier.held_columns for earlier in seen)), codes
            )
        return replace(
            whole,
            encoder=self.cascade.encoder(whole.encoder, bit),
            labels=ZERO_OR_ONE,
            sequences=whole.sequences.with_columns(chain.from_iterable(earlier.columns for earlier in seen)),
            codes=bits[whole.codes],
            order=self.base.order,
            decode=self.base.decode,
            dev=held,
            n_threads=n_threads,
        )

    def _run(self, training: TrainingData, bit: int) -> tuple[Potential, Record]:
        learner = self.base.learner(training, bit)
        rounds, last = 0, {}
        for last in learner:  # noqa: B007 - the last of them is kept
            rounds += 1
            if self.stop.is_set():
                raise Stopped
        record: Record = {"rounds": rounds}
        if "loss" in last:
            record["loss"] = last["loss"]
        if "dev_accuracy" in last:
            record["bit_dev_accuracy"] = last["dev_accuracy"]
        return learner.potential, record

    def _ask(self, potential: Potential, sequences: Encoded, n_threads: int) -> NDArray[np.floating[Any]]:
        return bit_probabilities(potential, self.base.order, sequences, n_threads)

    def _out_of_fold(self, training: TrainingData, bit: int, columns: Sequence[Columns]) -> NDArray[np.bool_]:
        """What a bit predicts for each sequence when it learns from the other folds."""
        predicted = np.empty(training.sequences.n_positions, np.bool_)
        for rest, fold in self._folds:
            part = replace(
                training,
                sequences=rest.with_columns(columns),
                codes=training.codes[rest.positions],
                weights=rest.weights(training),
            )
            potential, _ = self._run(part, bit)
            asked = self._ask(potential, fold.with_columns(columns), training.n_threads)
            predicted[fold.positions] = asked > 0.5
        return predicted

    @cached_property
    def _folds(self) -> list[tuple[Part, Part]]:
        """(what is learned from, what is asked) of each fold."""
        sequences = self.training.sequences
        n = min(FOLDS, len(sequences))
        if n < 2:
            raise InputError(
                'cascade_predictions="cross" learns from some sequences what others read, but there is only one; '
                'take "training"'
            )
        fold_of = np.arange(len(sequences)) % n
        return [(Part.of_index(sequences, fold_of != i), Part.of_index(sequences, fold_of == i)) for i in range(n)]


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the sequences."""

    index: NDArray[np.int64]
    positions: NDArray[np.int64]
    plain: Encoded  # without the columns of a cascade: taken once

    @classmethod
    def of_index(cls, sequences: Encoded, chosen: NDArray[np.bool_]) -> Part:
        index = np.flatnonzero(chosen)
        positions = ranges(sequences.starts[index], sequences.lengths[index])
        return cls(index, positions, sequences[index])

    def weights(self, training: TrainingData) -> NDArray[np.float64]:
        """Of these sequences; all 1 where all would be 0, for something has to be learned."""
        weights = training.weights[self.index]
        return weights if weights.any() else np.ones(len(weights))

    def with_columns(self, columns: Sequence[Columns]) -> Encoded:
        """These sequences with columns that all have."""
        return self.plain.with_columns(column.take(self.positions) for column in chain.from_iterable(columns))
