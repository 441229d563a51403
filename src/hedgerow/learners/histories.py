"""Gold histories as columns: what makes a locally normalised model a matter of single positions.

Training on gold histories is learning of order 0 on data with more columns: at each position the label of one position
before it, of two, ... (`start` outside the sequence). Trees that test such a column are trees that test the label so
far back, and are turned into those when all is learned.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.alphabet import Alphabet
from hedgerow.columns import ABSENT, LocalColumn, trusted
from hedgerow.encoding import Encoder
from hedgerow.encoding.encoder import ColumnSpec
from hedgerow.learners.base import Held, Training
from hedgerow.potentials.trees import Trees
from hedgerow.sequences import Sequences


def with_histories(training: Training) -> Training:
    """The same data of order 0, with columns y[-1], ..., y[-order] after all others.

    Their codes are those of the labels, `start` is one more; a label that training never saw is absent.
    """
    order, k = training.order, len(training.labels)
    values = _values(k)
    specs = tuple(ColumnSpec(_name(back), "categorical", values, local=True) for back in range(1, order + 1))
    held = training.held
    if held is not None:
        held = Held(_added(held.sequences, held.codes, order, values), held.codes)
    return replace(
        training,
        encoder=Encoder(training.encoder.columns + specs),
        sequences=_added(training.sequences, training.codes, order, values),
        order=0,
        held=held,
        beam=None,
    )


def labels_back(codes: NDArray[np.int32], starts: NDArray[np.int64], back: int, outside: int) -> NDArray[np.int32]:
    """The label `back` positions before each position; `outside` where there is none."""
    at = np.arange(len(codes)) - back
    first = np.repeat(starts[:-1], np.diff(starts))
    return np.where(at >= first, codes[np.maximum(at, 0)], np.int32(outside))


def asking_labels(trees: Trees, first_id: int, n_labels: int) -> Trees:
    """Trees over columns as trees over previous labels: `first_id` is that of the first value of y[-1]."""
    nodes, members = trees.nodes.copy(), trees.set_members.copy()
    asks = nodes[:, 0] >= first_id
    lags, labels = np.divmod(nodes[asks, 0] - first_id, n_labels + 1)
    nodes[asks, 0], nodes[asks, 1], nodes[asks, 2] = -1, lags, labels
    sets = nodes[asks & (nodes[:, 5] >= 0), 5]
    in_sets = np.isin(np.repeat(np.arange(len(trees.set_starts) - 1), np.diff(trees.set_starts)), sets)
    members[in_sets] = (members[in_sets] - first_id) % (n_labels + 1)
    return replace(trees, nodes=nodes, set_members=members)


def _name(back: int) -> str:
    return f"y[-{back}]"


def _values(n_labels: int) -> Alphabet:
    """The codes of labels, so written that their order is kept, and `start`."""
    width = len(str(n_labels))
    return Alphabet.of([*(f"{code:0{width}d}" for code in range(n_labels)), "start"])


def _added(sequences: Sequences, codes: NDArray[np.int32], order: int, values: Alphabet) -> Sequences:
    start = len(values) - 1
    columns = []
    for back in range(1, order + 1):
        labels = labels_back(np.where(codes < 0, np.int32(ABSENT), codes), sequences.starts, back, start)
        columns.append(trusted(LocalColumn, _name(back), labels, values))
    return Sequences.trusted(sequences.starts, sequences.columns + tuple(columns), sequences.unseen)
