"""Which features CRFsuite gives a weight: those whose values in training add up to `min_freq` at least."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hedgerow.data.columns import BagColumn
from hedgerow.encoding.attributes import AttributeReader
from hedgerow.learning.base import TrainingData, edge_counts
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.utilities import Floats64


def crfsuite_space(
    training: TrainingData, *, min_freq: float, all_possible_states: bool, all_possible_transitions: bool
) -> LinearSpace:
    """The features that CRFsuite generates.

    The frequency of a pair of attribute and label is the sum of the attribute's values where the label is gold. It can
    be 0, for a bool that is False there, and below 0. The frequency of a transition is its count. Pairs that never
    occur have the frequency 0; `all_possible_states` and `all_possible_transitions` let them take part.
    """
    space = LinearSpace.of(
        training, 0, observed_only=not all_possible_states, all_transitions=all_possible_transitions, scale=False
    )
    if min_freq <= 0 and not _has_negative_values(training):
        return space  # no frequency is below 0
    counts = space.n_grams.summed(edge_counts(training))
    return replace(
        space,
        state=space.state.where(_frequencies(space, training) >= min_freq),
        n_grams=replace(space.n_grams, cells=space.n_grams.cells[counts >= min_freq]),
    )


def _has_negative_values(training: TrainingData) -> bool:
    return any(
        isinstance(column, BagColumn) and column.weights is not None and bool((column.weights < 0).any())
        for column in training.sequences.columns
    )


def _frequencies(space: LinearSpace, training: TrainingData) -> Floats64:
    """For each state feature, the sum of the attribute's values at positions with its label."""
    attributes: AttributeReader = space.attributes(training)
    k, n = len(training.labels), training.sequences.n_positions
    starts, ids = attributes.ids(0, n)
    gold = ids.astype(np.int64) * k + np.repeat(training.codes, np.diff(starts))
    features = space.state.attributes * k + space.state.outputs
    values = attributes.weights(0, n).astype(np.float64)
    return np.bincount(np.searchsorted(features, gold), values, minlength=len(features)).astype(np.float64)
