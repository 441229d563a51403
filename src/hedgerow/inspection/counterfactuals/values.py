"""The texts that are tried in place of one text, or as a new member of a bag: those of training, or some of them."""

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
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import ImpossibleLatticeError, warnings_to
from hedgerow.inspection.counterfactuals.variants import columns_of_training
from hedgerow.inspection.frozen_model import once_per_model
from hedgerow.model import Model
from hedgerow.topology import Topology
from hedgerow.utilities import Floats

MOST_TEXTS = 200  # of an alphabet
MOST_OF_LABEL = MOST_TEXTS // 2
MOST_CELLS = 2**25  # of a table of texts and labels; with more, an even sample of the texts is used
TABLE_ROWS = 1024  # of texts that are sorted at once


def tried_texts(model: Model, labels: Sequence[int], to: int | None) -> dict[str, list[str]]:
    """The texts of each column of X that has texts: all of the alphabet, or MOST_TEXTS of a larger one.

    Of a large alphabet, each label has the texts with which it is most probable if a sequence consists of the text
    alone. First come the MOST_OF_LABEL best texts of the label `to`, then the best text of each of the first MOST_TEXTS
    labels of `labels`, then the second best, and so on.
    """
    found = {}
    for name, spec in columns_of_training(model.encoder).items():
        if not isinstance(spec.alphabet, Alphabet):
            continue
        if len(spec.alphabet) <= MOST_TEXTS:
            found[name] = list(spec.alphabet)
            continue
        best = _best_texts(model)[name]
        first = [] if to is None else best[:, to].tolist()
        distinct = dict.fromkeys(chain(first, best[:, labels[:MOST_TEXTS]].reshape(-1).tolist()))
        found[name] = [spec.alphabet[code] for code in islice(distinct, MOST_TEXTS)]
    return found


@once_per_model
def _best_texts(model: Model) -> dict[str, NDArray[np.int32]]:
    """(MOST_OF_LABEL, labels) for each column with a large alphabet: the texts that make a label most probable."""
    specs = list(columns_of_training(model.encoder).values())
    large = [spec for spec in specs if isinstance(spec.alphabet, Alphabet) and len(spec.alphabet) > MOST_TEXTS]
    with warnings_to(lambda message, category: None):
        return {spec.name: _best_of_column(model, specs, spec) for spec in large}


def _best_of_column(model: Model, specs: Sequence[ColumnSpec], spec: ColumnSpec) -> NDArray[np.int32]:
    assert isinstance(spec.alphabet, Alphabet)
    n_texts, n_labels = len(spec.alphabet), len(model.labels)
    n_ranked = min(n_texts, max(MOST_TEXTS, MOST_CELLS // n_labels))
    codes = np.linspace(0, n_texts - 1, n_ranked).astype(np.int32)
    return codes[_best_rows(_probabilities_alone(model, specs, spec, codes), n_labels)]


def _best_rows(blocks: Iterator[Floats], n_columns: int) -> NDArray[np.int32]:
    """(MOST_OF_LABEL, columns): the rows with the largest values of each column of a table, which comes in blocks."""
    rows, values, first = np.zeros((0, n_columns), np.int32), np.zeros((0, n_columns)), 0
    for block in _joined(blocks):
        own = np.broadcast_to(np.arange(first, first + len(block), dtype=np.int32)[:, None], block.shape)
        first += len(block)
        rows, values = np.concatenate([rows, own]), np.concatenate([values, block])
        order = np.argsort(-values, axis=0, kind="stable")[:MOST_OF_LABEL]
        rows, values = np.take_along_axis(rows, order, axis=0), np.take_along_axis(values, order, axis=0)
    return rows


def _joined(blocks: Iterator[Floats]) -> Iterator[Floats]:
    """The same rows in blocks of at least TABLE_ROWS, except the last one."""
    waiting: list[Floats] = []
    for block in blocks:
        waiting.append(block)
        if sum(map(len, waiting)) >= TABLE_ROWS:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def _probabilities_alone(
    model: Model, specs: Sequence[ColumnSpec], spec: ColumnSpec, codes: NDArray[np.int32]
) -> Iterator[Floats]:
    """Blocks (texts, labels): the probabilities of labels in a sequence of one text alone, without constraints."""
    n = len(codes)
    absent, starts = np.zeros(n, np.bool_), np.arange(n + 1, dtype=np.int64)
    columns = tuple(_each_text(one, codes) if one is spec else without_values(one, absent) for one in specs)
    encoded = model.encoder.transform(Sequences.trusted(starts, columns))
    return _marginals(model, encoded, replace(model.topology, constraints=None))


def _marginals(model: Model, encoded: Encoded, topology: Topology) -> Iterator[Floats]:
    """Blocks (texts, labels) of probabilities; 0 for a text that an HMM without smoothing cannot label."""
    first = 0
    try:
        for answers in model.potential.answers_by_block(encoded, topology):
            block = answers.marginals()[1]
            first += len(block)
            yield block
    except ImpossibleLatticeError:
        if len(encoded) == 1:
            yield np.zeros((1, len(model.labels)))
            return
        middle = first + max(1, (len(encoded) - first) // 2)
        yield from _marginals(model, encoded[first:middle], topology)
        yield from _marginals(model, encoded[middle:], topology)


def _each_text(spec: ColumnSpec, codes: NDArray[np.int32]) -> Column:
    """A column with one of the texts of the alphabet at each position."""
    assert isinstance(spec.alphabet, Alphabet)
    if spec.kind == "categorical":
        return trusted(CategoricalColumn, spec.name, codes, spec.alphabet)
    return trusted(BagColumn, spec.name, np.arange(len(codes) + 1, dtype=np.int64), codes, None, spec.alphabet)
