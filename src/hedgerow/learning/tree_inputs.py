"""Bins and tree data of training sequences, built once for all output-code bits and phases of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.columns import NumericColumn, ScoreColumn
from hedgerow.encoding import AttributeReader, Binning
from hedgerow.encoding.binning import MAX_BINS
from hedgerow.encoding.encoded import Encoded
from hedgerow.group import Group
from hedgerow.learning.group_binning import fit_binnings

SCORE_BINS = 32  # there are many such columns, and trees split each of them often


class TreeInputs:
    """Remembers the bins of every numeric column, and the tree data of the first sequences that trees are grown on.

    Later sequences with further columns, such as those of a cascade, get tree data of their own, which are not kept:
    memory stays that of two. Columns are immutable, so sequences with the same column objects are the same. Several
    threads may use one object.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._binnings: dict[int, tuple[NumericColumn, Binning]] = {}  # by id of the column, which is kept
        self._first: tuple[_Key, _core.TreeData] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return TreeInputs, ()  # a copy in another process builds its own

    def binnings(self, sequences: Encoded, n_threads: int, group: Group) -> dict[str, Binning]:
        """Bins of the numeric columns, by name; of the values of all processes of a group."""
        numeric = [column for column in sequences.columns if isinstance(column, NumericColumn)]
        with self._lock:
            new = [column for column in numeric if id(column) not in self._binnings]
        max_bins = [SCORE_BINS if isinstance(column, ScoreColumn) else MAX_BINS for column in new]
        fitted = fit_binnings([column.values for column in new], max_bins, group, n_threads)
        with self._lock:
            for column, binning in zip(new, fitted, strict=True):  # of two threads with one column, the first counts
                self._binnings.setdefault(id(column), (column, binning))
            return {column.name: self._binnings[id(column)][1] for column in numeric}

    def tree_data(
        self,
        attributes: AttributeReader,
        binnings: Mapping[str, Binning],
        order: int,
        rules: _core.GrowthRules,
        n_threads: int,
        group: Group,
    ) -> _core.TreeData:
        """The binned matrix of the attributes. `binnings` are those with which the reader was built."""
        sequences = attributes.sequences
        key = _Key(
            sequences.starts,
            (*sequences.columns, *binnings.values()),
            (attributes.window, order, rules.min_leaf, rules.category_splits),
        )
        exchange: dict[str, Any] = {"exchange": group} if group.size > 1 else {}
        with self._lock:
            if self._first is None:
                self._first = key, _core.TreeData(attributes.reader, order, rules, n_threads, **exchange)
        first, data = self._first
        return data if first.equals(key) else _core.TreeData(attributes.reader, order, rules, n_threads, **exchange)


class _Key(NamedTuple):
    """What tree data depend on."""

    starts: NDArray[np.int64]
    immutable: tuple[object, ...]  # columns and binnings
    settings: tuple[object, ...]

    def equals(self, other: _Key) -> bool:
        same = len(self.immutable) == len(other.immutable) and all(map(is_, self.immutable, other.immutable))
        return same and self.settings == other.settings and np.array_equal(self.starts, other.starts)
