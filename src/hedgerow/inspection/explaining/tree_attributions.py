"""Attributions of boosted trees: Shapley values of the columns that they test.

The values are path-dependent: where a column is left out of a tree, the training positions decide, in proportion to
how many of them went to each side. Tests of previous labels are resolved by the label context, which is no player. The
bias is the value of the trees if nothing is known. What trees get from a linear model is in `linear_input`.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.ragged import sequence_of
from hedgerow.encoding.encoded import Encoded
from hedgerow.inspection.explaining.attributions import LabelInContext, Part, Scope, attributions, merged
from hedgerow.inspection.explaining.explanation import BIAS
from hedgerow.inspection.explaining.linear_input import LinearInput
from hedgerow.inspection.explaining.shown_values import NoValue, value_at
from hedgerow.inspection.explaining.tree_players import Player, TreePlayers
from hedgerow.inspection.explaining.tree_tests import ONE, Seen
from hedgerow.potentials.trees import TreePotential
from hedgerow.utilities import Floats64

_PLAYERS: WeakKeyDictionary[TreePotential, TreePlayers] = WeakKeyDictionary()


class TreeAttributions:
    """Shapley values of trees, at positions of some encoded sequences."""

    def __init__(self, potential: TreePotential, encoded: Encoded, scope: Scope) -> None:
        if potential not in _PLAYERS:
            _PLAYERS[potential] = TreePlayers.of(potential, scope.encoder)
        self._potential, self._encoded, self._scope = potential, encoded, scope
        self._players = _PLAYERS[potential]
        self._reader, log_marginals = potential._attributes(encoded, 1)
        self._linear: LinearInput | None = None
        if log_marginals is not None and potential.columns is not None:
            self._linear = LinearInput(potential.columns, log_marginals, encoded, scope)

    def parts(self, position: int, label: LabelInContext, against: LabelInContext) -> list[Part]:
        ids, missing = self._reader.ids(position, position + 1)[1], self._reader.missing(position, position + 1)[0]
        seen, length = self._players.seen(ids, missing), self._length(position)
        values = self._values(seen, label, length) - self._values(seen, against, length)
        by_player = [(self._players.players[i], float(values[i])) for i in np.flatnonzero(values)]
        found = [self._named(*one, position, seen) for one in by_player if not one[0].is_linear]
        bias = Part(BIAS, 0, None, self._players.bias(label.label) - self._players.bias(against.label))
        if self._linear is not None:
            of_scores = sum(amount for player, amount in by_player if player.is_linear)
            found += self._linear.parts(position, label.label, against.label, of_scores)
        return merged([*found, bias])

    def _length(self, position: int) -> int:
        """The number of labels in the context of a position."""
        starts = self._encoded.starts
        return min(position - int(starts[sequence_of(starts, position)]), self._potential.tree_order)

    def _values(self, seen: Seen, one: LabelInContext, length: int) -> Floats64:
        """The Shapley values of the trees of a label, averaged over its contexts."""
        tests = self._players.trees_of(one.label).tests
        cases = ONE if self._potential.tree_order == 0 else tests.cases(one.shares, self._labels(one.contexts, length))
        return self._players.shapley(one.label, tests.share(seen), cases)

    def _labels(self, contexts: NDArray[np.int64], length: int) -> NDArray[np.int64]:
        """(contexts, lags): the labels of contexts; the number of labels stands for `start`."""
        k, order = self._potential.n_labels, self._potential.tree_order
        labels = np.full((len(contexts), order), k)
        for lag in range(length):
            labels[:, lag] = contexts // k ** (length - 1 - lag) % k
        return labels

    def _named(self, player: Player, amount: float, position: int, seen: Seen) -> Part:
        if player.family >= 0:
            return self._of_family(self._players.members[player.family], amount, position)
        if player.value is not None and seen.present[player.attribute]:
            return Part(player.column, player.offset, player.value, amount)
        value = self._value(player.column, position, player.offset)
        if player.value is not None and not isinstance(value, NoValue):
            value = NoValue.OTHERS
        return Part(player.column, player.offset, value, amount)

    def _value(self, column: str, position: int, offset: int) -> Any:
        return value_at(self._encoded, column, position, offset, self._scope.raw)

    def _of_family(self, members: list[tuple[str, int]], amount: float, position: int) -> Part:
        values = [self._value(column, position, offset) for column, offset in members]
        if len(members) == 1:
            return Part(*members[0], values[0], amount)
        column = " & ".join(f"{column}[{offset:+d}]" if offset else column for column, offset in members)
        return Part(column, 0, tuple(values), amount)


@attributions.register
def _trees(potential: TreePotential, encoded: Encoded, scope: Scope) -> TreeAttributions:
    return TreeAttributions(potential, encoded, scope)
