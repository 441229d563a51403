"""TreeCRF beside python-crfsuite and LightGBM: training time, memory, accuracy and tagging speed.

python benchmarks/treecrf.py

Every job is a fresh process on one thread unless a row says otherwise. Seconds are wall time of training only, the
smaller of two runs. TreeCRF trains from `Sequences` that another process read, as python-crfsuite trains from appended
sequences.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
from data import QUICK, chunking, few, load, repeated
from jobs import Figures, chunked, chunked_by_crfsuite, encode, encoded, encoded_file, fastest, main, run, tagged
from printing import PLAIN_TREES, print_table

# Chosen on the last fifth of the training sentences: --parts settings. Leaves of two positions are slightly better
# there, but take more memory than the aim allows, because values that rare would have to be kept.
CHUNKER: dict[str, Any] = {**PLAIN_TREES, "learning_rate": 0.2, "max_leaves": 60, "min_leaf": 3, "influence_trim": 0.01}
ROUNDS = few(100, 3)
# For the words and tags as they are, chosen in the same way, for the fewest rounds.
PLAIN_CHUNKER: dict[str, Any] = {**CHUNKER, "learning_rate": 0.3, "max_leaves": 100}
PLAIN_ROUNDS = few(60, 2)
MORE_ROUNDS = (2, 4) if QUICK else (40, 60, 80, 100, 120)
START: dict[str, Any] = {**CHUNKER, "learning_rate": 0.3, "random_state": 0}
PLAIN_CHANGES: tuple[dict[str, Any], ...] = (
    {"learning_rate": 0.3}, {"learning_rate": 0.3, "max_leaves": 100}, {"learning_rate": 0.5},
    {"learning_rate": 0.5, "max_leaves": 100}, {"learning_rate": 0.3, "min_leaf": 2},
)  # fmt: skip
CHANGES: tuple[dict[str, Any], ...] = (
    {}, {"learning_rate": 0.4}, {"learning_rate": 0.2}, {"max_leaves": 30}, {"max_leaves": 100}, {"min_leaf": 2},
    {"min_leaf": 6}, {"l2": 3.0}, {"max_features": 0.5}, {"max_features": 0.25},
)  # fmt: skip
SMALL: dict[str, dict[str, Any]] = {
    "protein": {"window": 5},
    "nettalk-stress": {"window": 6},
    "hyphen": {"window": 0},
    "nettalk": {"window": 3, "trees": "shared", "max_leaves": 300},
    "letters": {"window": 1, "trees": "shared", "max_leaves": 100},
}
PROFILED = {
    "19 columns": "conll2000",
    "words and tags": "conll2000",
    "defaults": "conll2000",
    "protein": "protein",
    "nettalk-stress": "nettalk-stress",
    "hyphen": "hyphen",
}
PUBLISHED = {"protein": (5, 142, 4.4), "nettalk-stress": (6, 169, 4.1), "hyphen": (0, 58, 2.4)}


def chunk_with_trees(path: str, n_rounds: int, n_jobs: int) -> Figures:
    return chunked(hr.TreeCRF(n_rounds=n_rounds, n_jobs=n_jobs, **CHUNKER), *encoded(path))


def chunk_held_out(path: str | None, change: dict[str, Any]) -> Figures:
    """F1 on the last fifth of the training sentences, by number of rounds; without a path: words and tags alone."""
    if path is None:
        data = load("conll2000", "train")
        X, y, window = hr.Sequences(data.X), [labels.tolist() for labels in data.y], 2
    else:
        (X, y), window = encoded(path), 0
    n = len(X) * 4 // 5
    model = hr.TreeCRF(n_jobs=1, warm_start=True, window=window, **{**START, **change})
    figures = {}
    for n_rounds in MORE_ROUNDS:
        model.set_params(n_rounds=n_rounds).fit(X[:n], y[:n])
        found = [labels.tolist() for labels in model.predict(X[n:])]
        figures[str(n_rounds)] = hr.metrics.span_f1(y[n:], found)
    return figures


def chunk_from_plain_columns(n_rounds: int, n_jobs: int) -> Figures:
    """No hand-made attributes: the words and tags as they are, through a window; trees combine them."""

    def columns(split: str) -> tuple[Any, Any]:
        data = load("conll2000", split)
        return data.X, data.y

    X, y = columns("train")
    model = hr.TreeCRF(window=2, n_rounds=n_rounds, n_jobs=n_jobs, **PLAIN_CHUNKER)
    return chunked(model, hr.Sequences(X), y, columns)


def chunk_with_crfsuite() -> Figures:
    return chunked_by_crfsuite({"c2": 1.0, "c1": 0.0})


def window_of_numbers(X: Any, window: int) -> Any:
    """Rows for LightGBM: the columns of the positions of a window, -1 outside the sequence."""
    rows = []
    for x in X:
        padded = np.pad(np.asarray(x, dtype=np.float32), ((window, window), (0, 0)), constant_values=-1)
        rows += [padded[t : t + 2 * window + 1].ravel() for t in range(len(x))]
    return np.array(rows)


def window_of_categories(X: Any, window: int) -> Any:
    """Rows for LightGBM: the values of a window as numbers; what is outside the sequence has a number of its own."""
    rows: list[tuple[str, ...]] = []
    for x in X:
        cells = [tuple(p.values()) if isinstance(p, dict) else (p,) for p in x]
        outside = [("",) * len(cells[0])] * window
        padded = outside + cells + outside
        rows += [sum(padded[t : t + 2 * window + 1], ()) for t in range(len(cells))]
    codes = {value: i for i, value in enumerate(sorted({value for row in rows for value in row}))}
    return np.array([[codes[value] for value in row] for row in rows])


def small_with_lightgbm(name: str) -> Figures:
    import lightgbm

    train, test = load(name, "train"), load(name, "test")
    window = SMALL[name]["window"]
    numeric = name == "letters"
    both = (window_of_numbers if numeric else window_of_categories)([*train.X, *test.X], window)
    y = np.concatenate([np.asarray(labels) for labels in train.y])
    model = lightgbm.LGBMClassifier(n_estimators=few(100, 2), n_jobs=1, verbose=-1, min_child_samples=5, reg_lambda=5.0)
    n = len(y)
    begin = time.perf_counter()
    model.fit(both[:n], y, categorical_feature="auto" if numeric else list(range(both.shape[1])))
    seconds = time.perf_counter() - begin
    gold = np.concatenate([np.asarray(labels) for labels in test.y])
    return {"seconds": seconds, "accuracy": float(np.mean(model.predict(both[n:]) == gold))}


def small_with_crfsuite(name: str) -> Figures:
    import pycrfsuite

    def items(x: Any) -> list[dict[str, str]]:
        found = []
        for t in range(len(x)):
            item = {}
            for offset in range(-window, window + 1):
                if not 0 <= t + offset < len(x):
                    item[f"{offset}"] = "outside"
                elif name == "letters":
                    item |= {f"{offset}:{j}": "1" for j in np.flatnonzero(x[t + offset])}
                elif isinstance(x[t + offset], dict):
                    item |= {f"{offset}:{key}": value for key, value in x[t + offset].items()}
                else:
                    item[f"{offset}"] = x[t + offset]
            found.append(item)
        return found

    window = 0 if name == "letters" else SMALL[name]["window"]  # there a window makes it worse: 73.6
    train, test = load(name, "train"), load(name, "test")
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", params={"c2": 1.0, "c1": 0.0}, verbose=False)
    for x, labels in zip(train.X, train.y, strict=True):
        trainer.append(items(x), [str(label) for label in labels])
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        trainer.train(str(Path(folder) / "m"))
        seconds = time.perf_counter() - begin
        tagger = pycrfsuite.Tagger()
        tagger.open(str(Path(folder) / "m"))
        found = [tagger.tag(items(x)) for x in test.X]
    gold = [[str(label) for label in labels] for labels in test.y]
    return {"seconds": seconds, "accuracy": hr.metrics.accuracy(gold, found)}


def small_with_trees(name: str) -> Figures:
    train, test = load(name, "train"), load(name, "test")
    model = hr.TreeCRF(n_jobs=1, n_rounds=few(100, 2), decode="viterbi", **{**PLAIN_TREES, **SMALL[name]})
    begin = time.perf_counter()
    model.fit(train.X, train.y)
    seconds = time.perf_counter() - begin
    found, speed = tagged(model, test.X)
    right = np.concatenate(found) == np.concatenate([np.asarray(labels) for labels in test.y])
    return {"seconds": seconds, "accuracy": float(right.mean()), "speed": speed}


def published(name: str) -> Figures:
    """The published algorithm: milliseconds a round, the fastest of five runs; accuracy of both decodings."""
    window, n_rounds, _ = PUBLISHED[name]
    n_rounds = few(n_rounds, 3)
    train, test = load(name, "train"), load(name, "test")
    X = hr.Sequences(train.X)
    times = []
    for n_jobs in (1, 1, 1, 1, 1, 2, 2, 2):
        model = hr.TreeCRF.published(window=window, n_rounds=n_rounds, n_jobs=n_jobs).fit(X, train.y)
        log = model.training_log_
        times.append(1000 * (log[-1]["seconds"] - log[0]["seconds"]) / (n_rounds - 1))
    marginal, viterbi = (model.set_params(decode=d).score(test.X, test.y) for d in ("marginal", "viterbi"))
    return {"ms": min(times[:5]), "ms_two": min(times[5:]), "marginal": marginal, "viterbi": viterbi}


def profiled(task: str, n_rounds: int) -> Figures:
    """Seconds of the phases of a fit, and the bytes that a round has to touch."""
    from hedgerow.learning import boosting
    from hedgerow.learning.growers import weighted_grower

    growers: list[Any] = []
    rows: list[int] = []

    def measured(data: Any, *rest: Any) -> Any:
        growers.append(weighted_grower(data, *rest))
        growers[-1].measure()
        rows.append(data.row_bytes)
        return growers[-1]

    setattr(boosting, "weighted_grower", measured)  # noqa: B010, because the name is not exported
    data = load(PROFILED[task], "train")
    options: dict[str, Any] = {"n_rounds": n_rounds, "n_jobs": 1}
    if task == "19 columns":
        X, y = chunking("train")
        model = hr.TreeCRF(**options, **CHUNKER)
    elif task == "words and tags":
        X, y, model = data.X, data.y, hr.TreeCRF(window=2, **options, **PLAIN_CHUNKER)
    elif task == "defaults":
        X, y, model = data.X, data.y, hr.TreeCRF(features=hr.templates.words(), random_state=0, **options)
    else:
        X, y, model = data.X, data.y, hr.TreeCRF.published(window=PUBLISHED[task][0], **options)
    counted: list[int] = []
    times: list[dict[str, float]] = []

    def read(record: Any) -> None:
        counted.append(growers[-1].n_counted)
        times.append(dict(growers[-1].times))

    model.fit(hr.Sequences(X), y, callbacks=[read])
    log = model.training_log_
    seconds, later = log[-1]["seconds"] - log[0]["seconds"], log[1:]  # the first round includes the set-up
    phases = {name: spent - times[0][name] for name, spent in times[-1].items()}
    grown = sum(phases.values())
    phases["inference"] = sum(record["inference_seconds"] for record in later)
    phases["residuals and apply"] = sum(record["growing_seconds"] for record in later) - grown
    n_scores = sum(map(len, y)) * len(model.classes_)
    if model.training_log_[0]["transitions"] == "trees":
        n_scores *= len(model.classes_)
    # Scores are read and added to, marginals are written and read: five times four bytes. A position that counts is
    # read once, with its residual.
    n_counted = float(np.mean(counted[1:]))
    bytes_a_round = 20 * n_scores + (rows[-1] + 8) * n_counted
    return {
        "ms": 1000 * seconds / len(later),
        "phases": {name: 1000 * spent / len(later) for name, spent in phases.items()},
        "counted": n_counted / (sum(map(len, y)) * len(model.classes_)),
        "megabytes": bytes_a_round / 2**20,
        "floor": 1000 * bytes_a_round / copy_speed(),
    }


def copy_speed() -> float:
    """Bytes that one thread reads or writes in a second, when it copies what no cache holds."""
    source = np.ones(few(2**25, 2**20), dtype=np.float32)
    target = np.empty_like(source)

    def copy() -> float:
        begin = time.perf_counter()
        np.copyto(target, source)
        return time.perf_counter() - begin

    copy()
    return 2 * source.nbytes / repeated(copy, 5)


JOBS: dict[str, Any] = {
    "encode": encode,
    "trees": chunk_with_trees,
    "held-out": chunk_held_out,
    "plain": chunk_from_plain_columns,
    "crfsuite": chunk_with_crfsuite,
    "small-trees": small_with_trees,
    "small-crfsuite": small_with_crfsuite,
    "small-lightgbm": small_with_lightgbm,
    "published": published,
    "profiled": profiled,
}


@cache
def peer_on_chunks() -> Figures:
    return fastest("crfsuite")


def print_chunking() -> None:
    peer = peer_on_chunks()

    def row(name: str, figures: Figures) -> list[str]:
        return [
            name,
            f"{figures['seconds']:.1f}",
            f"{figures['seconds'] / peer['seconds']:.2f}",
            f"{figures['peak']:.0f}",
            f"{100 * figures['accuracy']:.2f}",
            f"{100 * figures['f1']:.2f}",
            f"{figures['speed'] / 1000:.0f}k",
        ]

    def rows() -> Iterator[list[str]]:
        yield row("python-crfsuite L-BFGS", peer)
        with encoded_file() as path:
            yield row(f"TreeCRF, {ROUNDS // 2} rounds", fastest("trees", path, ROUNDS // 2, 1))
            yield row(f"TreeCRF, {ROUNDS} rounds", fastest("trees", path, ROUNDS, 1))
            yield row(f"TreeCRF, {ROUNDS} rounds, 2 threads", fastest("trees", path, ROUNDS, 2))
        yield row(f"TreeCRF, {PLAIN_ROUNDS} rounds, words and tags alone, window 2", fastest("plain", PLAIN_ROUNDS, 1))
        yield row("the same, 2 threads", fastest("plain", PLAIN_ROUNDS, 2))

    print_table(["CoNLL-2000", "train s", "ratio", "peak MB", "accuracy", "chunk F1", "tag tokens/s"], rows())


def print_settings() -> None:
    def rows() -> Iterator[list[str]]:
        with encoded_file() as path:
            for change in CHANGES[: few(len(CHANGES), 2)]:
                name = ", ".join(f"{key}={value}" for key, value in change.items()) or "start"
                scores = run("held-out", path, change)
                yield [name, *(f"{100 * f1:.2f}" for f1 in scores.values())]

    print_table(["held-out F1 after rounds", *map(str, MORE_ROUNDS)], rows())

    def plain_rows() -> Iterator[list[str]]:
        for change in PLAIN_CHANGES[: few(len(PLAIN_CHANGES), 1)]:
            name = ", ".join(f"{key}={value}" for key, value in change.items())
            yield [name, *(f"{100 * f1:.2f}" for f1 in run("held-out", None, change).values())]

    print_table(["words and tags alone", *map(str, MORE_ROUNDS)], plain_rows())


def print_published() -> None:
    def rows() -> Iterator[list[object]]:
        for name, (_, n_rounds, prototype) in list(PUBLISHED.items())[: few(len(PUBLISHED), 1)]:
            found = run("published", name)
            accuracies = (f"{100 * found[decode]:.2f}" for decode in ("marginal", "viterbi"))
            yield [name, n_rounds, f"{found['ms']:.2f}", f"{found['ms_two']:.2f}", prototype, *accuracies]

    head = ["rounds", "ms a round", "two threads", "prototype", "marginal", "Viterbi"]
    print_table(["published algorithm", *head], rows())
    seconds = peer_on_chunks()["seconds"]
    print(f"\npython-crfsuite in the same run, CoNLL-2000 chunks: {seconds:.1f} s.", flush=True)


def print_profile() -> None:
    """Milliseconds of a round by phase; the floor is the time to copy the bytes that a round must touch."""
    phases = ("inference", "residuals and apply", "select", "histogram", "scan", "partition", "values")

    def rows() -> Iterator[list[str]]:
        for task in list(PROFILED)[-few(len(PROFILED), 1) :]:
            found = run("profiled", task, few(30, 3))
            cells = [f"{found['ms']:.2f}", *(f"{found['phases'][name]:.2f}" for name in phases)]
            share, floor = f"{100 * found['counted']:.0f} %", f"{found['floor']:.2f}"
            yield [task, *cells, share, f"{found['megabytes']:.1f}", floor, f"{found['ms'] / found['floor']:.0f}"]

    print_table(["ms a round", "all", *phases, "counted", "MB", "floor", "all / floor"], rows())


def print_small() -> None:
    def rows() -> Iterator[list[str]]:
        for name in list(SMALL)[-few(len(SMALL), 2) :]:
            ours, crfsuite, lightgbm = (run(f"small-{peer}", name) for peer in ("trees", "crfsuite", "lightgbm"))
            cells = [f"{100 * ours['accuracy']:.2f}", f"{ours['seconds']:.2f}", f"{ours['speed'] / 1000:.0f}k"]
            for peer in (crfsuite, lightgbm):
                cells += [f"{100 * peer['accuracy']:.2f}", f"{peer['seconds']:.2f}"]
            yield [name, *cells]

    head = ["TreeCRF", "s", "positions/s", "python-crfsuite", "s", "LightGBM on the window", "s"]
    print_table(["Viterbi", *head], rows())


PARTS = {
    "chunking": print_chunking,
    "settings": print_settings,
    "published": print_published,
    "profile": print_profile,
    "small": print_small,
}


if __name__ == "__main__":
    main(__doc__, PARTS, JOBS)
