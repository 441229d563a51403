"""What the tests of some nodes say about a position: the share of the position that goes to `if_true` of each node.

All nodes are tested at once, with arrays: an explanation reads thousands of nodes, and a loop over them would take most
of its time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.potentials.trees import Trees
from hedgerow.utilities import Floats64

Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Seen(NamedTuple):
    """What is read at a position."""

    present: Flags  # by attribute id
    bins: Ids  # by slot: the id of the bin of a number; larger than all ids where there is none
    missing: Flags  # by slot


class Tests(NamedTuple):
    """Some tests: of an attribute, or of a number against a threshold."""

    attributes: Ids
    slots: Ids
    is_threshold: Flags

    def hold(self, seen: Seen) -> Flags:
        found: Flags = np.where(
            self.is_threshold, seen.bins[self.slots] <= self.attributes, seen.present[self.attributes]
        )
        return found


class Cases(NamedTuple):
    """Label contexts with weights, and what tests of previous labels say in each."""

    weights: Floats64
    given: NDArray[np.uint8]  # (tests of previous labels, contexts): 1 where the test holds


ONE = Cases(np.ones(1), np.zeros((0, 1), np.uint8))  # of trees that do not test labels


class Lists(NamedTuple):
    """The lists of nodes that have one, end to end."""

    owners: Ids  # by entry: its node
    entries: Ids

    @classmethod
    def of(cls, values: NDArray[np.int32], first: NDArray[Any], n: NDArray[Any]) -> Self:
        sizes = n.astype(np.int64)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        within = np.arange(len(owners)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return cls(owners, values[first[owners] + within].astype(np.int64))


@dataclass(frozen=True, eq=False)
class NodeTests:
    """The tests of some nodes; arrays are by node."""

    tests: Tests  # of attributes; whatever for other nodes
    reads: Flags  # whether the node tests an attribute
    alternatives: Lists  # attributes for which the test also holds
    surrogates: Lists
    surrogate_tests: Tests  # by entry of `surrogates`
    true_fraction: Floats64
    lags: Ids  # of the nodes that test a previous label
    label_holds: Flags  # (these, labels and start): for which labels their tests hold

    @classmethod
    def of(cls, trees: Trees, nodes: Ids, n_labels: int, tests_of: Any) -> Self:
        """The tests of these nodes; `tests_of(attributes)` has the slots, and whether a number is compared."""
        records = trees.nodes[nodes]
        attributes, lags = records["attribute"].astype(np.int64), records["lag"].astype(np.int64)
        alternatives = Lists.of(trees.alternatives, records["first_alternative"], records["n_alternatives"])
        surrogates = Lists.of(trees.surrogates, records["first_surrogate"], records["n_surrogates"])
        entries = surrogates.entries
        by_label = np.flatnonzero(lags >= 0)
        place = np.full(len(nodes), -1)
        place[by_label] = np.arange(len(by_label))
        label_holds = np.zeros((len(by_label), n_labels + 1), np.bool_)
        label_holds[np.arange(len(by_label)), records["label"][by_label]] = True
        of_label = lags[alternatives.owners] >= 0
        label_holds[place[alternatives.owners[of_label]], alternatives.entries[of_label]] = True
        return cls(
            tests=tests_of(np.maximum(attributes, 0)),
            reads=attributes >= 0,
            alternatives=Lists(alternatives.owners[~of_label], alternatives.entries[~of_label]),
            surrogates=surrogates,
            surrogate_tests=tests_of(np.where(entries >= 0, entries, ~entries)),
            true_fraction=records["true_fraction"].astype(np.float64),
            lags=lags[by_label],
            label_holds=label_holds,
        )

    def share(self, seen: Seen) -> Floats64:
        """1, 0, or a fraction where a value is missing and no surrogate decides; whatever for tests of labels."""
        holds = self.tests.hold(seen)
        owners, entries = self.alternatives
        holds[owners[seen.present[entries]]] = True
        share = holds.astype(np.float64)
        if seen.missing.any():
            missing = self.reads & seen.missing[self.tests.slots]
            share[missing] = self.true_fraction[missing]
            self._decide(share, missing, seen)
        return share

    def _decide(self, share: Floats64, missing: Flags, seen: Seen) -> None:
        """The first surrogate whose own value is not missing decides."""
        owners, entries = self.surrogates
        usable = np.flatnonzero(missing[owners] & ~seen.missing[self.surrogate_tests.slots])
        decided, first = np.unique(owners[usable], return_index=True)
        deciding = usable[first]
        share[decided] = (self.surrogate_tests.hold(seen) == (entries >= 0))[deciding]

    def cases(self, weights: Floats64, labels: Ids) -> Cases:
        """The outcomes of the tests of previous labels, for label contexts with these labels (contexts, lags)."""
        holds = self.label_holds[np.arange(len(self.lags))[:, None], labels.T[self.lags]]
        return Cases(np.ascontiguousarray(weights), holds.view(np.uint8))
