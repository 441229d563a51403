"""Gradient tree boosting of a conditional random field (dissertation, table 3.3).

Every round fits one tree for each label to gold minus marginals and adds it to the potentials. Training potentials
are kept, so a round evaluates only its own trees. With a table, trees score labels alone and the table of
transitions takes a Newton step of its own: observed minus expected counts, over the expected ones.

After a Newton round that made the training likelihood fall, its step is halved until it rises. A line search also
tries longer steps. The first rounds may follow the pseudo-likelihood, where a label's neighbours are gold.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.encoding import AttributeReader, Window
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.missing_values import refuse_missing
from hedgerow.errors import InputError
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.base import DevData, Record, TrainingData, by_depth, dev_scores, edge_counts
from hedgerow.learning.early_stopping import EarlyStopper, Stopping, check_dev_data
from hedgerow.learning.pseudo_likelihood import pseudo_marginals
from hedgerow.potentials.trees import TreePotential, Trees

MOST_HALVINGS = 20
MOST_DOUBLINGS = 4
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class BoostingRules:
    """How trees are grown and steps are taken."""

    window: int
    transitions: Literal["trees", "table"]
    shared: bool  # one tree a round for all labels
    n_rounds: int
    learning_rate: float
    line_search: bool
    growth: _core.GrowthRules
    subsample: float
    pseudo_rounds: int
    early_stopping: Stopping
    seed: int

    @property
    def newton(self) -> bool:
        return self.growth.newton


class Step(NamedTuple):
    """What a round adds: trees, and to the table if there is one."""

    trees: Trees
    table: Floats | None

    def times(self, factor: float) -> Step:
        values = (self.trees.values * factor).astype(np.float32)
        table = None if self.table is None else (self.table * factor).astype(np.float32)
        return Step(replace(self.trees, values=values), table)


class _Answer(NamedTuple):
    """The mean training log-likelihood, and what the lattice says of labels: by position, and by row of the table."""

    objective: float
    marginals: Floats
    expected: NDArray[np.float64] | None


class Scored:
    """Encoded with their potentials so far, kept up to date step by step; no beam loses the path `keep`."""

    def __init__(
        self, sequences: Encoded, training: TrainingData, start: TreePotential, steps: list[Step],
        keep: NDArray[np.int32] | None = None,
    ) -> None:  # fmt: skip
        self.n_threads = training.n_threads
        self.k, self.tree_order = len(training.labels), start.tree_order
        self.rows = AttributeReader(sequences, start.window, start.binnings)
        self.scores: Floats = np.zeros((sequences.n_positions, self.k**self.tree_order, self.k), dtype=np.float32)
        self.first_table = start.table
        self.table = None if start.table is None else start.table.copy()
        parts: dict[str, Any] = {"edge": self.scores}
        if self.table is not None:
            parts = {"state": self.scores[:, 0], "table": self.table}
        self.lattice = Lattice(
            training.topology, sequences.starts, **parts, beam=training.beam, keep=keep, n_threads=training.n_threads
        )
        self.start_again(start, steps)

    def add(self, step: Step) -> None:
        self._add_trees(step.trees)
        self.add_to_table(step)

    def _add_trees(self, trees: Trees) -> None:
        trees.compiled(self.rows, self.k, self.tree_order).add_scores(self.rows.reader, self.scores, self.n_threads)

    def add_to_table(self, step: Step) -> None:
        if self.table is not None and step.table is not None:
            self.table += step.table

    def start_again(self, start: TreePotential, steps: list[Step]) -> None:
        """Adds up everything anew: to the bit what it gave before."""
        self.scores[:] = 0
        if self.table is not None:
            self.table[:] = self.first_table
        if len(start.trees) or steps:
            self._add_trees(Trees.joined([start.trees, *(step.trees for step in steps)]))
        for step in steps:
            self.add_to_table(step)


class Evaluator(Protocol):
    """Sees every step, and says how the model does on held-out data when it is taken."""

    def see(self, step: Step) -> Record: ...


class LatticeEvaluator:
    """The judge of a model whose potentials go into a lattice as they are."""

    def __init__(self, held: DevData, training: TrainingData, start: TreePotential, steps: list[Step]) -> None:
        self.held, self.training = held, training
        self.scored = Scored(held.sequences, training, start, steps)

    def see(self, step: Step) -> Record:
        self.scored.add(step)
        return dev_scores(self.scored.lattice, self.held, self.training.decode)


class BoostingLearner:
    """The learner of TreeCRF. `start` is what to go on from: a potential, and how its rounds went.

    Another `judge` than that of the lattice is made of the potential before the first step, and of the steps so far.
    """

    def __init__(
        self,
        training: TrainingData,
        rules: BoostingRules,
        start: tuple[TreePotential, list[Record]] | None = None,
        judge: Callable[[TreePotential, list[Step]], Evaluator | None] | None = None,
    ) -> None:
        check_dev_data(rules.early_stopping, training.held)
        if rules.shared:
            setting = f'trees="shared" and missing={rules.growth.missing!r}'
            refuse_missing(training.sequences, "X", f"a TreeCRF with {setting}")
        self.training, self.rules = training, rules
        self._make_judge = judge or self._of_its_lattice
        k = len(training.labels)
        tree_order = 0 if rules.transitions == "table" else training.order
        n_scores = training.sequences.n_positions * k ** (tree_order + 1)
        check_memory(n_scores, training.order, 'lower the order, or take transitions="table"')
        self._start, self._before = start or (self._nothing(tree_order), [])
        self._steps: list[Step] = []
        table, steps = self._start.table, self._start.table_steps
        if table is None or steps is not None:  # its rounds can be told apart
            parts = self._start.trees.rounds(1 if rules.shared else k)
            tables = [None] * len(parts) if steps is None else list(steps)
            self._steps = [Step(*part) for part in zip(parts, tables, strict=True)]
            none = Trees.none(self._start.trees.values.shape[1])  # the bins stay those that the trees test
            first = None if table is None else np.zeros_like(table)
            self._start = replace(self._start, trees=none, table=first, table_steps=None, mean_edges=None)
        self._kept = len(self._steps)  # how many steps the model has: fewer than were tried after early stopping
        self._before_steps = len(self._before) - len(self._steps)  # rounds of `_start`
        self._ended = False
        self._here: Scored | None = None

    def _nothing(self, tree_order: int) -> TreePotential:
        training, k = self.training, len(self.training.labels)
        binnings = training.tree_inputs.binnings(training.sequences)
        table = None
        if self.rules.transitions == "table":
            table = np.zeros((training.topology.n_rows, k), dtype=np.float32)
        none = Trees.none(k if self.rules.shared else 1)
        return TreePotential(Window.of(self.rules.window), binnings, k, tree_order, none, table)

    @property
    def history(self) -> list[Record]:
        return list(self._before)

    @property
    def potential(self) -> TreePotential:
        """The trees and the table of the rounds kept so far."""
        kept, table, table_steps = self._steps[: self._kept], self._start.table, None
        if table is not None:
            steps = [step.table for step in kept if step.table is not None]
            for step in steps:
                table = table + step
            if not self._ended and not len(self._start.trees):
                table_steps = np.array(steps, dtype=np.float32).reshape(len(steps), *table.shape)
        trees = Trees.joined([self._start.trees, *(step.trees for step in kept)])
        return replace(
            self._start, trees=trees, table=table, table_steps=table_steps, mean_edges=self._mean_edges(table)
        )

    def _mean_edges(self, table: Floats | None) -> Floats | None:
        """Means over the positions that have a history, by its length; 0 where no position has one so long."""
        if table is not None or self._here is None:
            return None
        if self._kept < len(self._steps):
            self._here.start_again(self._start, self._steps[: self._kept])
        training, k, scores = self.training, len(self.training.labels), self._here.scores
        blocks = []
        for m, there in enumerate(by_depth(training.sequences.starts, training.order)):
            rows = scores[there, : k**m]
            blocks.append(rows.mean(axis=0) if len(rows) else np.zeros((k**m, k), np.float32))
        return np.concatenate(blocks)

    def __iter__(self) -> Iterator[Record]:
        training, rules = self.training, self.rules
        here = self._here = Scored(training.sequences, training, self._start, self._steps, training.codes)
        judge = self._make_judge(self._start, self._steps)
        grower = self._grower(here)
        observed = edge_counts(training) if here.table is not None else None
        watch = EarlyStopper(rules.early_stopping, self._before)
        answer = self._infer(here, len(self._before) + 1)
        for at in range(len(self._before) + 1, 1 if watch.is_over else rules.n_rounds + 1):
            objective = answer.objective
            self._grow(here, grower, observed, at, answer)
            del answer  # its marginals are as large as the scores: no second one beside the next
            answer, factor = self._try(here, at, objective)
            if factor == 0:
                break  # no step improves the likelihood: it is at its top
            self._kept = len(self._steps)
            record: Record = {"round": at, "objective": answer.objective, "step": rules.learning_rate * factor}
            if at == 1:
                record["transitions"] = rules.transitions
            if judge is not None:
                record |= judge.see(self._steps[-1])
            watch.see(record)
            yield record
            if watch.is_over:
                break
        if rules.early_stopping:
            self._kept = max(watch.best_round - self._before_steps, 0)
        self._ended = True

    def _of_its_lattice(self, start: TreePotential, steps: list[Step]) -> Evaluator | None:
        held = self.training.held
        return None if held is None else LatticeEvaluator(held, self.training, start, steps)

    def _grower(self, here: Scored) -> _core.TreeGrower:
        weights = self.training.position_weights
        counts = None if (weights == 1).all() else weights / weights.max()
        rules = self.rules.growth
        data = self.training.tree_inputs.tree_data(here.rows, self._start.binnings, here.tree_order, rules)
        return _core.TreeGrower(data, here.k, rules, counts)

    def _infer(self, here: Scored, at: int) -> _Answer:
        """The likelihood, and what round `at` learns from."""
        training, lattice = self.training, here.lattice
        if at <= self.rules.pseudo_rounds:
            log_z = lattice.log_partition()
            marginals, expected = pseudo_marginals(lattice, training)
        elif here.table is None:
            log_z, _, marginals = lattice.pair_marginals()
            expected = None
        else:
            log_z, state, expected = lattice.summed_pairs(training.weights)
            marginals = state[:, None, :]
        return _Answer(training.mean(lattice.score(training.codes) - log_z), marginals, expected)

    def _grow(
        self, here: Scored, grower: _core.TreeGrower, observed: NDArray[np.float64] | None, at: int, answer: _Answer
    ) -> None:
        """Grows the round's trees and takes its step."""
        rules, training = self.rules, self.training
        seed = (rules.seed * 1_000_003 + at) % 2**64
        grow = grower.grow_shared if rules.shared else grower.grow
        sample = self._sample(at)
        grown = grow(
            answer.marginals, training.codes, here.scores, sample, rules.learning_rate, seed, training.n_threads
        )
        table = None
        if answer.expected is not None and observed is not None:
            expected, l2, most = answer.expected, rules.growth.l2, rules.growth.max_step
            newton = np.clip((observed - expected) / (np.maximum(expected, 0) + l2 + 1e-9), -most, most)
            table = (rules.learning_rate * newton).astype(np.float32)
        self._steps.append(Step(Trees.of_round(*grown), table))
        if grower.adds_scores(sample is not None):
            here.add_to_table(self._steps[-1])
        else:
            here.add(self._steps[-1])

    def _sample(self, at: int) -> NDArray[np.uint8] | None:
        """Which positions count in a round: those of some sequences, drawn without repetition."""
        if self.rules.subsample >= 1:
            return None
        n = len(self.training.sequences)
        drawn = np.zeros(n, dtype=np.uint8)
        rng = np.random.default_rng([self.rules.seed, at])
        drawn[rng.permutation(n)[: max(1, round(self.rules.subsample * n))]] = 1
        return np.repeat(drawn, self.training.sequences.lengths)

    def _try(self, here: Scored, at: int, before: float) -> tuple[_Answer, float]:
        """Shortens or lengthens the step just taken; (answer, what the step was multiplied by: 0 if none helps)."""
        rules, step, factor = self.rules, self._steps[-1], 1.0
        answer = self._infer(here, at + 1)
        # Two sets of scores keep different paths under a beam: their likelihoods do not say which is better.
        comparable = not self.training.prunes and at > rules.pseudo_rounds
        must_rise = (rules.newton or rules.line_search) and comparable
        for _ in range(MOST_HALVINGS):
            if np.isfinite(answer.objective) and (answer.objective >= before or not must_rise):
                break
            factor /= 2
            del answer
            answer = self._retake(here, at, step.times(factor))
        else:
            self._steps.pop()
            return answer, 0.0
        if rules.line_search and at > rules.pseudo_rounds and factor == 1:
            for _ in range(MOST_DOUBLINGS):
                longer = self._retake(here, at, step.times(2 * factor))
                if not longer.objective > answer.objective:
                    return self._retake(here, at, step.times(factor)), factor
                answer, factor = longer, 2 * factor
        return answer, factor

    def _retake(self, here: Scored, at: int, step: Step) -> _Answer:
        self._steps[-1] = step
        here.start_again(self._start, self._steps)
        return self._infer(here, at + 1)


def check_memory(n_scores: int, order: int, cure: str) -> None:
    """Scores, marginals and residuals of every position and history must fit."""
    needed = 12 * n_scores
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return
    if needed > there:
        raise InputError(
            f"trees of order {order} need about {needed / 2**30:,.1f} GiB here, but the machine has "
            f"{there / 2**30:,.1f}; {cure}"
        )
