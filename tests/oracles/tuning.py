"""Slow, obvious twins of tuning: folds, the schedule of successive halving, and the noise of scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence


def survivors(scores: dict[str, list[float]], counts: Sequence[int]) -> list[list[str]]:
    """The names on each rung: `scores[name][r]` is the score of a name on rung r; the best `counts[r]` are there."""
    field = list(scores)
    rungs = []
    for r, count in enumerate(counts):
        field = field[:count]
        rungs.append(field)
        field = sorted(field, key=lambda name: -scores[name][r])
    return rungs


def halving(n: int) -> list[int]:
    counts = [n]
    while counts[-1] > 4:
        kept = 0
        while kept * 3 < counts[-1]:
            kept += 1
        counts.append(kept)
    return counts


def fold_of_groups(sizes: list[int], order: list[int], k: int) -> list[int]:
    """Largest group first, each to the fold with the fewest positions; of equals the first in `order`."""
    queue = sorted(order, key=lambda group: (-sizes[group], order.index(group)))
    folds: list[list[int]] = [[] for _ in range(k)]
    for group in queue:
        lightest = min(range(k), key=lambda fold: (sum(sizes[g] for g in folds[fold]), fold))
        folds[lightest].append(group)
    return [next(f for f in range(k) if group in folds[f]) for group in range(len(sizes))]


def jackknife(statistic: Callable[[list[int]], float], n: int) -> float:
    """The standard error of a statistic of units, by leaving out one unit after the other."""
    values = [statistic([i for i in range(n) if i != left_out]) for left_out in range(n)]
    mean = sum(values) / n
    return math.sqrt((n - 1) / n * sum((value - mean) ** 2 for value in values))
