"""What the nodes of trees test, as players of a game whose value is the score of a label.

A player is a column at an offset, or one value of a bag. The label statistics of a family are one player together, and
so are the scores of a linear model: a user did not give these numbers one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.columns import BagColumn, NumericColumn
from hedgerow.encoding import AttributeReader, Encoder
from hedgerow.encoding.attributes import SlotRange
from hedgerow.inspection.explaining.tree_tests import ONE, Cases, NodeTests, Seen, Tests
from hedgerow.potentials.tree_columns import TreeColumns
from hedgerow.potentials.trees import TreePotential, Trees
from hedgerow.utilities import Floats64

LEAF, FIXED = -2, -1  # of nodes without a player: see trees/tree_shapley.hpp


class Player(NamedTuple):
    """A column at an offset; `value` is set for a value of a bag. `family` and `is_linear` are derived numbers."""

    column: str
    offset: int
    value: str | None = None
    attribute: int = -1  # of a value of a bag
    family: int = -1
    is_linear: bool = False


class LabelTrees(NamedTuple):
    """The trees of a label, end to end."""

    nodes: NDArray[np.int64]  # their places among all nodes
    starts: NDArray[np.int64]
    if_true: NDArray[np.int32]
    if_false: NDArray[np.int32]
    players: NDArray[np.int32]
    training_share: Floats64
    tests: NodeTests


@dataclass(frozen=True, eq=False)
class TreePlayers:
    """The players of the trees of a potential; computed once for each potential, and without a reference to it."""

    trees: Trees
    columns: TreeColumns | None
    n_labels: int
    encoder: Encoder
    names: AttributeReader  # of no position: has the layout of the ids

    @classmethod
    def of(cls, potential: TreePotential, encoder: Encoder) -> TreePlayers:
        read = potential.read(encoder.nothing()).sequences
        names = AttributeReader(read, potential.window, potential.binnings)
        return cls(potential.trees, potential.columns, potential.n_labels, encoder, names)

    @cached_property
    def slots(self) -> list[SlotRange]:
        return self.names.slots()

    @cached_property
    def first_ids(self) -> NDArray[np.int64]:
        """The first id of each slot."""
        return np.array([slot.first for slot in self.slots], np.int64)

    @cached_property
    def end_ids(self) -> NDArray[np.int64]:
        """The id after the last value of each slot."""
        return self.first_ids + np.array([slot.n_values for slot in self.slots], np.int64)

    @cached_property
    def is_numeric(self) -> NDArray[np.bool_]:
        """By slot."""
        columns = self.names.sequences
        return np.array([isinstance(columns.column(slot.column), NumericColumn) for slot in self.slots], np.bool_)

    def slot_of(self, ids: NDArray[Any]) -> NDArray[np.int64]:
        """The slot of each id."""
        return np.searchsorted(self.first_ids, ids, side="right") - 1

    def tests_of(self, attributes: NDArray[np.int64]) -> Tests:
        """Tests of attributes: those of a number, except its padding, compare it with a threshold."""
        slots = self.slot_of(attributes)
        return Tests(attributes, slots, self.is_numeric[slots] & (attributes < self.end_ids[slots]))

    def seen(self, ids: NDArray[np.int32], missing: NDArray[np.bool_]) -> Seen:
        """What is read at a position: the ids of its attributes, and which slots are missing, at least the first ones.

        Label statistics and linear scores, which follow the others, are never missing.
        """
        present = np.zeros(self.names.n_ids, np.bool_)
        present[ids] = True
        bins = np.full(len(self.slots), np.iinfo(np.int64).max)
        tests = self.tests_of(ids.astype(np.int64))
        bins[tests.slots[tests.is_threshold]] = ids[tests.is_threshold]
        return Seen(present, bins, np.concatenate([missing, np.zeros(len(self.slots) - len(missing), np.bool_)]))

    @cached_property
    def _players(self) -> tuple[list[Player], NDArray[np.int32]]:
        """(the players, the player of each node)."""
        trees, numbers = self.trees, dict[Player, int]()
        attributes = trees.nodes["attribute"]
        slots = np.where(attributes >= 0, self.slot_of(np.maximum(attributes, 0)), -1)
        by_node = np.full(len(attributes), LEAF, np.int32)
        by_node[trees.nodes["lag"] >= 0] = FIXED
        found, where = np.unique(np.stack([slots, attributes]), axis=1, return_inverse=True)
        for i, (slot, attribute) in enumerate(found.T.tolist()):
            if slot >= 0:
                player = self._player(self.slots[slot], attribute)
                by_node[where.ravel() == i] = numbers.setdefault(player, len(numbers))
        return list(numbers), by_node

    def _player(self, slot: SlotRange, attribute: int) -> Player:
        name, is_derived = slot.column, self.columns is not None and slot.column not in self.columns.kept
        if is_derived and name.startswith("statistics."):
            return Player("statistics", 0, family=int(name.split(".")[1]))
        if is_derived:
            return Player("linear", 0, is_linear=True)
        column = self.names.sequences.column(name)
        if isinstance(column, BagColumn) and attribute < slot.first + slot.n_values:
            return Player(name, slot.offset, str(column.alphabet[attribute - slot.first]), attribute)
        return Player(name, slot.offset)

    @property
    def players(self) -> list[Player]:
        return self._players[0]

    @cached_property
    def members(self) -> dict[int, list[tuple[str, int]]]:
        """By family of label statistics: the columns that it counts, with their offsets."""
        statistics = self.columns.statistics if self.columns else None
        families = {player.family for player in self.players if player.family >= 0}
        return {family: statistics.members(self.encoder, family) for family in sorted(families)} if statistics else {}

    @cached_property
    def training_share(self) -> Floats64:
        """The share of the training positions of each node that go to `if_true`; one half if none came there."""
        trees = self.trees
        first = np.repeat(trees.starts[:-1], np.diff(trees.starts))
        counts = trees.nodes["count"].astype(np.float64)
        inner = ~trees.is_leaf
        to_true, to_false = np.zeros(len(counts)), np.zeros(len(counts))
        to_true[inner] = counts[first[inner] + trees.nodes["if_true"][inner]]
        to_false[inner] = counts[first[inner] + trees.nodes["if_false"][inner]]
        total = to_true + to_false
        return np.where(total > 0, to_true / np.maximum(total, 1), 0.5)

    @cached_property
    def _by_label(self) -> dict[int, LabelTrees]:
        return {}

    def trees_of(self, label: int) -> LabelTrees:
        """The trees of a label; with trees for all labels, all of them."""
        trees = self.trees
        key = 0 if trees.values.shape[1] > 1 else label
        if key not in self._by_label:
            chosen = np.flatnonzero(trees.labels == key)
            sizes = np.diff(trees.starts)[chosen]
            starts = np.concatenate([[0], np.cumsum(sizes)])
            nodes = np.arange(starts[-1]) + np.repeat(trees.starts[chosen] - starts[:-1], sizes)
            self._by_label[key] = LabelTrees(
                nodes,
                starts,
                np.ascontiguousarray(trees.nodes["if_true"][nodes]),
                np.ascontiguousarray(trees.nodes["if_false"][nodes]),
                self._players[1][nodes],
                self.training_share[nodes],
                NodeTests.of(trees, nodes, self.n_labels, self.tests_of),
            )
        return self._by_label[key]

    def leaves_of(self, label: int) -> Floats64:
        """The value of each node of the trees of a label."""
        values = self.trees.values
        leaves: Floats64 = values[self.trees_of(label).nodes, label if values.shape[1] > 1 else 0].astype(np.float64)
        return leaves

    @cached_property
    def _biases(self) -> dict[int, float]:
        return {}

    def bias(self, label: int) -> float:
        """The mean value of the trees of a label: that of a training position of which nothing is known."""
        if label not in self._biases:
            trees, others = self.trees_of(label), len(self.players)
            everything = trees._replace(players=np.where(trees.players == FIXED, np.int32(others), trees.players))
            self._biases[label] = _shapley(everything, trees.training_share, self.leaves_of(label), others + 1, ONE)[1]
        return self._biases[label]

    def shapley(self, label: int, input_share: Floats64, cases: Cases) -> Floats64:
        """The Shapley value of each player in the trees of a label; the shares are by node of these trees."""
        return _shapley(self.trees_of(label), input_share, self.leaves_of(label), len(self.players), cases)[0]


def _shapley(
    trees: LabelTrees, input_share: Floats64, leaves: Floats64, n_players: int, cases: Cases
) -> tuple[Floats64, float]:
    """(the Shapley values of the players, the value of the trees without them)."""
    return _core.tree_shapley(
        trees.starts, trees.if_true, trees.if_false, trees.players, input_share, trees.training_share, leaves,
        n_players, *cases,
    )  # fmt: skip
