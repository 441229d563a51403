"""Potentials that are sums of regression trees, with or without a table of transitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.encoding import AttributeReader, Binning, Encoder, Window
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.potentials.base import Scores, Stored, stored_table
from hedgerow.potentials.registry import register


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees in one row: tree i is for `labels[i]` and has the nodes starts[i]..starts[i + 1], root first.

    A node is (attribute, lag, label, if true, if false, set): it tests an attribute id of the window, or the label
    `lag` positions back (n_labels is `start`); children count from the tree's root; a leaf has neither test. Where
    `set` is not -1, the test also holds for set_members[set_starts[set]:set_starts[set + 1]]. `values` has one
    column, or in trees for all labels one for each (and their `labels` are 0).

    Where what node i tests is missing, its surrogates decide, the first that misses nothing itself: they are
    surrogates[surrogate_starts[i]:surrogate_starts[i + 1]], attribute ids, or ~id where the opposite is meant. If
    there is none, shares[i] of the position goes where the test holds, and the rest to the other side.
    """

    labels: NDArray[np.int32]
    starts: NDArray[np.int64]
    nodes: NDArray[np.int32]
    values: NDArray[np.float32]
    gains: NDArray[np.float32]
    counts: NDArray[np.int64]
    set_starts: NDArray[np.int64]
    set_members: NDArray[np.int32]
    shares: NDArray[np.float32]
    surrogate_starts: NDArray[np.int64]
    surrogates: NDArray[np.int32]

    @classmethod
    def none(cls, n_values: int = 1) -> Trees:
        empty = cls.joined([])
        return replace(empty, values=np.zeros((0, n_values), np.float32))

    @classmethod
    def of_round(cls, starts: Any, nodes: Any, *others: Any) -> Trees:
        """What the grower returned: one tree for each label in order, or one for all."""
        nodes = nodes.reshape(-1, 6)
        values, *rest = others
        labels = np.arange(len(starts) - 1, dtype=np.int32)
        return cls(labels, starts, nodes, values.reshape(len(nodes), -1), *rest)

    @classmethod
    def joined(cls, rounds: Sequence[Trees]) -> Trees:
        def join(name: str, empty: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([empty, *(getattr(trees, name) for trees in rounds)])

        def join_starts(name: str) -> NDArray[np.int64]:
            sizes = [np.diff(getattr(trees, name)) for trees in rounds]
            return np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, np.int64), *sizes]))]).astype(np.int64)

        nodes = join("nodes", np.zeros((0, 6), np.int32))
        n_sets = np.array([len(trees.set_starts) - 1 for trees in rounds], dtype=np.int32)
        first_set = np.repeat(np.cumsum(n_sets, dtype=np.int32) - n_sets, [len(trees.nodes) for trees in rounds])
        nodes[:, 5] += np.where(nodes[:, 5] >= 0, first_set, 0)
        return cls(
            join("labels", np.zeros(0, np.int32)),
            join_starts("starts"),
            nodes,
            join("values", np.zeros((0, rounds[0].values.shape[1] if rounds else 1), np.float32)),
            join("gains", np.zeros(0, np.float32)),
            join("counts", np.zeros(0, np.int64)),
            join_starts("set_starts"),
            join("set_members", np.zeros(0, np.int32)),
            join("shares", np.zeros(0, np.float32)),
            join_starts("surrogate_starts"),
            join("surrogates", np.zeros(0, np.int32)),
        )

    def rounds(self, n_trees: int) -> list[Trees]:
        """Cut into parts of n_trees trees; `joined` puts them together again."""
        return [self._part(first, first + n_trees) for first in range(0, len(self), n_trees)]

    def _part(self, first: int, last: int) -> Trees:
        begin, end = self.starts[first], self.starts[last]
        nodes = self.nodes[begin:end].copy()
        sets = nodes[nodes[:, 5] >= 0, 5]
        low, high = (int(sets.min()), int(sets.max()) + 1) if len(sets) else (0, 0)
        nodes[:, 5] -= np.where(nodes[:, 5] >= 0, low, 0).astype(np.int32)
        return Trees(
            self.labels[first:last],
            self.starts[first : last + 1] - begin,
            nodes,
            self.values[begin:end],
            self.gains[begin:end],
            self.counts[begin:end],
            self.set_starts[low : high + 1] - self.set_starts[low],
            self.set_members[self.set_starts[low] : self.set_starts[high]],
            self.shares[begin:end],
            self.surrogate_starts[begin : end + 1] - self.surrogate_starts[begin],
            self.surrogates[self.surrogate_starts[begin] : self.surrogate_starts[end]],
        )

    def __len__(self) -> int:
        return len(self.labels)

    def compiled(self, rows: AttributeReader, n_labels: int, order: int) -> _core.Forest:
        """For evaluation on rows of this layout; raises ValueError if the trees do not fit it."""
        return _core.Forest(
            rows.reader, n_labels, order, self.labels, self.starts, self.nodes, self.values, self.set_starts,
            self.set_members, self.shares, self.surrogate_starts, self.surrogates,
        )  # fmt: skip


