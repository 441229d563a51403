"""Naive section 5.3 of the dissertation: an instance bag is a list, every pair of bag and position an example."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

from oracles import trees as oracles_trees


def bags(starts, size, back):
    """For each position the positions of its bag; a size of None takes all there are."""
    found = []
    for begin, end in pairwise(starts):
        for t in range(begin, end):
            before, after = list(range(begin, t)), list(range(t + 1, end))
            n = end - begin if size is None else size
            found.append(before[max(len(before) - n, 0) :] if back else after[:n])
    return found


def logistic(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def noisy_or(scores, starts, size, back):
    """Equation 5.11, a product."""
    return [1 - math.prod(1 - logistic(scores[s]) for s in bag) for bag in bags(starts, size, back)]


def log_likelihood(F, eta, G, gold, starts, size, back):
    """Equation 5.4 of one score F and two labels, where a feature speaks with eta."""
    q = noisy_or(G, starts, size, back)
    return sum(y * (f + eta * p) - math.log1p(math.exp(f + eta * p)) for y, f, p in zip(gold, F, q, strict=True))


def pair_gradients(F, eta, G, gold, starts, size, back):
    """Proposition 5.2: (position s, g) for every bag and every s in it."""
    q = noisy_or(G, starts, size, back)
    found = []
    for t, bag in enumerate(bags(starts, size, back)):
        residual = gold[t] - logistic(F[t] + eta * q[t])
        found += [(s, eta * residual * (1 - q[t]) * logistic(G[s])) for s in bag]
    return found


def lower_tree(rows, F, eta, G, gold, starts, size, back, max_leaves, l2):
    """The regression tree on all pairs, as oracles_trees has trees."""
    pairs = pair_gradients(F, eta, G, gold, starts, size, back)
    examples = [(s, (), round(g * oracles_trees.UNIT)) for s, g in pairs]
    features = oracles_trees.features_of(rows, 0, 2)
    return oracles_trees.fit_regression_tree(examples, features, max_leaves, oracles_trees.Rules(l2)), dict(features)


def says(tree, tests, s):
    """What a tree says of a position."""
    while "test" in tree:
        tree = tree["true" if tests[tree["test"]]((s, (), 0)) else "false"]
    return tree["value"]


def best_step(steps, values, F, eta, G, gold, starts, size, back):
    """The line search for beta: the first of the best."""
    return max(
        steps,
        key=lambda beta: log_likelihood(
            F, eta, [g + beta * v for g, v in zip(G, values, strict=True)], gold, starts, size, back
        ),
    )


def direction_sums(p, codes, weights, q):
    """By label, in fractions: the sum over positions of w q (gold - P), and of w q^2 P."""
    k = len(p[0])
    gradient, curvature = [Fraction(0)] * k, [Fraction(0)] * k
    for own, code, w, value in zip(p.tolist(), codes.tolist(), weights.tolist(), q.tolist(), strict=True):
        for label in range(k):
            gradient[label] += Fraction(w) * Fraction(value) * ((code == label) - Fraction(own[label]))
            curvature[label] += Fraction(w) * Fraction(value) ** 2 * Fraction(own[label])
    return gradient, curvature
