"""Naive MEMMs: potentials as dicts of (position, context), a softmax for each, all label sequences enumerated."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np

from hedgerow.encoding import AttributeReader, Window
from oracles import lattice as oracles
from oracles import trees as oracles_trees


def softmax(scores):
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    return [power / sum(powers) for power in powers]


def padded(context, order):
    return context + (None,) * (order - len(context))


def boosted(sequences, gold, order, k, window, n_rounds, max_leaves, rules, rate=1.0):
    """Boosting on gold contexts: (trees by round and label, {(position, context): scores}).

    An example is a position with its gold context; what a tree says there it says of every context that it does not
    tell apart from it.
    """
    rows = AttributeReader(sequences, Window.of(window))
    features = oracles_trees.features_of(rows, order, k)
    tests, forest = dict(features), []
    starts = sequences.starts.tolist()
    scores = {
        (t, context): np.zeros(k, dtype=np.float32)
        for begin, end in pairwise(starts)
        for t in range(begin, end)
        for context in product(range(k), repeat=min(t - begin, order))
    }
    by_gold = [
        (t, oracles.label_context(gold[begin:end].tolist(), t - begin, order))
        for begin, end in pairwise(starts)
        for t in range(begin, end)
    ]
    for _ in range(n_rounds):
        p = np.array([softmax(scores[place].tolist()) for place in by_gold], dtype=np.float32)
        grown = []
        for label in range(k):
            examples = [
                (t, padded(h, order), round((float(gold[t] == label) - float(p[t, label])) * oracles_trees.UNIT))
                for t, h in by_gold
            ]
            grown.append(oracles_trees.fit_regression_tree(examples, features, max_leaves, rules))
        for (t, context), row in scores.items():
            for label, tree in enumerate(grown):
                node = tree
                while "test" in node:
                    node = node["true" if tests[node["test"]]((t, padded(context, order), 0)) else "false"]
                row[label] += np.float32(rate * node["value"])
        forest.append(grown)
    return forest, scores


def paths(scores, begin, end, order, k):
    """{labels: log-probability} of every way to label the positions begin..end."""
    found = {}
    for labels in product(range(k), repeat=end - begin):
        chances = [
            softmax([float(score) for score in scores[begin + t, oracles.label_context(labels, t, order)]])[y]
            for t, y in enumerate(labels)
        ]
        found[labels] = sum(map(math.log, chances))
    return found
