"""Gold label contexts as columns, to learn locally normalised models position by position.

Training with gold label contexts is learning of order 0 on data with more columns: at each position the label one
position before, two positions before, and so on (`start` outside the sequence). A tree that tests such a column is
converted to a tree that tests the previous label.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import ABSENT, LocalColumn, trusted
from hedgerow.encoding import Encoder
from hedgerow.encoding.column_spec import ColumnSpec
from hedgerow.encoding.encoded import Encoded
from hedgerow.learning.base import TrainingData
from hedgerow.potentials.trees import Trees

START = "start"  # sorted after all digits


def with_label_columns(training: TrainingData) -> TrainingData:
    """The training data with order 0 and columns y[-1], ..., y[-order] after all others.

    Their codes are those of the labels; `start` comes after them. An unseen label is absent.
    """
    order, k = training.order, len(training.labels)
    values = Alphabet.of([*_numbers(k), START])
    specs = tuple(ColumnSpec(_name(back), "categorical", values, local=True) for back in range(1, order + 1))
    dev = training.dev
    if dev is not None:
        dev = replace(dev, sequences=_added(dev.sequences, dev.codes, order, values))
    return replace(
        training,
        encoder=Encoder(training.encoder.columns + specs),
        sequences=_added(training.sequences, training.codes, order, values),
        order=0,
        dev=dev,
        beam=None,
        constraints=None,
        allowed=_allowed(training),
    )


def with_n_grams(training: TrainingData) -> tuple[TrainingData, NDArray[np.int64]]:
    """(the training data with order 0 and a column for each context length, the table row of each column value).

    The column of length m holds the number of the last m labels, among those that occur; absent where there are fewer.
    """
    starts, topology = training.sequences.starts, training.topology
    columns, rows = [], [np.zeros(0, np.int64)]
    for m in range(1, training.order + 1):
        contexts = topology.last_labels(training.codes, starts, m)
        exists = contexts >= 0
        found, codes = np.unique(contexts[exists], return_inverse=True)
        column = np.full(len(contexts), ABSENT, np.int32)
        column[exists] = codes
        columns.append(trusted(LocalColumn, f"y[-1..-{m}]", column, _numbers(len(found))))
        rows.append(topology.first_row(m) + found)
    specs = tuple(ColumnSpec(column.name, "categorical", column.alphabet, local=True) for column in columns)
    encoder = Encoder(training.encoder.columns + specs)
    sequences = Encoded.trusted(starts, (*training.sequences.columns, *columns), training.sequences.unseen)
    expanded = replace(
        training,
        encoder=encoder,
        sequences=sequences,
        order=0,
        dev=None,
        beam=None,
        constraints=None,
        allowed=_allowed(training),
    )
    return expanded, np.concatenate(rows)


def _allowed(training: TrainingData) -> NDArray[np.bool_] | None:
    """The labels among which each position is normalised: those that may follow the gold label before it."""
    if training.constraints is None:
        return None
    return training.constraints.beside_gold(training.codes, training.sequences.starts)


def labels_back(codes: NDArray[np.int32], starts: NDArray[np.int64], back: int, outside: int) -> NDArray[np.int32]:
    """The label `back` positions before each position; `outside` where there is none."""
    at = np.arange(len(codes)) - back
    first = np.repeat(starts[:-1], np.diff(starts))
    return np.where(at >= first, codes[np.maximum(at, 0)], np.int32(outside))


def columns_to_lags(trees: Trees, first_id: int, n_labels: int) -> Trees:
    """Replace tests of the columns y[-1], y[-2], ... by tests of previous labels.

    `first_id` is the attribute id of the first value of y[-1].
    """
    nodes = trees.nodes.copy()
    tests_label = nodes["attribute"] >= first_id
    lags, labels = np.divmod(nodes["attribute"][tests_label] - first_id, n_labels + 1)
    nodes["attribute"][tests_label] = -1
    nodes["lag"][tests_label], nodes["label"][tests_label] = lags, labels
    of_label = np.repeat(tests_label, nodes["n_alternatives"])
    alternatives = np.where(of_label, (trees.alternatives - first_id) % (n_labels + 1), trees.alternatives)
    return replace(trees, nodes=nodes, alternatives=alternatives.astype(np.int32))


def lags_to_columns(trees: Trees, first_id: int, n_labels: int) -> Trees:
    """Undo `columns_to_lags`."""
    nodes = trees.nodes.copy()
    tests_label = nodes["lag"] >= 0
    first_of_lag = np.where(tests_label, first_id + nodes["lag"] * (n_labels + 1), 0).astype(np.int32)
    alternatives = trees.alternatives + np.repeat(first_of_lag, nodes["n_alternatives"])
    nodes["attribute"] = np.where(tests_label, first_of_lag + nodes["label"], nodes["attribute"])
    nodes["lag"][tests_label] = nodes["label"][tests_label] = -1
    return replace(trees, nodes=nodes, alternatives=alternatives)


def _name(back: int) -> str:
    return f"y[-{back}]"


def _numbers(n: int) -> Alphabet:
    """The alphabet 0, 1, ..., n - 1, with leading zeros so that sorting keeps the order."""
    width = len(str(n))
    return Alphabet.of(f"{number:0{width}d}" for number in range(n))


def _added(sequences: Encoded, codes: NDArray[np.int32], order: int, values: Alphabet) -> Encoded:
    start = len(values) - 1
    columns = []
    for back in range(1, order + 1):
        labels = labels_back(np.where(codes < 0, np.int32(ABSENT), codes), sequences.starts, back, start)
        columns.append(trusted(LocalColumn, _name(back), labels, values))
    return sequences.with_columns(columns)