@register
@dataclass(frozen=True, eq=False)
class TreePotential:
    """`tree_order` is how far back the trees look: the model's order, or 0 where a table holds the transitions.

    `table_steps`, what each round added to the table, is there while learning goes on. `mean_edges` are the trees'
    scores by history and label, their mean over training; rows as in a table.
    """

    window: Window
    binnings: Mapping[str, Binning]
    n_labels: int
    tree_order: int
    trees: Trees
    table: NDArray[np.float32] | None
    table_steps: NDArray[np.float32] | None = None
    mean_edges: NDArray[np.float32] | None = None
    _forest: _core.Forest = field(init=False, repr=False)
    kind: ClassVar[str] = "trees"

    def scores(self, sequences: Encoded, n_threads: int = 1) -> Scores:
        rows = AttributeReader(sequences, self.window, self.binnings)
        if not hasattr(self, "_forest"):  # compiled once, for the columns of the encoder
            object.__setattr__(self, "_forest", self.trees.compiled(rows, self.n_labels, self.tree_order))
        shape = (sequences.n_positions, self.n_labels**self.tree_order, self.n_labels)
        scores = np.zeros(shape, dtype=np.float32)
        self._forest.add_scores(rows.reader, scores, n_threads)
        if self.table is None:
            return Scores(edge=scores)
        return Scores(state=scores[:, 0], table=self.table)

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        arrays = trees_to_arrays(self.trees)
        arrays |= {f"bins.{name}": binning.edges for name, binning in self.binnings.items()}
        if self.table is not None:
            arrays["table"] = self.table
        if self.table_steps is not None:
            arrays["table_steps"] = self.table_steps
        if self.mean_edges is not None:
            arrays["mean_edges"] = self.mean_edges
        return {"window": [self.window.left, self.window.right]}, arrays

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        metadata, arrays, encoder, n_labels, order = stored
        window = Window.of(metadata["window"])
        numeric = [spec.name for spec in encoder.columns if spec.alphabet is None]
        binnings = {name: Binning(_part(arrays, f"bins.{name}", np.float32, 1)) for name in numeric}
        trees = stored_trees(arrays)
        table, mean_edges = (stored_table(arrays.get(name), n_labels, order) for name in ("table", "mean_edges"))
        steps = arrays.get("table_steps")
        if steps is not None and (table is None or steps.dtype != np.float32 or steps.shape[1:] != table.shape):
            raise InputError("the steps of the table must have its shape")
        potential = cls(window, binnings, n_labels, 0 if table is not None else order, trees, table, steps, mean_edges)
        potential._try(encoder)
        return potential

    def _try(self, encoder: Encoder) -> None:
        """Evaluates one absent position, so that trees which do not fit are found before they are needed."""
        try:
            self.scores(encoder.nothing())
        except ValueError as error:
            raise InputError(f"the trees do not fit the columns ({error})") from None


_FIELDS: dict[str, tuple[type[np.generic], int]] = {
    "labels": (np.int32, 1),
    "starts": (np.int64, 1),
    "nodes": (np.int32, 2),
    "values": (np.float32, 2),
    "gains": (np.float32, 1),
    "counts": (np.int64, 1),
    "set_starts": (np.int64, 1),
    "set_members": (np.int32, 1),
}


# What files that are older than missing values lack.
_LATER_FIELDS: dict[str, tuple[type[np.generic], int]] = {
    "shares": (np.float32, 1),
    "surrogate_starts": (np.int64, 1),
    "surrogates": (np.int32, 1),
}


def trees_to_arrays(trees: Trees) -> dict[str, NDArray[Any]]:
    """The arrays of which `stored_trees` makes equal trees."""
    return {f"trees.{name}": getattr(trees, name) for name in _FIELDS | _LATER_FIELDS}


def stored_trees(arrays: Mapping[str, NDArray[Any]]) -> Trees:
    """Trees of a model file, as far as they can be judged without the columns that they test."""
    trees = _read_trees(arrays)
    if not len(trees.values) == len(trees.nodes) == len(trees.gains) == len(trees.counts):
        raise InputError("the trees' arrays must be of one length")
    if not np.isfinite(trees.values).all():
        raise InputError("the trees' values must be finite")
    return trees


def _read_trees(arrays: Mapping[str, NDArray[Any]]) -> Trees:
    def read(fields: Mapping[str, tuple[type[np.generic], int]]) -> dict[str, Any]:
        return {name: _part(arrays, f"trees.{name}", dtype, ndim) for name, (dtype, ndim) in fields.items()}

    stored = read(_FIELDS)
    if any(f"trees.{name}" in arrays for name in _LATER_FIELDS):
        return Trees(**stored, **read(_LATER_FIELDS))
    n = len(stored["nodes"])
    shares = _shares_by_count(stored["starts"], stored["nodes"], stored["counts"])
    return Trees(**stored, shares=shares, surrogate_starts=np.zeros(n + 1, np.int64), surrogates=np.zeros(0, np.int32))


def _shares_by_count(starts: Any, nodes: Any, counts: Any) -> NDArray[np.float32]:
    """How many of a node's positions its test held for; 0 where the arrays do not make sense, for others to refuse."""
    shares = np.zeros(len(nodes), np.float32)
    if nodes.shape[1:] != (6,) or len(counts) != len(nodes) or (np.diff(starts) < 0).any():
        return shares
    root = np.repeat(starts[:-1], np.diff(starts))
    if len(root) != len(nodes):
        return shares
    yes, no = (root + nodes[:, column] for column in (3, 4))
    there = (nodes[:, 0] >= 0) & (yes >= 0) & (yes < len(nodes)) & (no >= 0) & (no < len(nodes))
    n_yes, n_no = counts[yes[there]].astype(np.float64), counts[no[there]].astype(np.float64)
    shares[there] = np.clip(n_yes / np.maximum(n_yes + n_no, 1), 0, 1)
    return shares


def _part(arrays: Mapping[str, NDArray[Any]], name: str, dtype: type[np.generic], ndim: int) -> NDArray[Any]:
    array = arrays.get(name)
    if array is None or array.dtype != dtype or array.ndim != ndim:
        raise InputError(f"the potential's array {name!r} must have {ndim} dimensions of {np.dtype(dtype)}")
    return array
