"""Slow versions of calibration, reliability, risk and coverage, and ranking for annotation: plain loops."""

from __future__ import annotations

import math
from itertools import permutations, product


def path_probabilities(model, x):
    """{labels: probability} of every label sequence of x, by its log-likelihood."""
    classes = model.classes_.tolist()
    paths = list(product(classes, repeat=len(x)))
    values = model.log_likelihood([x] * len(paths), [list(path) for path in paths])
    return {path: math.exp(value) for path, value in zip(paths, values.tolist(), strict=True)}


def tempered(probabilities, temperature):
    """The distribution with every probability to the power 1 / temperature, normalised."""
    powers = {path: p ** (1 / temperature) for path, p in probabilities.items()}
    total = math.fsum(powers.values())
    return {path: power / total for path, power in powers.items()}


def best_temperature(distributions, gold, grid):
    """The temperature of the grid at which the gold label sequences are most probable."""

    def loss(temperature):
        return -sum(
            math.log(tempered(p, temperature)[tuple(labels)]) for p, labels in zip(distributions, gold, strict=True)
        )

    return min(grid, key=loss)


def marginals(probabilities, classes):
    """A list with a dict of label to probability for each position."""
    length = len(next(iter(probabilities)))
    return [
        {label: sum(p for path, p in probabilities.items() if path[t] == label) for label in classes}
        for t in range(length)
    ]


def entropy(probabilities):
    return -sum(p * math.log(p) for p in probabilities.values() if p > 0)


def reliability(probability, right, n_bins):
    """(count, mean probability, share right) of each bin, and the expected calibration error."""
    bins = []
    for i in range(n_bins):
        inside = [
            (p, r)
            for p, r in zip(probability, right, strict=True)
            if p >= i / n_bins and (p < (i + 1) / n_bins or i == n_bins - 1)
        ]
        n = len(inside)
        bins.append((n, sum(p for p, _ in inside) / n if n else None, sum(r for _, r in inside) / n if n else None))
    total = sum(n for n, _, _ in bins)
    return bins, sum(n * abs(mean - share) for n, mean, share in bins if n) / total


def risk_coverage(confidence, right_positions, lengths):
    """(positions, right, right sequences) among the k surest, for each k: means over all orders of equal ones."""
    n = len(confidence)
    orders = [
        order
        for order in permutations(range(n))
        if all(confidence[order[i]] >= confidence[order[i + 1]] for i in range(n - 1))
    ]
    counts = []
    for k in range(n + 1):
        sums = [0.0, 0.0, 0.0]
        for order in orders:
            for i in order[:k]:
                sums[0] += lengths[i]
                sums[1] += right_positions[i]
                sums[2] += right_positions[i] == lengths[i]
        counts.append([total / len(orders) for total in sums])
    return counts


def cosine(a, b):
    """The cosine between the counts of two lists of values."""
    values = sorted({*a, *b})
    dot = sum(a.count(v) * b.count(v) for v in values)
    norms = [math.sqrt(sum(one.count(v) ** 2 for v in values)) for one in (a, b)]
    return dot / (norms[0] * norms[1])


def relevance(doubt, rows, chosen, k, diversity):
    """What maximal marginal relevance gives sequence chosen[k] after the k sequences before it."""
    similar = max((cosine(rows[chosen[k]], rows[j]) for j in chosen[:k]), default=0.0)
    return (1 - diversity) * doubt[chosen[k]] / max(doubt) - diversity * similar


def diverse(doubt, rows, n, diversity):
    """Indices by maximal marginal relevance; of equal values the most doubtful first, then the first."""
    chosen = []
    for k in range(n):
        left = [i for i in range(len(rows)) if i not in chosen]
        values = {i: round(relevance(doubt, rows, [*chosen, i], k, diversity), 12) for i in left}
        chosen.append(max(left, key=lambda i: (values[i], doubt[i], -i)))
    return chosen
