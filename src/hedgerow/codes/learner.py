"""The learner of output codes: a round is a bit (MSc thesis, tables 3.2 and 3.3, section 4.1).

Independent bits are learned side by side, those of a cascade one after the other. The length of a cascade, and the
columns of a code that grows, are chosen by accuracy on held-out data: those given to fit, or a share of training, and
then the bits are learned anew from all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from threading import Event
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.codes.bits import Base, BitTrainer, LearnedBit
from hedgerow.codes.cascade import Cascade
from hedgerow.codes.code_words import CodeWords, is_distinct
from hedgerow.codes.distances import Distance, bit_terms, natural_temperature
from hedgerow.codes.growth import confusion, next_column, urgency
from hedgerow.codes.potential import CodePotential, threads_within
from hedgerow.errors import InputError
from hedgerow.inference.decoding import best_labels
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.base import DevData, Record, TrainingData, split_off_dev
from hedgerow.learning.counting import transition_probabilities
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.seeds import stream
from hedgerow.learning.temperature import best_temperature

LENGTHS = (0, 1, 5, 20)  # of cascades that are tried
BITS_TRIED = 40  # of a code, with each length
HELD_SHARE = 0.2
PATIENCE = 10  # bits without a better accuracy before a code stops growing
SMOOTHING = 0.1  # of transitions, as an HMM's
TRUST = 0.4  # in transitions, where bits have read their neighbours too; good on held-out data of three sets
TRUSTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # of which dev data choose
MOST_KEPT = 2**25  # scores of held-out data that are kept up to date bit by bit
WIDEST = 30.0  # a fitted temperature differs from the natural one by at most this factor


@dataclass(frozen=True)
class CodeRules:
    """`words` is None for a code that grows to at most `n_bits` bits."""

    words: CodeWords | None
    n_bits: int
    cascade: int | Literal["all", "auto"]
    left: int
    right: int
    cross: bool
    distance: Distance
    seed: int


class OutputCodeLearner:
    """The learner of OutputCode."""

    def __init__(self, training: TrainingData, base: Base, rules: CodeRules) -> None:
        if rules.words is None and rules.cascade == "auto":
            raise InputError('code="grow" and cascade="auto" cannot both be found at once; give cascade a number')
        if rules.cascade != 0 and rules.left == rules.right == 0:
            raise InputError(
                "a cascade reads positions before or after its own, but cascade_left and cascade_right are 0; "
                "raise one of them"
            )
        self.training, self.base, self.rules = training, base, rules
        self.training_log: list[Record] = []
        self._stop = Event()
        self._lift = _lift(training) if rules.distance == "lattice" else None
        self._trust = 1.0 if base.alone and rules.cascade == 0 else TRUST
        self._words = np.zeros((len(training.labels), 0), np.uint8) if rules.words is None else rules.words
        self._learned: list[LearnedBit] = []
        self._cascade = self._of_length(0)
        self._temperature: float | None = None

    def _of_length(self, length: int) -> Cascade:
        return Cascade(min(length, self.rules.n_bits - 1), self.rules.left, self.rules.right)

    @property
    def potential(self) -> CodePotential:
        """The bits so far; labels whose words differ in later bits alone are not told apart."""
        return self._made(self._words[:, : len(self._learned)], self._learned, self._cascade, self._temperature)

    def _made(
        self, words: CodeWords, learned: list[LearnedBit], cascade: Cascade, temperature: float | None = None
    ) -> CodePotential:
        return CodePotential(
            np.ascontiguousarray(words),
            tuple(bit.potential for bit in learned),
            self.base.order,
            replace(cascade, length=min(cascade.length, len(learned))),
            self.rules.distance,
            temperature or self._natural(words),
            self._table(self._trust),
        )

    def _table(self, trust: float) -> NDArray[np.float32] | None:
        return None if self._lift is None else (trust * self._lift).astype(np.float32)

    def _natural(self, words: CodeWords) -> float:
        """The temperature without better advice: what bits say together of labels is a probability as it is."""
        return 1.0 if self.rules.distance == "lattice" else natural_temperature(words)

    def __iter__(self) -> Iterator[Record]:
        try:
            if self.rules.words is None:
                yield from self._grow()
            else:
                yield from self._learn()
        finally:
            self._stop.set()

    def _trainer(self, training: TrainingData, cascade: Cascade) -> BitTrainer:
        return BitTrainer(training, self.base, cascade, self.rules.cross, self._stop)

    # A code that is known beforehand.

    def _learn(self) -> Iterator[Record]:
        first: Record = {}
        ready: list[LearnedBit] = []
        if self.rules.cascade == "auto":
            self._cascade, first, ready = self._choose_cascade()
        else:
            length = self._words.shape[1] if self.rules.cascade == "all" else int(self.rules.cascade)
            self._cascade = self._of_length(length)
        watch = _DevWatch(self.training, self.rules.distance)
        n_bits = self._words.shape[1]
        for learned in self._bits(ready):
            watch.see(learned, self._words[:, len(self._learned)])
            self._learned.append(learned.forgotten())
            record = {"unit": "bit", "step": len(self._learned), **first, **learned.record}
            if len(self._learned) < n_bits:
                record |= watch.record
            elif self.training.dev is not None:
                record |= self._finish(self.training.dev)
            first = {}
            yield record

    def _bits(self, ready: list[LearnedBit]) -> Iterator[LearnedBit]:
        """The bits in their order, those that are ready first."""
        yield from ready
        trainer = self._trainer(self.training, self._cascade)
        left = range(len(ready), self._words.shape[1])
        if self._cascade.length:
            yield from self._one_after_the_other(trainer, ready, left)
            return
        # Each on one thread: what is learned side by side leaves none to spare.
        learn = partial(trainer.learn, before=(), n_threads=1, is_read=False)
        if self.training.n_threads == 1:
            yield from (learn(bit, self._words[:, bit]) for bit in left)
            return
        pool = ThreadPoolExecutor(self.training.n_threads)
        try:
            yield from pool.map(lambda bit: learn(bit, self._words[:, bit]), left)
        finally:
            self._stop.set()
            pool.shutdown(cancel_futures=True)

    def _one_after_the_other(self, trainer: BitTrainer, ready: list[LearnedBit], left: range) -> Iterator[LearnedBit]:
        threads = threads_within(self.training.n_threads, self.training.sequences)
        done = list(ready)
        for bit in left:
            done.append(trainer.learn(bit, self._words[:, bit], done, threads, bit + 1 < left.stop))
            yield done[-1]
            if bit >= self._cascade.length:
                done[bit - self._cascade.length] = done[bit - self._cascade.length].forgotten()

    def _finish(self, held: DevData) -> Record:
        """Settles what held-out data can tell, and says how the whole code does."""
        settled = self._settle(held)
        return {**Evaluator(self.training).of_potential(self.potential), **settled}

    def _settle(self, held: DevData) -> Record:
        """How far transitions are trusted, by accuracy; then the temperature, by likelihood, near the natural one."""
        potential, training = self.potential, self.training
        natural = self._natural(potential.words)
        if not (held.codes >= 0).any():
            self._temperature = natural
            return {"temperature": natural}
        state = replace(potential, temperature=1.0).scores(held.sequences, training.n_threads).state
        assert state is not None
        make = partial(Lattice, training.topology, held.sequences.starts, n_threads=training.n_threads)
        if self._lift is not None:

            def right(trust: float) -> float:
                lattice = make(state=state, table=self._table(trust))
                return float(np.mean(best_labels(lattice, training.decode) == held.codes))

            self._trust = max(TRUSTS, key=lambda trust: (right(trust), -abs(trust - self._trust)))
        table = self._table(self._trust)
        temperature = best_temperature(lambda t: make(state=state / np.float32(t), table=table), held, natural, WIDEST)
        self._temperature = temperature
        return {"temperature": temperature} | ({} if table is None else {"trust": self._trust})

    # The length of a cascade.

    def _choose_cascade(self) -> tuple[Cascade, Record, list[LearnedBit]]:
        """(the best length, how each did, bits that need not be learned again)"""
        training = self.training
        if training.dev is None:
            training = _held_out(training, self.rules.seed)
        n_bits, threads = min(self._words.shape[1], BITS_TRIED), threads_within(training.n_threads, training.sequences)
        words = self._words[:, :n_bits]
        known: dict[tuple[int, int], LearnedBit] = {}  # by bit and how many it reads: shared by all longer cascades
        scores: dict[int, float] = {}
        chains: dict[int, list[LearnedBit]] = {}
        for length in LENGTHS:
            if length and length >= self._words.shape[1]:
                continue
            trainer = self._trainer(training, self._of_length(length))
            chain: list[LearnedBit] = []
            for bit in range(n_bits):
                key = bit, min(length, bit)
                if key not in known:
                    known[key] = trainer.learn(bit, words[:, bit], chain, threads, True)
                chain.append(known[key])
            chains[length] = chain
            scores[length] = self._accuracy(self._made(words, chain, trainer.cascade), training)
        best = max(scores, key=lambda length: (scores[length], -length))
        told: Record = {"cascade": best, "cascades_tried": {str(length): score for length, score in scores.items()}}
        return self._of_length(best), told, chains[best] if self.training.dev is not None else []

    @staticmethod
    def _accuracy(potential: CodePotential, training: TrainingData) -> float:
        return float(Evaluator(training).of_potential(potential)["dev_accuracy"])

    # A code that grows.

    def _grow(self) -> Iterator[Record]:
        if self.training.dev is None:
            training = _held_out(self.training, self.rules.seed)
            for _ in self._grown(training):
                pass
            self._learned = []
            yield from self._learn()
            return
        yield from self._grown(self.training)
        self._settle(self.training.dev)

    def _grown(self, training: TrainingData) -> Iterator[Record]:
        """Adds bits until the accuracy on held-out data no longer rises; then those after the best are dropped."""
        rules, held = self.rules, training.dev
        assert held is not None
        self._cascade = self._of_length(rules.n_bits if rules.cascade == "all" else int(rules.cascade))
        trainer = self._trainer(training, self._cascade)
        threads = threads_within(training.n_threads, training.sequences)
        rng = stream(rules.seed, 2)
        shares = np.bincount(training.codes, minlength=len(training.labels)) / len(training.codes)
        watch = _DevWatch(training, rules.distance, always=True)
        best, n_best = -1.0, 0
        for n in range(1, rules.n_bits + 1):
            confused = confusion(watch.scores / natural_temperature(self._words), held.codes, shares)
            column = next_column(urgency(confused, self._words), self._words, rules.n_bits + 1 - n, rng)
            if column is None:
                break
            self._learned.append(trainer.learn(n - 1, column, self._learned, threads, self._cascade.length > 0))
            self._words = np.concatenate([self._words, column[:, None]], axis=1)
            watch.see(self._learned[-1], column)
            if watch.accuracy > best and is_distinct(self._words):
                best, n_best = watch.accuracy, n
            yield {"unit": "bit", "step": n, **self._learned[-1].record, "dev_accuracy": watch.accuracy}
            if n_best and n - n_best >= PATIENCE:
                break
        self._words, self._learned = self._words[:, :n_best], self._learned[:n_best]


class _DevWatch:
    """Scores of held-out data, label by label, added up bit by bit: how a code does as it gets longer."""

    def __init__(self, training: TrainingData, distance: Distance, *, always: bool = False) -> None:
        held, k = training.dev, len(training.labels)
        wanted = always or (held is not None and distance != "lattice" and len(held.codes) * k <= MOST_KEPT)
        self._held = held if wanted else None
        self._distance = distance
        self.scores = np.zeros((0 if self._held is None else len(self._held.codes), k))

    def see(self, learned: LearnedBit, column: NDArray[np.uint8]) -> None:
        if self._held is None or learned.held is None:
            return
        if_zero, if_one = bit_terms(learned.held, self._distance)
        self.scores += np.where(column[None, :] == 1, if_one[:, None], if_zero[:, None])

    @property
    def accuracy(self) -> float:
        assert self._held is not None
        return float(np.mean(self.scores.argmax(axis=1) == self._held.codes))

    @property
    def record(self) -> Record:
        return {} if self._held is None else {"dev_accuracy": self.accuracy}


def _held_out(training: TrainingData, seed: int) -> TrainingData:
    """The same training with a share of its sequences held out; raises InputError if there is only one."""
    if len(training.sequences) < 2:
        raise InputError(
            "X_dev and y_dev are needed, or a second sequence that can be held out: this code, or this cascade, is "
            "chosen by how it does on data that it did not learn from"
        )
    return split_off_dev(training, HELD_SHARE, stream(seed, 1).permutation(len(training.sequences)))


def _lift(training: TrainingData) -> NDArray[np.float64]:
    """log P(label | history) / P(label): what previous labels add, for bits know a label's share."""
    probabilities = transition_probabilities(training, SMOOTHING)
    shares = transition_probabilities(replace(training, order=0), SMOOTHING)
    lift: NDArray[np.float64] = np.log(probabilities / shares)
    return lift
