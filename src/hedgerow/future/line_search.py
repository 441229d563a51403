"""The line search of the published algorithm: golden-section search."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

RATIO = (sqrt(5) - 1) / 2  # of two successive intervals
PRECISION = 1e-3  # the last interval is shorter than this share of its upper end
SMALLEST = 1e-9  # the last interval ends below this share of the bound: the search has gone to 0
EQUAL = 1e-12  # values that differ by less count as equal


def line_search(value: Callable[[float], float], bound: float) -> tuple[float, float]:
    """Return the best step from 0 to `bound` that golden-section search finds, and its value.

    The best of all steps that were tried is returned, of equal ones the shortest; this may be 0. The maximum is found
    if `value` first rises and then falls. Where two steps have equal values, the search goes on below the longer one.
    """
    low, high = 0.0, bound
    tried = {step: value(step) for step in (low, high)}
    left, right = high - RATIO * (high - low), low + RATIO * (high - low)
    while high - low > PRECISION * high and high > SMALLEST * bound:
        for step in (left, right):
            if step not in tried:
                tried[step] = value(step)
        if tried[right] <= tried[left] + EQUAL:
            high, right = right, left
            left = high - RATIO * (high - low)
        else:
            low, left = left, right
            right = low + RATIO * (high - low)
    highest = max(tried.values())
    best = min(step for step in tried if tried[step] >= highest - EQUAL)
    return best, tried[best]
