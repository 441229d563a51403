"""Random seeds: how the seeds of steps and of random streams derive from `random_state`."""

from __future__ import annotations

import numpy as np


def fit_seeds(random_state: int | None, n: int = 1) -> list[int]:
    """Seeds for a fit; different in every call when random_state is None."""
    return [int(seed) for seed in np.random.SeedSequence(random_state).generate_state(n)]


def step_seed(seed: int, step: int) -> int:
    """The seed that the compiled core uses in a step."""
    return (seed * 1_000_003 + step) % 2**64


def stream(seed: int, *which: int) -> np.random.Generator:
    """An independent random generator for each purpose of a fit."""
    return np.random.default_rng([seed, *which])
