"""Weights of linear models by the names of attributes and labels, in the units of the data or as the model uses them.

The dicts are computed once for each model and shared by all callers: copy one before you change it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nlargest
from typing import Any

import numpy as np

from hedgerow.data.columns import BagColumn, FoldedBag, NumericColumn
from hedgerow.encoding import PADDING, AttributeReader
from hedgerow.errors import AbsentPartError
from hedgerow.inspection.frozen_model import absent_part, check_model, once_per_model
from hedgerow.model import Model
from hedgerow.potentials.linear import LinearPotential
from hedgerow.potentials.local import unnormalised
from hedgerow.potentials.votes import VotedPotential
from hedgerow.search.potential import SearchPotential
from hedgerow.topology import Topology


def _potential(model: Model) -> LinearPotential | SearchPotential:
    potential = unnormalised(model.potential)
    if isinstance(potential, VotedPotential):
        raise AbsentPartError(
            f"{model.estimator} with averaging='vote' has no single set of weights, because many vote; fit it with "
            "averaging='average'"
        )
    if not isinstance(potential, (LinearPotential, SearchPotential)):
        raise absent_part(model, "weights", "fit a LinearCRF")
    return potential


@once_per_model
def state_features(model: Model) -> dict[tuple[str, Any], float]:
    """Weights of attributes.

    Parameters
    ----------
    model : Model
        `model_` of a fitted linear estimator.

    Returns
    -------
    dict of (attribute, label) to float
        The name of an attribute is "value", "column:value", "column" or "column[-1]:value"; of a conjunction, the
        names of its members joined with " & ".

    Raises
    ------
    InputError
        If the model is not linear.
    """
    attributes, weights, _ = _in_units(model)
    return _named(attributes, weights, model.labels.classes.tolist())


def strongest_features(model: Model, n: int) -> dict[tuple[str, Any], float]:
    """The n of `standardised_weights` that are farthest from 0, the strongest first; only these are named."""
    attributes, weights = standardised_weights(model)
    strongest = nlargest(n, weights.items(), key=lambda item: abs(item[1]))
    return _named(attributes, dict(strongest), model.labels.classes.tolist())


def standardised_weights(model: Model) -> tuple[AttributeReader, dict[tuple[int, int], float]]:
    """(attributes, weights by attribute id and label code), as the model uses them.

    Numbers are standardised before they are multiplied by their weights, so that weights of all columns can be
    compared: that of a number is for one standard deviation.
    """
    check_model(model)
    potential = _potential(model)
    nothing = model.encoder.nothing()
    columns = potential.with_future(nothing) if isinstance(potential, SearchPotential) else nothing
    attributes = AttributeReader(columns, potential.window, potential.scalings, potential.conjunctions)
    features = potential.state_features
    pairs = zip(features.attributes.tolist(), features.outputs.tolist(), strict=True)
    return attributes, dict(zip(pairs, potential.state_weights.tolist(), strict=True))


def standardisation_note(model: Model) -> str | None:
    """What to say beside `standardised_weights`; None if the model standardises no numbers."""
    scalings = _potential(model).scalings.values()
    standardises = any((scaling.mean, scaling.deviation) != (0, 1) for scaling in scalings)
    return "weights of numbers are for one standard deviation" if standardises else None


def named_weights(attributes: AttributeReader, weights: Iterable[tuple[int, int]]) -> dict[int, str]:
    """The names of the attributes of weights; of a conjunction, the names of its members joined with " & "."""
    conjunctions = attributes.conjunctions.sets()

    def members(i: int) -> Sequence[int]:
        return (i,) if i < attributes.n_basic else conjunctions[i - attributes.n_basic]

    return {i: " & ".join(attribute_name(attributes, member) for member in members(i)) for i, _ in weights}


def _named(
    attributes: AttributeReader, weights: dict[tuple[int, int], float], labels: list[Any]
) -> dict[tuple[str, Any], float]:
    names = named_weights(attributes, weights)
    return {(names[i], labels[y]): weight for (i, y), weight in weights.items()}


@once_per_model
def transition_features(model: Model) -> dict[tuple[Any, ...], float]:
    """Weights of labels that follow each other.

    Parameters
    ----------
    model : Model
        `model_` of a fitted linear estimator.

    Returns
    -------
    dict of (previous label, label) to float
        Labels in the order of the sequence; longer tuples for higher orders. None stands for a position outside of the
        sequence.

    Raises
    ------
    InputError
        If the model is not linear.
    """
    potential = _potential(model)
    k, labels = len(model.labels), model.labels.classes.tolist()
    if isinstance(potential, SearchPotential):
        return _search_transitions(potential, [*labels, None])
    contexts = Topology(k, model.order).contexts()
    weights = {}
    for cell, weight in zip(potential.n_grams.cells.tolist(), potential.n_gram_weights.tolist(), strict=True):
        row, label = divmod(cell, k)
        if contexts[row]:
            weights[tuple(labels[y] for y in [*reversed(contexts[row]), label])] = weight
    return weights


def _search_transitions(potential: SearchPotential, names: list[Any]) -> dict[tuple[Any, ...], float]:
    weights, k = {}, potential.n_grams.n_labels
    for cell, weight in zip(potential.n_grams.cells.tolist(), potential.n_gram_weights.tolist(), strict=True):
        gram, label = divmod(cell, k)
        predicted_first = [names[y] for y in [label, *potential.n_grams.labels(gram)]]
        if len(predicted_first) > 1:
            right_to_left = potential.direction == "right-to-left"
            weights[tuple(predicted_first if right_to_left else reversed(predicted_first))] = weight
    return weights


@once_per_model
def intercept(model: Model) -> dict[Any, float]:
    """Biases of the labels, for numbers in the units of the data.

    Parameters
    ----------
    model : Model
        `model_` of a fitted linear estimator.

    Returns
    -------
    dict of label to float
        0 unless there are numeric columns.

    Raises
    ------
    InputError
        If the model is not linear.
    """
    return dict(zip(model.labels.classes.tolist(), _in_units(model)[2], strict=True))


def attribute_name(attributes: AttributeReader, attribute: int) -> str:
    """Name of an attribute id: the column, the offset unless it is 0, and the value.

    The column is left out if X holds bags and nothing else, or if the bag was made of many numeric keys.
    """
    column, offset, value = attributes.name(attribute)
    place = column if offset == 0 else f"{column}[{offset:+d}]"
    if value is PADDING:
        return f"{place} outside"
    if isinstance(attributes.sequences.column(column), NumericColumn):
        return place
    read = attributes.sequences.column(column)
    lists = isinstance(read, BagColumn) and column == "bag" and len(attributes.sequences.columns) == 1
    nameless = lists or isinstance(read, FoldedBag)
    return str(value) if nameless and offset == 0 else f"{place}:{value}"


def _in_units(model: Model) -> tuple[AttributeReader, dict[tuple[int, int], float], list[float]]:
    """(attributes, weights by attribute id and label, biases by label) for numbers as in X, before standardising.

    w (x - mean) / deviation = (w / deviation) x - w mean / deviation. The last term does not depend on x, so it is
    added to the bias. At offsets outside the sequence no number is read; there the weight of padding cancels the term.
    """
    potential = _potential(model)
    attributes, weights = standardised_weights(model)
    bias = np.zeros(len(model.labels))
    unigrams = potential.n_grams.cells < len(bias)
    bias[potential.n_grams.cells[unigrams]] = potential.n_gram_weights[unigrams]
    for attribute, y in list(weights) if potential.scalings else []:
        if attribute >= attributes.n_basic:  # a conjunction has no number among its members
            continue
        column, offset, value = attributes.name(attribute)
        if value is PADDING or column not in potential.scalings:
            continue
        scaling = potential.scalings[column]
        weights[attribute, y] /= scaling.deviation
        shift = weights[attribute, y] * scaling.mean
        bias[y] -= shift
        if offset:  # a position is never outside its own sequence
            padding = attribute + 1, y
            weights[padding] = weights.get(padding, 0.0) + shift
    return attributes, weights, bias.tolist()
