"""The optimum of a structured SVM: a quadratic program with a constraint for each path of each sequence."""

from __future__ import annotations

import numpy as np
import scipy.optimize

from oracles.linear import added


def optimum(problem, C, loss):
    """(weights by name of feature, least value of the objective)

    Minimises |w|^2 / 2 + C / 2 (weighted sum of slacks) where w (features of gold - features of z) + slack >= loss(z)
    for every path z; the path of gold makes the slack at least 0.
    """
    rows = []  # (sequence, gold - path, loss)
    for i, (x, y) in enumerate(zip(problem.inputs, problem.gold, strict=True)):
        gold = problem.features(x, y)
        rows += [(i, added(gold, problem.features(x, z), -1), loss(y, z)) for z in problem.paths(x)]
    names = sorted({name for _, features, _ in rows for name in features}, key=str)
    n, n_sequences = len(names), len(problem.gold)
    constraints = np.zeros((len(rows), n + n_sequences))
    for row, (i, features, _) in zip(constraints, rows, strict=True):
        row[:n] = [float(features.get(name, 0)) for name in names]
        row[n + i] = 1
    losses = np.array([float(own) for _, _, own in rows])
    costs = C / 2 * np.array([float(weight) for weight in problem.weights])

    def objective(v):
        return v[:n] @ v[:n] / 2 + costs @ v[n:], np.concatenate([v[:n], costs])

    start = np.concatenate([np.zeros(n), np.full(n_sequences, losses.max())])
    rule = {"type": "ineq", "fun": lambda v: constraints @ v - losses, "jac": lambda v: constraints}
    found = scipy.optimize.minimize(
        objective, start, jac=True, method="SLSQP", constraints=[rule], options={"maxiter": 1000, "ftol": 1e-13}
    )
    assert found.success, found.message
    return dict(zip(names, found.x[:n].tolist(), strict=True)), float(found.fun)
