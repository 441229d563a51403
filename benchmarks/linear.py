"""LinearCRF beside python-crfsuite on CoNLL-2000: the same objective, training time, memory, F1 and tagging speed.

HEDGEROW_DATA=... python benchmarks/linear.py            # the tables of docs/benchmarks.md

Every job is a fresh process on one thread unless it says otherwise; seconds are of the wall, for training alone.
LinearCRF trains from encoded sequences that another process made, as python-crfsuite does from what was appended.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hedgerow as hr
from encoding import attributes, sentences, to_bags
from jobs import (
    Figures,
    chunked,
    chunked_by_crfsuite,
    encode,
    encoded,
    heading,
    main,
    peak,
    run,
    tagged,
    test_attributes,
)

TUTORIAL = {"l1": 0.1, "l2": 0.1}
SETTINGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "L2: l2 = 1": ({"l2": 1.0}, {"c2": 1.0}),
    "L1: l1 = 1, 200 iterations": (
        {"solver": "owlqn", "l1": 1.0, "l2": 0.0, "max_iter": 200},
        {"c1": 1.0, "c2": 0.0, "max_iterations": 200},
    ),
    "both: l1 = l2 = 0.1, all transitions": (
        {"solver": "owlqn", **TUTORIAL, "all_transitions": True, "max_iter": 100},
        {"c1": 0.1, "c2": 0.1, "feature.possible_transitions": True, "max_iterations": 100},
    ),
}
REPEATS = 5
JOINT_ITERATIONS = 60


def ours(path: str, setting: str, n_jobs: int) -> Figures:
    model = hr.LinearCRF(n_jobs=n_jobs, **SETTINGS[setting][0])
    figures = chunked(model, *encoded(path))
    history = [record["objective"] for record in model.training_log_]
    figures["objective"] = history[-1]
    enough = next(i for i, value in enumerate(history) if value <= history[-1] * 1.001)
    figures["enough"] = model.training_log_[enough]["seconds"]
    figures["iterations"] = len(history)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "m"
        model.save(file)
        figures["megabytes"] = file.stat().st_size / 2**20
    return figures


def until(path: str, setting: str, objective: float, n_jobs: int) -> Figures:
    """Seconds until the objective of the peer is reached to one part in 10,000."""

    class ReachedError(Exception):
        pass

    seconds = []

    def watch(record: dict[str, Any]) -> None:
        if record["objective"] <= objective * (1 + 1e-4):
            seconds.append(record["seconds"])
            raise ReachedError

    X, y = encoded(path)
    try:
        given = SETTINGS[setting][0] | {"tol": 1e-9, "max_iter": 1000}
        hr.LinearCRF(n_jobs=n_jobs, **given).fit(X, y, callbacks=[watch])
    except ReachedError:
        return {"seconds": seconds[0]}
    return {"seconds": float("inf")}


def crfsuite(setting: str) -> Figures:
    return chunked_by_crfsuite(SETTINGS[setting][1])


def tagging(path: str) -> Figures:
    """Tokens a second of both from dicts, from lists of attributes, and from what is already encoded."""
    import pycrfsuite

    X, y = encoded(path)
    model = hr.LinearCRF(n_jobs=1, max_iter=60).fit(X, y)
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", params={"c2": 1.0, "max_iterations": 60}, verbose=False)
    for words, tags, chunks in sentences("train"):
        trainer.append(attributes(words, tags), chunks)
    dicts, _ = test_attributes()
    bags = [to_bags(x) for x in dicts]
    n = sum(map(len, dicts))

    def speed(work: Callable[[], object]) -> float:
        times = []
        for _ in range(REPEATS):
            begin = time.perf_counter()
            work()
            times.append(time.perf_counter() - begin)
        return n / min(times)

    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "m.crfsuite")
        trainer.train(file)
        tagger = pycrfsuite.Tagger()
        tagger.open(file)
        prebuilt = [pycrfsuite.ItemSequence(x) for x in dicts]
        items = hr.Sequences(dicts)
        as_bags = hr.LinearCRF(n_jobs=1, max_iter=5)
        as_bags.fit([to_bags(attributes(words, tags)) for words, tags, _ in sentences("train")], y)
        return {
            "ours dicts": speed(lambda: model.predict(dicts)),
            "theirs dicts": speed(lambda: [tagger.tag(x) for x in dicts]),
            "ours lists": speed(lambda: as_bags.predict(bags)),
            "theirs lists": speed(lambda: [tagger.tag(x) for x in bags]),
            "ours encoded": speed(lambda: model.predict(items)),
            "theirs encoded": speed(lambda: [tagger.tag(x) for x in prebuilt]),
        }


def spelled(x: list[dict[str, str]]) -> list[dict[str, str]]:
    """Words and their ends, for tags are what is asked for here."""
    return [{"word": p["word"], "end 2": p["word"][-2:], "end 3": p["word"][-3:]} for p in x]


def joint(beam: int | None) -> Figures:
    """Parts of speech and chunks in one label, 118 of them in training."""
    train, test = hr.datasets.load("conll2000-joint", "train"), hr.datasets.load("conll2000-joint", "test")
    model = hr.LinearCRF(window=2, beam=beam, max_iter=JOINT_ITERATIONS, n_jobs=1)
    X = hr.Sequences([spelled(x) for x in train.X])
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hr.errors.ConvergenceWarning)
        model.fit(X, train.y)
    seconds, memory = time.perf_counter() - begin, peak()
    found, speed = tagged(model, [spelled(x) for x in test.X])
    gold = [[str(label) for label in labels] for labels in test.y]
    joint_labels = [[str(label) for label in labels] for labels in found]
    chunks = [[[label.split("+")[-1] for label in labels] for labels in y] for y in (gold, joint_labels)]
    return {
        "seconds": seconds,
        "peak": memory,
        "speed": speed,
        "iterations": len(model.training_log_),
        "accuracy": hr.metrics.accuracy(gold, joint_labels),
        "f1": hr.metrics.span_f1(*chunks),
    }


def print_joint() -> None:
    heading("118 joint labels", "train s", "ratio", "iterations", "peak MB", "accuracy", "chunk F1", "tag tokens/s")
    exact = run("joint", None)
    rows = [("exact", exact), *((f"beam {beam}", run("joint", beam)) for beam in (20, 10, 5, 1))]
    for name, row in rows:
        print(
            f"| {name} | {row['seconds']:.1f} | {row['seconds'] / exact['seconds']:.2f} | {row['iterations']} | "
            f"{row['peak']:.0f} | {100 * row['accuracy']:.2f} | {100 * row['f1']:.2f} | {row['speed'] / 1000:.0f}k |"
        )


def print_training() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "train.pickle")
        run("encode", path)
        for setting in SETTINGS:
            peer = run("crfsuite", setting)
            heading(setting, "train s", "ratio", "iterations", "objective", "peak MB", "model MB", "accuracy", "F1")
            rows = [("python-crfsuite", peer), ("LinearCRF", run("ours", path, setting, 1))]
            rows += [("LinearCRF, 2 threads", run("ours", path, setting, 2))]
            for name, row in rows:
                print(
                    f"| {name} | {row['seconds']:.1f} | {row['seconds'] / peer['seconds']:.2f} | {row['iterations']} | "
                    f"{row['objective']:.1f} | {row['peak']:.0f} | {row['megabytes']:.1f} | "
                    f"{100 * row['accuracy']:.2f} | {100 * row['f1']:.2f} |"
                )
            for n_jobs in (1, 2):
                seconds = run("until", path, setting, peer["objective"], n_jobs)["seconds"]
                print(f"\nTo python-crfsuite's objective, relative 1e-4, on {n_jobs} thread(s): {seconds:.1f} s "
                      f"(ratio {seconds / peer['seconds']:.2f}).")  # fmt: skip
            print(f"To 99.9 % of the final objective: {rows[1][1]['enough']:.1f} s.")


def print_tagging() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "train.pickle")
        run("encode", path)
        row = run("tagging", path)
    heading("tagging, tokens a second", "LinearCRF", "python-crfsuite", "ratio")
    for form in ("dicts", "lists", "encoded"):
        mine, theirs = row[f"ours {form}"], row[f"theirs {form}"]
        print(f"| from {form} | {mine / 1000:.0f}k | {theirs / 1000:.0f}k | {mine / theirs:.1f} |")


JOBS: dict[str, Any] = {
    "encode": encode,
    "ours": ours,
    "until": until,
    "crfsuite": crfsuite,
    "tagging": tagging,
    "joint": joint,
}
PARTS = {"training": print_training, "tagging": print_tagging, "joint": print_joint}

if __name__ == "__main__":
    main(__doc__, JOBS, PARTS)
