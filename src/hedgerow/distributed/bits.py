"""The fit of an output code on workers: its bits are independent fits, and each worker has all data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.codes.bits import BitLearnerFactory, BitTrainer, TrainedBit, TrainingStopped
from hedgerow.codes.cascade import Cascade
from hedgerow.distributed.tasks import IsDue, WorkerTasks
from hedgerow.learning.base import TrainingData
from hedgerow.potentials.base import Stored
from hedgerow.potentials.registry import restore

if TYPE_CHECKING:
    from hedgerow.codes.learner import BitTask, OutputCodeLearner, TrainBits
    from hedgerow.estimators.base import Estimator


@dataclass(frozen=True, eq=False, kw_only=True)
class SharedByBits:
    """What the fits of all bits need; sent to every worker once."""

    training: TrainingData
    factory: BitLearnerFactory
    cascade: Cascade


@dataclass(frozen=True, eq=False)
class StoredBit:
    """A trained bit as it travels: its potential as metadata and arrays of a model file."""

    metadata: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    rest: dict[str, Any]


@dataclass(frozen=True)
class StopOfTask:
    """The stop of a bit on a worker: set when its task is cancelled."""

    is_set: Callable[[], bool]


def code_learner(settings: Estimator, training: TrainingData, client: Any) -> OutputCodeLearner:
    """The learner of an OutputCode that trains independent bits on workers; bits of a cascade are trained here."""
    from hedgerow.codes.learner import OutputCodeLearner

    learner = settings._learner(training, None)
    assert isinstance(learner, OutputCodeLearner)
    learner.train_bits = bits_on_workers(client)
    return learner


def bits_on_workers(client: Any) -> TrainBits:
    """A function that trains the bits of a code without cascade on the workers of a client, to the same bits."""

    def train(trainer: BitTrainer, tasks: Sequence[BitTask]) -> Iterator[TrainedBit]:
        training = trainer.training
        if training.dev is not None:  # spans are no matter of bits, and the function may not be picklable
            training = replace(training, dev=replace(training.dev, span_f1=None))
        shared = SharedByBits(training=training, factory=trainer.factory, cascade=trainer.cascade)
        for stored in WorkerTasks(client, shared).run(train_bit, tasks, trainer.stop.is_set):
            if stored is None:
                raise TrainingStopped
            yield _restored(stored, trainer)

    return train


def train_bit(shared: SharedByBits, task: BitTask, is_due: IsDue) -> StoredBit | None:
    """One bit, trained on a worker with one thread; None if the fit was stopped."""
    bit, column = task
    trainer = BitTrainer(
        training=shared.training,
        factory=shared.factory,
        cascade=shared.cascade,
        out_of_fold=False,  # no later bit reads this one
        stop=StopOfTask(is_due),
    )
    try:
        trained = trainer.train(bit, column, earlier=(), n_threads=1, is_read=False)
    except TrainingStopped:
        return None
    metadata, arrays = trained.potential.to_arrays()
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    rest = {"summary": trained.summary, "dev_probabilities": trained.dev_probabilities}
    return StoredBit({"kind": trained.potential.kind, **metadata}, arrays, rest)


def _restored(stored: StoredBit, trainer: BitTrainer) -> TrainedBit:
    potential = restore(Stored(stored.metadata, stored.arrays, trainer.training.encoder, 2, trainer.factory.order))
    return TrainedBit(potential=potential, **stored.rest)
