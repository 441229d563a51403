"""The pseudo-likelihood from its definition: change one label of a sequence, and score the whole sequence again."""

from __future__ import annotations

import math

import numpy as np

from oracles import lattice as oracles


def probabilities(gold, t, order, k, allowed, scores):
    """{label: P(label | all other labels)} at position t; `scores` are those of the sequence."""
    found = {}
    for v in range(k):
        labels = (*gold[:t], v, *gold[t + 1 :])
        if allowed is None or allowed[t][v]:
            found[v] = oracles.path_score(labels, order, n_labels=k, **scores)
    log_z = oracles.log_sum(found.values())
    return {v: math.exp(score - log_z) for v, score in found.items()}


def log_pseudo_likelihood(gold, order, k, allowed, scores):
    """The sum over positions of log P(label | all other labels)."""
    return sum(
        math.log(probabilities(gold, t, order, k, allowed, scores)[label]) if label >= 0 else 0.0
        for t, label in enumerate(gold)
    )


def cells(labels, order):
    """(position, label context, label) of every score of a label sequence."""
    return [(t, oracles.label_context(labels, t, order), label) for t, label in enumerate(labels)]


def derivative(gold, order, k, allowed, scores):
    """{(position, label context, label): derivative of the log pseudo-likelihood by this score}.

    That of log P(label at t) is how often the gold labels have the score, less how often the labels with each v at t
    have it, times P(v).
    """
    found = {}
    for t in range(len(gold)):
        for cell in cells(gold, order):
            found[cell] = found.get(cell, 0.0) + 1
        for v, p in probabilities(gold, t, order, k, allowed, scores).items():
            for cell in cells((*gold[:t], v, *gold[t + 1 :]), order):
                found[cell] = found.get(cell, 0.0) - p
    return found


def stand_ins(gold, order, k, allowed, scores):
    """(by edge, by state): gold minus the derivative, by edge score and by state score of a sequence."""
    by_edge, by_state = np.zeros((len(gold), k**order, k)), np.zeros((len(gold), k))
    for t, context, label in cells(gold, order):
        by_edge[t, oracles.number(context, k), label] += 1
        by_state[t, label] += 1
    for (t, context, label), change in derivative(gold, order, k, allowed, scores).items():
        by_edge[t, oracles.number(context, k), label] -= change
        by_state[t, label] -= change
    return by_edge, by_state


def summed_by_row(by_edge, order, k):
    """The stand-ins by edge of a sequence, summed by row of the transition table."""
    n_rows = sum(k**m for m in range(order + 1))
    table = np.zeros((n_rows, k))
    for t, rows in enumerate(by_edge):
        m = min(t, order)
        first = sum(k**i for i in range(m))
        table[first : first + k**m] += rows[: k**m]
    return table
