"""Shuffled epoch orders, and lattices over all training data, for learners that update after each sequence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.columns import NumericColumn
from hedgerow.data.mapped_pages import PAGE_POSITIONS, MappedPages
from hedgerow.encoding import AttributeReader, Scaling, Window
from hedgerow.inference.blocks import blocks, sequence_blocks
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.base import TrainingData
from hedgerow.learning.feature_counts import FeatureCounts
from hedgerow.learning.linear_space import gold_codes
from hedgerow.potentials.base import ScoredPotential

NO_SCALING = Scaling(0.0, 1.0)
# Sequences read in random order before their pages are given back: the system maps 64 KB of every column around each.
RANDOM_SEQUENCES = 512


def epoch_orders(training: TrainingData, random_state: int | None) -> Iterator[NDArray[np.int64]]:
    """For each epoch a random order of the sequences with positive weight.

    Sequences are sorted by a digest of their content before they are shuffled, so the order of the user's data does not
    change the result.
    """
    order = examples(training)
    rng = np.random.default_rng(random_state)
    while True:
        yield rng.permutation(order)


def examples(training: TrainingData) -> NDArray[np.int64]:
    """The sequences with positive weight, sorted by content."""
    order = by_content(training)
    return order[training.weights[order] > 0]


def frequent_attributes(attributes: AttributeReader, training: TrainingData, min_freq: int) -> NDArray[np.bool_]:
    """By attribute, whether it may have weights: those that occur at least min_freq times."""
    if min_freq == 1:
        return np.ones(attributes.n_basic, np.bool_)
    counts = FeatureCounts.of(attributes, lambda block: np.zeros_like(gold_codes(training, block)), 1)
    return training.group.merged(counts).by_attribute >= min_freq


def batch_size(n_examples: int) -> int:
    """Sequences whose paths are found with the same weights, on all threads, before the weights change.

    Larger batches would lower the accuracy after the usual number of epochs.
    """
    return min(max(n_examples // 1024, 1), 8)


def by_content(training: TrainingData) -> NDArray[np.int64]:
    """All sequences sorted by a digest of their content, labels and weight: an order that does not depend on theirs."""
    sequences, starts = training.sequences, training.sequences.starts
    numeric = {column.name: NO_SCALING for column in sequences.columns if isinstance(column, NumericColumn)}
    pages = MappedPages.of_columns(sequences.columns, training.codes)
    digests = [np.zeros(0, np.uint64)]
    for block in sequence_blocks(starts, PAGE_POSITIONS):
        reader = AttributeReader(sequences[block], Window.of(0), numeric).reader
        codes = training.codes[starts[block.start] : starts[block.stop]]
        digests.append(_core.sequence_digests(reader, codes, training.weights[block], training.n_threads))
        pages.release()
    return np.argsort(training.group.concatenated(np.concatenate(digests)), kind="stable")


def learn_epoch(
    trainer: _core.MarginTrainer, order: NDArray[np.int64], batch: int, n_threads: int, pages: MappedPages
) -> int:
    """Learn from the sequences in `order`; returns how many of them changed the weights.

    With memory-mapped data some batches are learned at a time, and then the pages that they read are given back.
    """
    size = max(RANDOM_SEQUENCES // batch, 1) * batch if len(pages) else max(len(order), 1)
    mistakes = 0
    for first in range(0, len(order), size):
        mistakes += trainer.epoch(order[first : first + size], batch, n_threads)
        pages.release()
    return mistakes


def lattices(training: TrainingData, potential: ScoredPotential) -> Iterator[tuple[slice, slice, Lattice]]:
    """(sequences, positions, their exact lattice), one block at a time, to bound memory."""
    sequences, starts = training.sequences, training.sequences.starts
    for block in blocks(starts, potential.scores_per_position(training.topology)):
        positions = slice(int(starts[block.start]), int(starts[block.stop]))
        yield block, positions, potential.lattice(sequences[block], training.topology, n_threads=training.n_threads)
