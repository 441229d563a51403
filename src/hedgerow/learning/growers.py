"""Growers of trees on positions with sample weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core


def weighted_grower(
    data: _core.TreeData, n_labels: int, rules: _core.GrowthRules, weights: NDArray[np.float64]
) -> _core.TreeGrower:
    """A grower of trees on weighted positions. Weights in the core are at most 1, so the rules are scaled too."""
    if (weights == 1).all():
        return _core.TreeGrower(data, n_labels, rules, None)
    largest = float(weights.max())
    return _core.TreeGrower(data, n_labels, _scaled(rules, 1 / largest), weights / largest)


def _scaled(rules: _core.GrowthRules, factor: float) -> _core.GrowthRules:
    """The rules that grow the same trees where all weights are multiplied by a factor."""
    return _core.GrowthRules(
        l2=rules.l2 * factor,
        newton=rules.newton,
        max_step=rules.max_step,
        min_leaf=rules.min_leaf,
        max_leaves=rules.max_leaves,
        influence_trim=rules.influence_trim * factor,
        category_splits=rules.category_splits,
        max_features=rules.max_features,
        missing=rules.missing,
    )
