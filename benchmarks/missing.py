"""The cost of missing values in TreeCRF: training and tagging with every fifth value lost, against complete data.

python benchmarks/missing.py

Every set and setting is a fresh process on one thread. The methods alternate in it, and a time is the fastest of
several, so that a machine that is slower for a while is slower for all methods.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import hedgerow as hr
from data import QUICK, few, load
from jobs import Figures, main, run, tagged
from printing import print_table

SETS = {"protein": 5} if QUICK else {"protein": 5, "nettalk-stress": 6, "hyphen": 0}  # windows
KINDS = ("published", "modern")
METHODS = ("weighting", "surrogate", "learned", "impute", "indicator")
AIMS = {"weighting": 2.0, "surrogate": 3.0, "learned": 1.2}  # times the milliseconds of whole data
RATE = 0.2
N_ROUNDS = few(50, 3)
REPEATS = few(5, 1)


def trained(kind: str, window: int, method: Any, X: hr.Sequences, y: Any) -> tuple[hr.TreeCRF, float]:
    """The model, and milliseconds a round."""
    make = hr.TreeCRF.published if kind == "published" else hr.TreeCRF
    model = make(window=window, n_rounds=N_ROUNDS, n_jobs=1).set_params(missing=method).fit(X, y)
    first, *_, last = model.training_log_
    return model, 1000 * (last["seconds"] - first["seconds"]) / (len(model.training_log_) - 1)


def costs(name: str, kind: str) -> Figures:
    """Milliseconds a round and positions a second, by what is trained on and by method."""
    train, test = load(name, "train"), load(name, "test")
    whole, lost = hr.Sequences(train.X), hr.datasets.damage(train.X, RATE, 0)
    tests = {"whole": hr.Sequences(test.X), "lost": hr.datasets.damage(test.X, RATE, 1)}
    found: Figures = {}
    for _ in range(REPEATS):
        for method in METHODS:
            for which, X in (("whole", whole), ("lost", lost)):
                model, ms = trained(kind, SETS[name], method, X, train.y)
                key = f"{which} {method}"
                found[f"ms {key}"] = min(ms, found.get(f"ms {key}", ms))
                found[f"trees {key}"] = fingerprint(model, tests["whole"])
            for which, X in tests.items():
                _, speed = tagged(model, X)
                found[f"speed {which} {method}"] = max(speed, found.get(f"speed {which} {method}", speed))
    return found


def fingerprint(model: hr.TreeCRF, complete: hr.Sequences) -> int:
    """A checksum of the probabilities of complete data: equal for equal trees."""
    return zlib.crc32(np.concatenate(model.predict_proba(complete)).tobytes())


@functools.cache
def measured(name: str, kind: str) -> Figures:
    return run("costs", name, kind)


def print_training() -> None:
    def rows() -> Iterator[list[str]]:
        for kind in KINDS:
            for name in SETS:
                found = measured(name, kind)
                complete = min(found[f"ms whole {method}"] for method in METHODS)
                times = [found[f"ms lost {method}"] for method in METHODS]
                cells = [cell for ms in times for cell in (f"{ms:.2f}", f"{ms / complete:.2f}")]
                yield [name, kind, f"{complete:.2f}", *cells]
        aims = [f"{AIMS[method]} or less" if method in AIMS else "" for method in METHODS]
        yield ["aim", "", "", *(cell for aim in aims for cell in ("", aim))]

    columns = [name for method in METHODS for name in (method, "ratio")]
    print_table(["20 % missing", "settings", "whole, ms a round", *columns], rows())


def print_tagging() -> None:
    """Speed of models of damaged data, from sequences that have been read already."""

    def rows() -> Iterator[list[str]]:
        for kind in KINDS:
            for name in SETS:
                for which, title in (("whole", "whole data"), ("lost", "20 % missing")):
                    speeds = [measured(name, kind)[f"speed {which} {method}"] for method in METHODS]
                    yield [name, kind, title, *(f"{speed / 1000:.0f}k" for speed in speeds)]

    print_table(["positions/s", "settings", "of", *METHODS], rows())


def print_whole() -> None:
    def rows() -> Iterator[list[str]]:
        for kind in KINDS:
            for name in SETS:
                found = measured(name, kind)
                times = [f"{found[f'ms whole {method}']:.2f}" for method in METHODS]
                same = len({found[f"trees whole {method}"] for method in METHODS}) == 1
                yield [name, kind, *times, "the same" if same else "DIFFERENT"]

    print_table(["whole data, ms a round", "settings", *METHODS, "trees"], rows())


JOBS: dict[str, Any] = {"costs": costs}
PARTS = {"training": print_training, "tagging": print_tagging, "whole": print_whole}


if __name__ == "__main__":
    main(__doc__, PARTS, JOBS)
