"""Columns of X shuffled or set to a value in plain lists of dicts, and scores of them by the public methods."""

from __future__ import annotations

import copy

import numpy as np


def shuffled(X, column, order):
    """X, whose positions are dicts, with the values of a column in another order; absent keys move too."""
    flat = [position for x in X for position in x]
    changed = copy.deepcopy(X)
    at = 0
    for x in changed:
        for position in x:
            position.pop(column, None)
            if column in flat[order[at]]:
                position[column] = flat[order[at]][column]
            at += 1
    return changed


def mean_drop(model, X, y, column, orders, score):
    """(mean, standard deviation) of score(X) - score(X with the column shuffled)."""
    drops = [score(model, X, y) - score(model, shuffled(X, column, order), y) for order in orders]
    mean = sum(drops) / len(drops)
    if np.isinf(mean):  # gold labels that were possible before are not any more
        return mean, float("nan")
    return mean, (sum((d - mean) ** 2 for d in drops) / len(drops)) ** 0.5


def mean_probabilities(model, X, column, value):
    """Mean over positions of predict_proba when every position has the value."""
    changed = [[{**position, column: value} for position in x] for x in X]
    rows = [row for p in model.predict_proba(changed) for row in np.asarray(p, np.float64).tolist()]
    return [sum(row[k] for row in rows) / len(rows) for k in range(len(rows[0]))]
