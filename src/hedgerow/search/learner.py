"""Learning to search, one sequence after the other: weights change where a beam search loses gold.

Four ways to do so, gold minus what the search has instead (Phi counts features of a labelling, or of its beginning):

    standard        Phi(gold) - Phi(best) at the end
    early           the same for the beginning up to the position where gold is lost; the rest is left out
    max-violation   the same for the beginning where the best is furthest ahead of gold
    laso            Phi(gold) - mean over the beam where gold is lost, or at the end if it is not the best there; the
                    search goes on from gold alone (Daume & Marcu 2005), so a sequence can have many updates

Gold must win outright: in a tie, the others count as the better.

Future features, if asked for, are found before: another learner works on the same data, and what its bags show becomes
columns that the search reads at each step.
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
from hedgerow.future.potential import FuturePotential, with_features
from hedgerow.learning.base import DevData, Learner, Record, TrainingData
from hedgerow.learning.epochs import epoch_orders
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.margin import TIE
from hedgerow.learning.temperature import MAX_FACTOR, best_temperature
from hedgerow.potentials.linear import Features
from hedgerow.potentials.local import unnormalised
from hedgerow.search.potential import LARGEST, Direction, LabelGrams, SearchPotential

Update = Literal["laso", "early", "max-violation", "standard"]


@dataclass(frozen=True)
class SearchRules:
    order: int
    window: WindowSpec
    beam: int
    update: Update
    direction: Direction
    epochs: int
    averaged: bool
    min_freq: int
    random_state: int | None


class SearchLearner:
    """The learner of SearchTagger."""

    def __init__(self, training: TrainingData, rules: SearchRules, ahead: Learner | None = None) -> None:
        LabelGrams(np.zeros(0, np.int64), len(training.labels), rules.order)  # an order that is too high is refused
        self.training, self.rules = training, rules
        self._ahead = ahead  # finds future features
        self._future: FuturePotential | None = None
        self._made: SearchPotential | None = None  # of the examples seen so far

    def _begin(self) -> None:
        """Finds future features and lays out what is to be learned."""
        training, rules = self.training, self.rules
        if self._ahead is not None:
            self._future = _found(self._ahead)
        sequences = training.sequences
        if self._future is not None:
            sequences = with_features(sequences, self._future.values(sequences, training.n_threads))
        k = len(training.labels)
        self._scalings = fit_scalings(sequences)
        self._rows = AttributeReader(sequences, Window.of(rules.window), self._scalings)
        self._trainer = _core.SearchTrainer(
            self._rows.reader, training.codes, training.weights, self._often(), k, rules.order,
            bias=bool(self._scalings), update=rules.update, beam=rules.beam,
            backward=rules.direction == "right-to-left", tie=TIE, summed=rules.averaged,
        )  # fmt: skip

    def _often(self) -> NDArray[np.bool_]:
        """Which attributes may have weights; those that never occur get none anyway."""
        if self.rules.min_freq == 1:
            return np.ones(self._rows.n_basic, np.bool_)
        anything = np.zeros_like(self.training.codes)
        features = Features.observed(self._rows, anything, 1, min_freq=self.rules.min_freq)
        return np.diff(features.starts) > 0

    @property
    def training_log(self) -> list[Record]:
        return []

    @property
    def potential(self) -> SearchPotential:
        if self._made is None:
            self._made = self._potential()
        return self._made

    def __iter__(self) -> Iterator[Record]:
        rules, training = self.rules, self.training
        self._begin()
        for epoch, order in enumerate(epoch_orders(training, rules.random_state), 1):
            self._made = None
            mistakes, updates = self._trainer.epoch(order)
            if mistakes == 0:  # the epochs that are left would change nothing, but count
                self._trainer.stay((rules.epochs - epoch) * len(order))
            record: Record = {
                "unit": "epoch",
                "step": epoch,
                "loss": mistakes / max(len(order), 1),
                "mistakes": mistakes,
                "updates": updates,
            }
            if self._ahead is not None:
                record["future_features"] = 0 if self._future is None else len(self._future.features)
            if training.dev is not None:
                record |= self._held_out_scores(training.dev)
            yield record
            if epoch == rules.epochs or mistakes == 0:
                return

    def _potential(self) -> SearchPotential:
        rules, k = self.rules, len(self.training.labels)
        ids, by_attribute, grams, by_gram = self._trainer.weights(rules.averaged)
        if not (_all_small(by_attribute) and _all_small(by_gram)):
            raise InputError("the weights grew beyond all numbers; lower sample_weight or the weights of attributes")
        attributes, labels, weights = _sparse(ids, by_attribute)
        starts = np.searchsorted(attributes, np.arange(self._rows.n_basic + 1)).astype(np.int64)
        numbers, spoken_of, gram_weights = _sparse(grams, by_gram)
        return SearchPotential(
            self._rows.window, self._scalings, Features(starts, labels, k), weights,
            LabelGrams(numbers * k + spoken_of, k, rules.order), gram_weights, rules.direction,
            self._future,
        )  # fmt: skip

    def _held_out_scores(self, held: DevData) -> Record:
        training = self.training
        search = self.potential.answers(
            held.sequences, training.topology, beam=self.rules.beam, n_threads=training.n_threads
        )
        spread = float(search.state.std(dtype=np.float64))
        temperature = best_temperature(search.at, held, spread, MAX_FACTOR) if spread > 0 else 1.0
        self._made = replace(self.potential, temperature=temperature)
        scores = Evaluator(training).of_answers([search.at(temperature)])
        return {**scores, "temperature": temperature}


def _found(ahead: Learner) -> FuturePotential | None:
    """What a learner of future features finds, if anything."""
    for _ in ahead:
        pass
    found = unnormalised(ahead.potential)
    return found if isinstance(found, FuturePotential) else None


def _all_small(weights: NDArray[np.float32]) -> bool:
    return bool((np.abs(weights) <= LARGEST).all())


def _sparse(
    ids: NDArray[np.integer], rows: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """(id, label, weight) of the weights that are not 0, ids rising."""
    order = np.argsort(ids)
    at, labels = np.nonzero(rows[order])
    return ids[order][at].astype(np.int64), labels.astype(np.int32), rows[order[at], labels]
