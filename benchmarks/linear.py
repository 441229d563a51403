"""LinearCRF beside python-crfsuite on CoNLL-2000: the same objective, training time, memory, F1 and tagging speed.

python benchmarks/linear.py

Every job is a fresh process on one thread unless a row says otherwise. Seconds are wall time of training only, the
smaller of two runs.
LinearCRF trains from `Sequences` that another process read, as python-crfsuite trains from appended sequences.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import hedgerow as hr
from data import attributes, chunking, few, load, repeated, sentences, to_bags, word_attributes
from jobs import (
    Figures,
    chunked,
    chunked_by_crfsuite,
    encode,
    encoded,
    encoded_file,
    fastest,
    main,
    peak,
    run,
    tagged,
)
from printing import print_table

TUTORIAL = {"l1": 0.1, "l2": 0.1}
SETTINGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "L2: l2 = 1": ({"l2": 1.0}, {"c2": 1.0}),
    "L1: l1 = 1; python-crfsuite 200 iterations": (
        {"l1": 1.0, "l2": 0.0},
        {"c1": 1.0, "c2": 0.0, "max_iterations": 200},
    ),
    "both: l1 = l2 = 0.1, all transitions; python-crfsuite 100 iterations": (
        {**TUTORIAL, "all_transitions": True},
        {"c1": 0.1, "c2": 0.1, "feature.possible_transitions": True, "max_iterations": 100},
    ),
}
REPEATS = 5
TAGGING_ITERATIONS = few(60, 3)
FEW_ITERATIONS = few(5, 3)  # where only the speed of tagging counts
JOINT_ITERATIONS = few(60, 3)


def ours(path: str, setting: str, n_jobs: int) -> Figures:
    model = hr.LinearCRF(n_jobs=n_jobs, **SETTINGS[setting][0])
    X, y = encoded(path)
    figures = chunked(model, X, y)
    history = [record["loss"] * len(y) for record in model.training_log_]
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

    X, y = encoded(path)

    def is_reached(record: dict[str, Any]) -> bool:
        return bool(record["loss"] * len(y) <= objective * (1 + 1e-4))

    parameters = SETTINGS[setting][0] | {"tol": 1e-9, "max_iter": 1000}
    last = hr.LinearCRF(n_jobs=n_jobs, **parameters).fit(X, y, callbacks=[is_reached]).training_log_[-1]
    return {"seconds": last["seconds"] if is_reached(last) else float("inf")}


def crfsuite(setting: str) -> Figures:
    return chunked_by_crfsuite(SETTINGS[setting][1])


def crfsuite_tagger(items: Iterable[list[Any]], y: list[list[str]], n_iterations: int, file: Path) -> Any:
    """A tagger that was trained on sequences of items."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", params={"c2": 1.0, "max_iterations": n_iterations}, verbose=False)
    for x, labels in zip(items, y, strict=True):
        trainer.append(x, labels)
    trainer.train(str(file))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(file))
    return tagger


def fresh_seconds(make: Callable[[], Any], tag: Callable[[Any], object]) -> float:
    """Seconds of `tag` from what `make` makes anew for each repetition: Python keeps the hash and the UTF-8 of a string
    that was read before.
    """

    def seconds() -> float:
        fresh = make()
        begin = time.perf_counter()
        tag(fresh)
        return time.perf_counter() - begin

    return repeated(seconds, REPEATS)


def tagging(path: str) -> Figures:
    """Positions a second of both libraries from each form of the test sentences."""
    import pycrfsuite

    X, y = encoded(path)
    train = sentences("train")
    lists = [words for words, _, _ in train]
    ours = {
        "dicts": hr.LinearCRF(n_jobs=1, max_iter=TAGGING_ITERATIONS).fit(X, y),
        "lists": hr.LinearCRF(n_jobs=1, max_iter=FEW_ITERATIONS).fit(
            [to_bags(attributes(w, t)) for w, t, _ in train], y
        ),
        "words": hr.LinearCRF(n_jobs=1, max_iter=FEW_ITERATIONS, features=hr.templates.words()).fit(lists, y),
    }

    def dicts() -> list[Any]:
        return chunking("test")[0]

    def words() -> list[Any]:
        return [words for words, _, _ in sentences("test")]

    with tempfile.TemporaryDirectory() as folder:
        of_dicts = crfsuite_tagger(
            (attributes(w, t) for w, t, _ in train), y, TAGGING_ITERATIONS, Path(folder) / "dicts"
        )
        of_words = crfsuite_tagger(map(word_attributes, lists), y, FEW_ITERATIONS, Path(folder) / "words")

        def tag_all(X: Any) -> None:
            for x in X:
                of_dicts.tag(x)

        def derive_and_tag(X: list[list[str]]) -> None:
            for x in X:
                of_words.tag(word_attributes(x))

        def bags() -> list[Any]:
            return [to_bags(x) for x in dicts()]

        seconds = {
            "ours dicts": fresh_seconds(dicts, ours["dicts"].predict),
            "theirs dicts": fresh_seconds(dicts, tag_all),
            "ours lists of attributes": fresh_seconds(bags, ours["lists"].predict),
            "theirs lists of attributes": fresh_seconds(bags, tag_all),
            "ours lists of words": fresh_seconds(words, ours["words"].predict),
            "theirs lists of words": fresh_seconds(words, derive_and_tag),
            "ours Sequences": fresh_seconds(lambda: hr.Sequences(dicts()), ours["dicts"].predict),
            "theirs Sequences": fresh_seconds(lambda: [pycrfsuite.ItemSequence(x) for x in dicts()], tag_all),
        }
    n = sum(map(len, words()))
    return {form: n / best for form, best in seconds.items()}


