"""Linear models: what each attribute and each sequence of labels weighs, in the units of the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.data.columns import BagColumn, FoldedBag, LocalNumericColumn, NumericColumn
from hedgerow.encoding import PADDING, AttributeReader
from hedgerow.errors import InputError
from hedgerow.model import Model
from hedgerow.potentials.linear import LinearPotential
from hedgerow.potentials.local import unnormalised
from hedgerow.search.potential import SearchPotential
from hedgerow.topology import Topology


def _potential(model: Model) -> LinearPotential | SearchPotential:
    potential = unnormalised(model.potential)
    if not isinstance(potential, (LinearPotential, SearchPotential)):
        raise InputError(f"{model.estimator} has no weights to look at; fit a LinearCRF")
    return potential


def state_features(model: Model) -> dict[tuple[str, Any], float]:
    """{(attribute, label): weight}; an attribute is "value", "column:value", "column" or "column[-1]:value".

    A conjunction is "one & another".
    """
    rows, weights, _ = _in_units(model)
    labels = model.labels.classes.tolist()
    members = [*((i,) for i in range(rows.n_basic)), *rows.conjunctions.sets()]
    names = {i: " & ".join(attribute_name(rows, member) for member in members[i]) for i, _ in weights}
    return {(names[i], labels[y]): weight for (i, y), weight in weights.items()}


def transition_features(model: Model) -> dict[tuple[Any, ...], float]:
    """{(previous label, label): weight}, the labels in the order of the sequence; None is outside of it.

    Of a search that goes from right to left, the label comes first and the others follow it.
    """
    potential = _potential(model)
    k, labels = len(model.labels), model.labels.classes.tolist()
    if isinstance(potential, SearchPotential):
        return _searched_transitions(potential, [*labels, None])
    histories = Topology(k, model.order).contexts()
    found = {}
    for cell, weight in zip(potential.n_grams.cells.tolist(), potential.n_gram_weights.tolist(), strict=True):
        row, label = divmod(cell, k)
        if histories[row]:
            found[tuple(labels[y] for y in [*reversed(histories[row]), label])] = weight
    return found


def _searched_transitions(potential: SearchPotential, names: list[Any]) -> dict[tuple[Any, ...], float]:
    found, k = {}, potential.n_grams.n_labels
    for cell, weight in zip(potential.n_grams.cells.tolist(), potential.n_gram_weights.tolist(), strict=True):
        gram, label = divmod(cell, k)
        given = [names[y] for y in [label, *potential.n_grams.labels(gram)]]
        if len(given) > 1:
            found[tuple(given if potential.direction == "right-to-left" else reversed(given))] = weight
    return found


def intercept(model: Model) -> dict[Any, float]:
    """{label: weight}: the bias, less what was subtracted from numbers."""
    return dict(zip(model.labels.classes.tolist(), _in_units(model)[2], strict=True))


def attribute_name(rows: AttributeReader, attribute: int) -> str:
    """What an id is called: its column unless that is nameless, the offset unless that is 0, and the value."""
    column, offset, value = rows.name(attribute)
    place = column if offset == 0 else f"{column}[{offset:+d}]"
    if value is PADDING:
        return f"{place} outside"
    if isinstance(rows.sequences.column(column), NumericColumn):
        return place
    read = rows.sequences.column(column)
    nameless = isinstance(read, FoldedBag) or (isinstance(read, BagColumn) and len(rows.sequences.columns) == 1)
    return str(value) if nameless and offset == 0 else f"{place}:{value}"


def _in_units(model: Model) -> tuple[AttributeReader, dict[tuple[int, int], float], list[float]]:
    """(rows, weights by attribute id and label, biases by label) of the same scores, from numbers as they were given.

    w (x - mean) / deviation = (w / deviation) x - w mean / deviation. The last part is the same wherever the number is
    read, so it goes to the bias; outside the sequence nothing is read, so there padding gives it back.
    """
    potential = _potential(model)
    nothing = model.encoder.nothing()
    seen = potential.with_future(nothing) if isinstance(potential, SearchPotential) else nothing
    rows = AttributeReader(seen, potential.window, potential.scalings, potential.conjunctions)
    features = potential.state_features
    pairs = zip(features.attributes.tolist(), features.outputs.tolist(), strict=True)
    weights = dict(zip(pairs, potential.state_weights.tolist(), strict=True))
    bias = np.zeros(len(model.labels))
    unigrams = potential.n_grams.cells < len(bias)
    bias[potential.n_grams.cells[unigrams]] = potential.n_gram_weights[unigrams]
    for attribute, y in list(weights) if potential.scalings else []:
        if attribute >= rows.n_basic:  # a conjunction has no number among its members
            continue
        column, _, value = rows.name(attribute)
        if value is PADDING or column not in potential.scalings:
            continue
        scaling = potential.scalings[column]
        weights[attribute, y] /= scaling.deviation
        shift = weights[attribute, y] * scaling.mean
        bias[y] -= shift
        is_local = isinstance(seen.column(column), LocalNumericColumn)
        if not (potential.window.is_trivial or is_local):
            padding = attribute + 1, y
            weights[padding] = weights.get(padding, 0.0) + shift
    return rows, weights, bias.tolist()
