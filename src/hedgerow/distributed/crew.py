"""The crew of a distributed fit: one member on each worker, and what to do when a worker is lost."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from hedgerow.distributed.blueprint import Blueprint
from hedgerow.distributed.cluster import check_workers, kept
from hedgerow.distributed.member import Advance, Member
from hedgerow.distributed.post import GivenUp, end_attempt
from hedgerow.distributed.shards import Shard
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError, first_few

LOG = logging.getLogger("hedgerow.distributed")
POLL = 0.2  # seconds between two looks at whether another member failed
WAIT_FOR_WORKERS = 60  # seconds, after all are lost
MOST_LOSSES = 10  # attempts at one step
SLOW = 2.0  # a member that is busy so many times as long as the median of all is reported


class Lost(Exception):  # noqa: N818 - an event that is handled
    """A worker was lost, so that this attempt cannot go on. The message says which."""


class Crew:
    """The members of one attempt. `shards` are futures or values, divided among the workers in order."""

    def __init__(
        self, client: Any, blueprint: Blueprint, shards: Sequence[Any], sizes: Sequence[int], dev: Any
    ) -> None:
        self._client = client
        try:
            check_workers(client)
        except OSError as error:  # a worker is lost at this moment
            raise Lost(str(error)) from error
        workers = client.scheduler_info(n_workers=-1)["workers"]
        addresses = sorted(workers)[: len(shards)]
        if not addresses:
            raise Lost("all workers")
        self.addresses = addresses
        self.members: list[Any] = []
        n_threads = [int(workers[address]["nthreads"]) for address in addresses]
        ranges = divide(sizes, n_threads)
        size, self._attempt = len(addresses), uuid4().hex
        self._actors = [
            client.submit(
                Member, self._attempt, rank, addresses, blueprint, self._placed(shards[first:last], address),
                dev(rank, size), n_threads[rank],
                actor=True, workers=[address], allow_other_workers=False, pure=False, retries=0,
            )
            for rank, (address, (first, last)) in enumerate(zip(addresses, ranges, strict=True))
        ]  # fmt: skip
        for actor in self._actors:
            self.members.append(self._actor(actor))

    def _placed(self, shards: Sequence[Any], address: str) -> list[Any]:
        """Futures of the shards of a worker. Those of this process are sent to it again in every attempt."""
        return [self._sent(shard, address) if isinstance(shard, Shard) else shard for shard in shards]

    def _sent(self, shard: Shard, address: str) -> Any:
        if isinstance(shard.columns, Encoded):  # its files may be unreadable there
            return kept(self._client, shard, workers=[address], allow_other_workers=False)
        try:
            return self._client.scatter([shard], workers=[address], hash=False)[0]
        except Exception as error:
            raise Lost(f"worker {address}: {error}") from error

    def _actor(self, future: Any) -> Any:
        """The member; raises Lost, or the error of its task, such as a file that cannot be read."""
        from distributed import KilledWorker

        while True:
            try:
                return future.result(timeout=POLL)
            except TimeoutError:
                self._check_lost()
            except Exception as error:
                self._check_lost()
                if future.status != "error" or isinstance(error, KilledWorker):
                    raise Lost(str(error)) from error
                raise

    def _check_lost(self) -> None:
        """Raise Lost if a worker is gone, or if a member that was there is not any more."""
        if self._client.status != "running":
            raise Lost("the connection to the scheduler is lost")
        gone = sorted(set(self.addresses) - set(self._client.nthreads()))
        if gone:
            raise Lost(f"{'workers' if len(gone) > 1 else 'worker'} {first_few(gone)}")
        for address, actor in zip(self.addresses, self._actors[: len(self.members)], strict=False):
            if actor.status != "finished":
                raise Lost(f"worker {address}")

    def all(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of all members at once; raises Lost, or the error of a member."""
        try:
            futures = [getattr(member, method)(*arguments) for member in self.members]
        except RuntimeError as error:  # an actor that is lost has no methods
            self.give_up()
            raise Lost(str(error)) from error
        try:
            results = [self._result(future, futures) for future in futures]
        except Lost:
            self.give_up()
            raise
        errors = [result.error for result in results if isinstance(result, Advance) and result.error is not None]
        real = [error for error in errors if not isinstance(error, GivenUp)]
        if errors:
            self.give_up()
            raise (real or [Lost()])[0]
        return results

    def _result(self, future: Any, others: Sequence[Any]) -> Any:
        while True:
            try:
                result = future.result(timeout=POLL)
            except TimeoutError:  # the call of a lost actor may never end
                if any(_failed(other) for other in others):
                    self.give_up()
                self._check_lost()
                continue
            except Exception as error:
                self._check_lost()  # which names the worker
                raise Lost(str(error)) from error
            if isinstance(result, Advance) and result.error is not None:
                self.give_up()
            return result

    def give_up(self) -> None:
        """End the attempt on all workers that are left. It does not need the actors, which may be lost."""
        if self._client.status != "running":
            return
        left = [address for address in self.addresses if address in self._client.nthreads()]
        if left:
            self._client.run(end_attempt, self._attempt, workers=left, on_error="ignore")

    def close(self) -> None:
        """End the attempt and free the workers."""
        self.give_up()
        if self._client.status == "running":
            self._client.cancel(self._actors, force=True)

    def report(self, results: Sequence[Advance]) -> None:
        """Log the traffic of a step, and members that took much longer than the others."""
        n_calls = max(result.n_calls for result in results)
        n_bytes = max(result.n_bytes for result in results)
        longest = max(result.busy for result in results)
        LOG.info(
            "%d exchanges, %.1f MB sent by a worker, busy for %.2f s", n_calls, n_bytes / 1e6, longest,
            extra={"step": (n_calls, n_bytes, longest, max(result.cpu for result in results))},
        )  # fmt: skip
        busy = sorted(result.busy for result in results)
        median = busy[(len(busy) - 1) // 2]
        for address, result in zip(self.addresses, results, strict=True):
            if len(busy) > 1 and result.busy > SLOW * median + POLL:
                LOG.warning(
                    "worker %s was busy for %.2f s in this step, others for %.2f s", address, result.busy, median
                )


def _failed(future: Any) -> bool:
    if not future.done():
        return False
    try:
        result = future.result()
    except Exception:
        return True
    return isinstance(result, Advance) and result.error is not None


def divide(sizes: Sequence[int], capacities: Sequence[int]) -> list[tuple[int, int]]:
    """Ranges of consecutive shards, one for each worker, of about as many positions as its threads ask for.

    Every range has at least one shard.
    """
    total, wanted = sum(sizes), sum(capacities)
    ranges, first, done, share = [], 0, 0, 0
    for rank, capacity in enumerate(capacities):
        share += capacity
        left = len(capacities) - rank - 1
        last, filled = first + 1, done + sizes[first]
        while last < len(sizes) - left and filled + sizes[last] / 2 <= total * share / wanted:
            filled += sizes[last]
            last += 1
        if left == 0:
            last = len(sizes)
        ranges.append((first, last))
        first, done = last, filled
    return ranges


def retrying(attempt: Callable[[], Any], client: Any, on_loss: Callable[[], None]) -> Any:
    """What an attempt returns; after the loss of a worker another is made, as long as there are workers."""
    cause = Lost()
    for _ in range(MOST_LOSSES):
        try:
            return attempt()
        except Lost as lost:
            cause = lost
            on_loss()
            _wait_for_workers(client)
            LOG.warning("lost: %s; the fit goes on with the workers that are left", lost or "a worker")
    raise InputError(
        f"a distributed fit needs workers that live for one step, but {MOST_LOSSES} attempts at one step lost a "
        f"worker, the last time {cause or 'for an unknown reason'}; the usual cause is memory: use more workers, or "
        "give each more memory"
    )


def _wait_for_workers(client: Any) -> None:
    deadline = time.monotonic() + WAIT_FOR_WORKERS
    while True:
        if client.status != "running":
            raise InputError(
                f"a distributed fit needs its scheduler, but the connection to it is {client.status}; connect a new "
                "client and call fit again, with checkpoint= to go on"
            )
        if client.nthreads():
            return
        if time.monotonic() > deadline:
            raise InputError(
                f"a distributed fit needs workers, but all are lost and none came back within {WAIT_FOR_WORKERS} "
                "seconds; start workers and call fit again, with checkpoint= to go on"
            )
        time.sleep(POLL)
