"""Naive constraints: label sequences are enumerated, and each is tested pair by pair."""

from __future__ import annotations

import math
from itertools import pairwise, product

from oracles import lattice as oracles
from oracles.linear import Problem
from oracles.search import SearchProblem


def is_allowed(labels, pairs, last, known=None):
    """`pairs`: allowed (previous, label), previous None at start; `last`: labels that may end; `known`: -1 for none."""
    if known is not None and any(k not in (-1, y) for k, y in zip(known, labels, strict=True)):
        return False
    return all(pair in pairs for pair in pairwise([None, *labels])) and labels[-1] in last


def allowed_paths(length, order, k, pairs, last, known=None, **scores):
    """{labels: score} of the allowed label sequences."""
    paths = oracles.all_paths(length, order, k, **scores)
    return {labels: score for labels, score in paths.items() if is_allowed(labels, pairs, last, known)}


def enumerate_allowed(length, order, k, pairs, last, known=None, **scores):
    """Everything a lattice can be asked, from the allowed label sequences."""
    return oracles.answers(allowed_paths(length, order, k, pairs, last, known, **scores), length, order, k)


def locally_normalised(scores, length, order, k, pairs, last):
    """{labels: log-probability} of a constrained MEMM.

    At each position the softmax is over the labels that may follow the previous label and, at the end, may be last.
    What dead ends lose is given to the other label sequences in proportion. `scores(t, context, label)` are numbers.
    """
    found = {}
    for labels in product(range(k), repeat=length):
        if not is_allowed(labels, pairs, last):
            continue
        total = 0.0
        for t, y in enumerate(labels):
            context, before = oracles.label_context(labels, t, order), labels[t - 1] if t else None
            rivals = [z for z in range(k) if (before, z) in pairs and (t < length - 1 or z in last)]
            total += scores(t, context, y) - oracles.log_sum([scores(t, context, z) for z in rivals])
        found[labels] = total
    log_z = oracles.log_sum(found.values())
    return {labels: score - log_z for labels, score in found.items()}


def most_right(paths, length, k):
    """Of the paths {labels: score} the one with the most right labels in expectation, and that expectation."""
    state = oracles.answers(paths, length, 0, k)["state"]
    expected = {labels: sum(state[t, y] for t, y in enumerate(labels)) for labels in paths}
    best = max(expected, key=expected.get)
    return best, expected[best]


def span_probability(paths, read, span):
    """Of the distribution {labels: score}: the probability that `read(labels)` contains the span."""
    log_z = oracles.log_sum(paths.values())
    return sum(math.exp(score - log_z) for labels, score in paths.items() if span in read(labels))


class AllowedProblem(Problem):
    """A learning problem with only the allowed label sequences."""

    def __init__(self, training, pairs, last, **options):
        super().__init__(training, **options)
        self.pairs, self.last = pairs, last

    def paths(self, x):
        return [labels for labels in super().paths(x) if is_allowed(labels, self.pairs, self.last)]


class AllowedSearch(SearchProblem):
    """A search that extends no hypothesis by a label that is not allowed there."""

    def __init__(self, problem, pairs, last, order, beam, *, backward=False, merges=True):
        super().__init__(problem, order, beam, backward=backward, merges=merges)
        self.pairs, self.last_labels, self.backward = pairs, last, backward

    def allows(self, labels, length):
        """Labels are in the order of the search."""
        if self.backward:
            first = [(None, labels[-1])] if len(labels) == length else []
            return labels[0] in self.last_labels and {*first, *((b, a) for a, b in pairwise(labels))} <= self.pairs
        last_fits = len(labels) < length or labels[-1] in self.last_labels
        return last_fits and {*pairwise([None, *labels])} <= self.pairs
