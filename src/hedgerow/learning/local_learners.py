"""Learners of locally normalised models: of order 0 on gold histories, but judged as they will be used.

What held-out data say of a round comes from the lattice over all histories, as in prediction: there a model lives with
its own mistakes, while in training every history is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import AttributeReader
from hedgerow.inference.answers import Answers
from hedgerow.inference.blocks import blocks
from hedgerow.inference.decoding import best_labels, log_likelihood
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.base import DevData, Record, TrainingData, dev_record
from hedgerow.learning.boosting import BoostingLearner, BoostingRules, Scored, Step, check_memory
from hedgerow.learning.early_stopping import EarlyStopper, Stopping, check_dev_data
from hedgerow.learning.label_contexts import columns_to_lags, lags_to_columns, with_histories, with_n_grams
from hedgerow.learning.likelihood import LinearSpace
from hedgerow.learning.quasi_newton import Penalty, QuasiNewtonLearner
from hedgerow.potentials.linear import Features, LinearPotential, NGrams
from hedgerow.potentials.local import LocalPotential, normalise
from hedgerow.potentials.trees import TreePotential


class LocalBoostingLearner:
    """Boosted trees. `start` is what to go on from: trees that ask previous labels, and how their rounds went."""

    def __init__(
        self, training: TrainingData, rules: BoostingRules, start: tuple[TreePotential, list[Record]] | None = None
    ) -> None:
        self.training, held = training, training.held
        if held is not None:
            n_scores = held.sequences.n_positions * len(training.labels) ** (training.order + 1)
            check_memory(n_scores, training.order, "lower the order, or give less dev data")
        if start is not None:
            start = self._by_column(start[0]), start[1]
        self._boosting = BoostingLearner(with_histories(training), rules, start, self._judge)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._boosting)

    @property
    def history(self) -> list[Record]:
        return self._boosting.history

    @property
    def potential(self) -> LocalPotential:
        training = self.training
        return LocalPotential(self._by_label(self._boosting.potential), len(training.labels), training.order)

    def _judge(self, start: TreePotential, steps: list[Step]) -> _BlockEvaluator | None:
        held = self.training.held
        if held is None:
            return None
        return _BlockEvaluator(held, self.training, self._by_label(start), steps, self._first_id(start))

    def _first_id(self, potential: TreePotential) -> int:
        """Of the columns that hold histories: they come after all others."""
        return AttributeReader(self.training.sequences, potential.window, potential.binnings).n_ids

    def _by_label(self, potential: TreePotential) -> TreePotential:
        trees = columns_to_lags(potential.trees, self._first_id(potential), potential.n_labels)
        return replace(potential, trees=trees, tree_order=self.training.order, mean_edges=None)

    def _by_column(self, potential: TreePotential) -> TreePotential:
        trees = lags_to_columns(potential.trees, self._first_id(potential), potential.n_labels)
        return replace(potential, trees=trees, tree_order=0)


class _BlockEvaluator:
    """Held-out data with the scores of all histories so far."""

    def __init__(
        self, held: DevData, training: TrainingData, start: TreePotential, steps: list[Step], first_id: int
    ) -> None:
        self.held, self.training, self.first_id = held, training, first_id
        self.scored = Scored(held.sequences, training, start, [self._by_label(step) for step in steps])

    def _by_label(self, step: Step) -> Step:
        return Step(columns_to_lags(step.trees, self.first_id, len(self.training.labels)), None)

    def see(self, step: Step) -> Record:
        """Takes the step, and says how the model does then."""
        self.scored.add(self._by_label(step))
        return judged(self._lattices(), self.held, self.training)

    def _lattices(self) -> Iterator[Lattice]:
        """The lattices of the normalised scores, of some sequences after the other."""
        training, starts = self.training, self.held.sequences.starts
        for block in blocks(starts, self.scored.k ** (training.order + 1)):
            own = starts[block.start : block.stop + 1]
            edge = self.scored.scores[own[0] : own[-1]].copy()
            normalise(edge)
            yield Lattice(
                training.topology, own - own[0], edge=edge, normalised=True, beam=training.beam,
                n_threads=training.n_threads,
            )  # fmt: skip


class LocalGradientLearner:
    """A row of weights, by quasi-Newton steps."""

    def __init__(
        self, training: TrainingData, window: int, penalty: Penalty, max_iter: int, tol: float, early_stopping: Stopping
    ) -> None:
        check_dev_data(early_stopping, training.held)
        self.training, self.early_stopping = training, early_stopping
        given, self._table_rows = with_n_grams(training)
        self._inner = QuasiNewtonLearner(given, LinearSpace.of(given, window), penalty, max_iter, tol)
        self._best: LinearPotential | None = None  # of early stopping, when all is over

    @property
    def history(self) -> list[Record]:
        return []

    def __iter__(self) -> Iterator[Record]:
        training, watch, best = self.training, EarlyStopper(self.early_stopping, []), None
        for iteration, record in enumerate(self._inner, 1):
            if training.held is not None:
                record |= judged(self._lattices(training.held), training.held, training)
            watch.see(record)
            if self.early_stopping and watch.best_round == iteration:
                best = self._inner.potential
            yield record
            if watch.is_over:
                break
        self._best = best

    def _lattices(self, held: DevData) -> Iterator[Answers]:
        training, potential, sequences = self.training, self.potential, held.sequences
        size = potential.scores_per_position(training.topology)
        return (training.answers(potential, sequences[some]) for some in blocks(sequences.starts, size))

    @property
    def potential(self) -> LocalPotential:
        training, k = self.training, len(self.training.labels)
        learned = self._inner.potential if self._best is None else self._best
        return LocalPotential(self._by_label(learned), k, training.order)

    def _by_label(self, potential: LinearPotential) -> LinearPotential:
        """Weights of columns that hold histories as weights of n-grams."""
        training, k = self.training, len(self.training.labels)
        first_id = AttributeReader(training.sequences, potential.window, potential.scalings).n_ids
        features, weights = potential.state_features, potential.state_weights
        ours = slice(0, int(features.starts[first_id]))
        theirs = slice(ours.stop, None)
        rows = self._table_rows[features.attributes[theirs] - first_id]
        cells = np.concatenate([potential.n_grams.cells, rows * k + features.outputs[theirs]])
        n_gram_weights = np.concatenate([potential.n_gram_weights, weights[theirs]])
        rising = np.argsort(cells)
        return replace(
            potential,
            state_features=Features(features.starts[: first_id + 1], features.outputs[ours], k),
            state_weights=weights[ours],
            n_grams=NGrams(cells[rising], k, training.order),
            n_gram_weights=n_gram_weights[rising],
        )


def judged(lattices: Iterable[Answers], held: DevData, training: TrainingData) -> Record:
    """How a model does on held-out data, some sequences after the other."""
    found: list[NDArray[np.int32]] = []
    likelihoods: list[NDArray[np.float64]] = []
    first = 0
    for lattice in lattices:
        last = first + int(lattice.starts[-1])
        found.append(best_labels(lattice, training.decode))
        likelihoods.append(log_likelihood(lattice, held.codes[first:last]))
        first = last
    return dev_record(np.concatenate(found), np.concatenate(likelihoods), held)
