"""Scores of sequences after each boosting step, and the evaluation of dev data with these scores."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import AttributeReader
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.evaluation import Evaluator
from hedgerow.potentials.trees import TreePotential, Trees, first_scores
from hedgerow.utilities import Floats32

BYTES_PER_SCORE = 12  # scores, marginals and residuals in single precision


class BoostingStep(NamedTuple):
    """What a round adds: trees, and numbers to the transition table if there is one."""

    trees: Trees
    table: Floats32 | None

    def scaled(self, factor: float) -> BoostingStep:
        values = (self.trees.values * factor).astype(np.float32)
        table = None if self.table is None else (self.table * factor).astype(np.float32)
        return BoostingStep(replace(self.trees, values=values), table)


class SavedScores(NamedTuple):
    """A copy of the scores and the table at some step."""

    scores: Floats32
    table: Floats32 | None


class RunningScores:
    """Scores of sequences under all steps so far, and the lattice over them.

    The lattice reads `scores` and `table` in place: adding a step to these arrays changes its answers. No beam drops
    the path `keep`. The steps are added to `offset`, by position and label.
    """

    def __init__(
        self,
        sequences: Encoded,
        training: TrainingData,
        start: TreePotential,
        steps: list[BoostingStep],
        *,
        keep: NDArray[np.int32] | None = None,
        allowed: NDArray[np.bool_] | None = None,
        offset: Floats32 | None = None,
    ) -> None:
        self.n_threads = training.n_threads
        self.n_labels, self.tree_order = len(training.labels), start.tree_order
        self.attributes = AttributeReader(sequences, start.window, start.binnings, n_threads=training.n_threads)
        self._offset = offset
        self.scores = first_scores(sequences.n_positions, self.n_labels, self.tree_order, offset)
        self._first_table = start.table
        self.table = None if start.table is None else start.table.copy()
        arrays: dict[str, Any] = {"edge": self.scores}
        if self.table is not None:
            arrays = {"state": self.scores[:, 0], "table": self.table}
        self.lattice = Lattice(
            training.topology, sequences.starts, **arrays, allowed=allowed, beam=training.beam, keep=keep,
            n_threads=training.n_threads,
        )  # fmt: skip
        for name, array in arrays.items():
            in_place = np.shares_memory(getattr(self.lattice, name), array) or not array.size
            assert in_place, f"the lattice must read {name} in place"
        self.restart(start, steps)

    def add(self, step: BoostingStep) -> None:
        self._add_trees(step.trees)
        self.add_to_table(step)

    def _add_trees(self, trees: Trees) -> None:
        forest = trees.compiled(self.attributes, self.n_labels, self.tree_order)
        forest.add_scores(self.attributes.reader, self.scores, self.n_threads)

    def add_to_table(self, step: BoostingStep) -> None:
        if self.table is not None and step.table is not None:
            self.table += step.table

    def restart(self, start: TreePotential, steps: list[BoostingStep]) -> None:
        """Compute all sums again; they are the same to the bit."""
        self.scores[:] = 0 if self._offset is None else self._offset[:, None, :]
        if self.table is not None:
            self.table[:] = self._first_table
        if len(start.trees) or steps:
            self._add_trees(Trees.joined([start.trees, *(step.trees for step in steps)]))
        for step in steps:
            self.add_to_table(step)

    def copy(self) -> SavedScores:
        return SavedScores(self.scores.copy(), None if self.table is None else self.table.copy())

    def go_back(self, sums: SavedScores) -> None:
        self.scores[:] = sums.scores
        if self.table is not None:
            self.table[:] = sums.table


class StepEvaluator(Protocol):
    """Evaluates the model on dev data after each step."""

    def add(self, step: BoostingStep) -> Record:
        """The dev scores after this step."""
        ...


class LatticeStepEvaluator:
    """Evaluates a model whose scores enter a lattice without change."""

    def __init__(
        self,
        dev: Encoded,
        training: TrainingData,
        start: TreePotential,
        steps: list[BoostingStep],
        offset: Floats32 | None = None,
    ) -> None:
        self._evaluator = Evaluator(training)
        self._running = RunningScores(dev, training, start, steps, offset=offset)

    def add(self, step: BoostingStep) -> Record:
        self._running.add(step)
        return self._evaluator.of_answers([self._running.lattice])


def check_memory(n_scores: int, order: int, remedy: str) -> None:
    """Raises InputError if the scores of all positions and label contexts do not fit into memory."""
    needed = BYTES_PER_SCORE * n_scores
    try:
        available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return
    if needed > available:
        raise InputError(
            f"trees of order {order} need about {needed / 2**30:,.1f} GiB for these data, but the machine has "
            f"{available / 2**30:,.1f}; {remedy}"
        )
