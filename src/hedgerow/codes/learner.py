"""The learner of output codes: a step is a bit (MSc thesis, tables 3.2 and 3.3, section 4.1).

Independent bits are trained in parallel, the bits of a cascade one after the other. The length of a cascade and the
columns of a growing code are chosen by dev accuracy. Without dev data a share of the training sequences is split off
for the choice, and then all bits are trained again on all sequences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from threading import Event
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.codes.bits import BitLearnerFactory, BitTrainer, TrainedBit
from hedgerow.codes.calibration import DEFAULT_TRANSITION_WEIGHT, Calibration, transition_log_ratios
from hedgerow.codes.cascade import Cascade
from hedgerow.codes.code_words import CodeWords, is_distinct
from hedgerow.codes.dev_scores import RunningDevScores
from hedgerow.codes.distances import Distance, natural_temperature
from hedgerow.codes.growth import confusion, next_column, urgency
from hedgerow.codes.potential import CodePotential, threads_for_one_bit
from hedgerow.errors import InputError
from hedgerow.learning.base import DevData, Record, TrainingData
from hedgerow.learning.early_stopping import EarlyStopper, Stopping
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.folds import split_off_dev
from hedgerow.learning.seeds import stream

#: (number of the bit, 1 for the labels that it separates from the others)
BitTask: TypeAlias = tuple[int, NDArray[np.uint8]]
#: Trains independent bits elsewhere than in threads of this process, and returns them in order.
TrainBits: TypeAlias = Callable[[BitTrainer, Sequence[BitTask]], Iterator[TrainedBit]]

CASCADE_LENGTHS = (0, 1, 5, 20)  # the lengths that cascade="auto" tries
BITS_PER_TRIAL = 40  # bits of the code that are trained to compare these lengths


@dataclass(frozen=True, kw_only=True)
class CodeRules:
    """The parameters of an output code; `code_words` is None for a code that grows to at most `n_bits` bits."""

    code_words: CodeWords | None
    n_bits: int
    cascade: int | Literal["all", "auto"]
    cascade_left: int
    cascade_right: int
    out_of_fold: bool  # later bits of a cascade learn from out-of-fold predictions
    distance: Distance
    patience: int  # bits without a better dev accuracy before a code stops growing
    validation_fraction: float
    seed: int


class OutputCodeLearner:
    """The learner of OutputCode."""

    def __init__(self, training: TrainingData, factory: BitLearnerFactory, rules: CodeRules) -> None:
        if rules.code_words is None and rules.cascade == "auto":
            raise InputError('code="grow" cannot be combined with cascade="auto"; set cascade to a number')
        if rules.cascade != 0 and rules.cascade_left == rules.cascade_right == 0:
            raise InputError(
                "a cascade reads positions before or after its own, but cascade_left and cascade_right are 0; raise one"
            )
        self.training, self.factory, self.rules = training, factory, rules
        self.training_log: list[Record] = []
        self._stop = Event()
        self.train_bits: TrainBits | None = None  # None trains independent bits in threads
        reads_neighbours = factory.reads_neighbours or rules.cascade != 0
        self._calibration = Calibration(
            transition_log_ratios(training) if rules.distance == "lattice" else None,
            DEFAULT_TRANSITION_WEIGHT if reads_neighbours else 1.0,
        )
        nothing = np.zeros((len(training.labels), 0), np.uint8)
        self._code_words = nothing if rules.code_words is None else rules.code_words
        self._trained: list[TrainedBit] = []
        self._cascade = self._cascade_of(0)

    def _cascade_of(self, length: int) -> Cascade:
        return Cascade(min(length, self.rules.n_bits - 1), self.rules.cascade_left, self.rules.cascade_right)

    @property
    def potential(self) -> CodePotential:
        """The code of the bits so far; labels whose code words differ only in later bits have equal scores."""
        code_words = self._code_words[:, : len(self._trained)]
        return self._potential(code_words, self._trained, self._cascade, self._calibration)

    @property
    def progress(self) -> tuple[int, int]:
        """(number of bits learned, number of bits of the code); a code may grow until its code words are distinct."""
        n_learned, n_known = len(self._trained), self._code_words.shape[1]
        grows = self.rules.code_words is None and n_learned == n_known
        return n_learned, self.rules.n_bits if grows and not is_distinct(self._code_words) else n_known

    def _potential(
        self, code_words: CodeWords, trained: list[TrainedBit], cascade: Cascade, calibration: Calibration
    ) -> CodePotential:
        return CodePotential(
            code_words=np.ascontiguousarray(code_words),
            bits=tuple(bit.potential for bit in trained),
            bit_order=self.factory.order,
            cascade=replace(cascade, length=min(cascade.length, len(trained))),
            distance=self.rules.distance,
            temperature=calibration.temperature or self._natural_temperature(code_words),
            table=calibration.table,
        )

    def _natural_temperature(self, code_words: CodeWords) -> float:
        """The temperature without dev data: 1 for the lattice, whose scores are log-probabilities already."""
        return 1.0 if self.rules.distance == "lattice" else natural_temperature(code_words)

    def __iter__(self) -> Iterator[Record]:
        try:
            yield from self._grow() if self.rules.code_words is None else self._train()
        finally:
            self._stop.set()

    def _trainer(self, training: TrainingData, cascade: Cascade) -> BitTrainer:
        return BitTrainer(
            training=training,
            factory=self.factory,
            cascade=cascade,
            out_of_fold=self.rules.out_of_fold,
            stop=self._stop,
        )

    # A code whose code words are known.

    def _train(self) -> Iterator[Record]:
        choice: Record = {}
        ready: list[TrainedBit] = []
        if self.rules.cascade == "auto":
            self._cascade, choice, ready = self._choose_cascade()
        else:
            length = self._code_words.shape[1] if self.rules.cascade == "all" else int(self.rules.cascade)
            self._cascade = self._cascade_of(length)
        running = RunningDevScores(self.training, self.rules.distance)
        for bit in self._trained_bits(ready):
            running.add(bit, self._code_words[:, len(self._trained)])
            self._trained.append(bit.without_predictions())
            is_last = len(self._trained) == self._code_words.shape[1]
            dev_record = self._calibrate() if is_last else running.record
            yield {"unit": "bit", "step": len(self._trained), **bit.summary, **choice, **dev_record}
            choice = {}

    def _trained_bits(self, ready: list[TrainedBit]) -> Iterator[TrainedBit]:
        """All bits in order; those in `ready` come first and are not trained again."""
        yield from ready
        trainer = self._trainer(self.training, self._cascade)
        remaining = range(len(ready), self._code_words.shape[1])
        if self._cascade.length:
            yield from self._trained_in_cascade(trainer, ready, remaining)
            return
        if self.train_bits is not None:
            yield from self.train_bits(trainer, [(bit, self._code_words[:, bit]) for bit in remaining])
            return
        # One thread for each bit: bits that are trained in parallel leave no thread to spare.
        train = partial(trainer.train, earlier=(), n_threads=1, is_read=False)
        if self.training.n_threads == 1:
            yield from (train(bit, self._code_words[:, bit]) for bit in remaining)
            return
        pool = ThreadPoolExecutor(self.training.n_threads)
        try:
            yield from pool.map(lambda bit: train(bit, self._code_words[:, bit]), remaining)
        finally:
            self._stop.set()
            pool.shutdown(cancel_futures=True)

    def _trained_in_cascade(
        self, trainer: BitTrainer, ready: list[TrainedBit], remaining: range
    ) -> Iterator[TrainedBit]:
        threads = threads_for_one_bit(self.training.n_threads, self.training.sequences)
        trained = list(ready)
        for bit in remaining:
            is_read = bit + 1 < remaining.stop
            trained.append(trainer.train(bit, self._code_words[:, bit], trained, threads, is_read))
            yield trained[-1]
            if bit >= self._cascade.length:
                no_longer_read = bit - self._cascade.length
                trained[no_longer_read] = trained[no_longer_read].without_predictions()

    def _calibrate(self) -> Record:
        """Fit the calibration on the dev data; return the dev scores of the whole code."""
        if self.training.dev is None:
            return {}
        self._fit_calibration(self.training.dev)
        return {**Evaluator(self.training).of_potential(self.potential), **self._calibration.record}

    def _fit_calibration(self, dev: DevData) -> None:
        potential = self.potential
        natural = self._natural_temperature(potential.code_words)
        self._calibration = self._calibration.fitted(potential, natural, self.training, dev)

    # The length of a cascade.

    def _choose_cascade(self) -> tuple[Cascade, Record, list[TrainedBit]]:
        """(the cascade with the best dev accuracy, a record of the choice, bits that need no second training)"""
        training = self._with_dev_data()
        n_bits = min(self._code_words.shape[1], BITS_PER_TRIAL)
        threads = threads_for_one_bit(training.n_threads, training.sequences)
        code_words = self._code_words[:, :n_bits]
        known: dict[tuple[int, int], TrainedBit] = {}  # by bit and number of bits it reads, which cascades share
        accuracies: dict[int, float] = {}
        chains: dict[int, list[TrainedBit]] = {}
        for length in CASCADE_LENGTHS:
            if length and length >= self._code_words.shape[1]:
                continue
            trainer = self._trainer(training, self._cascade_of(length))
            chain: list[TrainedBit] = []
            for bit in range(n_bits):
                key = bit, min(length, bit)
                if key not in known:
                    known[key] = trainer.train(bit, code_words[:, bit], chain, threads, True)
                chain.append(known[key])
            chains[length] = chain
            potential = self._potential(code_words, chain, trainer.cascade, self._calibration)
            accuracies[length] = float(Evaluator(training).of_potential(potential)["dev_accuracy"])
        best = max(accuracies, key=lambda length: (accuracies[length], -length))
        choice: Record = {"cascade": best, "cascades_tried": {str(length): one for length, one in accuracies.items()}}
        return self._cascade_of(best), choice, chains[best] if self.training.dev is not None else []

    # A growing code.

    def _grow(self) -> Iterator[Record]:
        if self.training.dev is None:
            for _ in self._grown(self._with_dev_data()):
                pass
            self._trained = []
            yield from self._train()
            return
        yield from self._grown(self.training)
        self._fit_calibration(self.training.dev)

    def _grown(self, training: TrainingData) -> Iterator[Record]:
        """Add bits until the dev accuracy no longer rises, then drop the bits after the best."""
        rules, dev = self.rules, training.dev
        assert dev is not None
        self._cascade = self._cascade_of(rules.n_bits if rules.cascade == "all" else int(rules.cascade))
        trainer = self._trainer(training, self._cascade)
        threads = threads_for_one_bit(training.n_threads, training.sequences)
        rng = stream(rules.seed, 2)
        shares = np.bincount(training.codes, minlength=len(training.labels)) / len(training.codes)
        running = RunningDevScores(training, rules.distance, always=True)
        stopper = EarlyStopper(Stopping("accuracy", rules.patience))
        for n in range(1, rules.n_bits + 1):
            confused = confusion(running.scores / natural_temperature(self._code_words), dev.codes, shares)
            column = next_column(urgency(confused, self._code_words), self._code_words, rules.n_bits + 1 - n, rng)
            if column is None:
                break
            self._trained.append(trainer.train(n - 1, column, self._trained, threads, self._cascade.length > 0))
            self._code_words = np.concatenate([self._code_words, column[:, None]], axis=1)
            running.add(self._trained[-1], column)
            stopper.see(running.record if is_distinct(self._code_words) else {})
            yield {"unit": "bit", "step": n, **self._trained[-1].summary, **running.record}
            if stopper.best_step and stopper.is_over:
                break
        self._code_words, self._trained = self._code_words[:, : stopper.best_step], self._trained[: stopper.best_step]

    def _with_dev_data(self) -> TrainingData:
        """The training data with dev data; raises InputError if there are none and no sequence can be split off."""
        training, rules = self.training, self.rules
        if training.dev is not None:
            return training
        n = len(training.sequences)
        if n < 2:
            raise InputError(
                'code="grow" and cascade="auto" are chosen on dev data, but X has only one sequence to split; '
                "pass X_dev and y_dev"
            )
        return split_off_dev(training, rules.validation_fraction, stream(rules.seed, 1).permutation(n))
