"""A group of processes that fit one model together, each with sequences of its own.

Every process runs the same learner. Wherever a learner needs a number about all sequences, it gets that number from the
group, so that all processes make the same decisions and end with the same model. The sequences of all processes, in the
order of their ranks, are the training sequences.

Sums over sequences must be exact, because then they do not depend on how sequences are divided: whole numbers, or
multiples of a power of two that is large enough.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Message: TypeAlias = NDArray[np.uint8]


class Mergeable(Protocol):
    """A summary of some sequences that can be merged with those of others, in any order."""

    def merge(self, others: Iterable[Self]) -> Self: ...


M = TypeVar("M", bound=Mergeable)
T = TypeVar("T")

SMALL = 1 << 16  # bytes of an array that is summed by every process; a larger one is summed in slices


class Group:
    """The group of a single process, which has all sequences. A subclass sends messages to other processes."""

    rank: int = 0
    size: int = 1

    def __call__(self, outgoing: Sequence[Message]) -> list[Message]:
        """Send outgoing[j] to process j; returns what each process sent to this one, its own message included.

        All processes make the same calls in the same order.
        """
        return list(outgoing)

    def gather(self, array: NDArray[Any]) -> list[NDArray[Any]]:
        """The arrays of all processes, by rank. Types are equal; only the first dimension may differ."""
        if self.size == 1:
            return [array]
        message = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
        received = self([message] * self.size)
        width = array.shape[1:]
        return [np.frombuffer(part, array.dtype).reshape(-1, *width) if 0 not in width else array for part in received]

    def concatenated(self, array: NDArray[Any]) -> NDArray[Any]:
        """The arrays of all processes end to end."""
        return array if self.size == 1 else np.concatenate(self.gather(array))

    def sum(self, array: NDArray[Any]) -> NDArray[Any]:
        """The sum over processes of arrays of one shape; exact if the sums are."""
        if self.size == 1:
            return array
        flat = np.ascontiguousarray(array).reshape(-1)
        if flat.nbytes <= SMALL:
            total = reduce(np.add, self.gather(flat))
        else:  # each process sums one slice
            cuts = np.linspace(0, len(flat), self.size + 1).astype(np.int64)
            slices = [flat[first:last] for first, last in pairwise(cuts.tolist())]
            received = self([np.frombuffer(part.tobytes(), np.uint8) for part in slices])
            total = self.concatenated(reduce(np.add, [np.frombuffer(part, flat.dtype) for part in received]))
        summed: NDArray[Any] = total.reshape(array.shape)
        return summed

    def merged(self, part: M) -> M:
        """The parts of all processes merged; they are data classes of plain values and arrays."""
        first, *others = self.gather_objects(part)
        return first.merge(others) if others else first

    def gather_objects(self, part: T) -> list[T]:
        """The objects of all processes, by rank; they are data classes of plain values and arrays."""
        if self.size == 1:
            return [part]
        message = np.frombuffer(pickle.dumps(part), np.uint8)
        return [pickle.loads(bytes(received)) for received in self([message] * self.size)]

    def any(self, condition: bool) -> bool:
        """Whether the condition holds in some process."""
        return condition if self.size == 1 else bool(self.sum(np.array([int(condition)]))[0])

    def count(self, n: int) -> int:
        """The sum of a whole number over processes."""
        return n if self.size == 1 else int(self.sum(np.array([n], np.int64))[0])

    def own(self, n: int) -> slice:
        """Where the n items of this process lie among the items of all processes."""
        if self.size == 1:
            return slice(0, n)
        counts = self.gather(np.array([n], np.int64))
        first = sum(int(count[0]) for count in counts[: self.rank])
        return slice(first, first + n)


ALONE = Group()
