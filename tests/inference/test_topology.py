"""The numbers of label contexts and the rows of a transition table, against one position at a time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from builders.training import training_of
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.base import edge_counts
from hedgerow.topology import Topology
from oracles.lattice import label_context, number, table_row

STARTS = np.array([0, 1, 6, 8, 8 + 4])
CODES = np.random.default_rng(0).integers(3, size=12).astype(np.int32)


def sequences():
    for begin, end in pairwise(STARTS):
        for t in range(end - begin):
            yield begin + t, t, CODES[begin:end].tolist()


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_numbers_of_gold_contexts(order):
    topology = Topology(3, order)
    contexts, rows = topology.context_numbers(CODES, STARTS), topology.table_rows(CODES, STARTS)
    for position, t, labels in sequences():
        context = label_context(labels, t, order)
        assert contexts[position] == number(context, 3)
        assert topology.contexts()[rows[position]] == tuple(context)
        assert rows[position] == table_row(context, 3)
        assert topology.context_lengths(STARTS)[position] == len(context)
        for length in range(order + 1):
            expected = number(label_context(labels, t, length), 3) if t >= length else -1
            assert topology.last_labels(CODES, STARTS, length)[position] == expected
    for m, positions in enumerate(topology.positions_by_length(STARTS)):
        assert positions.tolist() == [p for p, t, _ in sequences() if min(t, order) == m]


@pytest.mark.parametrize(("n_labels", "order"), [(1, 2), (2, 0), (3, 2), (4, 3)])
def test_rows_are_split_by_the_length_of_their_context(n_labels, order):
    topology = Topology(n_labels, order)
    assert topology.n_rows == len(topology.contexts())
    assert topology.n_cells == topology.n_rows * n_labels
    blocks = topology.split_rows(np.arange(topology.n_rows))
    assert len(blocks) == order + 1
    for m, rows in enumerate(blocks):
        assert [len(topology.contexts()[row]) for row in rows] == [m] * n_labels**m
        assert rows[0] == topology.first_row(m)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("weights", [None, [1, 2, 0, 3], [0.1, 0.7, 1.3, 2.9]])
def test_gold_transitions_are_those_of_a_lattice_with_a_single_path(order, weights):
    y = [[str(code) for code in part] for part in np.split(CODES, STARTS[1:-1])]
    training = training_of(["x" * len(labels) for labels in y], y, order, weights)
    counts = np.zeros((training.topology.n_rows, 3))
    for position, t, labels in sequences():
        weight = training.position_weights[position]
        counts[table_row(label_context(labels, t, order), 3), CODES[position]] += weight
    np.testing.assert_allclose(edge_counts(training), counts, rtol=1e-13)
    certain = np.full((12, 3), -np.inf, dtype=np.float32)
    certain[np.arange(12), training.codes] = 0
    expected = Lattice(training.topology, training.sequences.starts, state=certain).summed_pairs(training.weights)[2]
    np.testing.assert_allclose(edge_counts(training), expected, rtol=1e-6)