def spelled(x: list[dict[str, str]]) -> list[dict[str, str]]:
    """Words and their ends, which help to predict parts of speech."""
    return [{"word": p["word"], "end 2": p["word"][-2:], "end 3": p["word"][-3:]} for p in x]


def joint(beam: int | None) -> Figures:
    """Parts of speech and chunks in one label; 118 labels in training."""
    train, test = load("conll2000-joint", "train"), load("conll2000-joint", "test")
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
    def rows() -> Iterator[list[object]]:
        exact = None
        for beam in (None, 20, 10, 5, 1)[: few(5, 2)]:
            found = run("joint", beam)
            exact = exact or found["seconds"]
            yield [
                "exact" if beam is None else f"beam {beam}",
                f"{found['seconds']:.1f}",
                f"{found['seconds'] / exact:.2f}",
                found["iterations"],
                f"{found['peak']:.0f}",
                f"{100 * found['accuracy']:.2f}",
                f"{100 * found['f1']:.2f}",
                f"{found['speed'] / 1000:.0f}k",
            ]

    head = ["train s", "ratio", "iterations", "peak MB", "accuracy", "chunk F1", "tag tokens/s"]
    print_table(["118 joint labels", *head], rows())


def print_training() -> None:
    with encoded_file() as path:
        for setting in list(SETTINGS)[: few(3, 1)]:
            print_setting(path, setting)


def print_setting(path: str, setting: str) -> None:
    peer = fastest("crfsuite", setting)
    one, two = (fastest("ours", path, setting, n_jobs) for n_jobs in (1, 2))
    rows = (
        [
            name,
            f"{found['seconds']:.1f}",
            f"{found['seconds'] / peer['seconds']:.2f}",
            found["iterations"],
            f"{found['objective']:.1f}",
            f"{found['peak']:.0f}",
            f"{found['megabytes']:.1f}",
            f"{100 * found['accuracy']:.2f}",
            f"{100 * found['f1']:.2f}",
        ]
        for name, found in (("python-crfsuite", peer), ("LinearCRF", one), ("LinearCRF, 2 threads", two))
    )
    head = ["train s", "ratio", "iterations", "objective", "peak MB", "model MB", "accuracy", "F1"]
    print_table([setting, *head], rows)
    until = (fastest("until", path, setting, peer["objective"], n_jobs)["seconds"] for n_jobs in (1, 2))
    reached = [
        f"To python-crfsuite's objective, relative 1e-4, on {threads}: {seconds:.1f} s "
        f"(ratio {seconds / peer['seconds']:.3f})."
        for threads, seconds in zip(("one thread", "two threads"), until, strict=True)
    ]
    print(f"\n{' '.join(reached)} To 99.9 % of the final objective: {one['enough']:.1f} s.", flush=True)


def print_tagging() -> None:
    with encoded_file() as path:
        found = run("tagging", path)

    def rows() -> Iterator[list[str]]:
        for form in ("dicts", "lists of attributes", "lists of words", "Sequences"):
            ours, theirs = found[f"ours {form}"], found[f"theirs {form}"]
            yield [f"from {form}", f"{ours / 1000:.0f}k", f"{theirs / 1000:.0f}k", f"{ours / theirs:.1f}"]

    print_table(["tagging, tokens a second", "LinearCRF", "python-crfsuite", "ratio"], rows())


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
    main(__doc__, PARTS, JOBS)
