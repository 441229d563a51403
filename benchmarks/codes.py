"""OutputCode: what bits, cascades, labels and threads cost.

HEDGEROW_DATA=... python benchmarks/codes.py

The base is a TreeCRF. The first table is on the joint NETtalk labels, beside a TreeCRF of all labels with the same
trees and rounds; the others have 40 bits. Synthetic labels follow from two letters and the label before.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow as hr
from hedgerow.errors import UnseenLabelWarning
from machine import describe_machine

TREES: dict[str, Any] = {"n_rounds": 40, "max_leaves": 50, "learning_rate": 0.3}
BITS = 40
REPEATS = 3  # of fits whose times are compared


def main() -> None:
    warnings.simplefilter("ignore", UnseenLabelWarning)
    print(describe_machine())
    train, test = hr.datasets.load("nettalk", "train"), hr.datasets.load("nettalk", "test")
    base = hr.TreeCRF(window=3, **TREES)
    direct = hr.TreeCRF(window=3, n_jobs=1, **TREES)
    by_code(train, test, base, direct)
    by_cascade(train, test, base)
    by_labels()
    by_threads(train, base)


def timed(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """(the shortest time of all repeats, what the last gave)"""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begin)
    return min(times), result


def code(base: hr.TreeCRF, n_bits: int = BITS, n_jobs: int = 1, **parameters: Any) -> hr.OutputCode:
    return hr.OutputCode(base=base, n_bits=n_bits, n_jobs=n_jobs, random_state=0, **parameters)


def by_code(train: Any, test: Any, base: hr.TreeCRF, direct: hr.TreeCRF) -> None:
    columns = f"{'fit s':>8}{'a bit ms':>10}{'predict s':>10}{'MB':>6}{'right %':>9}"
    print(f"\n{'NETtalk, joint labels, window 3':34}{columns}")
    models: dict[str, Any] = {"TreeCRF of all labels": direct}
    models |= {f"{n} bits": code(base, n) for n in (25, 50, 100, 200)}
    models['200 bits, distance="lattice"'] = code(base, 200, distance="lattice")
    models['25 bits, code="grow"'] = code(base, 25, code="grow")
    for name, model in models.items():
        fit, _ = timed(lambda m=model: m.fit(train.X, train.y))
        predict, right = timed(lambda m=model: m.score(test.X, test.y))
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder) / "m")
            size = (Path(folder) / "m").stat().st_size / 1e6
        a_bit = 1000 * fit / model.code_.shape[1] if isinstance(model, hr.OutputCode) else float("nan")
        print(f"{name:34}{fit:8.2f}{a_bit:10.1f}{predict:10.2f}{size:6.1f}{100 * right:9.2f}", flush=True)


def by_cascade(train: Any, test: Any, base: hr.TreeCRF) -> None:
    print(f"\n{f'{BITS} bits, cascades':34}{'fit s':>8}{'ratio':>10}{'right %':>9}")
    independent = None
    for name, parameters in {
        "0": {}, "1": {"cascade": 1}, "5": {"cascade": 5}, "20": {"cascade": 20}, "all": {"cascade": "all"},
        "5, out of fold": {"cascade": 5, "cascade_predictions": "cross"}, "auto": {"cascade": "auto"},
    }.items():  # fmt: skip
        model = code(base, **parameters)
        fit, _ = timed(lambda m=model: m.fit(train.X, train.y), REPEATS)
        independent = independent or fit
        print(f"{name:34}{fit:8.2f}{fit / independent:10.2f}{100 * model.score(test.X, test.y):9.2f}", flush=True)


def by_labels() -> None:
    columns = f"{'fit s':>8}{'ratio':>10}{'predict s':>10}{'lattice s':>10}{'TreeCRF of all, fit s':>24}"
    print(f"\n{f'{BITS} bits, synthetic labels':34}{columns}")
    first = None
    for k in (10, 30, 100, 300, 1000):
        X, y = synthetic(1000, 10, k)
        model = code(hr.TreeCRF(window=1, **TREES))
        fit, _ = timed(lambda m=model, x=X, labels=y: m.fit(x, labels))
        predict, _ = timed(lambda m=model, x=X: m.predict(x))
        chained = code(hr.TreeCRF(window=1, n_rounds=1), distance="lattice").fit(X, y)
        lattice, _ = timed(lambda m=chained, x=X: m.predict(x))
        first = first or fit
        line = f"{k:<34}{fit:8.2f}{fit / first:10.2f}{predict:10.2f}{lattice:10.2f}"
        direct, _ = timed(lambda x=X, labels=y: hr.TreeCRF(window=1, n_jobs=1, **TREES).fit(x, labels))
        print(f"{line}{direct:24.2f}", flush=True)


def synthetic(n_sequences: int, length: int, k: int) -> tuple[list[list[str]], list[list[int]]]:
    rng = np.random.default_rng(k)
    letters = rng.integers(0, 26, size=(n_sequences, length))
    labels = np.zeros_like(letters)
    for t in range(length):
        labels[:, t] = (41 * letters[:, t] + 7 * letters[:, t - 1] + labels[:, t - 1] // 2) % k
    labels[0, :] = np.arange(length) % k
    return [[chr(97 + letter) for letter in row] for row in letters], labels.tolist()


def by_threads(train: Any, base: hr.TreeCRF) -> None:
    print(f"\n{f'{BITS} bits, threads':34}{'1 s':>8}{'2 s':>8}{'ratio':>10}")
    for name, parameters in {"independent": {}, "cascade of 5": {"cascade": 5}}.items():
        one, two = (
            timed(lambda p=parameters, n=n: code(base, n_jobs=n, **p).fit(train.X, train.y), REPEATS)[0] for n in (1, 2)
        )
        print(f"{name:34}{one:8.2f}{two:8.2f}{one / two:10.2f}", flush=True)


if __name__ == "__main__":
    main()
