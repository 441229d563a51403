"""Naive learning to search: weights in a dict, hypotheses as tuples, every hypothesis scored from the start."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

from oracles.linear import TIE, added, dot


class SearchProblem:
    """Labels are tuples in the order of the search; features are (attribute, label) and ("gram", last labels, label).

    `problem` has the inputs, gold labels and weights of sequences. The last labels come most recent first; None is
    before the first.
    """

    def __init__(self, problem, order, beam, *, backward=False, merges=True):
        self.k, self.order, self.beam, self.bias = problem.k, order, beam, problem.bias
        self.merges, self.weights = merges, problem.weights
        turned = slice(None, None, -1 if backward else 1)
        self.inputs = [x[turned] for x in problem.inputs]
        self.gold = [y[turned] for y in problem.gold]

    def last(self, labels, n):
        return tuple(labels[-i] if i <= len(labels) else None for i in range(1, n + 1))

    def features(self, x, labels):
        counts = Counter()
        for step, label in enumerate(labels):
            for attribute, value in x[step]:
                counts[attribute, label] += Fraction(value)
            if self.bias:
                counts["gram", (), label] += 1
            for n in range(1, min(self.order, step + 1) + 1):
                counts["gram", self.last(labels[:step], n), label] += 1
        return counts

    def score(self, x, labels, w, gold=()):
        """Gold labels count less by a tie."""
        right = sum(a == b for a, b in zip(labels, gold, strict=False))
        return dot(w, self.features(x, labels)) - TIE * right

    def expanded(self, x, alive, w, gold=()):
        """The hypotheses after one more step, best first; ties in the order of expansion."""
        reached = {}
        for labels in alive:
            for label in range(self.k):
                longer = (*labels, label)
                key = self.last(longer, max(self.order, 1)) if self.merges else longer
                reached.setdefault(key, (-math.inf, None))  # also of what is not allowed, for the order of ties
                score = self.score(x, longer, w, gold) if self.allows(longer, len(x)) else -math.inf
                if score > reached[key][0]:
                    reached[key] = score, longer
        found = [one for one in reached.values() if one[1] is not None]
        return [labels for _, labels in sorted(found, key=lambda one: -one[0])[: self.beam]]

    def allows(self, labels, length):
        """Whether a hypothesis may have these labels; `length` is that of the sequence."""
        return True

    def search(self, x, w, gold=()):
        """The hypotheses after each step."""
        steps = [[()]]
        for _ in x:
            steps.append(self.expanded(x, steps[-1], w, gold))
        return steps[1:]


def minus_mean(problem, x, gold, others):
    """The features of gold less the mean of those of the others, as long as they are."""
    difference = problem.features(x, gold[: len(others[0])])
    for labels in others:
        difference = added(difference, problem.features(x, labels), -Fraction(1, len(others)))
    return difference


# Each yields the hypotheses that beat gold, and receives the weights with which the search continues.
def laso(problem, x, gold, w):
    alive = [()]
    for step in range(len(x)):
        alive = problem.expanded(x, alive, w, gold)
        prefix, is_last = gold[: step + 1], step + 1 == len(x)
        if prefix in alive and not (is_last and alive[0] != gold):
            continue
        w = yield alive[: alive.index(prefix)] if prefix in alive else alive
        alive = [prefix]


def standard(problem, x, gold, w):
    best = problem.search(x, w, gold)[-1][0]
    if best != gold:
        yield [best]


def early(problem, x, gold, w):
    for alive in problem.search(x, w, gold):
        if gold[: len(alive[0])] not in alive:
            yield [alive[0]]
            return
    yield from standard(problem, x, gold, w)


def max_violation(problem, x, gold, w):
    best = [alive[0] for alive in problem.search(x, w, gold)]
    if best[-1] == gold:
        return
    ahead = [problem.score(x, z, w, gold) - problem.score(x, gold[: len(z)], w, gold) for z in best]
    yield [best[ahead.index(max(ahead))]]


UPDATES = {"laso": laso, "early": early, "max-violation": max_violation, "standard": standard}


def learned(problem, order, update, batch=1):
    """Every weight vector from the first on, one more for each example.

    A batch of examples is searched with the weights before the batch. Hypotheses that no longer beat gold do not count,
    except in standard updates. With a batch of 1, each update of LaSO counts at once. An epoch is all sequences.
    """
    vectors = [{}]
    for n, i in enumerate(order):
        x, gold, w = problem.inputs[i], problem.gold[i], vectors[-1]
        before = vectors[n - n % len(problem.gold) % batch]
        mistakes = UPDATES[update](problem, x, gold, before)
        ahead = next(mistakes, None)
        while ahead is not None:
            if batch > 1 and update != "standard":
                ahead = [z for z in ahead if problem.score(x, z, w, gold) > problem.score(x, gold[: len(z)], w, gold)]
            if ahead:
                w = added(w, minus_mean(problem, x, gold, ahead), problem.weights[i])
            try:
                ahead = mistakes.send(w if batch == 1 else before)
            except StopIteration:
                break
        vectors.append(w)
    return vectors


def paths_kept(problem, x, w, temperature=1.0, keep=None):
    """{labels: score / temperature} of every path through what the search keeps, and through the path `keep`."""
    memory, alive, kept = max(problem.order, 1), [()], []
    for step in range(len(x)):
        wide = problem.expanded(x, alive, w)
        if keep is not None and problem.last(keep[: step + 1], memory) not in {problem.last(z, memory) for z in wide}:
            room, problem.beam = problem.beam, problem.k ** len(x)
            everything = problem.expanded(x, alive, w)
            problem.beam = room
            wide += [z for z in everything if problem.last(z, memory) == problem.last(keep[: step + 1], memory)]
        alive = wide
        kept.append({problem.last(z, memory) for z in alive})
    return {
        z: float(problem.score(x, z, w)) / temperature
        for z in product(range(problem.k), repeat=len(x))
        if all(problem.last(z[: t + 1], memory) in kept[t] for t in range(len(x)))
    }


def log_sum(scores):
    top = max(scores)
    return top + math.log(sum(math.exp(score - top) for score in scores))


def weights_of(potential):
    """The weights of a SearchPotential under the names of features; those of 0 are left out."""
    features, k = potential.state_features, potential.n_grams.n_labels
    names = [*zip(features.attributes.tolist(), features.outputs.tolist(), strict=True)]
    found = dict(zip(names, potential.state_weights.tolist(), strict=True))
    for cell, weight in zip(potential.n_grams.cells.tolist(), potential.n_gram_weights.tolist(), strict=True):
        last = tuple(None if y == k else y for y in potential.n_grams.labels(cell // k))
        found["gram", last, cell % k] = weight
    return {name: value for name, value in found.items() if value}
