"""TreeCRF beside python-crfsuite and LightGBM: training time, memory, accuracy and tagging speed.

HEDGEROW_DATA=... python benchmarks/treecrf.py            # the tables of docs/benchmarks.md

Every job is a fresh process on one thread unless it says otherwise; seconds are of the wall, for training alone.
TreeCRF trains from encoded sequences that another process made, as python-crfsuite does from what was appended.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
from jobs import Figures, chunked, chunked_by_crfsuite, encode, encoded, heading, main, run, tagged

# Chosen on the last fifth of the training sentences: --parts settings. Leaves of two positions are a little better
# there, and take more memory than the aim allows: values that are this rare would have to be kept.
CHUNKER = {"learning_rate": 0.2, "max_leaves": 60, "min_leaf": 3, "influence_trim": 0.01}
ROUNDS = 100
MOST_ROUNDS = 120
START = {"learning_rate": 0.3, "max_leaves": 60, "min_leaf": 3, "influence_trim": 0.01, "random_state": 0}
CHANGES: tuple[dict[str, float], ...] = (
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
PUBLISHED = {"protein": (5, 142, 4.4), "nettalk-stress": (6, 169, 4.1), "hyphen": (0, 58, 2.4)}


def chunk_with_trees(path: str, n_rounds: int, n_jobs: int) -> Figures:
    return chunked(hr.TreeCRF(n_rounds=n_rounds, n_jobs=n_jobs, **CHUNKER), *encoded(path))


def chunk_held_out(path: str, change: dict[str, float]) -> Figures:
    """F1 on the last fifth of the training sentences, after every twenty rounds; what more would cost is too much."""
    X, y = encoded(path)
    n = len(X) * 4 // 5
    model = hr.TreeCRF(n_jobs=1, warm_start=True, **{**START, **change})
    figures = {}
    for n_rounds in range(40, MOST_ROUNDS + 1, 20):
        model.set_params(n_rounds=n_rounds).fit(X[:n], y[:n])
        found = [labels.tolist() for labels in model.predict(X[n:])]
        figures[str(n_rounds)] = hr.metrics.span_f1(y[n:], found)
    return figures


def chunk_from_plain_columns(n_rounds: int, n_jobs: int) -> Figures:
    """No attributes made by hand: the words and tags as they are, through a window; trees combine them."""
    train = hr.datasets.load("conll2000", "train")

    def test() -> tuple[Any, Any]:
        data = hr.datasets.load("conll2000", "test")
        return data.X, data.y

    model = hr.TreeCRF(window=2, n_rounds=n_rounds, n_jobs=n_jobs, **CHUNKER)
    return chunked(model, hr.Sequences(train.X), train.y, test)


def chunk_with_crfsuite() -> Figures:
    return chunked_by_crfsuite({"c2": 1.0, "c1": 0.0})


def windowed(name: str, X: Any, window: int) -> tuple[Any, list[str]]:
    """Rows of a window for LightGBM, padding as a value of its own; which columns are categories."""
    if name == "letters":
        rows = []
        for x in X:
            padded = np.pad(np.asarray(x, dtype=np.float32), ((window, window), (0, 0)), constant_values=-1)
            rows += [padded[t : t + 2 * window + 1].ravel() for t in range(len(x))]
        return np.array(rows), []
    rows = []
    for x in X:
        cells = [tuple(p.values()) if isinstance(p, dict) else (p,) for p in x]
        width = len(cells[0])
        padded = [("",) * width] * window + cells + [("",) * width] * window
        rows += [sum(padded[t : t + 2 * window + 1], ()) for t in range(len(cells))]
    values = sorted({value for row in rows for value in row})
    codes = {value: i for i, value in enumerate(values)}
    return np.array([[codes[value] for value in row] for row in rows]), ["all"]


def small_with_lightgbm(name: str) -> Figures:
    import lightgbm

    train, test = hr.datasets.load(name, "train"), hr.datasets.load(name, "test")
    window = SMALL[name]["window"]
    both, categories = windowed(name, [*train.X, *test.X], window)
    y = np.concatenate([np.asarray(labels) for labels in train.y])
    model = lightgbm.LGBMClassifier(n_estimators=100, n_jobs=1, verbose=-1, min_child_samples=5, reg_lambda=5.0)
    n = len(y)
    begin = time.perf_counter()
    model.fit(both[:n], y, categorical_feature=list(range(both.shape[1])) if categories else "auto")
    seconds = time.perf_counter() - begin
    right = model.predict(both[n:]) == np.concatenate([np.asarray(labels) for labels in test.y])
    return {"seconds": seconds, "accuracy": float(right.mean())}


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
    train, test = hr.datasets.load(name, "train"), hr.datasets.load(name, "test")
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
    train, test = hr.datasets.load(name, "train"), hr.datasets.load(name, "test")
    model = hr.TreeCRF(n_jobs=1, **SMALL[name])
    begin = time.perf_counter()
    model.fit(train.X, train.y)
    seconds = time.perf_counter() - begin
    found, speed = tagged(model, test.X)
    right = np.concatenate(found) == np.concatenate([np.asarray(labels) for labels in test.y])
    return {"seconds": seconds, "accuracy": float(right.mean()), "speed": speed}


def published(name: str) -> Figures:
    """The papers' algorithm: milliseconds a round, the quickest of five runs; accuracy of both decodings."""
    window, n_rounds, _ = PUBLISHED[name]
    train, test = hr.datasets.load(name, "train"), hr.datasets.load(name, "test")
    X = hr.Sequences(train.X)
    times = []
    for n_jobs in (1, 1, 1, 1, 1, 2, 2, 2):
        model = hr.TreeCRF.published(window=window, n_rounds=n_rounds, n_jobs=n_jobs).fit(X, train.y)
        history = model.training_log_
        times.append(1000 * (history[-1]["seconds"] - history[0]["seconds"]) / (n_rounds - 1))
    viterbi = model.score(test.X, test.y)
    marginal = model.set_params(decode="marginal").score(test.X, test.y)
    return {"ms": min(times[:5]), "ms_two": min(times[5:]), "marginal": marginal, "viterbi": viterbi}


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
}


