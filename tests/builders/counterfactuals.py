"""Small sequences of dicts with a text, a number and a set, whose labels depend on neighbours; and what is tried."""

from __future__ import annotations

import math

import numpy as np

from oracles.counterfactuals import Tried

WORDS, TAGS = ["cat", "dog", "eel", "fox"], ["red", "shy", "wet"]


def animals(n, seed, missing=0.0):
    """(X, y): n sequences of one to five positions; `missing` is the share of values that are None."""
    rng = np.random.default_rng(seed)
    X = [[_position(rng, missing) for _ in range(rng.integers(1, 6))] for _ in range(n)]
    return X, [_labels(x) for x in X]


def _position(rng, missing):
    word = None if rng.random() < missing else str(rng.choice(WORDS))
    size = None if rng.random() < missing else round(float(rng.normal(2, 1)), 1)
    tags = None if rng.random() < missing else {tag for tag in TAGS if rng.random() < 0.4}
    return {"word": word, "size": size, "tags": tags}


def _labels(x):
    labels = []
    for position, before in zip(x, [None, *x], strict=False):
        large = (position["size"] or 0) > 2
        after_wet = before is not None and "wet" in (before["tags"] or ())
        labels.append("A" if large != after_wet else "B" if position["word"] in ("cat", "dog") else "C")
    return labels


def thresholds(edges):
    """Numbers on both sides of each threshold, as 32-bit floats, in rising order."""
    return sorted({float(n) for edge in edges for n in (np.nextafter(edge, np.float32(-math.inf)), edge)})


def tried(model, names, *, missing=False):
    """All values of training of the texts, and the numbers at all thresholds of the trees of a model."""
    specs = {spec.name: spec for spec in model.model_.encoder.raw_columns}
    texts = {name: list(specs[name].alphabet) for name in names if specs[name].alphabet is not None}
    numbers = {}
    for name in names:
        if specs[name].alphabet is None:
            edges = binnings(model.model_.potential)[name].edges
            middle = float(np.median(edges.astype(np.float64)))
            numbers[name] = (thresholds(edges), float(edges.std(dtype=np.float64)), middle)
    sets = frozenset(name for name in names if specs[name].kind == "bag")
    return Tried(texts, numbers, missing, sets)


def binnings(potential):
    """The bins of numbers of a potential that has trees, maybe inside."""
    while not hasattr(potential, "binnings"):
        potential = potential.bits[0] if hasattr(potential, "bits") else potential.inner
    return potential.binnings
