"""Boosted trees of a locally normalised model (MEMM).

Training is learning of order 0 with gold label contexts as columns. Dev data are evaluated as in prediction: by a
lattice over all label contexts, where the model also depends on its own mistakes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hedgerow.encoding import AttributeReader
from hedgerow.encoding.encoded import Encoded
from hedgerow.inference.blocks import blocks
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.boosting import BoostingLearner, BoostingRules
from hedgerow.learning.evaluation import Evaluator
from hedgerow.learning.label_contexts import columns_to_lags, lags_to_columns, with_label_columns
from hedgerow.learning.running_scores import BoostingStep, RunningScores, check_memory
from hedgerow.potentials.local import LocalPotential, local_lattice
from hedgerow.potentials.trees import TreePotential


class LocalBoostingLearner:
    """The learner of MEMM(learner="trees").

    `start` is a potential to continue from, whose trees test previous labels, and the records of its rounds.
    """

    def __init__(
        self, training: TrainingData, rules: BoostingRules, *, start: tuple[TreePotential, list[Record]] | None = None
    ) -> None:
        self.training, dev = training, training.dev
        if dev is not None:
            n_scores = dev.sequences.n_positions * len(training.labels) ** (training.order + 1)
            check_memory(n_scores, training.order, "lower the order, or give less dev data")
        if start is not None:
            start = self._with_columns(start[0]), start[1]
        self._boosting = BoostingLearner(
            with_label_columns(training), rules, start=start, make_evaluator=self._make_evaluator
        )

    def __iter__(self) -> Iterator[Record]:
        return iter(self._boosting)

    def resume(self, steps: list[BoostingStep], records: list[Record]) -> None:
        """Go on after the steps of an interrupted fit, whose records these are; before iteration."""
        self._boosting.resume(steps, records)

    @property
    def last_step(self) -> BoostingStep:
        """What `resume` needs of the step whose record was yielded last."""
        return self._boosting.last_step

    @property
    def training_log(self) -> list[Record]:
        return self._boosting.training_log

    @property
    def potential(self) -> LocalPotential:
        training = self.training
        return LocalPotential(self._with_lags(self._boosting.potential), len(training.labels), training.order)

    def _make_evaluator(self, start: TreePotential, steps: list[BoostingStep]) -> _LocalStepEvaluator | None:
        dev = self.training.dev
        if dev is None:
            return None
        return _LocalStepEvaluator(dev.sequences, self.training, self._with_lags(start), steps, self._first_id(start))

    def _first_id(self, potential: TreePotential) -> int:
        """The first attribute id of the label columns, which come after all others."""
        return AttributeReader(self.training.sequences, potential.window, potential.binnings).n_ids

    def _with_lags(self, potential: TreePotential) -> TreePotential:
        """The trees with tests of previous labels instead of label columns."""
        trees = columns_to_lags(potential.trees, self._first_id(potential), potential.n_labels)
        return replace(potential, trees=trees, tree_order=self.training.order, mean_edges=None)

    def _with_columns(self, potential: TreePotential) -> TreePotential:
        """The trees with tests of label columns instead of previous labels."""
        trees = lags_to_columns(potential.trees, self._first_id(potential), potential.n_labels)
        return replace(potential, trees=trees, tree_order=0)


class _LocalStepEvaluator:
    """Evaluates a locally normalised model on dev data after each step."""

    def __init__(
        self,
        dev: Encoded,
        training: TrainingData,
        start: TreePotential,
        steps: list[BoostingStep],
        first_id: int,
    ) -> None:
        self._training, self._evaluator, self._first_id = training, Evaluator(training), first_id
        self._starts = dev.starts
        self._running = RunningScores(dev, training, start, [self._with_lags(step) for step in steps])

    def _with_lags(self, step: BoostingStep) -> BoostingStep:
        trees = columns_to_lags(step.trees, self._first_id, len(self._training.labels))
        return BoostingStep(trees, None)

    def add(self, step: BoostingStep) -> Record:
        self._running.add(self._with_lags(step))
        return self._evaluator.of_answers(self._lattices())

    def _lattices(self) -> Iterator[Lattice]:
        """The lattices of the normalised scores, one block of sequences at a time."""
        training, scores = self._training, self._running.scores
        for block in blocks(self._starts, scores.shape[1] * scores.shape[2]):
            starts = self._starts[block.start : block.stop + 1]
            edge = scores[starts[0] : starts[-1]].copy()
            yield local_lattice(
                edge, starts - starts[0], training.topology, beam=training.beam, n_threads=training.n_threads
            )
