"""Attributions of hidden Markov models: log-likelihood ratios of the values of each column."""

from __future__ import annotations

import numpy as np

from hedgerow.data.columns import BagColumn
from hedgerow.encoding.encoded import Encoded
from hedgerow.inspection.explaining.attributions import LabelInContext, Part, Scope, attributions, difference
from hedgerow.inspection.explaining.shown_values import Weighted, value_at
from hedgerow.potentials.table import Discrete, Normal, TablePotential
from hedgerow.utilities import Floats64


class TableAttributions:
    """log P(value | label) / P(value | other label) of each column."""

    def __init__(self, potential: TablePotential, encoded: Encoded, scope: Scope) -> None:
        self._potential, self._encoded, self._raw = potential, encoded, scope.raw

    def parts(self, position: int, label: LabelInContext, against: LabelInContext) -> list[Part]:
        found = list[Part]()
        for emission, column in zip(self._potential.emissions, self._encoded.columns, strict=True):
            here = column.take(np.array([position]))
            if isinstance(here, BagColumn) and isinstance(emission, Discrete):
                found += _of_members(emission, here, label.label, against.label)
                continue
            scores = np.zeros((1, _n_labels(emission)))
            emission.add_scores(here, scores)
            value = value_at(self._encoded, column.name, position, 0, self._raw)
            found.append(Part(column.name, 0, value, _ratio(scores[0], label.label, against.label)))
        return found


def _of_members(emission: Discrete, column: BagColumn, label: int, against: int) -> list[Part]:
    """The parts of the members of a bag at one position."""
    ids = column.ids.tolist()
    weights = [1.0] * len(ids) if column.weights is None else column.weights.tolist()
    rows = emission.log_probability
    return [
        Part(column.name, 0, Weighted.of(str(column.alphabet[i]), weight), _ratio(rows[i], label, against) * weight)
        for i, weight in zip(ids, weights, strict=True)
        if i >= 0
    ]


def _ratio(scores: Floats64, label: int, against: int) -> float:
    return difference(float(scores[label]), float(scores[against]))


def _n_labels(emission: Discrete | Normal) -> int:
    return emission.log_probability.shape[1] if isinstance(emission, Discrete) else len(emission.mean)


@attributions.register
def _table(potential: TablePotential, encoded: Encoded, scope: Scope) -> TableAttributions:
    return TableAttributions(potential, encoded, scope)
