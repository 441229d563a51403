"""Naive lattices: all answers by enumeration of all label sequences, and the sweeps as loops over dicts."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np


def label_context(labels, t, order):
    """The last min(t, order) labels before t, most recent first."""
    return tuple(labels[t - back] for back in range(1, min(t, order) + 1))


def number(digits, base):
    value = 0
    for digit in digits:
        value = value * base + digit
    return value


def table_row(h, n_labels):
    """Row of a table: the blocks of shorter contexts come first."""
    return sum(n_labels**m for m in range(len(h))) + number(h, n_labels)


def step_score(t, h, y, *, n_labels, state=None, edge=None, table=None):
    score = 0.0
    if edge is not None:
        score += float(edge[t, number(h, n_labels), y])
    if table is not None:
        score += float(table[table_row(h, n_labels), y])
    if state is not None:
        score += float(state[t, y])
    return score


def path_score(labels, order, **scores):
    return sum(step_score(t, label_context(labels, t, order), y, **scores) for t, y in enumerate(labels))


def all_paths(length, order, n_labels, **scores):
    """{labels: score} of every path that is not forbidden."""
    paths = {}
    for labels in product(range(n_labels), repeat=length):
        score = path_score(labels, order, n_labels=n_labels, **scores)
        if score > -math.inf:
            paths[labels] = score
    return paths


def log_sum(values):
    values = list(values)
    top = max(values, default=-math.inf)
    if top == -math.inf:
        return top
    return top + math.log(sum(math.exp(v - top) for v in values))


def enumerate_answers(length, order, n_labels, **scores):
    """Everything a lattice can be asked, from the definition."""
    return answers(all_paths(length, order, n_labels, **scores), length, order, n_labels)


def answers(paths, length, order, n_labels):
    """What a distribution over these paths, {labels: score}, says."""
    log_z = log_sum(paths.values())
    state = np.zeros((length, n_labels))
    pair = np.zeros((length, n_labels**order, n_labels))
    entropy = 0.0
    for labels, score in paths.items():
        p = math.exp(score - log_z)
        entropy -= p * (score - log_z)
        for t, y in enumerate(labels):
            state[t, y] += p
            pair[t, number(label_context(labels, t, order), n_labels), y] += p
    ranked = sorted(paths.items(), key=lambda item: -item[1])
    return {
        "paths": paths, "log_z": log_z, "state": state, "pair": pair, "entropy": entropy, "ranked": ranked,
        "count": len(paths),
    }  # fmt: skip


def exact_answers(length, order, n_labels, **scores):
    """Marginals and entropy from path scores that are summed as fractions: no score is too large to be exact."""
    paths = {}
    for labels in product(range(n_labels), repeat=length):
        cells = [c for t in range(length) for c in score_cells(t, labels, order, n_labels, **scores)]
        if -math.inf not in cells:
            paths[labels] = sum(map(Fraction, cells), Fraction(0))
    top = max(paths.values())
    behind = {labels: float(score - top) if score - top > -800 else -800.0 for labels, score in paths.items()}
    return answers(behind, length, order, n_labels) | {"top": top}


def score_cells(t, labels, order, n_labels, *, state=None, edge=None, table=None):
    """The numbers whose sum is the score of labelling position t."""
    h = label_context(labels, t, order)
    if state is not None:
        yield float(state[t, labels[t]])
    if edge is not None:
        yield float(edge[t, number(h, n_labels), labels[t]])
    if table is not None:
        yield float(table[table_row(h, n_labels), labels[t]])


def node(labels, t, order):
    """Where a path is after position t: its last labels, most recent first."""
    return tuple(labels[t - back] for back in range(min(t + 1, max(order, 1))))


def nodes_of_a_beam(length, order, n_labels, beam, *, keep=None, combine=log_sum, **scores):
    """{node: value} by position. A value combines those of the kept nodes before; the best are kept, and `keep`'s.

    A beam below 1 is a bound: the fewest nodes, the best first, are kept for which the divergence of their share of the
    beliefs from all beliefs, -log of the share, is at most the bound. Beliefs are in proportion to exp(value).
    """
    memory = max(order, 1)
    kept = [{(): 0.0}]
    for t in range(length):
        incoming = {}
        for before, value in kept[-1].items():
            for y in range(n_labels):
                s = step_score(t, before[:order], y, n_labels=n_labels, **scores)
                incoming.setdefault((y, *before)[:memory], []).append(value + s)
        reached = {n: combine(values) for n, values in incoming.items()}
        ranked = sorted((n for n, v in reached.items() if v > -math.inf), key=lambda n: (-reached[n], n))
        besides = None if keep is None else node(keep, t, order)
        size = beam if beam >= 1 else size_for_bound([reached[n] for n in ranked], beam)
        kept.append({n: reached[n] for i, n in enumerate(ranked) if i < size or n == besides})
    return kept[1:]


def size_for_bound(values, bound):
    whole = log_sum(values)
    return next((n for n in range(1, len(values) + 1) if whole - log_sum(values[:n]) <= bound), 0)


def beam_answers(length, order, n_labels, beam, *, keep=None, combine=log_sum, **scores):
    """Everything about the paths that a beam leaves: those all of whose nodes are kept."""
    kept = nodes_of_a_beam(length, order, n_labels, beam, keep=keep, combine=combine, **scores)
    paths = {
        labels: score
        for labels, score in all_paths(length, order, n_labels, **scores).items()
        if all(node(labels, t, order) in kept[t] for t in range(length))
    }
    return answers(paths, length, order, n_labels)
