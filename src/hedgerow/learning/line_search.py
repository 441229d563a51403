"""Line search: the factor of a step at which a loss is lowest.

The likelihood and the pseudo-likelihood of a lattice are concave along a step of its scores. Their loss therefore
falls up to one best factor and rises after it.
"""

from __future__ import annotations

from collections.abc import Callable

MAX_HALVINGS = 20
MAX_DOUBLINGS = 6
NARROW = 0.1  # width of a bracket, relative to its best factor, at which the search ends
GOLDEN = (3 - 5**0.5) / 2  # share of the wider side of a bracket at which the next factor lies

Loss = Callable[[float], float]


def falling_factor(loss: Loss, before: float, first: float) -> float:
    """The first of the factors 1, 1/2, 1/4, ... at which the loss is below `before`; 0 if there is none.

    `first` is the loss at 1, where the same loss as before is enough. A shorter step that changes nothing is no step:
    near the minimum, rounding would accept it every round.
    """
    if first <= before:
        return 1.0
    factors = (0.5**n for n in range(1, MAX_HALVINGS))
    return next((factor for factor in factors if loss(factor) < before), 0.0)


def best_factor(loss: Loss, before: float, first: float) -> float:
    """The factor at which the loss is lowest, to about a tenth of it; 0 if no factor lowers the loss.

    The factor is bracketed by halving or doubling, at most to 64, and then found by golden sections.
    """
    factor = falling_factor(loss, before, first)
    if factor == 0 or first == before:
        return factor
    lowest = first if factor == 1 else loss(factor)
    low, high = 0.0, 2 * factor
    if factor == 1:
        while high <= 2.0**MAX_DOUBLINGS and (value := loss(high)) < lowest:
            low, factor, high, lowest = factor, high, 2 * high, value
        high = min(high, 2.0**MAX_DOUBLINGS)
    while high - low > NARROW * factor:
        is_above = high - factor > factor - low
        tried = factor + GOLDEN * ((high if is_above else low) - factor)
        if (value := loss(tried)) < lowest:
            low, high = (factor, high) if is_above else (low, factor)
            factor, lowest = tried, value
        else:
            low, high = (low, tried) if is_above else (tried, high)
    return factor
