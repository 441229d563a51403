"""Linear models: what each attribute and each sequence of labels weighs, in the units of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.columns import BagColumn, NumericColumn
from hedgerow.encoding import PADDING, Rows
from hedgerow.errors import InputError
from hedgerow.lattice import Topology
from hedgerow.model import Model
from hedgerow.potentials.linear import LinearPotential


def _potential(model: Model) -> LinearPotential:
    if not isinstance(model.potential, LinearPotential):
        raise InputError(f"{model.estimator} has no weights to look at; fit a LinearCRF")
    return model.potential


def state_features(model: Model) -> dict[tuple[str, Any], float]:
    """{(attribute, label): weight}; an attribute is "value", "column:value", "column" or "column[-1]:value".

    A conjunction is "one & another".
    """
    potential = _potential(model)
    features, labels = potential.state_features, model.labels.classes.tolist()
    rows = Rows(model.encoder.nothing(), potential.window, potential.scalings, potential.conjunctions)
    names = [attribute_name(rows, i) for i in range(rows.n_basic)]
    names += [" & ".join(names[i] for i in members) for members in potential.conjunctions.sets()]
    weights, _ = _in_units(model, rows)
    pairs = zip(features.attributes.tolist(), features.outputs.tolist(), weights.tolist(), strict=True)
    return {(names[i], labels[y]): weight for i, y, weight in pairs}


def transition_features(model: Model) -> dict[tuple[Any, ...], float]:
    """{(previous label, label): weight}, the labels in the order of the sequence."""
    potential = _potential(model)
    k, labels = len(model.labels), model.labels.classes.tolist()
    histories = Topology(k, model.order).histories()
    found = {}
    for cell, weight in zip(potential.n_grams.cells.tolist(), potential.n_gram_weights.tolist(), strict=True):
        row, label = divmod(cell, k)
        if histories[row]:
            found[tuple(labels[y] for y in [*reversed(histories[row]), label])] = weight
    return found


def intercept(model: Model) -> dict[Any, float]:
    """{label: weight}: the bias, less what was subtracted from numbers."""
    potential = _potential(model)
    rows = Rows(model.encoder.nothing(), potential.window, potential.scalings)
    return dict(zip(model.labels.classes.tolist(), _in_units(model, rows)[1].tolist(), strict=True))


def attribute_name(rows: Rows, attribute: int) -> str:
    """What an id is called: its column unless that is nameless, the offset unless that is 0, and the value."""
    column, offset, value = rows.name(attribute)
    place = column if offset == 0 else f"{column}[{offset:+d}]"
    if value is PADDING:
        return f"{place} outside"
    if isinstance(rows.sequences.column(column), NumericColumn):
        return place
    nameless = isinstance(rows.sequences.column(column), BagColumn) and len(rows.sequences.columns) == 1
    return str(value) if nameless and offset == 0 else f"{place}:{value}"


def _in_units(model: Model, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(weights of state features, biases by label) of the same scores, from numbers as they were given.

    w (x - mean) / deviation = (w / deviation) x - w mean / deviation. The last part is the same wherever the number is
    read, so it goes to the bias; outside the sequence nothing is read, so there padding gives it back.
    """
    potential = _potential(model)
    features, k = potential.state_features, len(model.labels)
    dense = np.zeros((len(features.starts) - 1, k))
    dense_at = features.attributes, features.outputs
    weights = potential.state_weights.astype(np.float64)
    dense[dense_at] = weights
    bias = np.zeros(k)
    unigrams = potential.n_grams.cells < k
    bias[potential.n_grams.cells[unigrams]] = potential.n_gram_weights[unigrams]
    for attribute in range(rows.n_basic if potential.scalings else 0):
        column, _, value = rows.name(attribute)
        if value is PADDING or column not in potential.scalings:
            continue
        scaling = potential.scalings[column]
        shift = dense[attribute] * (scaling.mean / scaling.deviation)
        dense[attribute] /= scaling.deviation
        bias -= shift
        if not potential.window.is_trivial:
            dense[attribute + 1] += shift
    return dense[dense_at], bias
