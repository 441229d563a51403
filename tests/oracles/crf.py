"""Naive linear CRFs: weights in a dict by feature name, likelihoods over all label sequences."""

from __future__ import annotations

from collections import Counter

import numpy as np

from oracles import lattice as oracles


def attributes(sequence, t, window):
    """{name: value} of what a list of dicts shows at t through a window; a name is (key, offset, value or None)."""
    shown = {}
    for offset in range(-window, window + 1):
        inside = 0 <= t + offset < len(sequence)
        for key, value in (sequence[t + offset] if inside else sequence[t]).items():
            if not inside:
                shown[key, offset, "outside"] = 1.0
            elif isinstance(value, str):
                shown[key, offset, value] = 1.0
            elif isinstance(value, dict):
                shown |= {(key, offset, name): weight for name, weight in value.items()}
            else:
                shown[key, offset, None] = float(value)
    return shown


def features(sequence, labels, t, window, order, *, edges, bias):
    """Every (feature, value) of a labelled position: state, edge and n-gram features."""
    shown = attributes(sequence, t, window)
    found = [(("state", name, labels[t]), value) for name, value in shown.items()]
    before = labels[max(0, t - order) : t]
    if edges and len(before) == order:
        found += [(("edge", name, tuple(before), labels[t]), value) for name, value in shown.items()]
    found += [(("gram", tuple(before[len(before) - m :]), labels[t]), 1.0) for m in range(not bias, len(before) + 1)]
    return found


def observed(X, y, window, order, *, edges=False, bias=False):
    """How often training has each feature."""
    times = Counter()
    for sequence, labels in zip(X, y, strict=True):
        for t in range(len(sequence)):
            for feature, _ in features(sequence, labels, t, window, order, edges=edges, bias=bias):
                times[feature] += 1
    return times


def score(weights, sequence, labels, window, order, *, edges=False, bias=False):
    return sum(
        weights.get(feature, 0.0) * value
        for t in range(len(sequence))
        for feature, value in features(sequence, labels, t, window, order, edges=edges, bias=bias)
    )


def log_likelihood(weights, sequence, labels, classes, window, order, **kinds):
    """By writing out every way to label the sequence."""
    ways = [[]]
    for _ in sequence:
        ways = [[*way, label] for way in ways for label in classes]
    scores = [score(weights, sequence, way, window, order, **kinds) for way in ways]
    return score(weights, sequence, labels, window, order, **kinds) - oracles.log_sum(scores)


def inverse_hessian(pairs):
    """BFGS written out as a matrix: H <- (1 - r s y') H (1 - r y s') + r s s', from the scaled identity."""
    step, change = pairs[-1]
    h = np.eye(len(step)) * (step @ change) / (change @ change)
    for step, change in pairs:
        r = 1 / (step @ change)
        left = np.eye(len(step)) - r * np.outer(step, change)
        h = left @ h @ left.T + r * np.outer(step, step)
    return h
