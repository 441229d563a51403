"""Sums of regression trees as potentials, with or without a transition table, and trees as records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.columns import NumericColumn
from hedgerow.encoding import AttributeReader, Binning, Encoder, Window
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.potentials.base import ScoredPotential, Scores, Stored, add_prefix, require_array, stored_table
from hedgerow.potentials.registry import register
from hedgerow.potentials.tree_columns import TreeColumns, TreeInput
from hedgerow.potentials.trial import is_cheap, try_once
from hedgerow.utilities import Floats32

# One node of a tree; the fields of NodeRecord in src/core/trees/tree_records.hpp, in the same order.
NODE = np.dtype(
    [
        ("attribute", np.int32),  # the attribute id that the node tests, or -1
        ("lag", np.int32),  # the node tests the label lag + 1 positions back, or -1; a leaf has neither test
        ("label", np.int32),  # the label it tests for; n_labels means `start`
        ("if_true", np.int32),  # children, counted from the root of the tree
        ("if_false", np.int32),
        ("n_alternatives", np.int32),  # further attributes or labels for which the test also holds
        ("n_surrogates", np.int32),  # further attributes that decide where the tested value is missing
        ("count", np.int32),  # training positions that reached the node
        ("gain", np.float32),  # by how much the split lowered the squared error
        ("true_fraction", np.float32),  # where no surrogate decides: the share of the position that goes to if_true
        ("first_alternative", np.int64),
        ("first_surrogate", np.int64),
    ]
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Trees:
    """Regression trees end to end: tree i adds to the score of `labels[i]` and has the nodes starts[i]..starts[i + 1].

    The root comes first. `values` has one column; in trees for all labels it has one column for each label, and
    their `labels` are 0. Alternatives and surrogates are lists of all nodes in order: node i has
    alternatives[first_alternative : first_alternative + n_alternatives], and surrogates likewise.

    A surrogate is an attribute id, or ~id if the opposite of that test decides. Where the tested value is missing, the
    first surrogate decides whose own value is not missing.
    """

    labels: NDArray[np.int32]
    starts: NDArray[np.int64]
    nodes: NDArray[np.void]
    values: NDArray[np.float32]
    alternatives: NDArray[np.int32]
    surrogates: NDArray[np.int32]

    @classmethod
    def none(cls, n_values: int = 1) -> Trees:
        empty = cls.joined([])
        return replace(empty, values=np.zeros((0, n_values), np.float32))

    @classmethod
    def of_round(cls, starts: Any, nodes: Any, values: Any, alternatives: Any, surrogates: Any) -> Trees:
        """The trees that a TreeGrower returned: one for each label in order, or one for all labels."""
        nodes = nodes.view(NODE)
        labels = np.arange(len(starts) - 1, dtype=np.int32)
        return cls(
            labels=labels,
            starts=starts,
            nodes=nodes,
            values=values.reshape(len(nodes), -1),
            alternatives=alternatives,
            surrogates=surrogates,
        )

    @classmethod
    def joined(cls, rounds: Sequence[Trees]) -> Trees:
        """All trees of the rounds in one object."""

        def join(name: str, empty: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([empty, *(getattr(trees, name) for trees in rounds)])

        n_nodes = np.array([len(trees.nodes) for trees in rounds], dtype=np.int64)
        first_node = np.cumsum(n_nodes) - n_nodes
        starts = [trees.starts[1:] + first for trees, first in zip(rounds, first_node, strict=True)]
        return cls(
            labels=join("labels", np.zeros(0, np.int32)),
            starts=np.concatenate([np.zeros(1, np.int64), *starts]),
            nodes=_with_list_starts(join("nodes", np.zeros(0, NODE))),
            values=join("values", np.zeros((0, rounds[0].values.shape[1] if rounds else 1), np.float32)),
            alternatives=join("alternatives", np.zeros(0, np.int32)),
            surrogates=join("surrogates", np.zeros(0, np.int32)),
        )

    def rounds(self, n_trees: int) -> list[Trees]:
        """Split into groups of n_trees trees; the inverse of `joined`."""
        return [self._part(first, first + n_trees) for first in range(0, len(self), n_trees)]

    def _part(self, first: int, last: int) -> Trees:
        begin, end = self.starts[first], self.starts[last]
        nodes = self.nodes[begin:end]
        return Trees(
            labels=self.labels[first:last],
            starts=self.starts[first : last + 1] - begin,
            nodes=_with_list_starts(nodes.copy()),
            values=self.values[begin:end],
            alternatives=self.alternatives[_extent(nodes, "first_alternative", "n_alternatives")],
            surrogates=self.surrogates[_extent(nodes, "first_surrogate", "n_surrogates")],
        )

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """By node."""
        leaf: NDArray[np.bool_] = (self.nodes["attribute"] < 0) & (self.nodes["lag"] < 0)
        return leaf

    def alternatives_of(self, node: np.void) -> list[int]:
        """Further attributes or labels for which the test of a node also holds."""
        first = int(node["first_alternative"])
        return [int(one) for one in self.alternatives[first : first + int(node["n_alternatives"])]]

    def surrogates_of(self, node: np.void) -> list[int]:
        """Attribute ids, or ~id for the opposite, that decide where the tested value is missing."""
        first = int(node["first_surrogate"])
        return [int(one) for one in self.surrogates[first : first + int(node["n_surrogates"])]]

    def compiled(self, attributes: AttributeReader, n_labels: int, order: int) -> _core.Forest:
        """The forest for attributes of this layout; raises ValueError if the trees do not fit it."""
        nodes = np.ascontiguousarray(self.nodes).view(np.uint8).reshape(len(self.nodes), NODE.itemsize)
        return _core.Forest(
            attributes.reader, n_labels, order, labels=self.labels, starts=self.starts, nodes=nodes, values=self.values,
            alternatives=self.alternatives, surrogates=self.surrogates,
        )  # fmt: skip


def _with_list_starts(nodes: NDArray[np.void]) -> NDArray[np.void]:
    """Number the lists of all nodes from 0: each begins where that of the node before it ends."""
    for first, n in (("first_alternative", "n_alternatives"), ("first_surrogate", "n_surrogates")):
        sizes = nodes[n].astype(np.int64)
        nodes[first] = np.cumsum(sizes) - sizes
    return nodes


def _extent(nodes: NDArray[np.void], first: str, n: str) -> slice:
    """Where the lists of consecutive nodes are."""
    return slice(int(nodes[first][0]), int(nodes[first][-1]) + int(nodes[n][-1]))


def first_scores(n_positions: int, n_labels: int, tree_order: int, offset: Floats32 | None) -> Floats32:
    """Scores before the first tree: 0, or the offset of each position and label."""
    scores = np.zeros((n_positions, n_labels**tree_order, n_labels), dtype=np.float32)
    if offset is not None:
        scores += offset[:, None, :]
    return scores


@register
@dataclass(frozen=True, eq=False, kw_only=True)
class TreePotential(ScoredPotential):
    """The sum of regression trees, plus a transition table if there is one.

    `binnings` are those of the numeric columns that the trees read, by name, in the order of the columns.
    `tree_order` is how many previous labels the trees can test: the model's order, or 0 with a table. `table_steps` is
    what each round added to the table; it is kept in checkpoints only. `mean_edges` are the trees'
    scores by label context and label, their mean over training; rows as in a table. `columns` is None if the trees read
    the columns of the encoder as they are.
    """

    window: Window
    binnings: Mapping[str, Binning]
    n_labels: int
    tree_order: int
    trees: Trees
    table: NDArray[np.float32] | None
    table_steps: NDArray[np.float32] | None = None
    mean_edges: NDArray[np.float32] | None = None
    columns: TreeColumns | None = None
    _forest: _core.Forest = field(init=False, repr=False)
    kind: ClassVar[str] = "trees"

    def scores(self, encoded: Encoded, n_threads: int = 1) -> Scores:
        attributes, offset = self._attributes(encoded, n_threads)
        if not hasattr(self, "_forest"):  # compiled once, at the first use
            object.__setattr__(self, "_forest", self.trees.compiled(attributes, self.n_labels, self.tree_order))
        scores = first_scores(encoded.n_positions, self.n_labels, self.tree_order, offset)
        self._forest.add_scores(attributes.reader, scores, n_threads)
        if self.table is None:
            return Scores(edge=scores)
        return Scores(state=scores[:, 0], table=self.table)

    def _attributes(self, encoded: Encoded, n_threads: int) -> tuple[AttributeReader, Floats32 | None]:
        """(what the trees read, the scores to which theirs are added); the ids are those of a reader of `read`."""
        if self.columns is None:
            return AttributeReader(encoded, self.window, self.binnings, n_threads=n_threads), None
        sequences, matrices, offset = self.columns.read_matrices(encoded, n_threads)
        attributes = AttributeReader(sequences, self.window, self.binnings, n_threads=n_threads)
        for matrix, edges in zip(matrices, self._edges, strict=True):
            attributes.add_rows(matrix, edges, n_threads)
        return attributes, offset

    @cached_property
    def _edges(self) -> list[_core.BinEdges]:
        """The edges of the bins of each matrix that `columns` reads."""
        names = [] if self.columns is None else self.columns.matrix_names()
        return [_core.BinEdges([self.binnings[name].edges for name in rows]) for rows in names]

    def read(self, encoded: Encoded, n_threads: int = 1) -> TreeInput:
        """What the trees read of these sequences."""
        return TreeInput(encoded, None) if self.columns is None else self.columns.read(encoded, n_threads)

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        arrays = trees_to_arrays(self.trees)
        arrays |= {f"bins.{i}": binning.edges for i, binning in enumerate(self.binnings.values())}
        if self.table is not None:
            arrays["table"] = self.table
        if self.table_steps is not None:
            arrays["table_steps"] = self.table_steps
        if self.mean_edges is not None:
            arrays["mean_edges"] = self.mean_edges
        metadata: dict[str, Any] = {"window": list(self.window.offsets)}
        if self.columns is not None:
            metadata["columns"], own = self.columns.to_arrays()
            arrays |= add_prefix("columns.", own)
        return metadata, arrays

    @classmethod
    def from_arrays(cls, stored: Stored) -> Self:
        metadata, arrays, encoder, n_labels, order = stored
        window = Window.from_stored(metadata["window"])
        columns, read = None, encoder.nothing()
        if "columns" in metadata:
            columns = TreeColumns.from_arrays(stored.nested(metadata["columns"], "columns."))
            read = columns.read(read, 1).sequences
        numeric = [column.name for column in read.columns if isinstance(column, NumericColumn)]
        binnings = {name: Binning(require_array(arrays, f"bins.{i}", np.float32, 1)) for i, name in enumerate(numeric)}
        trees = stored_trees(arrays)
        table, mean_edges = (stored_table(arrays.get(name), n_labels, order) for name in ("table", "mean_edges"))
        steps = arrays.get("table_steps")
        if steps is not None and (table is None or steps.dtype != np.float32 or steps.shape[1:] != table.shape):
            raise InputError("the steps of the table must have its shape")
        potential = cls(
            window=window,
            binnings=binnings,
            n_labels=n_labels,
            tree_order=0 if table is not None else order,
            trees=trees,
            table=table,
            table_steps=steps,
            mean_edges=mean_edges,
            columns=columns,
        )
        potential._try(encoder)
        return potential

    def _try(self, encoder: Encoder) -> None:
        """Evaluate one absent position; raises InputError if the trees do not fit the columns."""
        order = self.tree_order
        if not is_cheap(self.n_labels, order):  # the labels that the trees test may still be few
            order = min(int(self.trees.nodes["lag"].max(initial=-1)) + 1, order)
        if not is_cheap(self.n_labels, order):
            return
        tried = self if order == self.tree_order else replace(self, tree_order=order)
        try_once("the trees", lambda: tried.scores(encoder.nothing()))


# The arrays of trees in a model file: names with dtype and dimensions. A file cannot hold records, so every field of
# NODE is an array of its own; where the lists of a node begin follows from their sizes.
_LISTS: dict[str, tuple[np.dtype[Any], int]] = {
    "labels": (np.dtype(np.int32), 1),
    "starts": (np.dtype(np.int64), 1),
    "values": (np.dtype(np.float32), 2),
    "alternatives": (np.dtype(np.int32), 1),
    "surrogates": (np.dtype(np.int32), 1),
}
_NODE_FIELDS = {name: NODE[name] for name in NODE.names or () if not name.startswith("first_")}


def trees_to_arrays(trees: Trees) -> dict[str, NDArray[Any]]:
    """The arrays of a model file from which `stored_trees` reads equal trees."""
    arrays: dict[str, NDArray[Any]] = {f"trees.{name}": getattr(trees, name) for name in _LISTS}
    return arrays | {f"trees.nodes.{name}": np.ascontiguousarray(trees.nodes[name]) for name in _NODE_FIELDS}


def stored_trees(arrays: Mapping[str, NDArray[Any]]) -> Trees:
    """The trees of a model file; raises InputError for what is wrong without regard to the columns they test."""
    lists = {name: require_array(arrays, f"trees.{name}", dtype, ndim) for name, (dtype, ndim) in _LISTS.items()}
    fields = {name: require_array(arrays, f"trees.nodes.{name}", dtype, 1) for name, dtype in _NODE_FIELDS.items()}
    n_nodes = len(lists["values"])
    if any(len(values) != n_nodes for values in fields.values()):
        raise InputError("the trees' arrays must be of one length")
    if not np.isfinite(lists["values"]).all():
        raise InputError("the trees' values must be finite")
    if any((fields[name] < 0).any() for name in ("n_alternatives", "n_surrogates")):
        raise InputError("the nodes of trees must not have lists of negative length")
    nodes = np.zeros(n_nodes, NODE)
    for name, values in fields.items():
        nodes[name] = values
    return Trees(nodes=_with_list_starts(nodes), **lists)
