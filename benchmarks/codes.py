"""OutputCode: the cost of bits, cascades, labels and threads.

python benchmarks/codes.py

The base is a TreeCRF. The first table is on the joint NETtalk labels, beside a TreeCRF of all labels with the same
trees and rounds; the others have 40 bits. Synthetic labels depend on two letters and the previous label.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
from data import QUICK, few, load
from hedgerow.errors import UnseenLabelWarning
from jobs import main
from printing import PLAIN_TREES, log, print_table

TREES: dict[str, Any] = {**PLAIN_TREES, "n_rounds": few(40, 2), "max_leaves": 50, "learning_rate": 0.3}
BITS = few(40, 10)
REPEATS = few(3, 1)  # of fits whose times are compared


def timed(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """(the shortest time of all repeats, the result of the last)"""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begin)
    return min(times), result


def base(window: int = 3) -> hr.TreeCRF:
    return hr.TreeCRF(window=window, **TREES)


def code(n_bits: int = BITS, n_jobs: int = 1, window: int = 3, **parameters: Any) -> hr.OutputCode:
    return hr.OutputCode(base=base(window), n_bits=n_bits, n_jobs=n_jobs, random_state=0, **parameters)


def megabytes(model: Any) -> float:
    """The size of the model file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        return path.stat().st_size / 1e6


def print_bits() -> None:
    train, test = load("nettalk", "train"), load("nettalk", "test")
    models: dict[str, Any] = {"TreeCRF of all labels, the same trees": base().set_params(n_jobs=1)}
    lengths = (10, 20) if QUICK else (25, 50, 100, 200)
    models |= {f"{n} bits": code(n) for n in lengths}
    models[f'{lengths[-1]} bits, `distance="lattice"`'] = code(lengths[-1], distance="lattice")

    def rows() -> Iterator[list[str]]:
        for name, model in models.items():
            log(name)
            fit, _ = timed(lambda m=model: m.fit(train.X, train.y))  # type: ignore[misc]
            predict, right = timed(lambda m=model: m.score(test.X, test.y))  # type: ignore[misc]
            yield [name, f"{fit:.1f}", f"{predict:.2f}", f"{megabytes(model):.0f}", f"{100 * right:.1f}"]

    print_table(["NETtalk, 126 joint labels, window 3", "fit s", "predict s", "file MB", "right %"], rows())


def print_cascades() -> None:
    train, test = load("nettalk", "train"), load("nettalk", "test")
    cascades: dict[str, dict[str, Any]] = {
        "0": {}, "1": {"cascade": 1}, "5": {"cascade": 5}, "20": {"cascade": 20}, "all": {"cascade": "all"},
        "5, out of fold": {"cascade": 5, "cascade_predictions": "cross"}, "auto": {"cascade": "auto"},
    }  # fmt: skip

    def rows() -> Iterator[list[str]]:
        independent = None
        for name, parameters in cascades.items():
            log(f"cascade {name}")
            model = code(**parameters)
            fit, _ = timed(lambda m=model: m.fit(train.X, train.y), REPEATS)  # type: ignore[misc]
            independent = independent or fit
            yield [name, f"{fit:.1f}", f"{fit / independent:.2f}", f"{100 * model.score(test.X, test.y):.1f}"]

    print_table([f"{BITS} bits, cascade", "fit s", "ratio", "right %"], rows())


def synthetic(n_sequences: int, length: int, k: int) -> tuple[list[list[str]], list[list[int]]]:
    """Letters, and labels that depend on the letter, the previous letter and the previous label."""
    rng = np.random.default_rng(k)
    letters = rng.integers(0, 26, size=(n_sequences, length))
    labels = np.zeros_like(letters)
    for t in range(length):
        labels[:, t] = (41 * letters[:, t] + 7 * letters[:, t - 1] + labels[:, t - 1] // 2) % k
    labels[0, :] = np.arange(length) % k
    return [[chr(97 + letter) for letter in row] for row in letters], labels.tolist()


def print_labels() -> None:
    def rows() -> Iterator[list[str]]:
        for k in (10, 20) if QUICK else (10, 100, 300, 1000):
            log(f"{k} labels")
            X, y = synthetic(few(1000, 20), 10, k)
            model = code(window=1)
            fit, _ = timed(lambda m=model, X=X, y=y: m.fit(X, y))  # type: ignore[misc]
            predict, _ = timed(lambda m=model, X=X: m.predict(X))  # type: ignore[misc]
            chained = code(window=1, distance="lattice")
            chained.set_params(base=hr.TreeCRF(window=1, n_rounds=1)).fit(X, y)
            lattice, _ = timed(lambda m=chained, X=X: m.predict(X))  # type: ignore[misc]
            direct, _ = timed(lambda X=X, y=y: base(1).set_params(n_jobs=1).fit(X, y))  # type: ignore[misc]
            yield [f"{k:,}", f"{fit:.1f}", f"{predict:.2f}", f"{lattice:.2f}", f"{direct:.1f}"]

    head = ["fit s", "predict s", "with the lattice", "TreeCRF of all labels, fit s"]
    print_table([f"{BITS} bits, synthetic labels", *head], rows())


def print_threads() -> None:
    train = load("nettalk", "train")
    kinds: dict[str, dict[str, Any]] = {"independent": {}, "cascade of 5": {"cascade": 5}}

    def rows() -> Iterator[list[str]]:
        for name, given in kinds.items():
            one, two = (
                timed(lambda n=n, given=given: code(n_jobs=n, **given).fit(train.X, train.y), REPEATS)[0]  # type: ignore[misc]
                for n in (1, 2)
            )
            yield [name, f"{one:.1f}", f"{two:.1f}", f"{one / two:.2f}"]

    print_table([f"{BITS} bits, threads", "one, s", "two, s", "ratio"], rows())


PARTS = {"bits": print_bits, "cascades": print_cascades, "threads": print_threads, "labels": print_labels}

if __name__ == "__main__":
    warnings.simplefilter("ignore", UnseenLabelWarning)
    main(__doc__, PARTS)
