"""Attributions of linear potentials: the weights of attributes, times their values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hedgerow.data.columns import NumericColumn
from hedgerow.data.ragged import sequence_of
from hedgerow.encoding import PADDING, AttributeReader
from hedgerow.encoding.encoded import Encoded
from hedgerow.inspection.explaining.attributions import LabelInContext, Part, Scope, attributions
from hedgerow.inspection.explaining.explanation import BIAS
from hedgerow.inspection.explaining.shown_values import NoValue, Weighted
from hedgerow.potentials.linear import Features, LinearPotential
from hedgerow.search.potential import SearchPotential
from hedgerow.utilities import Floats32, Floats64


class LinearAttributions:
    """Weights of (attribute, label) and of (attribute, label context, label), and biases."""

    def __init__(self, potential: LinearPotential, encoded: Encoded) -> None:
        self._potential = potential
        self._reader = AttributeReader(encoded, potential.window, potential.scalings, potential.conjunctions)
        self._k = potential.n_grams.n_labels
        self._bias = biases(potential)

    def parts(self, position: int, label: LabelInContext, against: LabelInContext) -> list[Part]:
        temperature = self._potential.temperature
        found = [
            Part(*name, (self._score(i, label, position) - self._score(i, against, position)) * weight / temperature)
            for i, weight, name in read_attributes(self._reader, position)
        ]
        bias = (self._bias[label.label] - self._bias[against.label]) / temperature
        return [*found, Part(BIAS, 0, None, float(bias))]

    def _score(self, attribute: int, one: LabelInContext, position: int) -> float:
        potential = self._potential
        score = weight_of(potential.state_features, potential.state_weights, attribute, one.label)
        if potential.edge_features is None or potential.edge_weights is None:
            return score
        starts = self._reader.sequences.starts
        if position - starts[sequence_of(starts, position)] < potential.n_grams.order:
            return score  # edge features need a full label context
        for context, share in zip(one.contexts.tolist(), one.shares.tolist(), strict=True):
            cell = context * self._k + one.label
            score += share * weight_of(potential.edge_features, potential.edge_weights, attribute, cell)
        return score


def biases(potential: LinearPotential | SearchPotential) -> Floats64:
    """The weight of each label alone: the n-grams without labels are the first cells."""
    k, cells = potential.n_grams.n_labels, potential.n_grams.cells
    weights = np.zeros(k)
    weights[cells[cells < k]] = potential.n_gram_weights[cells < k]
    return weights


def weight_of(features: Features, weights: Floats32, attribute: int, output: int) -> float:
    """The weight of an attribute for an output; 0 if there is no such feature."""
    first, last = features.starts[attribute : attribute + 2].tolist()
    at = np.flatnonzero(features.outputs[first:last] == output)
    return float(weights[first + at[0]]) if len(at) else 0.0


def read_attributes(reader: AttributeReader, position: int) -> Iterator[tuple[int, float, tuple[str, int, Any]]]:
    """(id, weight, (column, offset, value)) of the attributes of a position."""
    ids = reader.ids(position, position + 1)[1].tolist()
    weights = reader.weights(position, position + 1).tolist()
    for i, weight in zip(ids, weights, strict=True):
        column, offset, value = attribute_value(reader, i, position)
        yield i, weight, (column, offset, Weighted.of(value, weight) if isinstance(value, str) else value)


def attribute_value(reader: AttributeReader, attribute: int, position: int) -> tuple[str, int, Any]:
    """(column, offset, value) of an attribute; the value of a number is the number."""
    if attribute >= reader.n_basic:
        members = reader.conjunctions.sets()[attribute - reader.n_basic]
        names = [attribute_value(reader, member, position) for member in members]
        return " & ".join(_place(column, offset) for column, offset, _ in names), 0, tuple(name[2] for name in names)
    column, offset, value = reader.name(attribute)
    if value is PADDING:
        return column, offset, NoValue.OUTSIDE
    read = reader.sequences.column(column)
    if isinstance(read, NumericColumn):
        return column, offset, float(read.values[position + offset])
    return column, offset, str(value)


def _place(column: str, offset: int) -> str:
    return f"{column}[{offset:+d}]" if offset else column


@attributions.register
def _linear(potential: LinearPotential, encoded: Encoded, scope: Scope) -> LinearAttributions:
    return LinearAttributions(potential, encoded)
