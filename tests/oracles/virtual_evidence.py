"""Virtual evidence in a chain: each label given what all other positions say of its neighbours.

All sums are written out over label sequences. `before` and `after` have the evidence on the neighbours' labels, the sum
of exp(score) over the paths up to the previous label, or from the next one on; None where there is no neighbour. With
certain gold neighbours, the same formulas are those of the pseudo-likelihood.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np


def score(edge, labels, begin=0, first=None):
    """The score of labels from position `begin` on, after the label `first`."""
    total, previous = 0.0, first
    for t, label in enumerate(labels, begin):
        total += float(edge[t, 0 if previous is None else previous, label])
        previous = label
    return total


def evidence(edge, t):
    """(before, after) at position t."""
    n, _, k = edge.shape
    before = after = None
    if t > 0:
        before = np.zeros(k)
        for labels in product(range(k), repeat=t):
            before[labels[-1]] += math.exp(score(edge, labels))
    if t < n - 1:
        after = np.zeros(k)
        for labels in product(range(k), repeat=n - t - 1):
            after[labels[0]] += math.exp(score(edge, labels[1:], t + 2, labels[0]))
    return before, after


def certain(gold, k, t):
    """The evidence if the neighbours are gold."""
    before, after = np.zeros(k), np.zeros(k)
    if t > 0:
        before[gold[t - 1]] = 1
    if t < len(gold) - 1:
        after[gold[t + 1]] = 1
    return before if t > 0 else None, after if t < len(gold) - 1 else None


def probabilities(edge, t, before, after):
    """P(label at t | evidence): proportional to the sums over both neighbours' labels."""
    k = edge.shape[2]
    found = np.zeros(k)
    for v in range(k):
        if before is None:
            of_previous = math.exp(edge[t, 0, v])
        else:
            of_previous = sum(before[u] * math.exp(edge[t, u, v]) for u in range(k))
        of_next = 1.0 if after is None else sum(math.exp(edge[t + 1, v, w]) * after[w] for w in range(k))
        found[v] = of_previous * of_next
    return found / found.sum()


def all_evidence(edge):
    return [evidence(edge, t) for t in range(len(edge))]


def log_likelihood(edge, gold, fixed):
    """The sum over positions of log P(gold | evidence), where `fixed` is the evidence of each position."""
    return sum(math.log(probabilities(edge, t, *fixed[t])[label]) for t, label in enumerate(gold))


def stand_ins(edge, gold, fixed, step=1e-5):
    """Gold minus the derivative by each score, the evidence held fixed: by finite differences."""
    edge = np.array(edge, np.float64)
    found = np.zeros(edge.shape)
    for t, u, v in np.ndindex(edge.shape):
        if t == 0 and u > 0:
            continue
        kept, sides = edge[t, u, v], []
        for change in (step, -step):
            edge[t, u, v] = kept + change
            sides.append(log_likelihood(edge, gold, fixed))
        edge[t, u, v] = kept
        is_gold = v == gold[t] and u == (gold[t - 1] if t else 0)
        found[t, u, v] = is_gold - (sides[0] - sides[1]) / (2 * step)
    return found
