"""Fits on Dask workers beside fits in one process: time, identical models, lost workers, traffic and what it predicts.

python benchmarks/distributed.py --parts fit kill scaling model

Workers are processes of this machine with one thread each. The training sentences of CoNLL-2000 are repeated ten times.
"""

from __future__ import annotations

import importlib
import logging
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

import hedgerow as hr
from data import QUICK, chunking, few
from jobs import main
from printing import log, print_table
from treecrf import CHUNKER

sys.path.append(sys.path.pop(0))  # the library has the name of this script
dask = importlib.import_module("distributed")

TIMES = few(10, 2)  # how often the training sentences are repeated
ROUNDS = few(20, 3)
KILLS = few(10, 1)

FITS: dict[str, Callable[[int], Any]] = {
    "TreeCRF": lambda n: hr.TreeCRF(n_rounds=ROUNDS, random_state=0, n_jobs=n, **CHUNKER),
    "LinearCRF": lambda n: hr.LinearCRF(solver="lbfgs", max_iter=ROUNDS, tol=1e-9, n_jobs=n),
}


class Step(NamedTuple):
    """What the log says of one step: exchanges, bytes that a member sent, and how long the busiest one computed."""

    n_calls: int
    n_bytes: int
    busy: float


class StepReader(logging.Handler):
    """Collects the steps that `hedgerow.distributed` logs."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.steps: list[Step] = []

    def emit(self, record: logging.LogRecord) -> None:
        step = getattr(record, "step", None)
        if step is not None:
            self.steps.append(Step(*step))


@contextmanager
def reading_steps() -> Iterator[list[Step]]:
    logger, reader = logging.getLogger("hedgerow.distributed"), StepReader()
    level = logger.level
    logger.addHandler(reader)
    logger.setLevel(logging.INFO)
    try:
        yield reader.steps
    finally:
        logger.removeHandler(reader)
        logger.setLevel(level)


@contextmanager
def workers(n: int) -> Iterator[Any]:
    with (
        dask.LocalCluster(n_workers=n, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        dask.Client(cluster) as client,
    ):
        yield client


def data(times: int) -> tuple[hr.Sequences, list[list[str]]]:
    X, y = chunking("train")
    return hr.Sequences(X * times), y * times


def clock(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def arrays(model: Any) -> dict[str, Any]:
    return dict(model.model_._to_arrays()[1])


def identical(one: Any, other: Any) -> bool:
    """Whether all arrays of two models are equal."""
    a, b = arrays(one), arrays(other)
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def print_fit() -> None:
    X, y = data(TIMES)

    def rows() -> Iterator[tuple[object, ...]]:
        for name, make in FITS.items():
            log(f"{name} in this process")
            seconds, local = clock(lambda make=make: make(2).fit(X, y))  # type: ignore[misc]
            yield name, "one process, 2 threads", f"{seconds:.1f}", "1.00", "", "", ""
            for n in (1, 2, 3):
                log(f"{name} on {n} workers")
                with workers(n) as client, reading_steps() as steps:
                    own, model = clock(lambda make=make, client=client: make(1).fit(X, y, client=client))  # type: ignore[misc]
                calls, sent = (np.mean([step[i] for step in steps]) for i in (0, 1))
                same = "yes" if identical(local, model) else "no"
                yield (
                    name,
                    f"{n} workers",
                    f"{own:.1f}",
                    f"{own / seconds:.2f}",
                    same,
                    f"{calls:.0f}",
                    f"{sent / 1e6:.1f}",
                )

    print_table(["", "where", "seconds", "ratio", "identical", "exchanges a step", "MB sent a step and worker"], rows())


def print_kill() -> None:
    """Kills a worker at random moments of a fit."""
    X, y = data(1)
    make = FITS["TreeCRF"]
    seconds, local = clock(lambda: make(1).fit(X, y))
    draw = random.Random(0)

    def rows() -> Iterator[tuple[object, ...]]:
        for i in range(KILLS):
            moment = draw.uniform(0.1, 1.0) * seconds
            with workers(2) as client:
                processes = [worker["id"] for worker in client.scheduler_info()["workers"].values()]
                del processes
                victims = list(client.run(os.getpid).values())
                timer = threading.Timer(moment, os.kill, (draw.choice(victims), signal.SIGKILL))
                timer.start()
                own, model = clock(lambda client=client: make(1).fit(X, y, client=client))  # type: ignore[misc]
                timer.cancel()
            yield i + 1, f"{moment:.1f}", f"{own:.1f}", "yes" if identical(local, model) else "no"

    print_table(["attempt", "killed after seconds", "seconds", "identical"], rows())


def print_scaling() -> None:
    """Weak scaling: as many sentences for each worker."""

    def rows() -> Iterator[tuple[object, ...]]:
        for name, make in FITS.items():
            first = 0.0
            for n in (1, 2) if QUICK else (1, 2, 4):
                X, y = data(2 * n)
                with workers(n) as client, reading_steps() as steps:
                    make(1).fit(X, y, client=client)
                busy = float(np.mean([step.busy for step in steps]))
                first = first or busy
                yield name, n, f"{X.n_positions:,}", f"{busy:.2f}", f"{first / busy:.2f}"

    print_table(["", "workers", "positions", "busy seconds a step", "efficiency"], rows())


PARTS = {"fit": print_fit, "kill": print_kill, "scaling": print_scaling}

if __name__ == "__main__":
    main(__doc__, PARTS)