def print_chunking() -> None:
    peer = run("crfsuite")
    heading("CoNLL-2000", "train s", "ratio", "peak MB", "accuracy", "chunk F1", "tag tokens/s")
    rows = [("python-crfsuite L-BFGS", peer)]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "train.pickle")
        run("encode", path)
        rows += [(f"TreeCRF, {n} rounds", run("trees", path, n, 1)) for n in (50, ROUNDS)]
        rows += [(f"TreeCRF, {ROUNDS} rounds, 2 threads", run("trees", path, ROUNDS, 2))]
    rows += [(f"TreeCRF, {ROUNDS} rounds, words and tags alone, window 2", run("plain", ROUNDS, 1))]
    rows += [("the same, 2 threads", run("plain", ROUNDS, 2))]
    for name, row in rows:
        print(
            f"| {name} | {row['seconds']:.1f} | {row['seconds'] / peer['seconds']:.2f} | {row['peak']:.0f} | "
            f"{100 * row['accuracy']:.2f} | {100 * row['f1']:.2f} | {row['speed'] / 1000:.0f}k |"
        )


def print_settings() -> None:
    heading("held-out F1 after rounds", *(str(n) for n in range(40, MOST_ROUNDS + 1, 20)))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "train.pickle")
        run("encode", path)
        for change in CHANGES:
            name = ", ".join(f"{key}={value}" for key, value in change.items()) or "start"
            scores = run("held-out", path, change)
            print(f"| {name} | " + " | ".join(f"{100 * f1:.2f}" for f1 in scores.values()) + " |", flush=True)


def print_published() -> None:
    heading("published algorithm", "rounds", "ms a round", "two threads", "prototype", "marginal", "Viterbi")
    for name, (_, n_rounds, before) in PUBLISHED.items():
        row = run("published", name)
        print(
            f"| {name} | {n_rounds} | {row['ms']:.2f} | {row['ms_two']:.2f} | {before} | {100 * row['marginal']:.2f} | "
            f"{100 * row['viterbi']:.2f} |"
        )


def print_small() -> None:
    heading("Viterbi", "TreeCRF", "s", "positions/s", "python-crfsuite", "s", "LightGBM on the window", "s")
    for name in SMALL:
        ours, suite, light = (run(f"small-{peer}", name) for peer in ("trees", "crfsuite", "lightgbm"))
        cells = [f"{100 * ours['accuracy']:.2f}", f"{ours['seconds']:.2f}", f"{ours['speed'] / 1000:.0f}k"]
        for peer in (suite, light):
            cells += [f"{100 * peer['accuracy']:.2f}", f"{peer['seconds']:.2f}"]
        print(f"| {name} | " + " | ".join(cells) + " |")


PARTS = {
    "chunking": print_chunking,
    "settings": print_settings,
    "published": print_published,
    "small": print_small,
}


if __name__ == "__main__":
    main(__doc__, JOBS, PARTS)
