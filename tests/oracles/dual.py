"""The penalised loss of a linear model over all paths, its least value by scipy, and dual ascent by its definition."""

from __future__ import annotations

import numpy as np
import scipy.optimize
from scipy.special import logsumexp


class Paths:
    """All paths of each sequence, with the counts of the features that have weights, in the order of `names`."""

    def __init__(self, problem, names):
        self.weights = [float(weight) for weight in problem.weights]
        self.paths = [list(problem.paths(x)) for x in problem.inputs]
        self.gold = [paths.index(y) for paths, y in zip(self.paths, problem.gold, strict=True)]
        self.k, self.counts = problem.k, []
        for x, paths in zip(problem.inputs, self.paths, strict=True):
            by_path = [problem.features(x, z) for z in paths]
            self.counts.append(np.array([[float(c.get(name, 0)) for name in names] for c in by_path]))

    def log_probabilities(self, i, w):
        scores = self.counts[i] @ w
        return scores - logsumexp(scores)

    def loss(self, w):
        """(minus the weighted log-likelihood, its gradient)"""
        value, gradient = 0.0, np.zeros(len(w))
        for i, (weight, gold) in enumerate(zip(self.weights, self.gold, strict=True)):
            log_p = self.log_probabilities(i, w)
            value -= weight * log_p[gold]
            gradient += weight * (np.exp(log_p) @ self.counts[i] - self.counts[i][gold])
        return value, gradient

    def states(self, i, p):
        """P(label) by position, under a distribution p over paths."""
        out = np.zeros((len(self.paths[i][0]), self.k))
        for z, share in zip(self.paths[i], p, strict=True):
            out[np.arange(len(z)), z] += share
        return out


def least_loss(paths, n, l1, l2):
    """The least penalised loss: w = a - b with a, b >= 0, so that |w| = a + b is smooth."""

    def loss(ab):
        w = ab[:n] - ab[n:]
        value, gradient = paths.loss(w)
        gradient = gradient + 2 * l2 * w
        return value + l2 * w @ w + l1 * ab.sum(), np.concatenate([gradient + l1, l1 - gradient])

    options = {"maxiter": 10000, "maxfun": 100000, "ftol": 1e-14, "gtol": 1e-9}
    bounds = [(0, None)] * (2 * n)
    return scipy.optimize.minimize(loss, np.zeros(2 * n), jac=True, bounds=bounds, options=options).fun


def dual_weights(paths, n, order, n_batches, *, l1, l2, pull, caution, sweeps):
    """The weights after sweeps over the batches in `order`; the centre moves after each."""
    own = [i for i, weight in enumerate(paths.weights) if weight]
    batches = [own[b::n_batches] for b in range(n_batches)]
    a = [np.eye(len(p))[gold] for p, gold in zip(paths.paths, paths.gold, strict=True)]
    centre = np.zeros(n)

    def v():
        gaps = (
            weight * (counts[gold] - own @ counts)
            for weight, counts, gold, own in zip(paths.weights, paths.counts, paths.gold, a, strict=True)
        )
        return sum(gaps) + 2 * pull * centre

    def soft(v):
        return np.sign(v) * np.maximum(np.abs(v) - l1, 0) / (2 * (l2 + pull))

    for _ in range(sweeps):
        centre = soft(v())
        for b in order:
            now = v()
            moves = {i: np.exp(paths.log_probabilities(i, soft(now))) - a[i] for i in batches[b]}
            divergence, change = 0.0, np.zeros(n)
            for i, move in moves.items():
                p, q = paths.states(i, a[i] + move), paths.states(i, a[i])
                divergence += paths.weights[i] * np.sum(2 * (p - q) ** 2 / (p + q))
                change += paths.weights[i] * move @ paths.counts[i]
            curvature = divergence + np.square(change[(l1 == 0) | (np.abs(now) > l1)]).sum() / (2 * (l2 + pull))
            for i, move in moves.items():
                a[i] = a[i] + caution * divergence / curvature * move
    return soft(v())
