"""FutureMEMM: seconds of fits on one thread, and how they grow with the length of sequences and the size of bags.

HEDGEROW_DATA=... python benchmarks/future.py            # the tables of docs/benchmarks.md

Every fit is a fresh process. Seconds are of the processor, so that a busy machine does not change them much.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import hedgerow as hr
from hedgerow import _core
from hedgerow.future.potential import REST
from jobs import Figures, heading, main, run

KINDS = ("xor", "or", "extra")
NETTALK = (("nettalk-binary", 1, 2), ("nettalk-binary", 3, 2), ("nettalk-stress", 1, 2), ("nettalk", 1, 2))
AIMS = {"synthetic": 5.0, "nettalk-binary": 10.0}
SIZES = (1, 6, 30, 100, None)
LENGTHS = (10_000, 100_000, 1_000_000)
TURNS = 5


def fitted(model: hr.FutureMEMM, X: Any, y: Any) -> Figures:
    begin = time.process_time()
    model.set_params(n_jobs=1, random_state=0).fit(X, y)
    seconds = time.process_time() - begin
    return {"seconds": seconds, "features": len(model.future_features_)}


def synthetic(kind: Any, seed: int) -> Figures:
    train, test = hr.datasets.future(kind, 400, seed=3 * seed), hr.datasets.future(kind, 100, seed=3 * seed + 2)
    model = hr.FutureMEMM(order=0, bag=6)
    return fitted(model, train.X, train.y) | {"right": 100 * model.score(test.X, test.y)}


def nettalk(name: str, order: int, bag: int) -> Figures:
    train, test = hr.datasets.load(name, "train"), hr.datasets.load(name, "test")
    model = hr.FutureMEMM(order=order, bag=bag)
    return fitted(model, train.X, train.y) | {"right": 100 * model.score(test.X, test.y)}


def discovery(size: int | None, length: int) -> Figures:
    """Seconds of a fit that finds one feature in sequences of this length, 12,000 positions in all."""
    train = hr.datasets.future("or", 12_000 // length, length, seed=1)
    model = hr.FutureMEMM(order=0, bag=size or "rest", max_future=1, n_rounds=20, pattern_rounds=5)
    return fitted(model, train.X, train.y)


def kernel(size: int | None, length: int) -> Figures:
    """Nanoseconds a position of the noisy-or over one long sequence."""
    scores, starts = np.random.default_rng(0).normal(size=length), np.array([0, length])
    best = np.inf
    for _ in range(TURNS):
        begin = time.process_time()
        _core.bag_probabilities(scores, starts, size or REST, False, 1)
        best = min(best, time.process_time() - begin)
    return {"ns": 1e9 * best / length}


def print_fits() -> None:
    heading("fit", "CPU s", "aim", "features", "right %")
    for kind in KINDS:
        found = [run("synthetic", kind, seed) for seed in range(3)]
        longest = max(one["seconds"] for one in found)
        least = min(one["right"] for one in found)
        n = max(one["features"] for one in found)
        print(f"| {kind}, the slowest of 3 | {longest:.2f} | {AIMS['synthetic']} | {n:.0f} | {least:.2f} |", flush=True)
    for name, order, bag in NETTALK:
        one = run("nettalk", name, order, bag)
        aim = AIMS.get(name, "")
        print(
            f"| {name}, order {order}, bag {bag} | {one['seconds']:.2f} | {aim} | {one['features']:.0f} | "
            f"{one['right']:.2f} |",
            flush=True,
        )


def print_growth() -> None:
    heading("CPU s of a fit, by bag", *("rest" if size is None else str(size) for size in SIZES))
    for length in (30, 300, 3000):
        times = [run("discovery", size, length)["seconds"] for size in SIZES]
        print(f"| sequences of {length} | " + " | ".join(f"{seconds:.2f}" for seconds in times) + " |", flush=True)
    heading("noisy-or, ns a position, by bag", *("rest" if size is None else str(size) for size in SIZES))
    for length in LENGTHS:
        times = [run("kernel", size, length)["ns"] for size in SIZES]
        print(f"| a sequence of {length:,} | " + " | ".join(f"{ns:.1f}" for ns in times) + " |", flush=True)


JOBS = {"synthetic": synthetic, "nettalk": nettalk, "discovery": discovery, "kernel": kernel}
PARTS = {"fits": print_fits, "growth": print_growth}

if __name__ == "__main__":
    main(__doc__, JOBS, PARTS)
