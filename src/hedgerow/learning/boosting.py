"""Gradient tree boosting of a conditional random field (dissertation, table 3.3).

A round fits one tree for each label to the residuals, gold minus marginals, and adds it to the potential. The scores
of the training positions are kept, so a round evaluates only its own trees. With a transition table, trees score labels
alone, and the table gets a Newton step of its own: (observed - expected counts) / expected counts.

After a Newton round that raised the training loss, the step is halved until the loss falls. A line search finds the
length of the step at which the loss is lowest. The first rounds may follow the pseudo-likelihood, where the neighbours
of a label are gold: the loss is then minus its logarithm. With virtual evidence, rounds follow the probabilities of
single labels (Liao, Choudhury, Fox & Kautz 2007).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.encoding import Window
from hedgerow.encoding.missing_values import refuse_missing
from hedgerow.encoding.window import WindowSpec
from hedgerow.learning.base import Record, TrainingData, edge_counts
from hedgerow.learning.cross_fitting import LearnedColumns
from hedgerow.learning.early_stopping import EarlyStopper, Stopping, check_dev_data
from hedgerow.learning.growers import weighted_grower
from hedgerow.learning.line_search import best_factor, falling_factor
from hedgerow.learning.pseudo_likelihood import pseudo_marginals
from hedgerow.learning.running_scores import (
    BoostingStep,
    LatticeStepEvaluator,
    RunningScores,
    SavedScores,
    StepEvaluator,
    check_memory,
)
from hedgerow.learning.seeds import step_seed, stream
from hedgerow.learning.timing import Timed, timed
from hedgerow.potentials.trees import TreePotential, Trees
from hedgerow.utilities import Floats32, Floats64

MIN_EXPECTED_COUNT = 1e-9  # keeps a Newton step of the table finite where l2 is 0


#: What a round minimises minus the logarithm of.
Objective = Literal["likelihood", "pseudo-likelihood", "virtual-evidence"]


@dataclass(frozen=True, kw_only=True)
class BoostingRules:
    """How trees are grown and how long steps are."""

    window: WindowSpec
    transitions: Literal["trees", "table"]
    shared: bool  # one tree a round for all labels
    n_rounds: int
    learning_rate: float
    line_search: bool
    growth: _core.GrowthRules
    subsample: float  # share of the sequences that a round learns from
    pseudo_rounds: int  # first rounds, which follow the pseudo-likelihood
    objective: Objective = "likelihood"  # of the other rounds
    stopping: Stopping | None
    seed: int
    all_transitions: bool = True  # whether label pairs that training never shows have scores in the table


SCORE_UNIT = 2.0**-20  # scores are rounded to multiples of it where their sum must be exact


def exact_sum(rows: Floats32) -> Floats64:
    """The sum of rows of scores, each rounded once, so that it does not depend on their order."""
    total = np.zeros(rows.shape[1:])
    for first in range(0, len(rows), 4096):
        total += np.rint(rows[first : first + 4096] / SCORE_UNIT).sum(axis=0, dtype=np.float64) * SCORE_UNIT
    return total


class TrainingInference(NamedTuple):
    """The training loss, and the expectations that a round subtracts from gold."""

    loss: float  # mean over sequences of minus the logarithm of the objective
    marginals: Floats32  # (positions, label contexts, labels)
    expected: Floats64 | None  # counts by row of the transition table and label


#: Returns the evaluator for the potential before the first step and the steps so far; None without dev data.
MakeEvaluator = Callable[[TreePotential, list[BoostingStep]], StepEvaluator | None]


def check_shared(training: TrainingData, rules: BoostingRules) -> None:
    """Raise InputError if trees for all labels would have to read missing values."""
    if rules.shared:
        setting = f'trees="shared" and missing={rules.growth.missing!r}'
        refuse_missing(training.sequences, "X", f"a TreeCRF with {setting}")


class BoostingLearner(Timed):
    """The learner of TreeCRF.

    Parameters
    ----------
    start
        A potential to continue from, and the records of its rounds.
    make_evaluator
        Returns the evaluator of dev data; a LatticeStepEvaluator by default.
    learned
        What the trees read instead of the columns of the encoder.
    notes
        Fields of the first record: what was chosen for this fit.
    """

    def __init__(
        self,
        training: TrainingData,
        rules: BoostingRules,
        *,
        start: tuple[TreePotential, list[Record]] | None = None,
        make_evaluator: MakeEvaluator | None = None,
        learned: LearnedColumns | None = None,
        notes: Record | None = None,
    ) -> None:
        check_dev_data(rules.stopping, training.dev)
        self._learned, self._notes = learned, notes or {}
        if learned is not None:
            dev = training.dev
            if dev is not None and learned.dev is not None:
                dev = replace(dev, sequences=learned.dev.sequences)
            training = replace(training, sequences=learned.training.sequences, dev=dev)
        check_shared(training, rules)
        super().__init__()
        self.training, self.rules = training, rules
        self._make_evaluator = make_evaluator or self._lattice_evaluator
        tree_order = 0 if rules.transitions == "table" else training.order
        n_scores = training.sequences.n_positions * len(training.labels) ** (tree_order + 1)
        check_memory(n_scores, training.order, 'lower the order, or set transitions="table"')
        self._start, self._earlier_records = start or (self._empty_potential(tree_order), [])
        self._start, self._steps = self._split_rounds(self._start)
        self.n_kept = len(self._steps)  # steps of the model: after early stopping, fewer than there are
        self._n_start_rounds = len(self._earlier_records) - len(self._steps)  # rounds that `_start` holds
        self._has_ended = False
        self._running: RunningScores | None = None
        self._cells: NDArray[np.int64] | None = None  # of the table whose expected counts are wanted; None: all

    def _empty_potential(self, tree_order: int) -> TreePotential:
        training, k = self.training, len(self.training.labels)
        binnings = training.tree_inputs.binnings(training.sequences, training.n_threads, training.group)
        table = None
        if self.rules.transitions == "table":
            table = np.zeros((training.topology.n_rows, k), dtype=np.float32)
        trees = Trees.none(k if self.rules.shared else 1)
        return TreePotential(
            window=Window.of(self.rules.window),
            binnings=binnings,
            n_labels=k,
            tree_order=tree_order,
            trees=trees,
            table=table,
            columns=None if self._learned is None else self._learned.columns,
        )

    def _split_rounds(self, start: TreePotential) -> tuple[TreePotential, list[BoostingStep]]:
        """(the potential before its first round, its rounds); all in the potential if its table has no steps."""
        if start.table is not None and start.table_steps is None:
            return start, []
        rounds = start.trees.rounds(1 if self.rules.shared else start.n_labels)
        tables = [None] * len(rounds) if start.table_steps is None else list(start.table_steps)
        steps = [BoostingStep(*step) for step in zip(rounds, tables, strict=True)]
        trees = Trees.none(start.trees.values.shape[1])
        table = None if start.table is None else np.zeros_like(start.table)
        return replace(start, trees=trees, table=table, table_steps=None, mean_edges=None), steps

    def resume(self, steps: list[BoostingStep], records: list[Record]) -> None:
        """Go on after the steps of an interrupted fit, whose records these are; before iteration."""
        self._steps, self._earlier_records = [*self._steps, *steps], [*self._earlier_records, *records]
        self.n_kept = len(self._steps)

    @property
    def last_step(self) -> BoostingStep:
        """What `resume` needs of the step whose record was yielded last."""
        return self._steps[-1]

    @property
    def training_log(self) -> list[Record]:
        return list(self._earlier_records)

    @property
    def potential(self) -> TreePotential:
        """The trees and the table of the rounds kept so far."""
        kept, table, table_steps = self._steps[: self.n_kept], self._start.table, None
        if table is not None:
            steps = [step.table for step in kept if step.table is not None]
            for step in steps:
                table = table + step
            if not self._has_ended and not len(self._start.trees):
                table_steps = np.array(steps, dtype=np.float32).reshape(len(steps), *table.shape)
        trees = Trees.joined([self._start.trees, *(step.trees for step in kept)])
        return replace(
            self._start, trees=trees, table=table, table_steps=table_steps, mean_edges=self._mean_edges(table)
        )

    def _mean_edges(self, table: Floats32 | None) -> Floats32 | None:
        """Mean scores by label context, over the positions whose context has that length; 0 where there are none."""
        if table is not None or self._running is None:
            return None
        if self.n_kept < len(self._steps):
            self._running.restart(self._start, self._steps[: self.n_kept])
        training, k, scores = self.training, len(self.training.labels), self._running.scores
        blocks = []
        for m, there in enumerate(training.topology.positions_by_length(training.sequences.starts)):
            rows = scores[there, : k**m]
            n = training.group.count(len(rows))
            total = training.group.sum(exact_sum(rows))
            blocks.append((total / max(n, 1)).astype(np.float32))
        return np.concatenate(blocks)

    def __iter__(self) -> Iterator[Record]:
        training, rules = self.training, self.rules
        offset = None if self._learned is None else self._learned.training.offset
        running = RunningScores(
            training.sequences, training, self._start, self._steps, keep=training.codes, allowed=training.allowed,
            offset=offset,
        )  # fmt: skip
        self._running = running
        evaluator = self._make_evaluator(self._start, self._steps)
        grower = self._grower(running)
        observed = edge_counts(training) if running.table is not None else None
        stopper = EarlyStopper(rules.stopping, self._earlier_records)
        first = len(self._earlier_records) + 1
        if observed is not None and not rules.all_transitions and training.order == 1:
            self._cells = np.flatnonzero(observed)
        inference = self._infer(running, first)
        for at in range(first, 1 if stopper.is_over else rules.n_rounds + 1):
            loss = inference.loss
            self._grow(running, grower, observed, at, inference)
            del inference  # marginals are as large as the scores: free them before the next are computed
            inference, factor = self._fit_step_size(running, at, loss)
            is_lowest = factor == 0 and at > rules.pseudo_rounds  # no step lowers the loss
            if is_lowest and at > 1:
                self._steps.pop()
                break
            self.n_kept = len(self._steps)
            record: Record = {"unit": "round", "step": at, "loss": inference.loss}
            if (objective := self._objective(at + 1)) != "likelihood":
                record["objective"] = objective
            record["step_size"] = rules.learning_rate * factor
            if at == 1:
                record |= {"transitions": rules.transitions} | self._notes
            if evaluator is not None:
                record |= evaluator.add(self._steps[-1])
            stopper.see(record)
            record |= stopper.note | self.read_times()
            yield record
            if stopper.is_over or is_lowest:  # also a fit that begins at the minimum has a record
                break
        if rules.stopping is not None:
            self.n_kept = max(stopper.best_step - self._n_start_rounds, 0)
        self._has_ended = True

    def _lattice_evaluator(self, start: TreePotential, steps: list[BoostingStep]) -> StepEvaluator | None:
        dev, learned = self.training.dev, self._learned
        if dev is None:
            return None
        offset = None if learned is None or learned.dev is None else learned.dev.offset
        return LatticeStepEvaluator(dev.sequences, self.training, start, steps, offset)

    def _grower(self, running: RunningScores) -> _core.TreeGrower:
        rules = self.rules.growth
        data = self.training.tree_inputs.tree_data(
            running.attributes, self._start.binnings, running.tree_order, rules, self.training.n_threads,
            self.training.group,
        )  # fmt: skip
        return weighted_grower(data, running.n_labels, rules, self.training.position_weights, self.training.group)

    @timed("inference_seconds")
    def _infer(self, running: RunningScores, at: int) -> TrainingInference:
        """The loss now, and the expectations that round `at` learns from."""
        return self._expectations(running, at)

    @timed("inference_seconds")
    def _loss(self, running: RunningScores, at: int) -> float:
        """The loss of round `at` alone."""
        training, lattice = self.training, running.lattice
        if self._objective(at) == "likelihood":
            return training.mean(lattice.log_partition() - lattice.score(training.codes))
        return self._expectations(running, at).loss

    def _expectations(self, running: RunningScores, at: int) -> TrainingInference:
        training, lattice = self.training, running.lattice
        expected: Floats64 | None = None
        objective = self._objective(at)
        if objective == "pseudo-likelihood":
            log_likelihood, marginals, expected = pseudo_marginals(lattice, training)
            losses = -log_likelihood
        elif objective == "virtual-evidence":
            log_likelihood, marginals = lattice.evidence_sums(training.codes)
            losses = -log_likelihood
        else:
            if running.table is None:
                log_z, _, marginals = lattice.pair_marginals()
            else:
                log_z, state, expected = lattice.summed_pairs(training.weights, training.limits.count_unit, self._cells)
                marginals = state[:, None, :]
            losses = log_z - lattice.score(training.codes)
        if expected is not None:
            expected = training.group.sum(expected)
        return TrainingInference(training.mean(losses), marginals, expected)

    def _objective(self, at: int) -> Objective:
        """What round `at` follows."""
        return "pseudo-likelihood" if at <= self.rules.pseudo_rounds else self.rules.objective

    @timed("growing_seconds")
    def _grow(
        self,
        running: RunningScores,
        grower: _core.TreeGrower,
        observed: Floats64 | None,
        at: int,
        inference: TrainingInference,
    ) -> None:
        """Grow the trees of round `at` and add them to the scores."""
        rules, training = self.rules, self.training
        grow = grower.grow_shared if rules.shared else grower.grow
        sample = self._sample(at)
        grown = grow(
            inference.marginals,
            training.codes,
            running.scores,
            sample,
            rules.learning_rate,
            step_seed(rules.seed, at),
            training.n_threads,
        )
        table = None
        if inference.expected is not None and observed is not None:
            table = self._table_step(observed, inference.expected)
        self._steps.append(BoostingStep(Trees.of_round(*grown), table))
        if grower.adds_scores(sample is not None):
            running.add_to_table(self._steps[-1])
        else:
            running.add(self._steps[-1])

    def _table_step(self, observed: Floats64, expected: Floats64) -> Floats32:
        l2, max_step = self.rules.growth.l2, self.rules.growth.max_step
        newton = (observed - expected) / (np.maximum(expected, 0) + l2 + MIN_EXPECTED_COUNT)
        if not self.rules.all_transitions:
            newton[observed == 0] = 0
        return (self.rules.learning_rate * np.clip(newton, -max_step, max_step)).astype(np.float32)

    def _sample(self, at: int) -> NDArray[np.uint8] | None:
        """Which positions round `at` learns from: those of sequences drawn without replacement; None for all."""
        if self.rules.subsample >= 1:
            return None
        n = self.training.n_sequences
        drawn = np.zeros(n, dtype=np.uint8)
        drawn[stream(self.rules.seed, at).permutation(n)[: max(1, round(self.rules.subsample * n))]] = 1
        return np.repeat(drawn[self.training.own], self.training.sequences.lengths)

    def _fit_step_size(self, running: RunningScores, at: int, before: float) -> tuple[TrainingInference, float]:
        """Shorten or lengthen the last step; (inference after it, its factor: 0 if no step lowers the loss)."""
        inference = self._infer(running, at)
        steps = _OtherSteps(running, self._start, self._steps)

        def loss(factor: float) -> float:
            steps.use(factor)
            return self._loss(running, at)

        factor = self._factor(loss, before, inference.loss, at)
        steps.use(factor)
        if factor != 1 or self._objective(at) != self._objective(at + 1):
            del inference
            inference = self._infer(running, at + 1)
        return inference, factor

    def _factor(self, loss: Callable[[float], float], before: float, first: float, at: int) -> float:
        """The factor of the step of round `at`; `first` is its loss at 1, and `before` that without it."""
        rules, objective = self.rules, self._objective(at)
        # Two sets of scores keep different paths under a beam, so their losses cannot be compared. With virtual
        # evidence, a step in the direction of the derivative need not lower the loss, because the evidence changes too.
        beam = self.training.prunes and objective == "likelihood"
        if beam or objective == "virtual-evidence" or not (rules.growth.newton or rules.line_search):
            return 1.0 if np.isfinite(first) else falling_factor(loss, np.inf, first)
        return (best_factor if rules.line_search else falling_factor)(loss, before, first)


class _OtherSteps:
    """Replaces the last step by a shorter or longer one. The sums before it are computed once, when first needed."""

    def __init__(self, running: RunningScores, start: TreePotential, steps: list[BoostingStep]) -> None:
        self._running, self._start, self._steps, self._last = running, start, steps, steps[-1]
        self._before: SavedScores | None = None
        self._used = 1.0

    def use(self, factor: float) -> None:
        if factor == self._used:
            return
        if self._before is None:
            self._running.restart(self._start, self._steps[:-1])
            self._before = self._running.copy()
        else:
            self._running.go_back(self._before)
        self._steps[-1], self._used = self._last.scaled(factor), factor
        self._running.add(self._steps[-1])
