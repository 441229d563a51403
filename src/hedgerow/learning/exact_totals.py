"""Totals over the positions of all processes of a group. They are exact, so they do not depend on who has which."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding.exact_sums import ExactSums
from hedgerow.group import Group
from hedgerow.utilities import Floats64


def total(values: Floats64, group: Group) -> float:
    """The sum of finite values of all processes, rounded once."""
    return group.merged(ExactSums.of(values)).rounded()[0]


def weighted_total(values: Floats64, weights: Floats64, group: Group) -> float:
    """The sum of weight * value of all processes, rounded once. With the weight 0, a value may be infinite."""
    return group.merged(ExactSums.weighted(values, weights)).rounded()[0]


def largest(values: NDArray[np.floating[Any]], group: Group, least: float = 0.0) -> float:
    """The largest value of all processes; `least` if there are none, or no larger ones."""
    return float(group.concatenated(values.max(initial=least, keepdims=True)).max())
