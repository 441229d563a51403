"""Constraints: which labels may begin a sequence, which may follow which, and which may end one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InputError


class Violation(NamedTuple):
    """A pair of neighbouring labels that the constraints forbid.

    `previous` is -1 at the start of a sequence, and `label` is -1 at its end.
    """

    position: int
    previous: int
    label: int


@dataclass(frozen=True, eq=False)
class Constraints:
    """Allowed pairs of neighbouring labels.

    `follows` has a row for `start` and then one for each previous label: whether each label may come next. `last` says
    whether each label may be the last of a sequence.
    """

    follows: NDArray[np.bool_]  # (1 + labels, labels)
    last: NDArray[np.bool_]  # (labels,)

    def __post_init__(self) -> None:
        shape = (len(self.last) + 1, len(self.last))
        if self.follows.dtype != np.bool_ or self.last.dtype != np.bool_ or self.follows.shape != shape:
            raise InputError(
                f"constraints of {shape[1]} labels must be arrays of bool with the shapes {shape} and {shape[1:]}; "
                f"their shapes are {self.follows.shape} and {self.last.shape}"
            )

    @property
    def n_labels(self) -> int:
        return len(self.last)

    def possible(self) -> NDArray[np.bool_]:
        """Whether each label occurs in an allowed sequence: it can be reached from the start, and the end from it."""
        follows = self.follows[1:]
        return _reached(self.follows[0], follows) & _reached(self.last, follows.T)

    def rows(self, length: int) -> NDArray[np.bool_]:
        """Whether a label may follow each label context of this many labels: (contexts, labels)."""
        if length == 0:
            return self.follows[:1]
        return np.repeat(self.follows[1:], self.n_labels ** (length - 1), axis=0)  # the last label is the first digit

    def table(self, order: int) -> NDArray[np.bool_]:
        """Whether a label may follow each label context, in the rows of a transition table."""
        return np.concatenate([self.rows(length) for length in range(order + 1)])

    def first_violation(self, codes: NDArray[np.integer[Any]], starts: NDArray[np.int64]) -> Violation | None:
        """The first forbidden pair in the labels of some sequences; a code of -1 is unknown and allows everything."""
        is_first = np.zeros(len(codes) + 1, np.bool_)
        is_first[starts] = True
        ends = np.flatnonzero(is_first[1:])
        row = np.concatenate([[0], codes[:-1] + 1])
        row[is_first[:-1]] = 0
        unknown = (codes < 0) | (~is_first[:-1] & (row == 0))
        wrong = ~unknown & ~self.follows[row, codes]
        wrong_end = np.zeros(len(codes), np.bool_)
        wrong_end[ends] = (codes[ends] >= 0) & ~self.last[codes[ends]]
        at = np.flatnonzero(wrong | wrong_end)
        if not at.size:
            return None
        t = int(at[0])
        if wrong[t]:
            return Violation(t, int(row[t]) - 1, int(codes[t]))
        return Violation(t, int(codes[t]), -1)

    def beside_gold(self, codes: NDArray[np.integer[Any]], starts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(positions, labels): whether the label may follow the gold label before it, and may end the sequence.

        A gold label of -1 is unknown, and everything may follow it.
        """
        is_first = np.zeros(len(codes), np.bool_)
        is_first[starts[:-1]] = True
        before = np.concatenate([[0], codes + 1])[:-1]  # there may be no positions
        before[is_first] = 0
        allowed: NDArray[np.bool_] = self.follows[before]
        allowed[(before == 0) & ~is_first] = True
        allowed[starts[1:] - 1] &= self.last
        return allowed

    def between_gold(self, codes: NDArray[np.integer[Any]], starts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(positions, labels): whether the label fits between the gold labels on both sides."""
        allowed = self.beside_gold(codes, starts)
        has_next = np.ones(len(codes), np.bool_)
        has_next[starts[1:] - 1] = False
        t = np.flatnonzero(has_next)
        allowed[t] &= self.follows[1:, codes[t + 1]].T
        return allowed

    def on_some_path(self, allowed: NDArray[np.bool_] | None, starts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(positions, labels): the labels of `allowed` that lie on an allowed label sequence.

        A beam over these labels cannot lose all allowed label sequences, because each of its hypotheses is part of one.
        """
        shape = (int(starts[-1]), self.n_labels)
        allowed = np.ones(shape, np.bool_) if allowed is None else allowed.copy()
        allowed[starts[:-1]] &= self.follows[0]
        allowed[starts[1:] - 1] &= self.last
        lengths, pairs = np.diff(starts), self.follows[1:]
        for t in range(1, int(lengths.max())):  # all sequences in step
            at = starts[:-1][lengths > t] + t
            allowed[at] &= allowed[at - 1] @ pairs
        for t in range(1, int(lengths.max())):
            at = starts[1:][lengths > t] - 1 - t
            allowed[at] &= allowed[at + 1] @ pairs.T
        return allowed

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays for a model file."""
        return {"follows": self.follows, "last": self.last}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_labels: int) -> Self | None:
        """The constraints in a model file, None if it has none; raises InputError unless they fit the labels."""
        if not arrays:
            return None
        if set(arrays) != {"follows", "last"} or arrays["last"].shape != (n_labels,):
            raise InputError(f"constraints must be the arrays 'follows' and 'last' for {n_labels} labels")
        constraints = cls(arrays["follows"], arrays["last"])
        if any((array.view(np.uint8) > 1).any() for array in arrays.values()):
            raise InputError("constraints must be arrays of the bytes 0 and 1")
        return constraints


def _reached(labels: NDArray[np.bool_], follows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The labels, and all that come after them in any number of steps."""
    while True:
        more: NDArray[np.bool_] = labels | follows[labels].any(axis=0)
        if (more == labels).all():
            return labels
        labels = more
