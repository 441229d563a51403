"""Explanations and counterfactuals: the time of one position.

python benchmarks/explaining.py

One thread, CoNLL-2000: the position in the middle of each sentence of the test part. The first call of a model reads
its trees or weights once; the other times are without it. "All positions" is `explain(x)`, for each position. A
counterfactual changes each value of X that can reach the position, and labels the whole sentence again.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import hedgerow as hr
from data import few
from jobs import Figures, main, run
from printing import print_table
from serving import MODELS, part, saved, train

N_SENTENCES = few(200, 5)
N_CHANGED = few(50, 2)  # sentences of counterfactuals


def explain(name: str, path: str) -> Figures:
    """Milliseconds of the first call, of the others, of a position among all of a sentence, and of counterfactuals."""
    model, X = hr.load(path).set_params(n_jobs=1), part(MODELS[name][0], "test")[0][: N_SENTENCES + 1]
    times = []
    for x in X:
        began = time.perf_counter()
        model.explain(x, len(x) // 2)
        times.append(1000 * (time.perf_counter() - began))
    began = time.perf_counter()
    n = sum(len(model.explain(x)) for x in X[:20])
    every = 1000 * (time.perf_counter() - began) / n
    changed = []
    for x in X[: N_CHANGED + 1]:
        began = time.perf_counter()
        hr.inspection.counterfactual(model, x, len(x) // 2)
        changed.append(1000 * (time.perf_counter() - began))
    return {"first": times[0], "single": times[1:], "all": every, "changed": changed[1:]}


def print_times() -> None:
    def rows() -> Iterator[list[object]]:
        with tempfile.TemporaryDirectory() as folder:
            for name in MODELS:
                found = run("explain", name, saved(name, folder))
                middle, late = np.percentile(found["single"], [50, 99])
                changed = np.percentile(found["changed"], [50, 99])
                yield [
                    name,
                    f"{found['first']:.0f}",
                    f"{middle:.1f}",
                    f"{late:.1f}",
                    f"{found['all']:.1f}",
                    *(f"{one:.0f}" for one in changed),
                ]

    print_table(
        [
            "model",
            "first call ms",
            "median ms",
            "99th percentile ms",
            "all positions, ms each",
            "counterfactual, median ms",
            "99th percentile",
        ],
        rows(),
    )


JOBS: dict[str, Any] = {"train": train, "explain": explain}


if __name__ == "__main__":
    main(__doc__, {"times": print_times}, JOBS)
