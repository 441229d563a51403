"""The pseudo-likelihood: every label given its gold neighbours, sum over t of log P(y_t | all other labels, X).

Its derivative needs no sweep over the lattice (Dietterich, Ashenfelter & Bulatov 2004, section 3.4).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.inference.lattice import Lattice
from hedgerow.learning.base import TrainingData


def pseudo_marginals(lattice: Lattice, training: TrainingData) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """What stands for the marginals: gold minus the derivative of the pseudo-likelihood.

    (in the shape of the edge scores, or (positions, 1, labels) where the lattice has a table; summed by table row,
    sequences times their weights)

    Changing the label at t to v changes the scores at t, ..., t + order: those of the labels there, with v in their
    histories. Each of these scores is raised by P(v | others), and the gold ones lowered by as many ones.
    """
    topology, gold = lattice.topology, training.codes.astype(np.int64)
    k, order, n = topology.n_labels, topology.order, len(gold)
    lengths = np.diff(lattice.starts)
    at = np.arange(n) - np.repeat(lattice.starts[:-1], lengths)  # position in the sequence
    left = np.repeat(lengths, lengths) - at  # how many positions there are from here on
    values = np.arange(k)
    row_starts = np.cumsum([0, *(k**m for m in range(order))])
    edges = []  # for each j = 0..order: (t + j, history with v at t, label), (n, k) each; and where there is a t + j
    logits = np.zeros((n, k))
    for j in range(order + 1):
        there = left > j
        t = np.minimum(np.arange(n) + j, n - 1)
        history = np.zeros((n, k), dtype=np.int64)
        for back in range(1, order + 1):  # most recent first
            inside = (at[t] >= back) & there
            label = gold[np.maximum(t - back, 0)][:, None] if back != j else values[None, :]
            history = np.where(inside[:, None], history * k + label, history)
        label = np.broadcast_to(values if j == 0 else gold[t][:, None], (n, k))
        depth = np.minimum(at[t], order)
        edges.append((t[:, None], history, label, row_starts[depth][:, None] + history, there))
        logits += np.where(there[:, None], _scores(lattice, *edges[-1][:4]), 0.0)
    logits -= logits.max(axis=1, keepdims=True)
    p = np.exp(logits)
    p /= p.sum(axis=1, keepdims=True)
    return _marginals(lattice, training, edges, p)


def _scores(lattice: Lattice, t: Any, history: Any, label: Any, row: Any) -> NDArray[np.float64]:
    """The scores of edges."""
    total = np.zeros(history.shape)
    if lattice.state is not None:
        total += lattice.state[t, label]
    if lattice.edge is not None:
        total += lattice.edge[t, history, label]
    if lattice.table is not None:
        total += lattice.table[row, label]
    return total


def _marginals(
    lattice: Lattice, training: TrainingData, edges: list[Any], p: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    topology, n = lattice.topology, len(training.codes)
    k, n_histories = topology.n_labels, 1 if lattice.edge is None else topology.n_histories
    by_position = np.zeros((n, n_histories, k))
    by_row = np.zeros((topology.n_rows, k))
    gold = np.zeros_like(p)
    gold[np.arange(n), training.codes] = 1
    weights = training.position_weights[:, None]
    for j, (t, history, label, row, there) in enumerate(edges):
        t = np.broadcast_to(t, p.shape)[there]
        label, added = label[there], (p - gold)[there]
        # A state score does not depend on the history: only the position's own label moves it.
        if lattice.edge is not None:
            np.add.at(by_position, (t, history[there], label), added)
        elif j == 0:
            np.add.at(by_position, (t, 0, label), added)
        np.add.at(by_row, (row[there], label), added * weights[there])
    return _plus_gold(lattice, training, edges[0], by_position), by_row + _gold_rows(training, edges[0], by_row)


def _plus_gold(lattice: Lattice, training: TrainingData, own: Any, added: NDArray[np.float64]) -> NDArray[np.float32]:
    t, history = np.arange(len(training.codes)), own[1][:, 0]
    added[t, history if lattice.edge is not None else 0, training.codes] += 1
    return added.astype(np.float32)


def _gold_rows(training: TrainingData, own: Any, like: NDArray[np.float64]) -> NDArray[np.float64]:
    counts = np.zeros_like(like)
    np.add.at(counts, (own[3][:, 0], training.codes), training.position_weights)
    return counts
