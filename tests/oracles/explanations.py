"""Naive explanations: Shapley values over all subsets, and messages as sums over all label sequences."""

from __future__ import annotations

import math
from itertools import combinations, product

from oracles.lattice import label_context, log_sum, step_score


def shapley(players, value):
    """{player: Shapley value} of a game; `value` takes a frozenset of players."""
    n, found = len(players), {}
    for player in players:
        others = [other for other in players if other != player]
        total = 0.0
        for size in range(n):
            weight = math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n)
            for chosen in map(frozenset, combinations(others, size)):
                total += weight * (value(chosen | {player}) - value(chosen))
        found[player] = total
    return found


def tree_value(node, known):
    """The value of a tree if only the players in `known` are known.

    A node is a number, or (player, share of the input, share of training, if true, if false). Player None is always
    known.
    """
    if not isinstance(node, tuple):
        return node
    player, of_input, of_training, if_true, if_false = node
    share = of_input if player is None or player in known else of_training
    return share * tree_value(if_true, known) + (1 - share) * tree_value(if_false, known)


def split(first, labels, *, length, order, n_labels, attribute, scores):
    """(F of the first label, mean attributes there, mean attributes of all, F, M) of labels from `first` on.

    `attribute(t, context, label)` is the score of the attributes, a part of the scores of the lattice. F sums over all
    labels before, M over all labels before and after.
    """
    end = first + len(labels)

    def score(path):
        return sum(
            step_score(t, label_context(path, t, order), y, n_labels=n_labels, **scores) for t, y in enumerate(path)
        )

    def attributes(path, begin):
        return sum(attribute(t, label_context(path, t, order), path[t]) for t in range(begin, len(path)))

    def mean(paths):
        top = log_sum(score(path) for path in paths)
        return sum(math.exp(score(path) - top) * attributes(path, first) for path in paths)

    before = list(product(range(n_labels), repeat=first))
    to_first = [(*path, labels[0]) for path in before]
    to_end = [(*path, *labels) for path in before]
    after = list(product(range(n_labels), repeat=length - end))
    whole = log_sum(score((*path, *rest)) for path in to_end for rest in after)
    return log_sum(map(score, to_first)), mean(to_first), mean(to_end), log_sum(map(score, to_end)), whole
