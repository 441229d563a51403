"""What missing values cost TreeCRF: training and tagging with every fifth value lost, by method, against whole data.

HEDGEROW_DATA=... python benchmarks/missing.py            # the tables of docs/benchmarks.md

Every set and setting is a fresh process on one thread. The methods take turns in it, and a time is the quickest of
several, so that a machine that is slower for a while is so for all of them.
"""

from __future__ import annotations

import functools
import zlib
from typing import Any

import hedgerow as hr
from jobs import Figures, heading, main, run, tagged

SETS = {"protein": 5, "nettalk-stress": 6, "hyphen": 0}  # windows
KINDS = ("published", "modern")
METHODS = ("weighting", "surrogate", "learned", "impute", "indicator")
AIMS = {"weighting": 2.0, "surrogate": 3.0, "learned": 1.2}  # times the milliseconds of whole data
RATE = 0.2
N_ROUNDS = 50
TURNS = 5


def trained(kind: str, window: int, method: str, X: hr.Sequences, y: Any) -> tuple[hr.TreeCRF, float]:
    """The model, and milliseconds a round."""
    make = hr.TreeCRF.published if kind == "published" else hr.TreeCRF
    model = make(window=window, n_rounds=N_ROUNDS, missing=method, n_jobs=1).fit(X, y)
    first, *_, last = model.training_log_
    return model, 1000 * (last["seconds"] - first["seconds"]) / (last["round"] - first["round"])


def costs(name: str, kind: str) -> Figures:
    """Milliseconds a round and positions a second, by what is trained on and by method."""
    train, test = hr.datasets.load(name, "train"), hr.datasets.load(name, "test")
    whole, lost = hr.Sequences(train.X), hr.datasets.damage(train.X, RATE, 0)
    tests = {"whole": hr.Sequences(test.X), "lost": hr.datasets.damage(test.X, RATE, 1)}
    found: Figures = {}
    for _ in range(TURNS):
        for method in METHODS:
            for which, X in (("whole", whole), ("lost", lost)):
                model, ms = trained(kind, SETS[name], method, X, train.y)
                key = f"{which} {method}"
                found[f"ms {key}"] = min(ms, found.get(f"ms {key}", ms))
                found[f"trees {key}"] = fingerprint(model)
            for which, X in tests.items():
                _, speed = tagged(model, X)
                found[f"speed {which} {method}"] = max(speed, found.get(f"speed {which} {method}", speed))
    return found


def fingerprint(model: hr.TreeCRF) -> int:
    """The same for the same trees."""
    trees = model.model_.potential.trees
    return zlib.crc32(trees.nodes.tobytes(), zlib.crc32(trees.values.tobytes()))


@functools.cache
def measured(name: str, kind: str) -> Figures:
    return run("costs", name, kind)


def print_training() -> None:
    columns = [name for method in METHODS for name in (method, "ratio")]
    heading("20 % missing", "settings", "whole, ms a round", *columns)
    for kind in KINDS:
        for name in SETS:
            found = measured(name, kind)
            whole = min(found[f"ms whole {method}"] for method in METHODS)
            times = [found[f"ms lost {method}"] for method in METHODS]
            cells = " | ".join(f"{ms:.2f} | {ms / whole:.2f}" for ms in times)
            print(f"| {name} | {kind} | {whole:.2f} | {cells} |", flush=True)
    aims = [cell for method in METHODS for cell in ("", f"{AIMS[method]} or less" if method in AIMS else "")]
    print("| aim |  |  | " + " | ".join(aims) + " |")


def print_tagging() -> None:
    """By models of damaged data, from encoded sequences: filling in and marking are over by then."""
    heading("positions/s", "settings", "of", *METHODS)
    for kind in KINDS:
        for name in SETS:
            for which, called in (("whole", "whole data"), ("lost", "20 % missing")):
                speeds = [measured(name, kind)[f"speed {which} {method}"] for method in METHODS]
                cells = " | ".join(f"{speed / 1000:.0f}k" for speed in speeds)
                print(f"| {name} | {kind} | {called} | {cells} |", flush=True)


def print_whole() -> None:
    heading("whole data, ms a round", "settings", *METHODS, "trees")
    for kind in KINDS:
        for name in SETS:
            found = measured(name, kind)
            cells = " | ".join(f"{found[f'ms whole {method}']:.2f}" for method in METHODS)
            same = len({found[f"trees whole {method}"] for method in METHODS}) == 1
            print(f"| {name} | {kind} | {cells} | {'the same' if same else 'DIFFERENT'} |", flush=True)


JOBS: dict[str, Any] = {"costs": costs}
PARTS = {"training": print_training, "tagging": print_tagging, "whole": print_whole}


if __name__ == "__main__":
    main(__doc__, JOBS, PARTS)
