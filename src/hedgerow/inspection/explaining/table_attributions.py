"""Attributions of hidden Markov models: log-likelihood ratios of the values of each column."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.data.columns import BagColumn, CategoricalColumn, Column
from hedgerow.encoding.encoded import Encoded
from hedgerow.inspection.explaining.attributions import LabelInContext, Part, Scope, attributions, difference
from hedgerow.potentials.table import Discrete, Normal, TablePotential
from hedgerow.utilities import Floats64


class TableAttributions:
    """log P(value | label) / P(value | other label) of each column."""

    def __init__(self, potential: TablePotential, encoded: Encoded) -> None:
        self._potential, self._encoded = potential, encoded

    def parts(self, position: int, label: LabelInContext, against: LabelInContext) -> list[Part]:
        found = []
        for emission, column in zip(self._potential.emissions, self._encoded.columns, strict=True):
            here = column.take(np.array([position]))
            found += _ratios(emission, here, label.label, against.label)
        return found


def _ratios(emission: Discrete | Normal, column: Column, label: int, against: int) -> list[Part]:
    """The parts of a column with one position."""
    if isinstance(column, BagColumn) and isinstance(emission, Discrete):
        ids = column.ids.tolist()
        weights = [1.0] * len(ids) if column.weights is None else column.weights.tolist()
        rows = emission.log_probability
        return [
            Part(column.name, 0, str(column.alphabet[i]), _ratio(rows[i], label, against) * weight)
            for i, weight in zip(ids, weights, strict=True)
            if i >= 0
        ]
    scores = np.zeros((1, _n_labels(emission)))
    emission.add_scores(column, scores)
    return [Part(column.name, 0, _value(column), _ratio(scores[0], label, against))]


def _ratio(scores: Floats64, label: int, against: int) -> float:
    return difference(float(scores[label]), float(scores[against]))


def _n_labels(emission: Discrete | Normal) -> int:
    return emission.log_probability.shape[1] if isinstance(emission, Discrete) else len(emission.mean)


def _value(column: Column) -> Any:
    if isinstance(column, CategoricalColumn):
        code = int(column.codes[0])
        return str(column.alphabet[code]) if code >= 0 else None
    assert not isinstance(column, BagColumn)
    number = float(column.values[0])
    return None if np.isnan(number) else number


@attributions.register
def _table(potential: TablePotential, encoded: Encoded, scope: Scope) -> TableAttributions:
    return TableAttributions(potential, encoded)
