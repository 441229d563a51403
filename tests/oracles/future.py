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


def pair_gradients(F, eta, G, gold, starts, size, back):
    """Proposition 5.2: (position s, g) for every bag and every s in it."""
    q = noisy_or(G, starts, size, back)
    found = []
    for t, bag in enumerate(bags(starts, size, back)):
        residual = gold[t] - logistic(F[t] + eta * q[t])
        found += [(s, eta * residual * (1 - q[t]) * logistic(G[s])) for s in bag]
    return found


def direction_sums(p, codes, weights, q):
    """By label, in fractions: the sum over positions of w q (gold - P), and of w q^2 P."""
    k = len(p[0])
    gradient, curvature = [Fraction(0)] * k, [Fraction(0)] * k
    for own, code, w, value in zip(p.tolist(), codes.tolist(), weights.tolist(), q.tolist(), strict=True):
        for label in range(k):
            gradient[label] += Fraction(w) * Fraction(value) * ((code == label) - Fraction(own[label]))
            curvature[label] += Fraction(w) * Fraction(value) ** 2 * Fraction(own[label])
    return gradient, curvature


# The algorithm of section 5.3.2, for sequences of letters and labels 0 and 1.

GOLDEN = (math.sqrt(5) - 1) / 2
EQUAL = 1e-12  # likelihoods that differ by rounding


def golden_section(value, bound):
    """The step in [0, bound] with the highest value, and that value."""
    low, high = 0.0, bound
    tried = [(step, value(step)) for step in (low, high)]
    while high - low > 1e-3 * high and high > 1e-9 * bound:
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        tried += [(left, value(left)), (right, value(right))]
        if value(right) > value(left) + EQUAL:
            low = left
        else:
            high = right
    highest = max(reached for _, reached in tried)
    return min((step, reached) for step, reached in tried if reached >= highest - EQUAL)


def mean_log_likelihood(F, gold):
    return sum(y * f - (math.log1p(math.exp(-abs(f))) + max(f, 0)) for y, f in zip(gold, F, strict=True)) / len(gold)


def regression_tree(examples, tests, max_leaves):
    """Fitted to (position, labels before it, target), without any penalty; a leaf is a mean."""
    scale = 1 / max((abs(target) for _, _, target in examples), default=1.0)
    rounded = [(t, before, round(target * scale * oracles_trees.UNIT)) for t, before, target in examples]
    tree = oracles_trees.fit_regression_tree(rounded, list(tests.items()), max_leaves, oracles_trees.Rules(0.0))
    return _times(tree, 1 / scale)


def _times(tree, factor):
    if "test" not in tree:
        return {"value": tree["value"] * factor}
    return {**tree, "true": _times(tree["true"], factor), "false": _times(tree["false"], factor)}


def tree_value(tree, tests, example):
    while "test" in tree:
        tree = tree["true" if tests[tree["test"]](example) else "false"]
    return tree["value"]


def thermometer(values, number, n_bins=20):
    """{key: test} of a feature: is its value below the end of a bin?"""
    lowest, width = min(values), (max(values) - min(values)) / n_bins
    return {
        (f"future feature {number}", b): lambda e, end=lowest + (b + 1) * width: values[e[0]] < end
        for b in range(n_bins - 1)
    }


def published(
    X, y, *, order, size, back, start, max_leaves, alpha, beta, eta, min_gain, pattern_iterations=10, max_future=9
):
    """Yield ("round", tree, alpha) and ("discovery", [(tree, beta), ...], eta), in the order in which they are found.

    alpha, beta and eta are the upper bounds of the line searches, and `start` is G before the first tree.
    """
    letters, gold, starts = "".join(X), [int(v) for one in y for v in one], [0]
    before = []
    for labels in y:
        starts.append(starts[-1] + len(labels))
        before += [
            tuple(int(labels[t - lag]) if t >= lag else "start" for lag in range(1, order + 1))
            for t in range(len(labels))
        ]
    own = {("symbol", c): lambda e, c=c: letters[e[0]] == c for c in sorted(set(letters))}
    tests = dict(own)
    for lag in range(order):
        for v in (0, 1, "start"):
            tests[f"y[-{lag + 1}]", str(v)] = lambda e, lag=lag, v=v: e[1][lag] == v
    n, F, n_features = len(gold), [0.0] * len(gold), 0

    def plus(step, values):
        return [f + step * value for f, value in zip(F, values, strict=True)]

    without = -math.inf  # the likelihood before the last feature
    while True:
        while True:  # the first option
            residuals = [(t, before[t], gold[t] - logistic(F[t])) for t in range(n)]
            tree = regression_tree(residuals, tests, max_leaves)
            values = [tree_value(tree, tests, example) for example in residuals]
            step, reached = golden_section(lambda a, f=values: mean_log_likelihood(plus(a, f), gold), alpha)
            if reached <= mean_log_likelihood(F, gold) + min_gain:
                break
            F = plus(step, values)
            yield "round", tree, step
        if n_features == max_future or mean_log_likelihood(F, gold) <= without + min_gain:
            return
        G, found = [start] * n, []
        for _ in range(pattern_iterations):  # the second option
            reached = mean_log_likelihood(plus(1.0, noisy_or(G, starts, size, back)), gold)
            pairs = [(s, (), g) for s, g in pair_gradients(F, 1.0, G, gold, starts, size, back)]
            tree = regression_tree(pairs, own, max_leaves)
            values = [tree_value(tree, own, (s, (), 0)) for s in range(n)]

            def after(b, G=G, values=values):
                moved = [g + b * value for g, value in zip(G, values, strict=True)]
                return mean_log_likelihood(plus(1.0, noisy_or(moved, starts, size, back)), gold)

            step, best = golden_section(after, beta)
            if best <= reached + min_gain:
                break
            G = [g + step * value for g, value in zip(G, values, strict=True)]
            found.append((tree, step))
        if not found:
            return
        Q, n_features = noisy_or(G, starts, size, back), n_features + 1
        weight, _ = golden_section(lambda w, Q=Q: mean_log_likelihood(plus(w, Q), gold), eta)
        tests |= thermometer(Q, n_features)
        yield "discovery", found, weight
        without, F = mean_log_likelihood(F, gold), plus(weight, Q)
