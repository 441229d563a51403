"""Rounds of TreeCRF on the pseudo-likelihood beside ordinary ones, and what starting with them saves.

python benchmarks/pseudo_likelihood.py

The algorithm is the published one with the settings that experiments/shrinkage.py chose, on one thread.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import hedgerow as hr
from data import QUICK, few, load
from hedgerow.errors import UnseenLabelWarning
from jobs import main
from printing import log, print_table

# A rare label may be absent from what a fit learns from: its positions then count as wrong.
warnings.filterwarnings("ignore", category=UnseenLabelWarning)

# The window, and the L2 penalty that experiments/shrinkage.py chose for marginal decoding.
SETTINGS: dict[str, dict[str, Any]] = {
    "protein": {"window": 5, "l2": 40.0},
    "nettalk-stress": {"window": 6, "l2": 40.0},
    "hyphen": {"window": 0, "l2": 5.0},
    "perlfaq": {"window": 0, "l2": 20.0},
}
ROUNDS = few(20, 3)
LONG = few(100, 6)
MARKS = (2, 4) if QUICK else (10, 50)
REPEATS = few(5, 1)
PSEUDO_ROUNDS = 3  # of the paper


def data_of(name: str) -> tuple[Any, list[list[str]]]:
    found = load(name, "all" if name == "perlfaq" and not QUICK else "train")
    return found.X, [[str(label) for label in labels] for labels in found.y]


def model_of(name: str, n_rounds: int, pseudo_rounds: int) -> hr.TreeCRF:
    return hr.TreeCRF.published(
        n_rounds=n_rounds, pseudo_rounds=pseudo_rounds, decode="marginal", n_jobs=1, **SETTINGS[name]
    )


def fit_times(name: str, pseudo_rounds: int) -> tuple[float, float, float]:
    """(inference of a round, a whole round, fit of all rounds) in seconds.

    A round counts with the least of several times, and what is returned is the mean of rounds.
    """
    X, y = data_of(name)
    inference, whole, fits = [], [], []
    for _ in range(REPEATS):
        began = time.perf_counter()
        log_of_fit = model_of(name, ROUNDS, pseudo_rounds).fit(X, y).training_log_
        fits.append(time.perf_counter() - began)
        inference.append([record["inference_seconds"] for record in log_of_fit[1:-1]])
        whole.append([record["inference_seconds"] + record["growing_seconds"] for record in log_of_fit[1:-1]])
    return float(np.min(inference, axis=0).mean()), float(np.min(whole, axis=0).mean()), min(fits)


def rounds() -> None:
    def rows() -> Iterator[list[str]]:
        for name in SETTINGS:
            log(name)
            plain, pseudo = fit_times(name, 0), fit_times(name, ROUNDS)
            milliseconds = [f"{1000 * seconds:.2f}" for pair in zip(plain, pseudo, strict=True) for seconds in pair]
            yield [name, *milliseconds, f"{pseudo[1] / plain[1]:.2f}"]

    head = ["inference", "pseudo", "round", "pseudo", f"fit of {ROUNDS}", "pseudo", "pseudo round / round"]
    print_table(["milliseconds", *head], rows())


def course(name: str, pseudo_rounds: int) -> tuple[Any, Any, Any]:
    """Likelihood loss, accuracy on the held-out last fifth, and seconds of learning, by round."""
    X, y = data_of(name)
    n = len(y) * 4 // 5
    log_of_fit = model_of(name, LONG, pseudo_rounds).fit(X[:n], y[:n], X_dev=X[n:], y_dev=y[n:]).training_log_
    losses = [np.inf if "objective" in record else record["loss"] for record in log_of_fit]
    seconds = [record["inference_seconds"] + record["growing_seconds"] for record in log_of_fit]
    accuracy = [record["dev_accuracy"] for record in log_of_fit]
    return np.array(losses), np.array(accuracy), np.cumsum(seconds)


def first(reached: Any, seconds: Any) -> str:
    """The first round at which something is reached, and the seconds until then."""
    return f"{reached.argmax() + 1}, {seconds[reached.argmax()]:.2f} s" if reached.any() else "never"


def start() -> None:
    def rows() -> Iterator[list[str]]:
        for name in SETTINGS:
            log(name)
            courses = [course(name, n) for n in (0, PSEUDO_ROUNDS)]
            losses, accuracies, _ = courses[0]
            for mark in MARKS:
                reached = [first(own <= losses[mark - 1], seconds) for own, _, seconds in courses]
                yield [name, f"loss {losses[mark - 1]:.3f}", *reached]
            for mark in MARKS:
                best = accuracies[:mark].max()
                reached = [first(own >= best, seconds) for _, own, seconds in courses]
                yield [name, f"held-out accuracy {best:.2%}", *reached]

    print_table(["set", "until", "0 pseudo rounds", f"{PSEUDO_ROUNDS} pseudo rounds"], rows())


if __name__ == "__main__":
    main(__doc__, {"rounds": rounds, "start": start})
