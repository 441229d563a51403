"""The values that are tried in place of one value of a sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import BagColumn, CategoricalColumn, Column, trusted
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.column_spec import ColumnSpec, without_values
from hedgerow.errors import warnings_to
from hedgerow.inspection.counterfactual_readings import NumberReading
from hedgerow.inspection.frozen_model import once_per_model
from hedgerow.model import Model
from hedgerow.utilities import Floats32

MOST_VALUES = 200  # of an alphabet
MOST_NUMBERS = 64  # above a number, and below it


def numbers_beside(reading: NumberReading, value: float) -> list[Floats32]:
    """Numbers below the value and numbers above it, the nearest first; all numbers as one list if it is missing.

    Of a threshold below, the largest number that lies under it is tried; of a threshold above, the threshold.
    """
    under = np.nextafter(reading.steps, np.float32(-np.inf))
    if np.isnan(value):
        return [_thinned(np.unique(np.concatenate([under, reading.steps, reading.points])))]
    below = np.concatenate([under[reading.steps <= value], reading.points[reading.points < value]])
    above = np.concatenate([reading.steps[reading.steps > value], reading.points[reading.points > value]])
    return [_thinned(np.unique(below)[::-1]), _thinned(np.unique(above))]


def _thinned(values: Floats32) -> Floats32:
    """At most MOST_NUMBERS of the values, at even distances in the list, with the first and the last."""
    if len(values) <= MOST_NUMBERS:
        return values
    return values[np.linspace(0, len(values) - 1, MOST_NUMBERS).round().astype(np.int64)]


def tried_values(model: Model, spec: ColumnSpec, to: int | None) -> list[str]:
    """Values of the alphabet of a column of X; of a large one MOST_VALUES.

    Of a large alphabet, each label has values with which it is most probable if a sequence consists of the value
    alone; a label to change to has half of all.
    """
    assert isinstance(spec.alphabet, Alphabet)
    if len(spec.alphabet) <= MOST_VALUES:
        return list(spec.alphabet)
    best = _best_codes(model)[spec.name]
    first = [] if to is None else best[: MOST_VALUES // 2, to].tolist()
    distinct = dict.fromkeys(chain(first, best.reshape(-1).tolist()))  # the best of each label, then the second ...
    return [spec.alphabet[code] for code in islice(distinct, MOST_VALUES)]


@once_per_model
def _best_codes(model: Model) -> dict[str, NDArray[np.int64]]:
    """(MOST_VALUES, labels) for each column with a large alphabet: the values that make a label most probable."""
    specs = [spec for spec in model.encoder.raw_columns if spec.indicates is None]
    large = [spec for spec in specs if spec.alphabet is not None and len(spec.alphabet) > MOST_VALUES]
    with warnings_to(lambda message, category: None):
        return {spec.name: _best_of_column(model, specs, spec) for spec in large}


def _best_of_column(model: Model, specs: Sequence[ColumnSpec], spec: ColumnSpec) -> NDArray[np.int64]:
    codes, probabilities = np.zeros((0, len(model.labels)), np.int64), np.zeros((0, len(model.labels)))
    first = 0
    for block in _probabilities_alone(model, specs, spec):
        own = np.arange(first, first + len(block))[:, None]
        first += len(block)
        probabilities = np.concatenate([probabilities, block])
        codes = np.concatenate([codes, np.broadcast_to(own, block.shape)])
        order = np.argsort(-probabilities, axis=0, kind="stable")[:MOST_VALUES]
        codes, probabilities = (np.take_along_axis(one, order, axis=0) for one in (codes, probabilities))
    return codes


def _probabilities_alone(model: Model, specs: Sequence[ColumnSpec], spec: ColumnSpec) -> Iterator[NDArray[np.floating]]:
    """Blocks (values, labels): the probabilities of labels in a sequence of the value alone, without constraints."""
    assert isinstance(spec.alphabet, Alphabet)
    n = len(spec.alphabet)
    absent, starts = np.zeros(n, np.bool_), np.arange(n + 1, dtype=np.int64)
    columns = tuple(_each_value(one) if one is spec else without_values(one, absent) for one in specs)
    encoded = model.encoder.transform(Sequences.trusted(starts, columns))
    free = replace(model.topology, constraints=None)
    for answers in model.potential.answers_by_block(encoded, free):
        yield answers.marginals()[1]


def _each_value(spec: ColumnSpec) -> Column:
    """A column with every value of the alphabet once, in order."""
    assert isinstance(spec.alphabet, Alphabet)
    codes = np.arange(len(spec.alphabet), dtype=np.int32)
    if spec.kind == "categorical":
        return trusted(CategoricalColumn, spec.name, codes, spec.alphabet)
    return trusted(BagColumn, spec.name, np.arange(len(codes) + 1, dtype=np.int64), codes, None, spec.alphabet)
