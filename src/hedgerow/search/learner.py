"""Learning to search: online updates of the weights where a beam search loses the gold labels.

There are four updates. Phi counts the features of a labelling, or of a prefix of it:

    standard        Phi(gold) - Phi(best) at the end
    early           the same for the prefix that ends where gold leaves the beam; the rest is skipped
    max-violation   the same for the prefix in which the score of the best exceeds that of gold most
    laso            Phi(gold) - mean of Phi over the beam where gold leaves it, or at the end if gold is not the best;
                    the search continues from gold alone (Daume & Marcu 2005), so a sequence can have several updates

Gold must have the single highest score: a tie counts as a loss.

Future features are found first, by a FutureLearner on the same data. The search reads them as columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.encoding import AttributeReader, Window, fit_scalings
from hedgerow.encoding.window import WindowSpec
from hedgerow.errors import InputError
from hedgerow.future.features import with_features
from hedgerow.future.learner import FutureLearner
from hedgerow.future.potential import FuturePotential
from hedgerow.future.printed import PrintedLearner
from hedgerow.learning.base import DevData, Record, TrainingData
from hedgerow.learning.early_stopping import Stopping, check_dev_data, stop_early
from hedgerow.learning.epochs import batch_size, epoch_orders, frequent_attributes
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.margin import TIE
from hedgerow.learning.temperature import MAX_FACTOR, best_temperature
from hedgerow.potentials.linear import Features
from hedgerow.search.label_ngrams import SparseNGrams
from hedgerow.search.potential import MAX_WEIGHT, Direction, SearchPotential
from hedgerow.utilities import finite_deviation

Update = Literal["laso", "early", "max-violation", "standard"]


@dataclass(frozen=True, kw_only=True)
class SearchRules:
    """The parameters of a SearchTagger; `batch` as in `epochs.batch_size`."""

    order: int
    window: WindowSpec
    beam: int
    update: Update
    direction: Direction
    epochs: int
    averaged: bool
    min_freq: int
    random_state: int | None
    scale: bool = True
    stopping: Stopping | None = None
    batch: int | None = None


class SearchLearner:
    """The learner of SearchTagger; `future` finds the future features that the search reads."""

    def __init__(
        self, training: TrainingData, rules: SearchRules, future: FutureLearner | PrintedLearner | None = None
    ) -> None:
        SparseNGrams(np.zeros(0, np.int64), len(training.labels), rules.order)  # refuses an order that is too high
        check_dev_data(rules.stopping, training.dev)
        self.training, self.rules = training, rules
        self._future_learner = future
        self._future: FuturePotential | None = None
        self._current: SearchPotential | None = None  # the potential of the weights as they are now

    def _prepare(self) -> None:
        """Find future features, and set up the trainer."""
        training, rules = self.training, self.rules
        if self._future_learner is not None:
            for _ in self._future_learner:
                pass
            self._future = self._future_learner.future_potential
        sequences = training.sequences
        if self._future is not None:
            sequences = with_features(sequences, self._future.values(sequences, training.n_threads))
        k = len(training.labels)
        self._scalings = fit_scalings(sequences, scale=rules.scale)
        self._attributes = AttributeReader(sequences, Window.of(rules.window), self._scalings)
        forbidden, never_final = self._forbidden()
        self._trainer = _core.SearchTrainer(
            self._attributes.reader, training.codes, training.weights,
            frequent_attributes(self._attributes, training, rules.min_freq), k, rules.order,
            bias=rules.scale and bool(self._scalings), forbidden=forbidden, never_final=never_final,
            update=rules.update, beam=rules.beam, backward=rules.direction == "right-to-left", tie=TIE,
            summed=rules.averaged,
        )  # fmt: skip

    def _forbidden(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(n-grams that the constraints forbid, labels that the last step of a search must not give)."""
        constraints, backward = self.training.constraints, self.rules.direction == "right-to-left"
        if constraints is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int32)
        n_grams = SparseNGrams(np.zeros(0, np.int64), len(self.training.labels), self.rules.order)
        final = constraints.follows[0] if backward else constraints.last
        return n_grams.forbidden(constraints, backward), np.flatnonzero(~final).astype(np.int32)

    @property
    def training_log(self) -> list[Record]:
        return []

    @property
    def potential(self) -> SearchPotential:
        if self._current is None:
            self._current = self._make_potential()
        return self._current

    def __iter__(self) -> Iterator[Record]:
        best = yield from stop_early(self._epochs(), self.rules.stopping, lambda: self.potential)
        if best is not None:
            self._current = best

    def _epochs(self) -> Iterator[Record]:
        rules, training = self.rules, self.training
        self._prepare()
        for epoch, order in enumerate(epoch_orders(training, rules.random_state), 1):
            self._current = None
            batch = rules.batch or batch_size(len(order))
            mistakes, updates = self._trainer.epoch(order, batch, training.n_threads)
            if mistakes == 0:  # further epochs would change no weight, but they count in the average
                self._trainer.stay((rules.epochs - epoch) * len(order))
            record: Record = {
                "unit": "epoch",
                "step": epoch,
                "loss": mistakes / max(len(order), 1),
                "mistakes": mistakes,
                "updates": updates,
            }
            if self._future_learner is not None:
                record["future_features"] = 0 if self._future is None else len(self._future.features)
            if training.dev is not None:
                record |= self._dev_scores(training.dev)
            yield record
            if epoch == rules.epochs or mistakes == 0:
                return

    def _make_potential(self) -> SearchPotential:
        rules, k = self.rules, len(self.training.labels)
        (starts, labels, weights), cells, n_gram_weights = self._trainer.weights(
            rules.averaged, self.training.n_threads
        )
        if not (_are_finite(weights) and _are_finite(n_gram_weights)):
            raise InputError("the weights grew too large; use smaller sample weights or attribute values")
        return SearchPotential(
            window=self._attributes.window,
            scalings=self._scalings,
            state_features=Features(starts, labels, k),
            state_weights=weights,
            n_grams=SparseNGrams(cells, k, rules.order),
            n_gram_weights=n_gram_weights,
            direction=rules.direction,
            future=self._future,
        )

    def _dev_scores(self, dev: DevData) -> Record:
        """Fit the temperature on the dev data; return the scores at this temperature."""
        training, rules = self.training, self.rules
        search = self.potential.answers(dev.sequences, training.topology, beam=rules.beam, n_threads=training.n_threads)
        spread = max(finite_deviation(search.state), self.potential.n_gram_spread)
        temperature = best_temperature(search.at, dev, spread, MAX_FACTOR) if spread > 0 else 1.0
        self._current = replace(self.potential, temperature=temperature)
        return {**Evaluator(training).of_answers([search.at(temperature)]), "temperature": temperature}


def _are_finite(weights: NDArray[np.float32]) -> bool:
    return bool((np.abs(weights) <= MAX_WEIGHT).all())
