"""Workers, schedulers and clients that are lost during a fit: the model is the same, or a message says how to go on."""

from __future__ import annotations

import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import hedgerow as hr
from builders.workers import assert_identical, data
from hedgerow.distributed import crew, post
from hedgerow.errors import InputError

distributed = pytest.importorskip("distributed", reason="distributed is not installed")

import dask  # noqa: E402
import dask.bag as bags  # noqa: E402


def trees(**more: Any) -> Any:
    return hr.TreeCRF(window=1, n_rounds=6, random_state=1, **more)


@contextmanager
def processes(n: int) -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=n, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def killing(client: Any, step: int) -> Callable[[Any], None]:
    """A callback that kills a worker after a step."""
    pids = list(client.run(os.getpid).values())

    def kill(record: Any) -> None:
        if record["step"] == step and pids:
            os.kill(pids[0], signal.SIGKILL)
            pids.clear()

    return kill


@pytest.mark.parametrize("n_workers", [1, 2])
@pytest.mark.parametrize("form", ["memory", "bag", "corpus", "shards"])
def test_a_killed_worker_changes_nothing(form: str, n_workers: int, tmp_path: Path) -> None:
    X, y = data(6)
    local = trees().fit(X, y)
    arguments: list[Any] = [X, y]
    if form == "bag":
        arguments = [bags.from_sequence(values, npartitions=3) for values in (X, y)]
    elif form != "memory":
        corpus = hr.encode(list(zip(X, y, strict=True)), tmp_path / "corpus", shard_positions=60)
        arguments = [corpus, corpus.y]
        if form == "shards":
            arguments = [corpus.shards(), [shard.y for shard in corpus.shards()]]
    with processes(n_workers) as client:
        model = trees().fit(*arguments, client=client, callbacks=[killing(client, 2)])
    assert_identical(local, model)


def test_a_learner_that_cannot_resume_starts_again() -> None:
    X, y = data(6)

    def make() -> Any:
        return hr.LinearCRF(window=1, solver="lbfgs", max_iter=40, tol=1e-3)

    local = make().fit(X, y)
    with processes(2) as client:
        model = make().fit(X, y, client=client, callbacks=[killing(client, 4)])
    assert_identical(local, model)


@pytest.mark.slow
def test_workers_killed_at_random_moments_change_nothing() -> None:
    X, y = data(9, 400)
    begin = time.perf_counter()
    local = trees().fit(X, y)
    draw = random.Random(0)
    with processes(3) as client:
        trees().fit(X, y, client=client)  # the moments are drawn from how long this takes
        seconds = time.perf_counter() - begin
        for _ in range(10):
            client.wait_for_workers(2, timeout=30)
            pid = draw.choice(list(client.run(os.getpid).values()))
            timer = threading.Timer(draw.uniform(0, seconds), os.kill, (pid, signal.SIGKILL))
            timer.start()
            assert_identical(local, trees().fit(X, y, client=client))
            timer.join()
            time.sleep(0.5)  # until the scheduler knows


def test_ctrl_c_during_a_step_leaves_the_step_out(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(6)
    model, calls = trees(), [0]
    whole = crew.Crew.all

    def interrupted(self: Any, method: str, *arguments: Any) -> Any:
        calls[0] += method == "advance"
        if calls[0] != 4:
            return whole(self, method, *arguments)
        for member in self.members:  # the workers make the step, but the client does not wait for it
            getattr(member, method)(*arguments)
        calls[0] += 1
        raise KeyboardInterrupt

    monkeypatch.setattr(crew.Crew, "all", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y, client=client)
    monkeypatch.undo()
    assert_identical(trees().fit(X, y, callbacks=[lambda record: record["step"] == 3]), model)


def test_workers_that_cannot_open_a_corpus_name_it(tmp_path: Path) -> None:
    X, y = data(6)
    corpus = hr.encode(list(zip(X, y, strict=True)), tmp_path / "corpus", shard_positions=60)
    with processes(1) as client:

        def forbid(dask_worker: Any) -> None:
            from hedgerow.encoding import corpus_folder

            def fail(*_: Any, **__: Any) -> None:
                raise hr.errors.CorpusError(f"{tmp_path / 'corpus'} cannot be opened")

            corpus_folder.open_range = fail  # type: ignore[assignment]

        client.run(forbid)
        for arguments in ([corpus, corpus.y], [corpus.shards(), [shard.y for shard in corpus.shards()]]):
            with pytest.raises(hr.errors.CorpusError, match="corpus cannot be opened"):
                trees().fit(*arguments, client=client)


def test_workers_hold_nothing_after_a_fit(client: Any) -> None:
    X, y = data(6)
    trees().fit(X, y, client=client)

    def n_actors(dask_worker: Any) -> int:
        return len(dask_worker.state.actors)

    deadline = time.monotonic() + 10
    while any(client.run(n_actors).values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(client.run(n_actors).values())
    assert not post._MEMBERS  # the workers are threads of this process


class Cluster:
    """A scheduler with two workers, all started from the command line."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self._folder, shown = folder, ["--scheduler-file", str(self.file)]
        place = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
        self.scheduler = self._start("scheduler", *shown, *place)
        while not self.file.exists():
            assert self.scheduler.poll() is None
            time.sleep(0.05)
        one = ["--nthreads", "1", "--nworkers", "1", "--host", "127.0.0.1", "--no-dashboard", "--no-nanny"]
        self._workers = [self._start("worker", *shown, *one) for _ in range(2)]

    def _start(self, *command: str) -> subprocess.Popen[bytes]:
        program = [sys.executable, "-m", "dask", *command]
        return subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self._folder)

    def stop(self) -> None:
        for process in (*self._workers, self.scheduler):
            process.kill()
            process.wait()


@contextmanager
def commands(folder: Path) -> Iterator[Cluster]:
    folder.mkdir()
    cluster = Cluster(folder)
    try:
        yield cluster
    finally:
        cluster.stop()


def test_two_workers_of_the_command_line(tmp_path: Path) -> None:
    X, y = data(7)
    with commands(tmp_path / "cluster") as cluster, distributed.Client(scheduler_file=str(cluster.file)) as client:
        client.wait_for_workers(2, timeout=30)
        assert_identical(trees().fit(X, y), trees().fit(X, y, client=client))


@pytest.mark.slow
def test_a_lost_scheduler_is_reported_and_a_checkpoint_goes_on(tmp_path: Path) -> None:
    X, y = data(7)
    checkpoint = tmp_path / "fit.hedgerow"

    def make(**more: Any) -> Any:
        return hr.TreeCRF(window=1, n_rounds=14, random_state=1, **more)

    with dask.config.set({"distributed.comm.timeouts.connect": "3s"}), commands(tmp_path / "first") as cluster:
        client = distributed.Client(scheduler_file=str(cluster.file))
        client.wait_for_workers(2, timeout=30)

        def kill(record: Any) -> None:
            if record["step"] == 12:
                cluster.scheduler.kill()
                cluster.scheduler.wait()

        with pytest.raises(InputError, match="needs its scheduler, but the connection to it is"):
            make(checkpoint=checkpoint).fit(X, y, client=client, callbacks=[kill])
        client.close(timeout=1)
    records: list[Any] = []
    with commands(tmp_path / "second") as cluster, distributed.Client(scheduler_file=str(cluster.file)) as client:
        client.wait_for_workers(2, timeout=30)
        model = make(checkpoint=checkpoint).fit(X, y, client=client, callbacks=[records.append])
    assert records[0]["step"] > 10
    assert_identical(make().fit(X, y), model)
