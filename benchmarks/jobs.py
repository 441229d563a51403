"""What the benchmark scripts share: jobs in processes of their own, and how chunkers are measured."""

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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hedgerow as hr
from encoding import attributes, sentences
from machine import describe_machine

Figures = dict[str, float]


def peak() -> float:
    """Megabytes that this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def encode(path: str) -> Figures:
    """Writes the CoNLL-2000 training sentences, encoded, for other jobs to start from."""
    train = sentences("train")
    X = hr.Sequences([attributes(words, tags) for words, tags, _ in train])
    Path(path).write_bytes(pickle.dumps((X, [" ".join(chunks) for _, _, chunks in train])))
    return {}


def encoded(path: str) -> tuple[hr.Sequences, list[list[str]]]:
    with Path(path).open("rb") as file:
        X, y = pickle.load(file)
    return X, [sentence.split(" ") for sentence in y]


def test_attributes() -> tuple[Any, list[list[str]]]:
    data = sentences("test")
    return [attributes(words, tags) for words, tags, _ in data], [chunks for _, _, chunks in data]


def chunked(model: Any, X: hr.Sequences, y: Any, test: Callable[[], tuple[Any, Any]] = test_attributes) -> Figures:
    """Trains, then reads the test data, so that the peak of memory is that of training, and tags them."""
    begin = time.perf_counter()
    model.fit(X, y)
    seconds, memory = time.perf_counter() - begin, peak()
    X_test, gold = test()
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
    """The same figures of python-crfsuite by L-BFGS, and what it says of its objective; tagging from its own items."""
    import pycrfsuite

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
        X, gold = test_attributes()
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


def run(job: str, *arguments: object) -> Figures:
    """A job of the running script, in a process of its own."""
    command = [sys.executable, sys.argv[0], "--job", json.dumps([job, *arguments])]
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    answer = subprocess.run(command, check=True, capture_output=True, text=True, env=alone)
    return json.loads(answer.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def heading(*names: str) -> None:
    print("\n| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|", flush=True)


def main(description: str | None, jobs: dict[str, Any], parts: dict[str, Callable[[], None]]) -> None:
    """Runs one job and prints its figures as JSON, or prints the tables asked for."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--job", help="run one job here and print its figures as JSON")
    parser.add_argument("--parts", nargs="*", choices=list(parts), default=list(parts), help="which tables")
    given = parser.parse_args()
    if given.job:
        job, *arguments = json.loads(given.job)
        print(json.dumps(jobs[job](*arguments)))
        return
    print(describe_machine())
    for name in given.parts:
        parts[name]()
