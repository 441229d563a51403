"""Iterative parameter mixing of structured perceptrons (McDonald, Hall & Mann 2010).

In each epoch every part of the data starts from the same weights and learns from its own sequences; the next weights
are the mean of what the parts have learned. The result depends on the division of the sequences into parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.mapped_pages import MappedPages
from hedgerow.errors import InputError
from hedgerow.group import ALONE
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.early_stopping import check_dev_data, stop_early
from hedgerow.learning.epochs import batch_size, examples, frequent_attributes, learn_epoch
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.learning.margin import MarginRules, margin_trainer
from hedgerow.learning.seeds import fit_seeds, step_seed
from hedgerow.potentials.linear import Features, LinearPotential
from hedgerow.utilities import Floats32


@dataclass(frozen=True, eq=False)
class PerceptronWeights:
    """Attribute i has weights[f] for labels[f], for f in starts[i]..starts[i + 1]; `n_grams` has a weight by cell."""

    starts: NDArray[np.int64]
    labels: NDArray[np.int32]
    weights: Floats32
    n_grams: Floats32

    @classmethod
    def zeros(cls, n_ids: int, n_cells: int) -> Self:
        """The weights before the first epoch."""
        nothing = np.zeros(0, np.int32), np.zeros(0, np.float32)
        return cls(np.zeros(n_ids + 1, np.int64), *nothing, np.zeros(n_cells, np.float32))

    @classmethod
    def mixed(cls, parts: Sequence[Self], shares: Sequence[float]) -> Self:
        """The sum of the weights of parts times their shares, in the order of the parts; the shares add up to 1."""
        k = 1 + max((int(part.labels.max(initial=0)) for part in parts), default=0)
        n_ids = len(parts[0].starts) - 1
        keys = [np.repeat(np.arange(n_ids), np.diff(part.starts)) * k + part.labels for part in parts]
        features, places = np.unique(np.concatenate(keys), return_inverse=True)
        products = [share * part.weights.astype(np.float64) for part, share in zip(parts, shares, strict=True)]
        weights = np.bincount(places, np.concatenate(products), minlength=len(features)).astype(np.float32)
        features, weights = features[weights != 0], weights[weights != 0]
        n_grams = sum(share * part.n_grams.astype(np.float64) for part, share in zip(parts, shares, strict=True))
        starts = np.searchsorted(features // k, np.arange(n_ids + 1)).astype(np.int64)
        return cls(starts, (features % k).astype(np.int32), weights, np.asarray(n_grams, np.float32))

    def potential(self, space: LinearSpace) -> LinearPotential:
        """The potential of these weights."""
        return LinearPotential(
            window=space.window,
            scalings=space.scalings,
            state_features=Features(self.starts, self.labels, space.state.width),
            state_weights=self.weights,
            edge_features=None,
            edge_weights=None,
            n_grams=space.n_grams,
            n_gram_weights=self.n_grams[space.n_grams.cells],
        )


class EpochWeights(NamedTuple):
    """The weights after an epoch and their mean over its vectors, the first included; how many examples, and mistakes.

    The mean is None unless `averaging` is "average".
    """

    weights: PerceptronWeights
    mean: PerceptronWeights | None
    n_examples: int
    mistakes: int


class PerceptronPart:
    """A part of the data that a perceptron learns from, epoch by epoch.

    Parameters
    ----------
    training
        The sequences of this part.
    space
        What all parts have in common: window, scalings and n-grams (`LinearSpace.bare` with all transitions).
    kept
        By attribute, whether it may have weights; from the merged counts of all parts.
    rules
        Those of a perceptron.

    Raises
    ------
    InputError
        If the rules are those of an SVM, whose steps depend on how many examples it has seen, or of a voted perceptron.
    """

    def __init__(self, training: TrainingData, space: LinearSpace, kept: NDArray[np.bool_], rules: MarginRules) -> None:
        if rules.C is not None or rules.averaging == "vote":
            raise InputError(
                "only the weights of perceptrons without votes can be mixed, but got "
                + ("C, which a structured SVM has" if rules.C is not None else 'averaging="vote"')
                + '; use a perceptron with averaging="average" or "none"'
            )
        self.training, self.space, self._kept, self._rules = training, space, kept, rules
        self._examples = examples(training)
        self._pages = MappedPages.of_columns(training.sequences.columns, training.codes)

    def run_epoch(self, weights: PerceptronWeights, seed: int) -> EpochWeights:
        """Learn once from every sequence with positive weight, in a random order that the seed fixes."""
        trainer = margin_trainer(self.training, self.space, self._kept, self._rules)
        trainer.start_from(weights.starts, weights.labels, weights.weights, weights.n_grams)
        order, n_threads = np.random.default_rng(seed).permutation(self._examples), self.training.n_threads
        batch = self._rules.batch or batch_size(len(order))
        mistakes = learn_epoch(trainer, order, batch, n_threads, self._pages)
        found = []
        for mean in (False, True) if self._rules.averaging == "average" else (False,):
            (starts, labels, values), n_grams = trainer.weights(mean, 1.0, n_threads)
            found.append(PerceptronWeights(starts, labels, values, n_grams))
        return EpochWeights(found[0], found[1] if len(found) > 1 else None, len(order), mistakes)


class MixingLearner:
    """The learner of StructuredPerceptron where processes have the sequences in parts."""

    def __init__(self, training: TrainingData, rules: MarginRules) -> None:
        check_dev_data(rules.stopping, training.dev)
        self.training, self.rules = training, rules
        space = LinearSpace.bare(training, rules.window, all_transitions=True, scale=rules.scale)
        attributes = space.attributes(training)
        kept = frequent_attributes(attributes, training, rules.min_freq)
        self._space, self._seed = space, fit_seeds(rules.random_state)[0]
        self._part = PerceptronPart(replace(training, group=ALONE), space, kept, rules)
        self._weights = PerceptronWeights.zeros(attributes.n_basic, training.topology.n_cells)
        self._learned = self._weights  # the weights of the model

    @property
    def training_log(self) -> list[Record]:
        return []

    @property
    def potential(self) -> LinearPotential:
        return self._learned.potential(self._space)

    def __iter__(self) -> Iterator[Record]:
        best = yield from stop_early(self._epochs(), self.rules.stopping, lambda: self._learned)
        if best is not None:
            self._learned = best

    def _epochs(self) -> Iterator[Record]:
        group, evaluator = self.training.group, Evaluator(self.training)
        for epoch in range(1, self.rules.epochs + 1):
            own = self._part.run_epoch(self._weights, step_seed(self._seed, epoch * group.size + group.rank))
            parts = group.gather_objects(own)
            n, mistakes = sum(part.n_examples for part in parts), sum(part.mistakes for part in parts)
            shares = [part.n_examples / n for part in parts]
            self._weights = PerceptronWeights.mixed([part.weights for part in parts], shares)
            means = [part.mean for part in parts if part.mean is not None]
            if means:  # of all epochs
                mean = PerceptronWeights.mixed(means, shares)
                self._learned = PerceptronWeights.mixed([self._learned, mean], [(epoch - 1) / epoch, 1 / epoch])
            else:
                self._learned = self._weights
            record = {"unit": "epoch", "step": epoch, "loss": mistakes / n, "mistakes": mistakes, "parts": group.size}
            yield record | evaluator.of_potential(self.potential)
            if mistakes == 0:
                return
