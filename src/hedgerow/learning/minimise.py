"""Minimum of a function of one variable on an interval."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, sqrt
from sys import float_info

_GOLDEN = (3 - sqrt(5)) / 2
_MAX_EVALUATIONS = 500


def minimise(function: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """Return a local minimum of `function` in [low, high], to within `tolerance`.

    Brent's method (1973, chapter 5): the vertex of the parabola through the three best points, or a golden-section
    step where the parabola does not help. For a function with a single minimum the result is that minimum.
    """
    best = second = third = low + _GOLDEN * (high - low)
    f_best = f_second = f_third = function(best)
    step = previous = 0.0  # the last step, and the one before it
    for _ in range(_MAX_EVALUATIONS):
        middle = (low + high) / 2
        smallest = sqrt(float_info.epsilon) * abs(best) + tolerance / 3
        if abs(best - middle) <= 2 * smallest - (high - low) / 2:
            break
        # The vertex is at best + p / q.
        r = (best - second) * (f_best - f_third)
        q = (best - third) * (f_best - f_second)
        p = (best - third) * q - (best - second) * r
        q = 2 * (q - r)
        p, q = (-p if q > 0 else p), abs(q)
        inside = q * (low - best) < p < q * (high - best)
        if abs(previous) > smallest and inside and abs(p) < abs(q * previous / 2):
            previous, step = step, p / q
            if min(best + step - low, high - (best + step)) < 2 * smallest:
                step = copysign(smallest, middle - best)
        else:
            previous = (high if best < middle else low) - best
            step = _GOLDEN * previous
        at = best + copysign(max(abs(step), smallest), step)
        value = function(at)
        if value <= f_best:
            low, high = (best, high) if at >= best else (low, best)
            best, second, third = at, best, second
            f_best, f_second, f_third = value, f_best, f_second
        else:
            low, high = (at, high) if at < best else (low, at)
            if value <= f_second or second == best:
                second, third, f_second, f_third = at, second, value, f_second
            elif value <= f_third or third in (best, second):
                third, f_third = at, value
    return best
