"""Naive passive-aggressive learning and AROW: weights in a dict, all paths enumerated, every step by its definition."""

from __future__ import annotations

import math

from oracles.linear import added, dot, hamming


def mistake(problem, i, w, known):
    """(features of gold - features of the best path, number of wrong labels) of sequence i; None if gold is best."""
    x, y = problem.inputs[i], problem.gold[i]

    def features(labels):
        return {name: float(count) for name, count in problem.features(x, labels).items() if name in known}

    z = min(problem.paths(x), key=lambda z: (-dot(w, features(z)), z[::-1]))
    return None if z == y else (added(features(y), features(z), -1), hamming(y, z))


def passive_aggressive(problem, order, known, kind, c, error_sensitive):
    """(every weight vector from the first on, one more for each example; the costs of the examples)."""
    vectors, costs = [{}], []
    for i in order:
        w, cost, found = vectors[-1], 0.0, mistake(problem, i, vectors[-1], known)
        if found:
            difference, n_wrong = found
            cost = (math.sqrt(n_wrong) if error_sensitive else 1) - dot(w, difference)
            norm = sum(d * d for d in difference.values())
            if norm > 0:
                tau = {0: cost / norm, 1: min(c, cost / norm), 2: cost / (norm + 1 / (2 * c))}[kind]
                w = added(w, difference, tau * float(problem.weights[i]))
        vectors.append(w)
        costs.append(cost)
    return vectors, costs


def arow(problem, order, known, variance, gamma):
    """The same of AROW with a diagonal covariance matrix."""
    vectors, costs = [{}], []
    covariance = dict.fromkeys(known, variance)
    for i in order:
        w, cost, found = vectors[-1], 0.0, mistake(problem, i, vectors[-1], known)
        if found:
            difference, n_wrong = found
            cost = n_wrong - dot(w, difference)
            confidence = sum(covariance[name] * d * d for name, d in difference.items())
            direction = {name: covariance[name] * d for name, d in difference.items()}
            w = added(w, direction, cost / (confidence + gamma) * float(problem.weights[i]))
            for name, d in difference.items():
                covariance[name] = 1 / (1 / covariance[name] + d * d / gamma)
        vectors.append(w)
        costs.append(cost)
    return vectors, costs
