"""Shuffled epoch orders, and lattices over all training data, for learners that update after each sequence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.columns import NumericColumn
from hedgerow.encoding import AttributeReader, Scaling, Window
from hedgerow.inference.blocks import blocks
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.base import TrainingData
from hedgerow.potentials.base import ScoredPotential
from hedgerow.potentials.linear import Features

NO_SCALING = Scaling(0.0, 1.0)


def epoch_orders(training: TrainingData, random_state: int | None) -> Iterator[NDArray[np.int64]]:
    """For each epoch a random order of the sequences with positive weight.

    Sequences are sorted by a digest of their content before they are shuffled, so the order of the user's data does not
    change the result.
    """
    order = by_content(training)
    order = order[training.weights[order] > 0]
    rng = np.random.default_rng(random_state)
    while True:
        yield rng.permutation(order)


def frequent_attributes(attributes: AttributeReader, training: TrainingData, min_freq: int) -> NDArray[np.bool_]:
    """By attribute, whether it may have weights: those that occur at least min_freq times."""
    if min_freq == 1:
        return np.ones(attributes.n_basic, np.bool_)
    one_output = np.zeros_like(training.codes)
    return np.diff(Features.observed(attributes, one_output, 1, min_freq=min_freq).starts) > 0


def batch_size(n_examples: int) -> int:
    """Sequences whose paths are found with the same weights, on all threads, before the weights change.

    Larger batches would lower the accuracy after the usual number of epochs.
    """
    return min(max(n_examples // 1024, 1), 8)


def by_content(training: TrainingData) -> NDArray[np.int64]:
    """The sequences sorted by a digest of their content, labels and weight: an order that does not depend on theirs."""
    sequences = training.sequences
    numeric = {column.name: NO_SCALING for column in sequences.columns if isinstance(column, NumericColumn)}
    reader = AttributeReader(sequences, Window.of(0), numeric).reader
    digests = _core.sequence_digests(reader, training.codes, training.weights, training.n_threads)
    return np.argsort(digests, kind="stable")


def lattices(training: TrainingData, potential: ScoredPotential) -> Iterator[tuple[slice, slice, Lattice]]:
    """(sequences, positions, their exact lattice), one block at a time, to bound memory."""
    sequences, starts = training.sequences, training.sequences.starts
    for block in blocks(starts, potential.scores_per_position(training.topology)):
        positions = slice(int(starts[block.start]), int(starts[block.stop]))
        yield block, positions, potential.lattice(sequences[block], training.topology, n_threads=training.n_threads)
