"""Gradient tree boosting of a conditional random field (dissertation, table 3.3).

Every round fits one tree for each label to gold minus marginals and adds it to the potentials. Training potentials
are kept, so a round evaluates only its own trees. With a table, trees score labels alone and the table of
transitions takes a Newton step of its own: observed minus expected counts, over the expected ones.

The training likelihood is known at the start of the next round. Where a Newton round made it fall, the round is
taken back and tried again with half the step.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.columns import NumericColumn
from hedgerow.encoding import Binning, Rows, Window
from hedgerow.errors import InputError
from hedgerow.lattice import Lattice
from hedgerow.learners.base import Record, Training, held_out_scores
from hedgerow.potentials.trees import TreePotential, Trees
from hedgerow.sequences import Sequences

PATIENCE = 20  # rounds without a better dev score before early stopping
MOST_HALVINGS = 8
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class BoostingRules:
    """How trees are grown and steps are taken."""

    window: int
    transitions: Literal["trees", "table"]
    n_rounds: int
    learning_rate: float
    max_leaves: int
    l2: float
    newton: bool
    max_step: float
    min_leaf: int
    early_stopping: Literal["accuracy", "log-likelihood"] | None


class _Scored:
    """Sequences with their potentials so far, kept up to date tree by tree."""

    def __init__(self, sequences: Sequences, training: Training, potential: TreePotential) -> None:
        self.n_threads = training.n_threads
        k, tree_order = len(training.labels), potential.tree_order
        self.data = _core.TreeData(Rows(sequences, potential.window, potential.binnings).reader, k, tree_order)
        self.scores: Floats = np.zeros((sequences.n_positions, k**tree_order, k), dtype=np.float32)
        self.table = None if potential.table is None else potential.table.astype(np.float32)
        parts: dict[str, Any] = {"edge": self.scores}
        if self.table is not None:
            parts = {"state": self.scores[:, 0], "table": self.table}
        self.lattice = Lattice(training.topology, sequences.starts, **parts, n_threads=training.n_threads)

    def add(self, trees: Trees, table_step: Floats | None) -> None:
        trees.add_to(self.data, self.scores, self.n_threads)
        self.step_table(table_step)

    def step_table(self, step: Floats | None) -> None:
        if self.table is not None and step is not None:
            self.table += step

    def start_again(self) -> None:
        self.scores[:] = 0
        if self.table is not None:
            self.table[:] = 0


class Boosting:
    """The learner of TreeCRF."""

    def __init__(self, training: Training, rules: BoostingRules) -> None:
        if rules.early_stopping and training.held is None:
            raise InputError("early_stopping needs held-out data; give X_dev and y_dev to fit, or set it to None")
        _refuse_missing(training.sequences)
        self.training, self.rules = training, rules
        binnings = {c.name: Binning.fit(c.values) for c in training.sequences.columns if isinstance(c, NumericColumn)}
        k = len(training.labels)
        table = np.zeros((training.topology.n_rows, k), dtype=np.float32) if rules.transitions == "table" else None
        tree_order = 0 if table is not None else training.order
        _check_memory(training.sequences.n_positions * k ** (tree_order + 1), training.order)
        self._empty = TreePotential(Window.of(rules.window), binnings, k, tree_order, Trees.none(), table)
        self._rounds: list[tuple[Trees, Floats | None]] = []
        self._kept = 0  # how many rounds the model has: fewer than were tried after early stopping

    @property
    def potential(self) -> TreePotential:
        """The trees and the table of the rounds kept so far."""
        table = self._empty.table
        for _, step in self._rounds[: self._kept]:
            table = table + step if table is not None and step is not None else table
        trees = Trees.joined([trees for trees, _ in self._rounds[: self._kept]])
        empty = self._empty
        return TreePotential(empty.window, empty.binnings, empty.n_labels, empty.tree_order, trees, table)

    def __iter__(self) -> Iterator[Record]:
        training, rules = self.training, self.rules
        here = _Scored(training.sequences, training, self._empty)
        held = training.held
        there = None if held is None else _Scored(held.sequences, training, self._empty)
        gold_counts = _edge_counts(training) if here.table is not None else None
        best, best_round, step = -np.inf, 0, rules.learning_rate
        objective, marginals, expected = self._infer(here)
        while len(self._rounds) < rules.n_rounds:
            round_step = step
            for _ in range(MOST_HALVINGS):
                self._grow(here, marginals, expected, gold_counts, round_step)
                after, new_marginals, new_expected = self._infer(here)
                if np.isfinite(after) and (after >= objective or not rules.newton):
                    break
                self._take_back(here)
                round_step /= 2
            else:
                return  # no step improves the likelihood: it is at its top
            objective, marginals, expected = after, new_marginals, new_expected
            self._kept = len(self._rounds)
            record: Record = {"round": self._kept, "objective": objective, "step": round_step}
            if there is not None and held is not None:
                there.add(*self._rounds[-1])
                record |= held_out_scores(there.lattice, held, training.decode)
                best, best_round = self._watch(record, best, best_round)
            yield record
            if rules.early_stopping and len(self._rounds) - best_round >= PATIENCE:
                break
        if rules.early_stopping:
            self._kept = best_round

    def _infer(self, here: _Scored) -> tuple[float, Floats, NDArray[np.float64] | None]:
        """Mean training log-likelihood, marginals in the shape of the scores, and expected edge counts."""
        training = self.training
        if here.table is None:
            log_z, _, marginals = here.lattice.pair_marginals()
            expected = None
        else:
            log_z, state, expected = here.lattice.summed_pairs(training.weights)
            marginals = state[:, None, :]
        return training.mean(here.lattice.score(training.codes) - log_z), marginals, expected

    def _grow(
        self,
        here: _Scored,
        marginals: Floats,
        expected: NDArray[np.float64] | None,
        observed: NDArray[np.float64] | None,
        step: float,
    ) -> None:
        rules, training = self.rules, self.training
        weights = training.position_weights
        grown = here.data.grow_round(
            marginals, training.codes, here.scores, None if (weights == 1).all() else weights / weights.max(), step,
            rules.l2, rules.newton, rules.max_step, rules.min_leaf, rules.max_leaves, training.n_threads,
        )  # fmt: skip
        table_step = None
        if expected is not None and observed is not None:
            newton = (observed - expected) / (expected + rules.l2 + 1e-9)
            table_step = (step * np.clip(newton, -rules.max_step, rules.max_step)).astype(np.float32)
            here.step_table(table_step)
        self._rounds.append((Trees.of_round(*grown), table_step))

    def _take_back(self, here: _Scored) -> None:
        """Undoes the last round by adding up all others anew: to the bit what they gave before."""
        self._rounds.pop()
        here.start_again()
        for trees, table_step in self._rounds:
            here.add(trees, table_step)

    def _watch(self, record: Record, best: float, best_round: int) -> tuple[float, int]:
        key = "dev_log_likelihood" if self.rules.early_stopping == "log-likelihood" else "dev_accuracy"
        score = record[key] if record[key] is not None else -np.inf
        return (score, len(self._rounds)) if score > best else (best, best_round)


def _edge_counts(training: Training) -> NDArray[np.float64]:
    """How often gold takes each edge of the table, sequences times their weights."""
    topology = training.topology
    certain = np.full((training.sequences.n_positions, topology.n_labels), -np.inf, dtype=np.float32)
    certain[np.arange(len(training.codes)), training.codes] = 0
    return Lattice(topology, training.sequences.starts, state=certain).summed_pairs(training.weights)[2]


def _check_memory(n_scores: int, order: int) -> None:
    """Scores, marginals and residuals of every position and history must fit."""
    needed = 12 * n_scores
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return
    if needed > there:
        raise InputError(
            f"trees of order {order} need about {needed / 2**30:,.1f} GiB here, but the machine has "
            f'{there / 2**30:,.1f}; lower the order, or take transitions="table"'
        )


def _refuse_missing(sequences: Sequences) -> None:
    for column in sequences.columns:
        missing = column.missing()
        if missing.any():
            raise InputError(
                f"column {column.name!r} has {int(missing.sum())} missing values, the first at position "
                f"{int(missing.argmax())} of all; TreeCRF does not take missing values yet: fill them in"
            )
