"""Naive opinion pools: products of enumerated distributions, to the power 1 / n."""

from __future__ import annotations

import math
from collections.abc import Sequence

Distribution = dict[tuple[str, ...], float]  # probability by label sequence, or by label in a tuple


def geometric_mean(distributions: Sequence[Distribution]) -> Distribution:
    """p(y) proportional to the product of the p_i(y)^(1/n), over the y that all distributions list."""
    n = len(distributions)
    products = {y: math.prod(one[y] ** (1 / n) for one in distributions) for y in distributions[0]}
    total = sum(products.values())
    return {y: product / total for y, product in products.items()}


def marginals(distribution: Distribution) -> list[Distribution]:
    """The distribution of the label of each position."""
    length = len(next(iter(distribution)))
    found: list[Distribution] = [{} for _ in range(length)]
    for labels, p in distribution.items():
        for t, label in enumerate(labels):
            found[t][(label,)] = found[t].get((label,), 0.0) + p
    return found


def pooled_by_position(distributions: Sequence[Distribution]) -> Distribution:
    """The product over positions of the geometric means of the models' marginals."""
    by_position = [geometric_mean(of_models) for of_models in zip(*map(marginals, distributions), strict=True)]
    return {
        labels: math.prod(one[(label,)] for one, label in zip(by_position, labels, strict=True))
        for labels in distributions[0]
    }


def restricted(distribution: Distribution, allowed: set[tuple[str, ...]]) -> Distribution:
    """The distribution given that the labels are among those allowed."""
    total = sum(p for labels, p in distribution.items() if labels in allowed)
    return {labels: p / total for labels, p in distribution.items() if labels in allowed}
