"""Tasks in threads or on the workers of a cluster, with results in the order of the tasks, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from hedgerow.distributed.tasks import TaskFunction, WorkerTasks
from hedgerow.tuning.budget import Stop

T = TypeVar("T")
R = TypeVar("R")


def ordered_map(function: Callable[[T], R], tasks: Sequence[T], n_workers: int, stop: Stop) -> Iterator[R | None]:
    """The result of each task, in order; None for a task that had not finished when the stop came.

    Ctrl-C is a stop. The kernels release the interpreter lock, so that threads share the work of fits.
    """
    if n_workers == 1 or len(tasks) < 2:
        for task in tasks:
            yield _unless_stopped(function, task, stop)
        return
    with ThreadPoolExecutor(min(n_workers, len(tasks))) as pool:
        futures = [pool.submit(_unless_stopped, function, task, stop) for task in tasks]
        try:
            for future in futures:
                yield _waited_for(future, stop)
        finally:
            for future in futures:
                future.cancel()


def _unless_stopped(function: Callable[[T], R], task: T, stop: Stop) -> R | None:
    if stop.is_due():
        return None
    try:
        result = function(task)
    except KeyboardInterrupt:
        stop.because("interrupted")
    return None if stop.reason else result


def _waited_for(future: Future[R | None], stop: Stop) -> R | None:
    while True:
        try:
            return future.result()
        except KeyboardInterrupt:
            stop.because("interrupted")  # the fit sees it at its next step


def map_on_workers(cluster: WorkerTasks, function: TaskFunction, tasks: Sequence[Any], stop: Stop) -> Iterator[Any]:
    """The result of each task, in order; None for a task that had not finished when the stop came. Ctrl-C is a stop."""
    results = cluster.run(function, tasks, stop.is_due)
    try:
        for _ in tasks:
            try:
                yield None if stop.is_due() else next(results)
            except KeyboardInterrupt:
                stop.because("interrupted")
                yield None
    finally:
        results.close()  # type: ignore[attr-defined]
