"""A member of a distributed fit: an actor on a worker that runs the learner on its own shards.

Members send messages to each other directly. The client calls `advance` of all members for each step of the learner.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from hedgerow.distributed.blueprint import Blueprint, DevShard, Own
from hedgerow.distributed.post import Members
from hedgerow.distributed.shards import Shard, joined, joined_weights
from hedgerow.errors import warnings_to
from hedgerow.group import Group
from hedgerow.learning.base import Learner, Record


class Advance(NamedTuple):
    """What a member reports after a step."""

    record: Record | None  # None: the learner has ended
    step: Any  # what a later attempt resumes from; None if the learner starts anew
    busy: float  # seconds, without waiting for others
    cpu: float  # seconds of all threads of the worker
    n_calls: int  # exchanges of this step
    n_bytes: int  # sent in this step
    warnings: tuple[tuple[str, type[Warning]], ...] = ()
    error: Exception | None = None


class Member:
    """The actor. Its methods run one after the other."""

    def __init__(
        self,
        attempt: str,
        rank: int,
        addresses: list[str],
        blueprint: Blueprint,
        shards: list[Shard],
        dev: DevShard | None,
        n_threads: int,
    ) -> None:
        from distributed import get_worker

        self.group = Members(get_worker(), attempt, rank, addresses) if len(addresses) > 1 else Group()
        self._blueprint, self._shards, self._dev, self._n_threads = blueprint, shards, dev, n_threads
        self._learner: Learner | None = None
        self._records: Iterator[Record] | None = None

    def begin(self, steps: list[Any], records: list[Record]) -> Advance:
        """Build the training data and the learner; it goes on after the steps of an earlier attempt."""
        return self._measured(lambda: self._build(steps, records))

    def _build(self, steps: list[Any], records: list[Record]) -> None:
        blueprint, encoder = self._blueprint, self._blueprint.encoder()
        sequences, codes = joined(self._shards, encoder)
        own = Own(encoder, *joined_weights(self._shards), self._dev)
        self._shards = []
        settings = blueprint.settings(self._n_threads)
        training = blueprint.training(settings, sequences, codes, own, self.group)
        self._learner = blueprint.learner(settings, training)
        if steps:
            self._learner.resume(steps, records)  # type: ignore[attr-defined]
        self._records = iter(self._learner)

    def advance(self) -> Advance:
        """Make one step of the learner."""
        return self._measured(self._step)

    def _step(self) -> Record | None:
        assert self._records is not None
        return next(self._records, None)

    def potential(self) -> Advance:
        """What has been learned so far, as metadata and arrays in `step`; all members must be asked."""
        learner, parts = self._learner, list[Any]()
        assert learner is not None

        def store() -> None:
            potential = learner.potential
            parts.append((potential.kind, *potential.to_arrays()))

        measured = self._measured(store)
        return measured._replace(step=parts[0] if parts and self.group.rank == 0 else None)

    def _measured(self, work: Any) -> Advance:
        group = self.group
        n_calls, n_bytes, waited = _traffic(group)
        began, cpu_before = time.perf_counter(), time.process_time()
        said: list[tuple[str, type[Warning]]] = []
        try:
            with warnings_to(lambda message, category: said.append((message, category))):
                record = work()
        except Exception as error:
            return Advance(None, None, 0.0, 0.0, 0, 0, error=error)
        seconds = time.perf_counter() - began
        calls_after, bytes_after, waited_after = _traffic(group)
        step = getattr(self._learner, "last_step", None) if record is not None and group.rank == 0 else None
        busy = seconds - (waited_after - waited)
        heard = said if group.rank == 0 else []  # all members say the same
        cpu = time.process_time() - cpu_before
        return Advance(record, step, busy, cpu, calls_after - n_calls, bytes_after - n_bytes, tuple(heard))


def _traffic(group: Group) -> tuple[int, int, float]:
    return (group.n_calls, group.n_bytes, group.waited) if isinstance(group, Members) else (0, 0, 0.0)
