"""Messages between the members of a fit, over Dask's own connections between workers.

A message goes one way, without a reply: the next message of the receiver says that it arrived. Each member is
registered at its worker under the name of the attempt, so that a client can end the attempt there at any time.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.group import Group, Message

DELIVER = "hedgerow_deliver"  # the operation of a worker that accepts a message
POLL = 0.5  # seconds between two looks at whether the attempt was given up
SMALL = 1 << 16  # bytes of a message that is packed with its header, which is faster than beside it


class GivenUp(Exception):  # noqa: N818 - an event that is handled
    """This attempt was given up, because a worker was lost or the fit was interrupted."""


class Mailbox:
    """Messages from other members, by call and sender. The event loop of the worker adds them; the learner waits."""

    def __init__(self) -> None:
        self._arrived: dict[tuple[int, int], Message] = {}
        self._changed = threading.Condition()
        self._is_given_up = False

    def add(self, call: int, sender: int, message: Message) -> None:
        with self._changed:
            self._arrived[call, sender] = message
            self._changed.notify_all()

    def give_up(self) -> None:
        with self._changed:
            self._is_given_up = True
            self._changed.notify_all()

    def take(self, call: int, sender: int) -> Message:
        """The message of a call, when it has come; raises GivenUp."""
        with self._changed:
            while (call, sender) not in self._arrived:
                if self._is_given_up:
                    raise GivenUp
                self._changed.wait(POLL)
            return self._arrived.pop((call, sender))


_MEMBERS: dict[str, Members] = {}  # of this process, by "attempt/rank"


def _deliver(name: str, call: int, sender: int, message: Any) -> None:
    """Accept a message; one for an attempt that has ended is dropped."""
    member = _MEMBERS.get(name)
    if member is not None:
        member.mailbox.add(call, sender, message)


def end_attempt(attempt: str) -> None:
    """End an attempt in this process, on its event loop: learners stop when they next wait for a message."""
    for name in [name for name in _MEMBERS if name.startswith(f"{attempt}/")]:
        _MEMBERS.pop(name).close()


class Members(Group):
    """The group of all members, as one of them sees it. Members are numbered as in `addresses`, those of their workers.

    Attributes
    ----------
    n_calls, n_bytes, waited
        How many exchanges there were, how much this member sent, and how many seconds exchanges took.
    """

    def __init__(self, worker: Any, attempt: str, rank: int, addresses: Sequence[str]) -> None:
        self.rank, self.size = rank, len(addresses)
        self._worker, self._attempt, self._addresses = worker, attempt, addresses
        self.mailbox = Mailbox()
        _MEMBERS[f"{attempt}/{rank}"] = self
        worker.handlers.setdefault(DELIVER, _deliver)
        self._connections: dict[int, tuple[Any, asyncio.Lock]] = {}
        self.n_calls = self.n_bytes = 0
        self.waited = 0.0

    def __call__(self, outgoing: Sequence[Message]) -> list[Message]:
        call, self.n_calls = self.n_calls, self.n_calls + 1
        began = time.perf_counter()
        for rank, message in enumerate(outgoing):
            if rank != self.rank:
                self.n_bytes += len(message)
                self._worker.loop.add_callback(self._send, rank, call, np.asarray(message))
        received = [
            np.asarray(outgoing[rank]) if rank == self.rank else self.mailbox.take(call, rank)
            for rank in range(self.size)
        ]
        self.waited += time.perf_counter() - began
        return received

    async def _send(self, rank: int, call: int, message: Message) -> None:
        from distributed.protocol import to_serialize

        try:
            if rank not in self._connections:
                self._connections[rank] = await self._worker.rpc.connect(self._addresses[rank]), asyncio.Lock()
            connection, is_writing = self._connections[rank]
            async with is_writing:
                await connection.write(
                    {
                        "op": DELIVER,
                        "reply": False,
                        "name": f"{self._attempt}/{rank}",
                        "call": call,
                        "sender": self.rank,
                        "message": message.tobytes() if len(message) <= SMALL else to_serialize(message),
                    }
                )
        except OSError:  # the receiver is lost
            self.mailbox.give_up()

    def close(self) -> None:
        """Give the connections back, and wait for no more messages."""
        self.mailbox.give_up()
        for rank, (connection, _) in self._connections.items():
            self._worker.loop.add_callback(self._worker.rpc.reuse, self._addresses[rank], connection)
        self._connections = {}
