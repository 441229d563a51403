"""Fits on Dask workers beside fits in one process: time, identical models, lost workers, scaling and a cost model.

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
from cluster_costs import Costs
from data import QUICK, chunking, few
from jobs import main
from printing import log, print_table
from treecrf import CHUNKER

sys.path.append(sys.path.pop(0))  # the library has the name of this script
dask = importlib.import_module("distributed")

TIMES = few(10, 2)  # how often the training sentences are repeated
ROUNDS = few(20, 3)
MORE_ROUNDS = few(40, 3)  # of trees, where whole fits are compared
KILLS = few(10, 1)

FITS: dict[str, Callable[[int], Any]] = {  # by number of threads
    "TreeCRF": lambda n: hr.TreeCRF(n_rounds=ROUNDS, random_state=0, n_jobs=n, **CHUNKER),
    "LinearCRF": lambda n: hr.LinearCRF(solver="lbfgs", max_iter=ROUNDS, tol=1e-9, n_jobs=n),
}


class Step(NamedTuple):
    """What the log says of one step: exchanges, bytes that a worker sent, and the seconds of the busiest worker."""

    n_calls: int
    n_bytes: int
    busy: float
    cpu: float


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
    fits = FITS | {"TreeCRF": lambda n: FITS["TreeCRF"](n).set_params(n_rounds=MORE_ROUNDS)}

    def rows() -> Iterator[tuple[object, ...]]:
        for name, make in fits.items():
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
    local = make(1).fit(X, y)
    draw = random.Random(0)

    def rows() -> Iterator[tuple[object, ...]]:
        with workers(2) as client:
            seconds, _ = clock(lambda: make(1).fit(X, y, client=client))
            for i in range(KILLS):
                client.wait_for_workers(2)
                moment = draw.uniform(0, seconds)
                victim = draw.choice(list(client.run(os.getpid).values()))
                timer = threading.Timer(moment, os.kill, (victim, signal.SIGKILL))
                timer.start()
                own, model = clock(lambda: make(1).fit(X, y, client=client))
                timer.join()
                yield i + 1, f"{moment:.1f}", f"{own:.1f}", f"{seconds:.1f}", "yes" if identical(local, model) else "no"
                time.sleep(1)  # until the scheduler knows

    head = ["attempt", "killed after, s", "fit, s", "fit without a loss, s", "identical"]
    print_table(head, rows())


def print_scaling() -> None:
    """Weak scaling: as many sentences for each worker. Workers share two cores, so CPU seconds are compared."""

    def rows() -> Iterator[list[object]]:
        for name, make in FITS.items():
            first = 0.0
            for n in (1, 2) if QUICK else (1, 2, 4):
                log(f"{name} on {n} workers")
                X, y = data(2 * n)
                steps = measured(make, X, y, n).steps
                cpu = float(np.mean([step.cpu for step in steps]))
                first = first or cpu
                calls, sent = (np.mean([step[i] for step in steps]) for i in (0, 1))
                yield [name, n, f"{X.n_positions:,}", f"{cpu:.3f}", f"{first / cpu:.2f}", f"{calls:.0f}",
                       f"{sent / 1e6:.1f}"]  # fmt: skip

    head = ["", "workers", "positions", "CPU s a step and worker", "efficiency", "exchanges a step",
            "MB sent a step and worker"]  # fmt: skip
    print_table(head, rows())


class Measured(NamedTuple):
    """The steps of a fit, and the seconds between them."""

    steps: list[Step]
    seconds: float


def measured(make: Callable[[int], Any], X: Any, y: Any, n: int) -> Measured:
    """A fit on n workers; the first step, which also builds the data of trees, does not count."""
    ends: list[float] = []
    with workers(n) as client, reading_steps() as steps:
        make(1).fit(X, y, client=client, callbacks=[lambda _: ends.append(time.perf_counter())])
    return Measured(steps[1:], (ends[-1] - ends[0]) / (len(ends) - 1))


class Link:
    """An actor that exchanges empty messages with the others."""

    def __init__(self, name: str, rank: int, addresses: list[str]) -> None:
        from hedgerow.distributed.post import Members

        worker = importlib.import_module("distributed").get_worker()
        self._group = Members(worker, name, rank, addresses)

    def run(self, n: int, n_bytes: int) -> float:
        """Seconds of an exchange."""
        message = np.zeros(n_bytes, np.uint8)
        self._group([message] * self._group.size)
        return clock(lambda: [self._group([message] * self._group.size) for _ in range(n)])[0] / n


def exchange_seconds(n_workers: int, n_bytes: int) -> float:
    """Seconds of an exchange in which every worker sends so many bytes to every other."""
    with workers(n_workers) as client:
        addresses = sorted(client.nthreads())
        futures = [
            client.submit(Link, "link", rank, addresses, actor=True, workers=[address], pure=False)
            for rank, address in enumerate(addresses)
        ]
        links = [future.result() for future in futures]  # all of them: a message to a link that is not there is lost
        calls = [link.run(few(300, 10), n_bytes) for link in links]
        return float(max(call.result() for call in calls))


def measure_costs(name: str) -> Costs:
    """The constants of the cost model, from fits on one and two workers and from bare exchanges."""
    make = FITS[name]
    log(f"{name}: constants")
    X, y = data(few(4, 2))
    alone, pair = measured(make, X, y, 1), measured(make, X, y, 2)
    half = hr.Sequences(chunking("train")[0][: few(4468, 20)])
    fewer = measured(make, half, chunking("train")[1][: few(4468, 20)], 2)
    whole = measured(make, *data(1), 2)
    small, of_three = exchange_seconds(2, 100), exchange_seconds(3, 100)
    large = exchange_seconds(2, 1_000_000)

    def mean(found: Measured, field: str) -> float:
        return float(np.mean([getattr(step, field) for step in found.steps]))

    growth = np.log2(max(mean(whole, "n_bytes"), 1) / max(mean(fewer, "n_bytes"), 1))
    per_byte = (large - small) / 1_000_000
    calls = mean(pair, "n_calls")
    extra = mean(pair, "cpu") - mean(alone, "cpu") / 2  # of a worker for exchanging, besides the waiting
    return Costs(
        per_position=mean(alone, "cpu") / X.n_positions,
        exchanges=calls,
        latency=small,
        per_message=max(of_three - small, small / 4),
        per_byte=max(per_byte, max(extra - calls * small, 0.0) / max(mean(pair, "n_bytes"), 1)),
        bytes_at=mean(pair, "n_bytes"),
        positions_at=X.n_positions / 2,
        growth=float(np.clip(growth, 0.0, 1.0)),
    )


def print_model() -> None:
    costs = {name: measure_costs(name) for name in FITS}
    head = ["", "µs a position and core", "exchanges a step", "ms an exchange of two", "ms for each further worker",
            "MB a step and worker", "ns a byte", "bytes grow with positions to the power of"]  # fmt: skip
    print_table(head, ([name, *one.cells()] for name, one in costs.items()))
    print()
    n_cores = os.cpu_count() or 1

    def checked() -> Iterator[tuple[object, ...]]:
        for name, make in FITS.items():
            X, y = data(few(4, 2))
            for n in (1, 2) if QUICK else (1, 2, 4):
                found = measured(make, X, y, n).seconds
                predicted = costs[name].step(X.n_positions, n, n_cores)
                yield name, n, f"{predicted:.2f}", f"{found:.2f}", f"{predicted / found:.2f}"

    print_table(["", "workers", "predicted s a step", "measured s a step", "ratio"], checked())
    print()
    sizes, numbers = [10.0**i for i in range(6, 12)], [1, 3, 10, 30, 100, 300, 1000]

    def grid() -> Iterator[list[str]]:
        for name, one in costs.items():
            for size in sizes:
                seconds = [one.step(size, n) for n in numbers]
                best = int(np.argmin(seconds))
                shown = [f"**{s:.3g}**" if i == best else f"{s:.3g}" for i, s in enumerate(seconds)]
                yield [name, f"10^{np.log10(size):.0f}", *shown]

    print_table(["predicted s a step", "positions", *(f"{n} workers" for n in numbers)], grid())


PARTS = {"fit": print_fit, "kill": print_kill, "scaling": print_scaling, "model": print_model}

if __name__ == "__main__":
    main(__doc__, PARTS)
