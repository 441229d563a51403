"""Independent tasks on the workers of a cluster, which share data that are sent to every worker once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from hedgerow.distributed.cluster import checked_client
from hedgerow.errors import InputError, warn_user, warnings_to

IsDue: TypeAlias = Callable[[], bool]
#: A function of a module: (shared data, task, whether to stop) -> result.
TaskFunction: TypeAlias = Callable[[Any, Any, IsDue], Any]

POLL = 0.2  # seconds between two looks at the clock while the client waits


class WorkerTasks:
    """Runs functions of (shared, task) on the workers of a client; raises InputError unless the client is usable."""

    def __init__(self, client: Any, shared: Any) -> None:
        self._client = checked_client(client)
        # `shared` is wrapped because scatter would send the items of a list one by one.
        (self._shared,) = self._client.scatter([shared], broadcast=True, hash=False)

    def run(self, function: TaskFunction, tasks: Sequence[Any], is_due: IsDue) -> Iterator[Any | None]:
        """The result of each task, in order; None for one that had not ended when `is_due` became true.

        Warnings and errors of hedgerow come through as in this process, without the traceback of the worker. When the
        caller stops iterating, by Ctrl-C or an error, the other tasks are cancelled, and those that run see it.
        """
        futures = [
            self._client.submit(_run, function, self._shared, task, pure=False, priority=-number)
            for number, task in enumerate(tasks)
        ]
        try:
            for future in futures:
                yield _result(future, is_due)
        finally:
            self._client.cancel(futures)


@dataclass(frozen=True, eq=False)
class _Ended:
    """What a task came to on its worker; an error of hedgerow is a value, so that the worker does not log it."""

    value: Any
    error: InputError | None
    warnings: list[tuple[str, type[Warning]]]


def _run(function: TaskFunction, shared: Any, task: Any) -> _Ended:
    warnings: list[tuple[str, type[Warning]]] = []
    with warnings_to(lambda message, category: warnings.append((message, category))):
        try:
            return _Ended(function(shared, task, is_cancelled), None, warnings)
        except InputError as error:
            return _Ended(None, InputError(*error.args), warnings)  # without traceback and cause


def _result(future: Any, is_due: IsDue) -> Any | None:
    from distributed import wait

    while not is_due():
        with suppress(TimeoutError):
            wait([future], timeout=POLL)
        if not future.done():
            continue
        ended: _Ended = future.result()
        for message, category in ended.warnings:
            warn_user(message, category)
        if ended.error is not None:
            raise ended.error
        return ended.value
    return None


def is_cancelled() -> bool:
    """Whether the task that runs in this thread of a worker was cancelled; no message is sent for that."""
    from distributed import get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is None or task.state == "cancelled"
