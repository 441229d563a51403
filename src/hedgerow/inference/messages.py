"""Messages: what the labels before and after a position say about its label, in one sequence.

With c the label context of a position, y its label and E(c, y) the score of both there,

    before(c)     log of the sum over the paths that end in the context c, of exp(score)
    after(c, y)   log of the sum over the paths that continue from c and y

so that P(c, y) is proportional to exp(before(c) + E(c, y) + after(c, y)). The kernels of the lattice compute the same
sums for whole batches, scaled; here they are logarithms, so that ratios of tiny probabilities are exact too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.inference.lattice import Lattice
from hedgerow.utilities import Floats64

Contexts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Node:
    """The messages at one position; rows are the label contexts that can be there."""

    contexts: Contexts  # their numbers, rising
    before: Floats64  # (contexts,)
    local: Floats64  # (contexts, labels)
    after: Floats64  # (contexts, labels)


class Messages:
    """The messages of a lattice over one sequence. A beam keeps the contexts with the largest sums before them."""

    def __init__(self, lattice: Lattice) -> None:
        state, edge, table = lattice.masked_scores()
        self._state, self._edge, self._table = state, edge, table
        self._k, self._order = lattice.topology.n_labels, lattice.topology.lattice_order
        self._beam, self._kept_path = lattice.beam, lattice.kept_path
        self._first_rows = [lattice.topology.first_row(m) for m in range(self._order + 1)]
        self.n_positions = int(lattice.starts[-1])
        self._before: list[tuple[Contexts, Floats64]] = [(np.zeros(1, np.int64), np.zeros(1))]
        self._after: dict[int, Floats64] = {}

    def at(self, position: int) -> Node:
        """The messages at a position."""
        contexts, before = self.before(position)
        local = self.local(position, contexts)
        return Node(contexts, before, local, self.after(position + 1, self.following(position, contexts)))

    def before(self, position: int) -> tuple[Contexts, Floats64]:
        """(label contexts of a position, log of the sum over the paths to each)."""
        for t in range(len(self._before) - 1, position):
            contexts, before = self._before[t]
            sums = before[:, None] + self.local(t, contexts)
            if self._beam is None:
                self._before.append((self._all_contexts(t + 1), self._by_next_context(t, sums)))
                continue
            reached, where = np.unique(self.following(t, contexts), return_inverse=True)
            sums = _log_sums(sums.ravel(), where.ravel(), len(reached))
            self._before.append(self._kept(reached, sums, self._path_context(t + 1)))
        return self._before[position]

    def _by_next_context(self, position: int, sums: Floats64) -> Floats64:
        """Log of the sum over all contexts and labels that have the same next context: the oldest label is dropped."""
        if self._order == 0:
            return np.array([log_sum(sums)])
        if position < self._order:  # nothing is dropped yet
            return sums.T.ravel()
        by_oldest = sums.reshape(-1, self._k, self._k)
        return np.asarray(log_sum(by_oldest, axis=1)).T.ravel()

    def after(self, position: int, contexts: Contexts) -> Floats64:
        """Log of the sum over the paths from a position to the end, for each of these contexts; any shape."""
        if not self._after:
            self._after[self.n_positions] = np.zeros(len(self._all_contexts(self.n_positions)))
        for t in range(min(self._after) - 1, position - 1, -1):
            own = self._all_contexts(t)
            sums = self.local(t, own) + self._read(t + 1, self.following(t, own))
            self._after[t] = log_sum(sums, axis=1)
        return self._read(position, contexts)

    def local(self, position: int, contexts: Contexts) -> Floats64:
        """(contexts, labels): the scores at a position."""
        scores = np.zeros((len(contexts), self._k))
        if self._state is not None:
            scores += self._state[position]
        if self._edge is not None:
            scores += self._edge[position, contexts]
        if self._table is not None:
            scores += self._table[self._first_rows[min(position, self._order)] + contexts]
        if self._beam and self._order == 0:  # no context remembers which labels the beam kept
            kept = self._kept(np.arange(self._k), scores[0], self._path_label(position))[0]
            scores[0, np.setdiff1d(np.arange(self._k), kept)] = -np.inf
        return scores

    def following(self, position: int, contexts: Contexts) -> Contexts:
        """(contexts, labels): the context of the next position after each context and label."""
        if self._order == 0:
            return np.zeros((len(contexts), self._k), np.int64)
        length = min(position, self._order)
        older = contexts if length < self._order else contexts // self._k
        next_contexts: Contexts = np.arange(self._k) * self._k ** min(length, self._order - 1) + older[:, None]
        return next_contexts

    def keeps(self, position: int, contexts: Contexts) -> NDArray[np.bool_]:
        """Whether each of these label contexts of a position is in the beam; any shape."""
        return np.isin(contexts, self._all_contexts(position))

    def _all_contexts(self, position: int) -> Contexts:
        if self._beam:
            return self.before(position)[0]
        return np.arange(self._k ** min(position, self._order))

    def _read(self, position: int, contexts: Contexts) -> Floats64:
        """The sums after these contexts; minus infinity for those that the beam dropped."""
        sums = self._after[position]
        if not self._beam:
            found: Floats64 = sums[contexts]
            return found
        place = np.minimum(np.searchsorted(self.before(position)[0], contexts), len(sums) - 1)
        return np.where(self.keeps(position, contexts), sums[place], -np.inf)

    def _kept(self, contexts: Contexts, sums: Floats64, also: int) -> tuple[Contexts, Floats64]:
        """The contexts in the beam, and `also`."""
        if self._beam is None or len(contexts) <= self._beam:
            return contexts, sums
        ranked = np.argsort(-sums, kind="stable")
        best = ranked[: int(self._beam) or _size_of_bound(sums[ranked], self._beam)]
        chosen = np.union1d(best, np.flatnonzero(contexts == also))
        return contexts[chosen], sums[chosen]

    def _path_label(self, position: int) -> int:
        """The label of the path that the beam never drops; -1 if there is none."""
        return -1 if self._kept_path is None else int(self._kept_path[position])

    def _path_context(self, position: int) -> int:
        """The label context of a position in the path that the beam never drops; -1 if there is none."""
        labels = [self._path_label(at) for at in range(max(position - self._order, 0), position)]
        if not labels or min(labels) < 0:
            return -1
        return sum(label * self._k**i for i, label in enumerate(labels))


def _size_of_bound(falling: Floats64, bound: float) -> int:
    """How many of these logarithms hold so much of the whole mass that -log of it is at most the bound."""
    if falling[0] == -np.inf:  # no path: one of them stands for all
        return 1
    masses = np.exp(falling - falling[0])
    dropped = np.cumsum(masses[::-1])
    return int(np.count_nonzero(dropped > -np.expm1(-bound) * masses.sum()))


def log_sum(values: Floats64, axis: int | None = None) -> Any:
    """log of the sum of exp(values); minus infinity for no finite value."""
    highest = np.max(values, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(highest), highest, 0.0)
    with np.errstate(divide="ignore"):
        sums = np.log(np.exp(values - shift).sum(axis=axis, keepdims=True)) + shift
    return sums.item() if axis is None else np.squeeze(sums, axis=axis)


def _log_sums(values: Floats64, groups: NDArray[np.int64], n_groups: int) -> Floats64:
    """`log_sum` of the values of each group."""
    highest = np.full(n_groups, -np.inf)
    np.maximum.at(highest, groups, values)
    shift = np.where(np.isfinite(highest), highest, 0.0)
    with np.errstate(divide="ignore"):
        sums: Floats64 = np.log(np.bincount(groups, np.exp(values - shift[groups]), minlength=n_groups)) + shift
    return sums
