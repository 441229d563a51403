"""Attributions of the linear model whose log-marginals are the input of trees.

Its log-odds are part of the score: those of the trees are added to them. The trees also read the log-marginals, and
these numbers together have a Shapley value v. Let e be the evidence of the linear model: its log-odds without its
bias. The parts of e are those of the attributes, and what the labels around say to the linear model. The sum e + v is
divided in the proportions of these parts:

    part of e * (e + v) / e

This treats the trees as if they multiplied the evidence by a number, which is the rescale rule of DeepLIFT for a
function of another. So each amount belongs to a value of the user, and the sum stays exact. The proportions mean
nothing where e is nearly 0 or far smaller than its parts, or where the trees reverse it. There v is a part of its own.
"""

from __future__ import annotations

from hedgerow.data.ragged import sequence_of
from hedgerow.encoding.encoded import Encoded
from hedgerow.inspection.explaining.attributions import Part, Scope
from hedgerow.inspection.explaining.explanation import BIAS
from hedgerow.inspection.explaining.lattice_explainer import LatticeExplainer
from hedgerow.potentials.tree_columns import TreeColumns
from hedgerow.utilities import Floats32

LEAST_EVIDENCE = 0.1  # log-odds below which parts are not told apart
MOST_FACTOR = 10.0  # by which parts may exceed the evidence, and the trees increase it
AROUND = "linear model: labels around"
READ = "linear model: scores read by trees"


class LinearInput:
    """Parts of linear log-odds, which trees read and add to."""

    def __init__(self, columns: TreeColumns, log_marginals: Floats32, encoded: Encoded, scope: Scope) -> None:
        self._columns, self._log_marginals, self._encoded, self._scope = columns, log_marginals, encoded, scope
        self._explainers = dict[int, LatticeExplainer]()  # by sequence

    def parts(self, position: int, label: int, against: int, of_trees: float) -> list[Part]:
        """The parts of the log-odds and of what the trees add because they read them, `of_trees`."""
        starts = self._encoded.starts
        sequence = sequence_of(starts, position)
        parts = self._explainer(sequence).attributes(position - int(starts[sequence]), label, against)
        row = self._log_marginals[position].astype(float)
        around = float(row[label] - row[against]) - sum(part.amount for part in parts)
        biases = [part for part in parts if part.column == BIAS and part.value is None]
        evidence = [*(part for part in parts if part not in biases), Part(AROUND, 0, None, around)]
        factor = _factor(evidence, of_trees)
        if factor is None:
            return [*biases, *evidence, Part(READ, 0, None, of_trees)]
        return [*biases, *(part._replace(amount=part.amount * factor) for part in evidence)]

    def _explainer(self, sequence: int) -> LatticeExplainer:
        if sequence not in self._explainers:
            linear, topology = self._columns.linear, self._columns.topology
            assert linear is not None
            own = self._encoded[sequence : sequence + 1]
            self._explainers[sequence] = LatticeExplainer(linear, own, topology, self._scope)
        return self._explainers[sequence]


def _factor(evidence: list[Part], more: float) -> float | None:
    """By how much `more` increases all parts of the evidence; None if that means nothing."""
    alone = sum(part.amount for part in evidence)
    largest = max(abs(part.amount) for part in evidence)
    if abs(alone) < max(LEAST_EVIDENCE, largest / MOST_FACTOR):
        return None
    factor = (alone + more) / alone
    return factor if 0 < factor < MOST_FACTOR else None
