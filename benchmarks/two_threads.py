"""Fits on CoNLL-2000 with one and with two threads, alternately; the smallest wall time of each counts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import hedgerow as hr
from data import chunking, few
from jobs import shorten
from printing import log, print_table

REPEATS = few(3, 1)


def fit_seconds(model: Any, X: hr.Sequences, y: Any, n_jobs: int) -> float:
    begin = time.perf_counter()
    model.set_params(n_jobs=n_jobs).fit(X, y)
    return time.perf_counter() - begin


def print_two_threads(models: list[Any]) -> None:
    """Print the wall times of the fits from sequences that have been read already."""
    X, y = chunking("train")
    sequences = hr.Sequences(X)

    def rows() -> Iterator[list[str]]:
        for model in models:
            shorten(model)
            model.set_params(n_jobs=2).fit(sequences[:10], y[:10])  # imports, and threads that start once
            log(f"  {type(model).__name__}, two threads")
            times = [[fit_seconds(model, sequences, y, n) for n in (1, 2)] for _ in range(REPEATS)]
            one, two = (min(column) for column in zip(*times, strict=True))
            yield [type(model).__name__, f"{one:.2f}", f"{two:.2f}", f"{one / two:.2f}"]

    print_table(["fit", "one thread, s", "two threads, s", "ratio"], rows())
