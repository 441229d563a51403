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
    return _core.TreeGrower(data, n_labels, rules.for_weights_times(1 / largest), weights / largest)
