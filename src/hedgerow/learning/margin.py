"""Learning from best paths, one sequence after the other: the structured perceptron and the structured SVM.

Perceptron (Collins 2002): where the best path z is not gold y, w <- w + Phi(x, y) - Phi(x, z). Gold must win outright:
in a tie, which the least change of the weights would decide, the wrong path counts as the best.

SVM (Pegasos): example t shrinks w by 1 - 1/t; z is the best path when wrong ones are favoured by their loss, and where
z is not y, w <- w + (N C / 2t) (Phi(x, y) - Phi(x, z)). So w is always N C / 2t times a sum V of such differences, and
that sum is what is kept: the SVM is a perceptron whose wrong paths are favoured by 2t / (N C) times their loss. It
minimises 1/2 |w|^2 + C/2 (sum over sequences of max over z of loss(y, z) - w (Phi(x, y) - Phi(x, z))).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.errors import InputError
from hedgerow.learning.base import DevData, Record, TrainingData
from hedgerow.learning.epochs import epoch_orders, lattices
from hedgerow.learning.likelihood import LinearSpace
from hedgerow.learning.temperature import tempered
from hedgerow.potentials.linear import Features, LinearPotential
from hedgerow.potentials.votes import VotedPotential

Averaging = Literal["average", "vote", "none"]
Loss = Literal["hamming", "zero-one"]

TIE = 2.0**-10  # by which a perceptron favours wrong labels


@dataclass(frozen=True)
class MarginRules:
    """`C` is None for a perceptron, which knows no loss."""

    window: int
    epochs: int
    averaging: Averaging
    random_state: int | None
    min_freq: int = 1
    early_update: bool = False
    C: float | None = None
    loss: Loss = "hamming"


class MarginLearner:
    """The learner of StructuredPerceptron and StructuredSVM."""

    def __init__(self, training: TrainingData, rules: MarginRules) -> None:
        self.training, self.rules = training, rules
        self._space = LinearSpace.bare(training, rules.window, all_transitions=True)
        self._rows = self._space.rows(training)
        anything = np.zeros_like(training.codes)
        often = Features.observed(self._rows, anything, 1, min_freq=rules.min_freq)
        n_examples = int(np.count_nonzero(training.weights))
        self._bound = 0.0 if rules.C is None else n_examples * rules.C  # of an SVM: N C
        self._trainer = _core.MarginTrainer(
            self._rows.reader, training.codes, training.weights, np.diff(often.starts) > 0,
            len(training.labels), training.order, bias=bool(self._space.scalings), hamming=rules.loss == "hamming",
            margin=0.0 if self._bound else TIE, growth=2 / self._bound if self._bound else 0.0,
            beam=(training.beam or 0) if training.prunes else 0, early=rules.early_update,
            summed=rules.averaging == "average", recorded=rules.averaging == "vote",
        )  # fmt: skip
        self._made: LinearPotential | VotedPotential | None = None  # of the examples seen so far

    @property
    def history(self) -> list[Record]:
        return []

    @property
    def potential(self) -> LinearPotential | VotedPotential:
        if self._made is None:
            self._made = self._voted() if self.rules.averaging == "vote" else self._linear()
        return self._made

    def __iter__(self) -> Iterator[Record]:
        rules, training = self.rules, self.training
        for epoch, order in enumerate(epoch_orders(training, rules.random_state), 1):
            self._made = None
            mistakes = self._trainer.epoch(order)
            converged = rules.C is None and mistakes == 0
            if converged:  # the epochs that are left would change nothing, but count
                self._trainer.stay((rules.epochs - epoch) * len(order))
            record: Record = {"epoch": epoch, "mistakes": mistakes}
            if rules.C is not None:
                record = {"epoch": epoch, "objective": self._objective(), "violations": mistakes}
            if training.held is not None:
                record |= self._held_out_scores(training.held)
            yield record
            if epoch == rules.epochs or converged:
                return

    def _linear(self) -> LinearPotential:
        space = self._space
        mean = self.rules.averaging == "average"
        ids, weights, n_grams = self._trainer.weights(mean, self._scale(mean))
        if not (np.isfinite(weights).all() and np.isfinite(n_grams).all()):
            raise InputError("the weights grew beyond all numbers; lower C, sample_weight or the weights of attributes")
        there = weights != 0  # most attributes were only ever moved for a few labels
        starts = np.zeros(len(space.state.starts), np.int64)
        starts[ids + 1] = np.count_nonzero(there, axis=1)
        features = Features(np.cumsum(starts), np.nonzero(there)[1].astype(np.int32), len(self.training.labels))
        return LinearPotential(
            space.window, space.scalings, features, weights[there], None, None, space.n_grams,
            n_grams[space.n_grams.cells],
        )  # fmt: skip

    def _scale(self, mean: bool) -> float:
        """What the perceptron's weights, or their mean, are multiplied by.

        In the mean of an SVM the vector after example t counts t times (Lacoste-Julien, Schmidt & Bach 2012). As
        that vector is N C / 2t V, the mean is N C / T times the plain mean of V.
        """
        if not self._bound:
            return 1.0
        return self._bound / ((1 if mean else 2) * max(self._trainer.n_seen, 1))

    def _voted(self) -> VotedPotential:
        space, training = self._space, self.training
        return VotedPotential(
            space.window, space.scalings, len(training.labels), training.order, *self._trainer.changes()
        )

    def _objective(self) -> float:
        potential, C = self.potential, self.rules.C
        assert isinstance(potential, LinearPotential)
        assert C is not None
        hinges = 0.0
        for sequences, positions, lattice in lattices(self.training, potential):
            gold = self.training.codes[positions]
            if self.rules.loss == "hamming":
                favoured = lattice.loss_augmented(gold)[0]
            else:
                favoured = _best_wrong(*lattice.nbest(2), gold, lattice.starts) + 1
            hinge = np.maximum(favoured - lattice.score(gold), 0)
            hinges += float(hinge @ self.training.weights[sequences])
        weights = np.concatenate([potential.state_weights, potential.n_gram_weights]).astype(np.float64)
        return float(weights @ weights) / 2 + C / 2 * hinges

    def _held_out_scores(self, held: DevData) -> Record:
        potential = self.potential
        if isinstance(potential, LinearPotential):
            self._made, record = tempered(potential, self.training, held)
            return record
        return self.training.held_out(potential)


def _best_wrong(
    scores: NDArray[np.float64], paths: NDArray[np.int32], gold: NDArray[np.int32], starts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Of the two best paths of each sequence, the score of the better one that is not gold."""
    right = np.logical_and.reduceat(paths[0] == gold, starts[:-1])
    return np.where(right, scores[:, 1], scores[:, 0])
