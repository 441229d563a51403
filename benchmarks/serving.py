"""Tagging in a service: the time of one sentence, and the memory of many processes with one model.

python benchmarks/serving.py

One thread, CoNLL-2000. Milliseconds are those of single calls on sentences of the test part, from Python objects that
the model has not seen. The processes are alive at the same time; all have tagged the test sentences. Rss counts a page
in every process that uses it, Pss divides it among them: the sum of Pss is what the machine really needs.
"""

from __future__ import annotations

import json
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
from data import chunking, few, sentences
from jobs import Figures, main, run
from printing import print_table
from treecrf import CHUNKER

N_SENTENCES = few(1000, 10)
N_TAGGED = few(200, 10)  # by each worker process
N_PROCESSES = few(4, 2)
WORDS: dict[str, Any] = {"features": hr.templates.words(), "n_jobs": 1}
MODELS: dict[str, tuple[str, Callable[[], Any]]] = {
    "LinearCRF, words": ("words", lambda: hr.LinearCRF(max_iter=few(30, 2), **WORDS)),
    "LinearCRF, 19 attributes": ("dicts", lambda: hr.LinearCRF(max_iter=few(30, 2), n_jobs=1)),
    "TreeCRF, words": ("words", lambda: hr.TreeCRF(n_rounds=few(50, 2), random_state=0, **WORDS)),
    "TreeCRF, 19 attributes": ("dicts", lambda: hr.TreeCRF(n_rounds=few(100, 2), n_jobs=1, **CHUNKER)),
}


@cache
def part(form: str, split: str) -> tuple[list[Any], list[list[str]]]:
    """Lists of words, or dicts of 19 attributes; and the labels."""
    if form == "dicts":
        return chunking(split)
    data = sentences(split)
    return [words for words, _, _ in data], [chunks for _, _, chunks in data]


def train(name: str, path: str) -> Figures:
    """Fit a model in a process of its own, and save it, with some sentences to tag beside it."""
    form, make = MODELS[name]
    make().fit(*part(form, "train")).save(path)
    Path(path).with_suffix(".json").write_text(json.dumps(part(form, "test")[0][:N_TAGGED]), encoding="utf-8")
    return {}


def saved(name: str, folder: str) -> str:
    path = str(Path(folder) / f"{name.replace(' ', '-').replace(',', '')}.hedgerow")
    run("train", name, path)
    return path


def latency(name: str, path: str) -> Figures:
    """Milliseconds of each call, by method: after a hundred calls that warm up, each sentence once."""
    model, X = hr.load(path), part(MODELS[name][0], "test")[0][: N_SENTENCES + few(100, 2)]
    calls: dict[str, Callable[[Any], Any]] = {
        "predict([x])": lambda x: model.predict([x]),
        "predict_single(x)": model.predict_single,
        "predict_proba([x])": lambda x: model.predict_proba([x]),
    }
    return {method: times(call, X) for method, call in calls.items()}


def times(call: Callable[[Any], Any], X: list[Any]) -> list[float]:
    found = []
    for x in X:
        begin = time.perf_counter()
        call(x)
        found.append(1000 * (time.perf_counter() - begin))
    return found[few(100, 2) :]


def print_latency() -> None:
    def rows() -> Iterator[list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            for name in MODELS:
                for method, found in run("latency", name, saved(name, folder)).items():
                    middle, late = np.percentile(found, [50, 99])
                    yield [name, f"`{method}`", f"{middle:.2f}", f"{late:.2f}", f"{1000 / np.mean(found):.0f}"]

    print_table(["model", "call", "median ms", "99th percentile ms", "calls a second"], rows())


Memory = dict[str, float]  # megabytes


def memory(path: str) -> Memory:
    """Rss and Pss of this process, and of the pages of the model file in it."""
    found: Memory = {"Rss": 0, "Pss": 0, "file Rss": 0, "file Pss": 0}
    of_file = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        name, _, value = line.partition(":")
        if "-" in name.partition(" ")[0]:  # the addresses of the next mapping, and what it maps
            of_file = line.endswith(path)
        elif name in ("Rss", "Pss"):
            size = int(value.split()[0]) / 1024
            found[name] += size
            found[f"file {name}"] += size * of_file
    return found


def serve(path: str, model: Any, together: Any, results: Any) -> None:
    """A worker process: tag, wait until all workers have tagged, measure, wait until all have measured."""
    if model is None:
        model = hr.load(path)
    for x in json.loads(Path(path).with_suffix(".json").read_text(encoding="utf-8")):
        model.predict_single(x)
    together.wait()
    results.put(memory(path))
    together.wait()


def serving(path: str, method: str, n: int) -> Figures:
    """The mean memory of n workers: "spawn", each loads the file, or "fork", which inherit the model."""
    context: Any = multiprocessing.get_context(method)
    together, results = context.Barrier(n), context.Queue()
    model = hr.load(path) if method == "fork" else None
    arguments = (path, model, together, results)
    workers = [context.Process(target=serve, args=arguments) for _ in range(n)]
    for worker in workers:
        worker.start()
    found = [results.get(timeout=600) for _ in workers]
    for worker in workers:
        worker.join()
    return {key: float(np.mean([one[key] for one in found])) for key in found[0]}


def print_processes() -> None:
    def rows() -> Iterator[list[object]]:
        with tempfile.TemporaryDirectory() as folder:
            for name in list(MODELS)[:: few(1, 3)]:
                path = saved(name, folder)
                size = Path(path).stat().st_size / 2**20
                for method, n in (("spawn", 1), ("spawn", N_PROCESSES), ("fork", N_PROCESSES)):
                    found = run("serving", path, method, n)
                    yield [name, f"{size:.1f}", method, n, *(f"{value:.1f}" for value in found.values())]

    head = ["model", "file MB", "start", "processes", "Rss", "Pss", "Rss of the file", "Pss of the file"]
    print_table([*head[:4], *(f"{what}, MB each" for what in head[4:])], rows())


JOBS: dict[str, Any] = {"train": train, "latency": latency, "serving": serving}


if __name__ == "__main__":
    main(__doc__, {"latency": print_latency, "processes": print_processes}, JOBS)
