"""Potentials that are sums of regression trees, with or without a table of transitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.encoding import Binning, Encoder, Rows, Window
from hedgerow.errors import InputError
from hedgerow.potentials.base import Scores
from hedgerow.sequences import Sequences


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees in one row: tree i is for `labels[i]` and has the nodes starts[i]..starts[i + 1], root first.

    A node is (attribute, lag, label, if true, if false, set): it tests an attribute id of the window, or the label
    `lag` positions back (n_labels is `start`); children count from the tree's root; a leaf has neither test. Where
    `set` is not -1, the test also holds for set_members[set_starts[set]:set_starts[set + 1]]. `values` has one
    column, or in trees for all labels one for each (and their `labels` are 0).
    """

    labels: NDArray[np.int32]
    starts: NDArray[np.int64]
    nodes: NDArray[np.int32]
    values: NDArray[np.float32]
    gains: NDArray[np.float32]
    counts: NDArray[np.int64]
    set_starts: NDArray[np.int64]
    set_members: NDArray[np.int32]

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
        )

    def __len__(self) -> int:
        return len(self.labels)

    def compiled(self, rows: Rows, n_labels: int, order: int) -> _core.Forest:
        """For evaluation on rows of this layout; raises ValueError if the trees do not fit it."""
        return _core.Forest(
            rows.reader, n_labels, order, self.labels, self.starts, self.nodes, self.values, self.set_starts,
            self.set_members,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class TreePotential:
    """`tree_order` is how far back the trees look: the model's order, or 0 where a table holds the transitions."""

    window: Window
    binnings: Mapping[str, Binning]
    n_labels: int
    tree_order: int
    trees: Trees
    table: NDArray[np.float32] | None
    _forest: _core.Forest = field(init=False, repr=False)
    kind: ClassVar[str] = "trees"

    def scores(self, sequences: Sequences, n_threads: int = 1) -> Scores:
        rows = Rows(sequences, self.window, self.binnings)
        if not hasattr(self, "_forest"):  # compiled once, for the columns of the encoder
            object.__setattr__(self, "_forest", self.trees.compiled(rows, self.n_labels, self.tree_order))
        shape = (sequences.n_positions, self.n_labels**self.tree_order, self.n_labels)
        scores = np.zeros(shape, dtype=np.float32)
        self._forest.add_scores(rows.reader, scores, n_threads)
        if self.table is None:
            return Scores(edge=scores)
        return Scores(state=scores[:, 0], table=self.table)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        arrays: dict[str, NDArray[Any]] = {f"trees.{name}": getattr(self.trees, name) for name in _FIELDS}
        arrays |= {f"bins.{name}": binning.edges for name, binning in self.binnings.items()}
        if self.table is not None:
            arrays["table"] = self.table
        return {"window": [self.window.left, self.window.right]}, arrays

    @classmethod
    def from_state(
        cls,
        metadata: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        encoder: Encoder,
        n_labels: int,
        order: int,
    ) -> Self:
        window = Window.of(metadata["window"])
        numeric = [spec.name for spec in encoder.columns if spec.alphabet is None]
        binnings = {name: Binning(_part(arrays, f"bins.{name}", np.float32, 1)) for name in numeric}
        trees = Trees(**{name: _part(arrays, f"trees.{name}", dtype, ndim) for name, (dtype, ndim) in _FIELDS.items()})
        if not len(trees.values) == len(trees.nodes) == len(trees.gains) == len(trees.counts):
            raise InputError("the trees' arrays must be of one length")
        if not np.isfinite(trees.values).all():
            raise InputError("the trees' values must be finite")
        table = arrays.get("table")
        if table is not None:
            rows = sum(n_labels**m for m in range(order + 1))
            if table.dtype != np.float32 or table.shape != (rows, n_labels) or not np.isfinite(table).all():
                raise InputError(f"the table must hold {(rows, n_labels)} finite numbers")
        potential = cls(window, binnings, n_labels, 0 if table is not None else order, trees, table)
        potential._try(encoder)
        return potential

    def _try(self, encoder: Encoder) -> None:
        """Evaluates one absent position, so that trees which do not fit are found before they are needed."""
        from hedgerow.columns import NumericColumn

        nothing = Sequences.of_columns(np.array([0, 1]), (NumericColumn("", np.zeros(1, dtype=np.float32)),))
        try:
            self.scores(encoder.transform(nothing))
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


def _part(arrays: Mapping[str, NDArray[Any]], name: str, dtype: type[np.generic], ndim: int) -> NDArray[Any]:
    array = arrays.get(name)
    if array is None or array.dtype != dtype or array.ndim != ndim:
        raise InputError(f"the potential's array {name!r} must have {ndim} dimensions of {np.dtype(dtype)}")
    return array
