"""Stochastic meta-descent (Vishwanathan, Schraudolph, Schmidt & Murphy 2006) beside the solvers of LinearCRF.

python benchmarks/meta_descent.py

Meta-descent is a stochastic gradient descent in which each weight has a step size eta of its own. With the gradient g
of a batch of sequences, the product H v of the Hessian of the batch with v, and products of vectors by element,

    eta <- eta max(1/2, 1 - mu g v)
    w   <- w - eta g
    v   <- lambda v - eta (g + lambda H v)

H v is a difference of two gradients, so a step costs two gradients. The first eta, mu, lambda and the number of
sequences in a batch are those with the lowest training loss after two passes over a sample of the training sequences;
mu = 0 is plain stochastic descent. Losses are penalised training losses per sequence, with l2 = 1, above the lowest
that L-BFGS finds; seconds are CPU seconds of a pass on one thread. LinearCRF(solver="sgd") has the mean of its weights.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import hedgerow as hr
from data import QUICK, chunking, few, load
from hedgerow.errors import ConvergenceWarning
from hedgerow.estimators.fitting import prepare
from hedgerow.learning.base import TrainingData
from hedgerow.learning.likelihood import Likelihood
from hedgerow.learning.linear_space import LinearSpace
from jobs import main
from printing import log, print_table

L2 = 1.0
PASSES = (1, 2, 5, 10)
SAMPLE = 500  # sequences on which settings are chosen
ETAS = (0.1,) if QUICK else (0.3, 0.1, 0.03, 0.01)
META_RATES = (0.0, 0.1) if QUICK else (0.0, 0.02, 0.1)
DECAYS = (1.0,) if QUICK else (0.9, 1.0)
BATCHES = (8,) if QUICK else (8, 32)
DIFFERENCE = 1e-2  # largest change of a weight in the difference of two gradients

TOO_LARGE = 1e4  # a weight of a descent that diverges

Floats = NDArray[np.float64]


class Setting(NamedTuple):
    batch: int
    eta: float
    meta_rate: float  # mu
    decay: float  # lambda


class Batches:
    """The objective of batches of sequences, each with its share of the penalty."""

    def __init__(self, training: TrainingData, space: LinearSpace, size: int) -> None:
        n = len(training.weights)
        order = np.random.default_rng(0).permutation(n)
        chosen = [np.sort(order[first : first + size]) for first in range(0, n, size)]
        self._parts = [Likelihood(subset(training, own), space) for own in chosen]
        self._shares = [L2 * len(own) / n for own in chosen]

    def __len__(self) -> int:
        return len(self._parts)

    def gradient(self, b: int, w: Floats) -> Floats:
        return self._parts[b](w)[1] + 2 * self._shares[b] * w


def subset(training: TrainingData, chosen: NDArray[np.int64]) -> TrainingData:
    there = np.repeat(np.isin(np.arange(len(training.weights)), chosen), training.sequences.lengths)
    return replace(
        training, sequences=training.sequences[chosen], codes=training.codes[there], weights=training.weights[chosen]
    )


def passes(batches: Batches, n_weights: int, setting: Setting) -> Iterator[Floats]:
    """The weights after each pass; infinite once they are too large."""
    w, v, eta = np.zeros(n_weights), np.zeros(n_weights), np.full(n_weights, setting.eta)
    rng = np.random.default_rng(0)
    while True:
        for b in rng.permutation(len(batches)):
            g = batches.gradient(b, w)
            if setting.meta_rate:
                eta *= np.maximum(0.5, 1 - setting.meta_rate * g * v)
                largest = np.abs(v).max()
                scale = DIFFERENCE / largest if largest > 0 else 0.0
                product = (batches.gradient(b, w + scale * v) - g) / scale if scale else 0.0
                v = setting.decay * v - eta * (g + setting.decay * product)
            w = w - eta * g
            if not np.abs(w).max() < TOO_LARGE:
                while True:
                    yield np.full(n_weights, np.inf)
        yield w


def penalised(likelihood: Likelihood, w: Floats) -> float:
    return likelihood(w)[0] + L2 * float(w @ w) if np.isfinite(w).all() else np.inf


def chosen_setting(training: TrainingData, space: LinearSpace, meta: bool) -> Setting:
    """The setting with the lowest loss of the sample after two passes over it."""
    sample = subset(training, np.sort(np.random.default_rng(1).permutation(len(training.weights))[:SAMPLE]))
    likelihood, best = Likelihood(sample, space), []
    for batch in BATCHES:
        batches = Batches(sample, space, batch)
        for eta in ETAS:
            for rate in META_RATES if meta else (0.0,):
                for decay in DECAYS if rate else (1.0,):
                    if meta and not rate:
                        continue
                    setting = Setting(batch, eta, rate, decay)
                    w = [w for _, w in zip(range(2), passes(batches, space.n_weights, setting), strict=False)][-1]
                    loss = penalised(likelihood, w)
                    best.append((loss, setting))
    return min(best)[1]


def descent(training: TrainingData, space: LinearSpace, name: str, meta: bool) -> tuple[str, list[float], float]:
    """(name with the setting, loss per sequence after each pass, seconds of a pass)"""
    setting = chosen_setting(training, space, meta)
    log(f"  {name}: {setting}")
    likelihood, batches = Likelihood(training, space), Batches(training, space, setting.batch)
    losses, seconds, begin = [], 0.0, time.process_time()
    for w, _ in zip(passes(batches, space.n_weights, setting), range(few(max(PASSES), 2)), strict=False):
        seconds += time.process_time() - begin
        losses.append(penalised(likelihood, w) / len(training.weights))
        begin = time.process_time()
    shown = f"{name}: batch {setting.batch}, eta {setting.eta:g}"
    if meta:
        shown += f", mu {setting.meta_rate:g}, lambda {setting.decay:g}"
    return shown, losses, seconds / len(losses)


def solved(name: str, solver: str, X: Any, y: Any, window: int, **limits: Any) -> tuple[str, list[float], float]:
    """The same for a solver of LinearCRF."""
    log(f"  {name}")
    model = hr.LinearCRF(window=window, solver=solver, l2=L2, tol=1e-9, n_jobs=1, random_state=0, **limits)  # type: ignore[arg-type]
    begin = time.process_time()
    losses = [record["loss"] for record in model.fit(X, y).training_log_]
    return name, losses, (time.process_time() - begin) / len(losses)


def print_task(title: str, X: Any, y: Any, window: int) -> None:
    model = hr.LinearCRF(window=window, l2=L2, n_jobs=1)
    training, _ = prepare(model._converted(), X, y, None, None, None, None, None)
    space = LinearSpace.of(training, window)
    n = few(max(PASSES), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        least = min(solved("L-BFGS to the end", "lbfgs", X, y, window, max_iter=few(300, 5))[1])
        found = [
            solved("LinearCRF, lbfgs", "lbfgs", X, y, window, max_iter=n),
            solved("LinearCRF, auto (dual ascent)", "auto", X, y, window, max_iter=n),
            solved("LinearCRF, sgd", "sgd", X, y, window, epochs=n),
            descent(training, space, "batches without meta-descent", meta=False),
            descent(training, space, "meta-descent", meta=True),
        ]
    shown = [p for p in PASSES if p <= n]
    rows = (
        [name, *(f"{losses[min(p, len(losses)) - 1] - least:.4f}" for p in shown), f"{seconds:.2f}"]
        for name, losses, seconds in found
    )
    print_table([f"{title}: loss above {least:.4f}, by passes", *map(str, shown), "CPU s a pass"], rows)


def print_stress() -> None:
    data = load("nettalk-stress", "train")
    print_task("stress", list(data.X), list(data.y), 3)


def print_chunks() -> None:
    X, y = chunking("train")
    n = len(X) if QUICK else len(X) // 4
    print_task("a quarter of CoNLL-2000", hr.Sequences(X[:n]), y[:n], 0)


if __name__ == "__main__":
    main(__doc__, {"stress": print_stress, "chunks": print_chunks})
