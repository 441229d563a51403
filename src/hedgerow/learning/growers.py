"""Growers of trees on positions with sample weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.group import ALONE, Group


def weighted_grower(
    data: _core.TreeData,
    n_labels: int,
    rules: _core.GrowthRules,
    weights: NDArray[np.float64],
    group: Group = ALONE,
) -> _core.TreeGrower:
    """A grower of trees on weighted positions. Weights in the core are at most 1, so the rules are scaled too."""
    exchange: dict[str, Any] = {"exchange": group} if group.size > 1 else {}
    if not group.any(bool((weights != 1).any())):
        return _core.TreeGrower(data, n_labels, rules, None, **exchange)
    largest = float(group.concatenated(weights.max(initial=0.0, keepdims=True)).max())
    return _core.TreeGrower(data, n_labels, rules.for_weights_times(1 / largest), weights / largest, **exchange)
