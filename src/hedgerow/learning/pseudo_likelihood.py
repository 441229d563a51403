"""The pseudo-likelihood: every label given its gold neighbours, sum over t of log P(y_t | all other labels, X).

Its derivative needs no sweep over the lattice (Dietterich, Ashenfelter & Bulatov 2004, section 3.4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.inference.lattice import Lattice
from hedgerow.inference.softmax import softmax
from hedgerow.learning.base import TrainingData
from hedgerow.topology import positions_in_sequence
from hedgerow.utilities import Floats32, Floats64

UNIT = 2.0**-30  # derivatives are rounded to multiples of it, so that their sums are exact


class _Edges(NamedTuple):
    """The edges at t + lag when the label at t is v, by position t and label v; only where `exists`."""

    lag: int
    position: NDArray[np.int64]  # t + lag
    context: NDArray[np.int64]
    label: NDArray[np.int64]
    row: NDArray[np.int64]  # of the transition table
    exists: NDArray[np.bool_]  # by position: whether t + lag is in the same sequence


def pseudo_marginals(lattice: Lattice, training: TrainingData) -> tuple[Floats32, Floats64]:
    """The stand-in for marginals: gold minus the derivative of the pseudo-likelihood.

    Returns an array in the shape of the edge scores, or (positions, 1, labels) where the lattice has a table; and its
    sums by row of the table, sequences times their weights.

    Changing the label at t to v changes the scores at t, ..., t + order: of the label at t itself, and of later labels
    with v in their context. The derivative by each of these scores is P(v | others), less 1 for the gold ones.
    """
    edges = [_edges(lattice, training, lag) for lag in range(lattice.topology.order + 1)]
    logits = np.zeros((len(training.codes), lattice.topology.n_labels))
    for of_lag in edges:
        logits += np.where(of_lag.exists[:, None], _scores(lattice, of_lag), 0.0)
    constraints = lattice.topology.constraints
    if constraints is not None:
        logits = np.where(constraints.between_gold(training.codes, lattice.starts), logits, -np.inf)
    if training.allowed is not None:
        logits = np.where(training.allowed, logits, -np.inf)
    p = softmax(logits)
    p[np.arange(len(p)), training.codes] -= 1
    return _summed(lattice, training, edges, p)


def _edges(lattice: Lattice, training: TrainingData, lag: int) -> _Edges:
    topology, gold, starts = lattice.topology, training.codes.astype(np.int64), lattice.starts
    k, n = topology.n_labels, len(gold)
    t = np.minimum(np.arange(n) + lag, n - 1)
    exists = np.repeat(np.diff(starts), np.diff(starts)) - positions_in_sequence(starts) > lag
    lengths = topology.context_lengths(starts)[t]
    context = np.broadcast_to(topology.context_numbers(gold, starts)[t][:, None], (n, k))
    label = np.broadcast_to(gold[t][:, None], (n, k))
    values = np.arange(k)[None, :]
    if lag == 0:
        label = np.broadcast_to(values, (n, k))
    else:  # replace the gold label at t, whose digit in a context of m labels is worth K^(m - lag)
        place = k ** np.maximum(lengths - lag, 0)
        context = np.where(exists[:, None], context + (values - gold[:, None]) * place[:, None], 0)
    first_rows = np.array([topology.first_row(m) for m in range(topology.order + 1)])
    row = first_rows[lengths][:, None] + context
    return _Edges(lag, np.broadcast_to(t[:, None], (n, k)), context, label, row, exists)


def _scores(lattice: Lattice, edges: _Edges) -> Floats64:
    total = np.zeros(edges.context.shape)
    if lattice.state is not None:
        total += lattice.state[edges.position, edges.label]
    if lattice.edge is not None:
        total += lattice.edge[edges.position, edges.context, edges.label]
    if lattice.table is not None:
        total += lattice.table[edges.row, edges.label]
    return total


def _summed(
    lattice: Lattice, training: TrainingData, edges: list[_Edges], derivative: Floats64
) -> tuple[Floats32, Floats64]:
    """The derivatives by edge, summed by position and by table row, plus gold."""
    topology, n = lattice.topology, len(training.codes)
    has_edges = lattice.edge is not None
    by_position = np.zeros((n, topology.n_contexts if has_edges else 1, topology.n_labels))
    by_row = np.zeros((topology.n_rows, topology.n_labels))
    weights = training.position_weights[:, None]
    for of_lag in edges:
        there = of_lag.exists
        position, context, label = of_lag.position[there], of_lag.context[there], of_lag.label[there]
        if has_edges:
            np.add.at(by_position, (position, context, label), derivative[there])
        elif of_lag.lag == 0:  # a state score does not depend on other labels
            np.add.at(by_position[:, 0], (position, label), derivative[there])
        weighted = np.rint(derivative[there] * weights[there] / UNIT) * UNIT
        np.add.at(by_row, (of_lag.row[there], label), weighted)
    own = edges[0]
    by_position[np.arange(n), own.context[:, 0] if has_edges else 0, training.codes] += 1
    gold = np.zeros_like(by_row)
    np.add.at(gold, (own.row[:, 0], training.codes), training.position_weights)
    return by_position.astype(np.float32), by_row + gold
