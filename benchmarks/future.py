"""FutureMEMM: time of fits on one thread, and how it grows with the length of sequences and the size of bags.

python benchmarks/future.py

Every fit is a fresh process. Seconds are CPU seconds, which a busy machine changes little.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

import hedgerow as hr
from data import QUICK, few, load, repeated
from hedgerow import _core
from hedgerow.future.instance_bags import REST
from jobs import Figures, main, run
from printing import print_table

KINDS: tuple[Literal["xor", "or", "extra"], ...] = ("xor", "or", "extra")
NETTALK = (("nettalk-binary", 1, 2), ("nettalk-binary", 3, 2), ("nettalk-stress", 1, 2), ("nettalk", 1, 2))
AIMS = {"synthetic": 5.0, "nettalk-binary": 10.0}
SIZES: tuple[int | None, ...] = (6, None) if QUICK else (1, 6, 30, 100, None)
LENGTHS = (1_000,) if QUICK else (10_000, 100_000, 1_000_000)
REPEATS = 5
N_DRAWS = few(3, 1)


def fitted(model: hr.FutureMEMM, X: Any, y: Any) -> Figures:
    begin = time.process_time()
    model.set_params(n_jobs=1, random_state=0).fit(X, y)
    seconds = time.process_time() - begin
    return {"seconds": seconds, "features": len(model.future_features_)}


def synthetic(kind: Any, seed: int) -> Figures:
    train, test = (
        hr.datasets.future(kind, few(400, 20), seed=3 * seed),
        hr.datasets.future(kind, few(100, 20), seed=3 * seed + 2),
    )
    model = hr.FutureMEMM(order=0, bag=6)
    return fitted(model, train.X, train.y) | {"right": 100 * model.score(test.X, test.y)}


def nettalk(name: str, order: int, bag: int) -> Figures:
    train, test = load(name, "train"), load(name, "test")
    model = hr.FutureMEMM(order=order, bag=bag)
    return fitted(model, train.X, train.y) | {"right": 100 * model.score(test.X, test.y)}


def discovery(size: int | None, length: int) -> Figures:
    """Seconds of a fit that finds one feature in sequences of this length, 12,000 positions in all."""
    train = hr.datasets.future("or", few(12_000, 6000) // length, length, seed=1)
    model = hr.FutureMEMM(order=0, bag=size or "rest", max_future=1, n_rounds=20, pattern_rounds=5)
    return fitted(model, train.X, train.y)


def kernel(size: int | None, length: int) -> Figures:
    """Nanoseconds a position of the noisy-or over one long sequence."""
    scores, starts = np.random.default_rng(0).normal(size=length), np.array([0, length])

    def seconds() -> float:
        begin = time.process_time()
        _core.bag_probabilities(scores, starts, size or REST, False, 1)
        return time.process_time() - begin

    return {"ns": 1e9 * repeated(seconds, REPEATS) / length}


def print_fits() -> None:
    def rows() -> Iterator[list[object]]:
        for kind in KINDS[: few(3, 1)]:
            found = [run("synthetic", kind, seed) for seed in range(N_DRAWS)]
            slowest, worst = max(one["seconds"] for one in found), min(one["right"] for one in found)
            n_features = max(one["features"] for one in found)
            yield [f"{kind}, the slowest of 3", f"{slowest:.2f}", AIMS["synthetic"], n_features, f"{worst:.2f}"]
        for name, order, bag in NETTALK[: few(4, 1)]:
            one = run("nettalk", name, order, bag)
            title = f"{name}, order {order}, bag {bag}"
            yield [title, f"{one['seconds']:.2f}", AIMS.get(name, ""), one["features"], f"{one['right']:.2f}"]

    print_table(["fit", "CPU s", "aim", "features", "right %"], rows())


def print_growth() -> None:
    def rows(job: str, figure: str, decimals: int, lengths: tuple[int, ...], title: str) -> Iterator[list[str]]:
        for length in lengths:
            found = [run(job, size, length)[figure] for size in SIZES]
            yield [f"{title} {length:{',' if job == 'kernel' else ''}}", *(f"{each:.{decimals}f}" for each in found)]

    sizes = ["rest" if size is None else str(size) for size in SIZES]
    lengths = (30, 300, 3000)[: few(3, 1)]
    print_table(["CPU s of a fit, by bag", *sizes], rows("discovery", "seconds", 2, lengths, "sequences of"))
    print_table(["noisy-or, ns a position, by bag", *sizes], rows("kernel", "ns", 1, LENGTHS, "a sequence of"))


JOBS: dict[str, Any] = {"synthetic": synthetic, "nettalk": nettalk, "discovery": discovery, "kernel": kernel}
PARTS = {"fits": print_fits, "growth": print_growth}

if __name__ == "__main__":
    main(__doc__, PARTS, JOBS)
