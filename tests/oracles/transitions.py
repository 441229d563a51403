"""Scores of pairs of labels by plain loops over the labels of training, or over the rows of a table."""

from __future__ import annotations

from itertools import product

import numpy as np


def relative_frequencies(y):
    """{(label before or None, label): share}, of all labels that follow the label before."""
    pairs = [pair for labels in y for pair in zip([None, *labels], labels, strict=False)]
    return {pair: pairs.count(pair) / sum(a == pair[0] for a, _ in pairs) for pair in pairs}


def means_of_table(table, classes, order):
    """{(label before or None, label): mean score}, over all label contexts of full length that end in the label."""
    contexts = [c for m in range(order + 1) for c in product(range(len(classes)), repeat=m)]  # most recent label first
    found = {(None, label): float(table[0][k]) for k, label in enumerate(classes)}
    for a, k in product(range(len(classes)), repeat=2):
        rows = [r for r, context in enumerate(contexts) if len(context) == order and context[0] == a]
        found[classes[a], classes[k]] = float(np.mean([float(table[r][k]) for r in rows]))
    return found
