"""Jobs in processes of their own, so that each has its own peak of memory, and how chunkers are measured."""

from __future__ import annotations

import argparse
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hedgerow as hr
from data import QUICK, attributes, chunking, sentences
from printing import log, print_machine

Figures = dict[str, Any]


def peak() -> float:
    """The peak memory of this process in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def encode(path: str) -> Figures:
    """Write the CoNLL-2000 training sentences as `Sequences`, for other jobs to start from."""
    X, y = chunking("train")
    Path(path).write_bytes(pickle.dumps((hr.Sequences(X), [" ".join(labels) for labels in y])))
    return {}


def encoded(path: str) -> tuple[hr.Sequences, list[list[str]]]:
    """Read what `encode` wrote. Equal labels are one object, so that y takes a word of memory for each position."""
    with Path(path).open("rb") as file:
        X, y = pickle.load(file)
    return X, [[sys.intern(label) for label in sentence.split(" ")] for sentence in y]


@contextmanager
def encoded_file() -> Iterator[str]:
    """A temporary file with the training sentences, written by another process."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "train.pickle")
        run("encode", path)
        yield path


def chunked(
    model: Any, X: hr.Sequences, y: Any, test: Callable[[str], tuple[Any, list[list[str]]]] = chunking
) -> Figures:
    """Train, then read the test data, so that the peak memory is that of training, and tag them."""
    begin = time.perf_counter()
    model.fit(X, y)
    seconds, memory = time.perf_counter() - begin, peak()
    X_test, gold = test("test")
    found, speed = tagged(model, X_test)
    return {"seconds": seconds, "peak": memory, "speed": speed, **chunk_scores(gold, [p.tolist() for p in found])}


def tagged(model: Any, X: Any) -> tuple[list[Any], float]:
    """Labels, and positions a second from sequences that have been read already."""
    items = hr.Sequences(X)
    model.predict(items[:10])
    begin = time.perf_counter()
    found = model.predict(items)
    return found, items.n_positions / (time.perf_counter() - begin)


def chunk_scores(gold: list[list[str]], found: list[list[str]]) -> Figures:
    return {"accuracy": hr.metrics.accuracy(gold, found), "f1": hr.metrics.span_f1(gold, found)}


def chunked_by_crfsuite(parameters: dict[str, Any]) -> Figures:
    """The same figures for python-crfsuite by L-BFGS, and its objective; it tags from its own items."""
    import pycrfsuite

    if QUICK:
        parameters = {**parameters, "max_iterations": 2}
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", params=parameters, verbose=False)
    for words, tags, chunks in sentences("train"):
        trainer.append(attributes(words, tags), chunks)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.crfsuite"
        begin = time.perf_counter()
        trainer.train(str(path))
        seconds, memory = time.perf_counter() - begin, peak()
        tagger = pycrfsuite.Tagger()
        tagger.open(str(path))
        X, gold = chunking("test")
        items = [pycrfsuite.ItemSequence(x) for x in X]
        begin = time.perf_counter()
        found = [tagger.tag(item) for item in items]
        speed = sum(map(len, found)) / (time.perf_counter() - begin)
        last = trainer.logparser.last_iteration
        return {
            "seconds": seconds,
            "peak": memory,
            "speed": speed,
            "objective": last["loss"],
            "iterations": last["num"],
            "megabytes": path.stat().st_size / 2**20,
            **chunk_scores(gold, found),
        }


def shorten(model: Any) -> None:
    """With --quick, let the model train for one or two steps."""
    if QUICK:
        steps = {"n_rounds": 2, "max_iter": 2, "epochs": 1}
        model.set_params(**{name: n for name, n in steps.items() if name in model.get_params()})


def run(job: str, *arguments: object, limit: float | None = None) -> Figures:
    """Run a job of the running script in a process of its own, and return its figures.

    Raises subprocess.TimeoutExpired after `limit` seconds.
    """
    log(f"  {job}", *arguments)
    command = [sys.executable, sys.argv[0], "--job", json.dumps([job, *arguments]), *(["--quick"] if QUICK else [])]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=one_thread, timeout=limit)
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def fastest(job: str, *arguments: object) -> Figures:
    """The figures of the faster of two runs of a job; the peak of memory is that of the larger."""
    runs = [run(job, *arguments) for _ in range(1 if QUICK else 2)]
    best = min(runs, key=lambda figures: figures["seconds"])
    return best | {"peak": max(figures["peak"] for figures in runs)} if "peak" in best else best


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """A parser with the options that every script has."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a run of seconds on small data, to see that it works")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    return parser


def answer(job: str, jobs: dict[str, Callable[..., Figures]]) -> None:
    """Run the job that `run` started this process for, and print its figures as JSON."""
    name, *arguments = json.loads(job)
    print(json.dumps(jobs[name](*arguments)))


def main(
    description: str | None,
    parts: dict[str, Callable[[], None]],
    jobs: dict[str, Callable[..., Figures]] | None = None,
    details: str = "",
) -> None:
    """Print the tables that --parts names, or run one job and print its figures as JSON."""
    parser = parser_of(description)
    parser.add_argument("--parts", nargs="*", choices=list(parts), default=list(parts), help="which tables")
    options = parser.parse_args()
    if options.job:
        answer(options.job, jobs or {})
        return
    print_machine(details)
    for name in options.parts:
        parts[name]()
