"""Attributions of boosted trees: Shapley values of the columns that they test.

The values are path-dependent: where a column is left out of a tree, the training positions decide, in proportion to
how many of them went to each side. Tests of previous labels are resolved by the label context, which is no player. The
bias is the value of the trees if nothing is known.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import BagColumn, CategoricalColumn
from hedgerow.data.ragged import sequence_of
from hedgerow.encoding.encoded import Encoded
from hedgerow.inspection.explaining.attributions import LabelInContext, Part, Scope, attributions, merged
from hedgerow.inspection.explaining.explanation import BIAS
from hedgerow.inspection.explaining.lattice_explainer import LatticeExplainer
from hedgerow.inspection.explaining.tree_players import LINEAR_COLUMN, LabelTrees, Player, TreePlayers
from hedgerow.potentials.trees import TreePotential
from hedgerow.utilities import Floats64

ABSENT = "(values that are absent)"  # of a bag
LEAST_SHARE = 1e-9  # label contexts with a lower probability are left to the message from the left

_PLAYERS: WeakKeyDictionary[TreePotential, TreePlayers] = WeakKeyDictionary()


class TreeAttributions:
    """Shapley values of trees, at positions of some encoded sequences."""

    def __init__(self, potential: TreePotential, encoded: Encoded, scope: Scope) -> None:
        if potential not in _PLAYERS:
            _PLAYERS[potential] = TreePlayers.of(potential, scope.encoder)
        self._potential, self._encoded, self._scope = potential, encoded, scope
        self._players = _PLAYERS[potential]
        self._reader, self._offset = potential._attributes(encoded, 1)

    def parts(self, position: int, label: LabelInContext, against: LabelInContext) -> list[Part]:
        share, length = self._input_share(position), self._length(position)
        values = self._values(share, label, length) - self._values(share, against, length)
        found = [
            self._named(player, value, position)
            for player, value in zip(self._players.players, values.tolist(), strict=True)
        ]
        bias = Part(BIAS, 0, None, self._players.bias(label.label) - self._players.bias(against.label))
        return merged([*found, bias, *self._of_offset(position, label, against)])

    def _length(self, position: int) -> int:
        """The number of labels in the context of a position."""
        starts = self._encoded.starts
        return min(position - int(starts[sequence_of(starts, position)]), self._potential.tree_order)

    def _values(self, share: Floats64, one: LabelInContext, length: int) -> Floats64:
        """The Shapley values of the trees of a label, averaged over its contexts."""
        trees, leaves = self._players.trees_of(one.label), self._players.leaves_of(one.label)
        if self._potential.tree_order == 0:
            return self._players.shapley(trees, share[trees.nodes], leaves)
        total = np.zeros(len(self._players.players))
        for context, weight in zip(one.contexts.tolist(), one.shares.tolist(), strict=True):
            if weight > LEAST_SHARE:
                total += self._players.shapley(trees, self._given(context, length, share, trees), leaves * weight)
        return total

    def _given(self, context: int, length: int, share: Floats64, trees: LabelTrees) -> Floats64:
        """The shares of the nodes of a label, with tests of previous labels resolved."""
        nodes, k = self._potential.trees.nodes[trees.nodes], self._potential.n_labels
        given = share[trees.nodes]
        for i in np.flatnonzero(nodes["lag"] >= 0).tolist():
            lag = int(nodes[i]["lag"])
            label = k if lag >= length else context // k ** (length - 1 - lag) % k
            given[i] = label == nodes[i]["label"] or label in self._potential.trees.alternatives_of(nodes[i])
        return given

    def _input_share(self, position: int) -> Floats64:
        """The share of the position that goes to `if_true` of each node: 1, 0, or a fraction if a value is missing."""
        players, trees = self._players, self._potential.trees
        nodes, slots = trees.nodes, players.node_slot
        ids = self._reader.ids(position, position + 1)[1]
        present = np.zeros(self._reader.n_ids, np.bool_)
        present[ids] = True
        bins = np.full(len(players.slots), np.iinfo(np.int64).max)
        own = players.slot_of(ids)
        numbers = players.is_numeric[own] & (ids < players.end_ids[own])
        bins[own[numbers]] = ids[numbers]
        holds = np.where(players.is_threshold, bins[slots] <= nodes["attribute"], present[nodes["attribute"]])
        more = np.flatnonzero((nodes["n_alternatives"] > 0) & (slots >= 0))
        for i in more.tolist():
            holds[i] |= present[trees.alternatives_of(nodes[i])].any()
        share = holds.astype(np.float64)
        missing = self._missing(position)
        for i in np.flatnonzero(missing[slots] & (slots >= 0)).tolist() if missing.any() else ():
            share[i] = self._where_missing(nodes[i], missing, present, bins)
        return share

    def _missing(self, position: int) -> NDArray[np.bool_]:
        """Whether the value of each slot is missing; label statistics and linear scores never are."""
        missing = np.zeros(len(self._players.slots), np.bool_)
        read = self._reader.missing(position, position + 1)[0]
        missing[: len(read)] = read
        return missing

    def _where_missing(
        self, node: np.void, missing: NDArray[np.bool_], present: NDArray[np.bool_], bins: NDArray[np.int64]
    ) -> float:
        """The first surrogate whose own value is not missing decides; without one, the share of training."""
        players = self._players
        for surrogate in self._potential.trees.surrogates_of(node):
            attribute = surrogate if surrogate >= 0 else ~surrogate
            slot = int(players.slot_of(np.array([attribute]))[0])
            if not missing[slot]:
                is_threshold = players.is_numeric[slot] and attribute < players.end_ids[slot]
                holds = bins[slot] <= attribute if is_threshold else present[attribute]
                return float(holds == (surrogate >= 0))
        return float(node["true_fraction"])

    def _named(self, player: Player, amount: float, position: int) -> Part:
        if player.family >= 0:
            return self._of_family(self._players.members[player.family], amount, position)
        if player.column == LINEAR_COLUMN and self._potential.columns is not None:
            return Part(LINEAR_COLUMN, 0, None, amount)
        if player.value is not None:
            present = player.attribute in self._reader.ids(position, position + 1)[1]
            return Part(player.column, player.offset, player.value if present else ABSENT, amount)
        return Part(
            player.column, player.offset, value_at(self._encoded, player.column, position, player.offset), amount
        )

    def _of_family(self, members: list[tuple[str, int]], amount: float, position: int) -> Part:
        values = [value_at(self._encoded, column, position, offset) for column, offset in members]
        if len(members) == 1:
            return Part(*members[0], values[0], amount)
        column = " & ".join(f"{column}[{offset:+d}]" if offset else column for column, offset in members)
        return Part(column, 0, tuple(values), amount)

    def _of_offset(self, position: int, label: LabelInContext, against: LabelInContext) -> list[Part]:
        """The parts of the log-marginals of a linear model, to which the scores of the trees are added."""
        if self._offset is None or self._potential.columns is None:
            return []
        linear, topology = self._potential.columns.linear, self._potential.columns.topology
        assert linear is not None
        starts = self._encoded.starts
        sequence = sequence_of(starts, position)
        explainer = LatticeExplainer(linear, self._encoded[sequence : sequence + 1], topology, self._scope)
        parts = explainer.attributes(position - int(starts[sequence]), label.label, against.label)
        row = self._offset[position].astype(np.float64)
        rest = float(row[label.label] - row[against.label]) - sum(part.amount for part in parts)
        return [*parts, Part(LINEAR_COLUMN, 0, "neighbouring labels", rest)]


def value_at(encoded: Encoded, column: str, position: int, offset: int) -> Any:
    """The value of a column at an offset from a position; None outside of the sequence, and where there is none."""
    starts = encoded.starts
    sequence = sequence_of(starts, position)
    at = position + offset
    if not starts[sequence] <= at < starts[sequence + 1]:
        return None
    read = encoded.column(column)
    if isinstance(read, CategoricalColumn):
        code = int(read.codes[at])
        return str(read.alphabet[code]) if code >= 0 else None
    if isinstance(read, BagColumn):
        ids = read.ids[read.starts[at] : read.starts[at + 1]]
        return tuple(str(read.alphabet[int(i)]) for i in ids if i >= 0)
    number = float(read.values[at])
    return None if np.isnan(number) else number


@attributions.register
def _trees(potential: TreePotential, encoded: Encoded, scope: Scope) -> TreeAttributions:
    return TreeAttributions(potential, encoded, scope)
