"""Training the bits of a code: each bit is a problem with two labels, 0 and 1, on the same sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Protocol

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

N_FOLDS = 3  # of out-of-fold predictions
ZERO_AND_ONE = Labels(np.array([0, 1]))


class TrainingStopped(Exception):  # noqa: N818 - not an error
    """Raised in the thread of a bit when the whole fit has been stopped."""


class Stop(Protocol):
    """Says whether training must end; a `threading.Event` is one."""

    def is_set(self) -> bool: ...


class BitLearnerFactory(Protocol):
    """Creates a learner for each bit, and describes the model that these learners train."""

    @property
    def order(self) -> int:
        """The order of a bit's lattice."""
        ...

    @property
    def decode(self) -> Decode:
        """How a bit is decoded when its dev accuracy is computed."""
        ...

    @property
    def reads_neighbours(self) -> bool:
        """Whether a bit sees other positions: their attributes through a window, or their bits in a lattice."""
        ...

    def learner(self, training: TrainingData, bit: int) -> Learner:
        """The learner of a bit, on sequences labelled 0 and 1."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainedBit:
    """The potential of a bit, a summary of its training log, and its predictions where others need them."""

    potential: Potential
    summary: Record
    dev_probabilities: NDArray[np.floating[Any]] | None = None  # P(the bit is 1) by dev position
    columns: Columns = ()  # for later bits of a cascade, on training data
    dev_columns: Columns = ()

    def without_predictions(self) -> TrainedBit:
        """The bit without its arrays by position, to save memory."""
        return TrainedBit(potential=self.potential, summary=self.summary)


@dataclass(frozen=True, eq=False, kw_only=True)
class BitTrainer:
    """Trains bits on one set of encoded sequences. `stop` ends the training under way after its current step."""

    training: TrainingData
    factory: BitLearnerFactory
    cascade: Cascade
    out_of_fold: bool  # later bits learn from out-of-fold predictions, not from predictions on the training data
    stop: Stop

    def train(
        self, bit: int, column: NDArray[np.uint8], earlier: Sequence[TrainedBit], n_threads: int, is_read: bool
    ) -> TrainedBit:
        """Train the bit that is 1 for the labels with a 1 in `column`; `is_read`: later bits read its predictions."""
        read = [earlier[i] for i in self.cascade.read_by(bit)]
        training = self._two_label_problem(bit, column, read, n_threads)
        potential, summary = self._run(training, bit)
        dev = training.dev
        dev_probabilities = None if dev is None else self._predict(potential, dev.sequences, n_threads)
        if not is_read:
            return TrainedBit(potential=potential, summary=summary, dev_probabilities=dev_probabilities)
        if self.out_of_fold:
            predicted = self._out_of_fold_predictions(training, bit, [one.columns for one in read])
        else:
            predicted = self._predict(potential, training.sequences, n_threads) > 0.5
        dev_columns: Columns = ()
        if dev is not None and dev_probabilities is not None:
            dev_columns = self.cascade.columns(bit, dev_probabilities > 0.5, dev.sequences.starts)
        columns = self.cascade.columns(bit, predicted, training.sequences.starts)
        return TrainedBit(
            potential=potential,
            summary=summary,
            dev_probabilities=dev_probabilities,
            columns=columns,
            dev_columns=dev_columns,
        )

    def _two_label_problem(
        self, bit: int, column: NDArray[np.uint8], read: Sequence[TrainedBit], n_threads: int
    ) -> TrainingData:
        """The training data with the bit as label, and the predictions of the bits that it reads as further columns."""
        whole, bits, dev = self.training, column.astype(np.int32), None
        if whole.dev is not None:
            codes = np.where(whole.dev.codes < 0, np.int32(-1), bits[whole.dev.codes])
            dev_columns = chain.from_iterable(one.dev_columns for one in read)
            dev = DevData(whole.dev.sequences.with_columns(dev_columns), codes)
        return replace(
            whole,
            encoder=self.cascade.encoder(whole.encoder, bit),
            labels=ZERO_AND_ONE,
            sequences=whole.sequences.with_columns(chain.from_iterable(one.columns for one in read)),
            codes=bits[whole.codes],
            order=self.factory.order,
            decode=self.factory.decode,
            dev=dev,
            n_threads=n_threads,
            constraints=None,
        )

    def _run(self, training: TrainingData, bit: int) -> tuple[Potential, Record]:
        learner = self.factory.learner(training, bit)
        n_steps, last = 0, {}
        for last in learner:  # noqa: B007 - the last record is used
            n_steps += 1
            if self.stop.is_set():
                raise TrainingStopped
        summary: Record = {"loss": last.get("loss"), "bit_steps": n_steps}
        if "dev_accuracy" in last:
            summary["bit_dev_accuracy"] = last["dev_accuracy"]
        return learner.potential, summary

    def _predict(self, potential: Potential, sequences: Encoded, n_threads: int) -> NDArray[np.floating[Any]]:
        return bit_probabilities(potential, self.factory.order, sequences, n_threads)

    def _out_of_fold_predictions(
        self, training: TrainingData, bit: int, columns: Sequence[Columns]
    ) -> NDArray[np.bool_]:
        """The bit that is predicted for each sequence by a model trained on the other folds."""
        predicted = np.empty(training.sequences.n_positions, np.bool_)
        for rest, fold in self._folds:
            of_rest = replace(
                training,
                sequences=rest.with_columns(columns),
                codes=training.codes[rest.positions],
                weights=rest.weights(training),
            )
            potential, _ = self._run(of_rest, bit)
            probabilities = self._predict(potential, fold.with_columns(columns), training.n_threads)
            predicted[fold.positions] = probabilities > 0.5
        return predicted

    @cached_property
    def _folds(self) -> list[tuple[SequenceSubset, SequenceSubset]]:
        """(the sequences to train on, the sequences to predict) of each fold."""
        sequences = self.training.sequences
        n = min(N_FOLDS, len(sequences))
        if n < 2:
            raise InputError(
                'cascade_predictions="cross" trains on some sequences and predicts others, but there is only one; '
                'use "training"'
            )
        fold_of = np.arange(len(sequences)) % n
        return [
            (SequenceSubset.where(sequences, fold_of != i), SequenceSubset.where(sequences, fold_of == i))
            for i in range(n)
        ]


@dataclass(frozen=True, eq=False)
class SequenceSubset:
    """Some of the training sequences."""

    index: NDArray[np.int64]
    positions: NDArray[np.int64]
    plain: Encoded  # without the columns of a cascade

    @classmethod
    def where(cls, sequences: Encoded, chosen: NDArray[np.bool_]) -> SequenceSubset:
        index = np.flatnonzero(chosen)
        positions = ranges(sequences.starts[index], sequences.lengths[index])
        return cls(index, positions, sequences[index])

    def weights(self, training: TrainingData) -> NDArray[np.float64]:
        """The weights of these sequences; all 1 if all would be 0, because there must be something to learn from."""
        weights = training.weights[self.index]
        return weights if weights.any() else np.ones(len(weights))

    def with_columns(self, columns: Sequence[Columns]) -> Encoded:
        """These sequences with further columns; `columns` has values for all training sequences."""
        return self.plain.with_columns(column.take(self.positions) for column in chain.from_iterable(columns))
