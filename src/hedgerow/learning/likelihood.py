"""The negative log-likelihood of linear models and its gradient: the sum over parts of the data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import chain
from typing import Protocol

import numpy as np

from hedgerow.learning.base import TrainingData
from hedgerow.learning.likelihood_part import LikelihoodPart, PartSums
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.learning.sum_limits import SumLimits
from hedgerow.utilities import Floats64

SUMMED = 2**16  # losses that are read at once


class Objective(Protocol):
    """What a minimiser needs to know of the likelihood, wherever its parts are computed."""

    @property
    def n_threads(self) -> int: ...
    @property
    def total_weight(self) -> float:
        """The weights of all positions, summed."""
        ...

    @property
    def comparable(self) -> bool:
        """Whether values at all weights can be compared; a beam keeps arbitrary labels while the weights are 0."""
        ...

    def __call__(self, weights: Floats64) -> tuple[float, Floats64]:
        """The value and its gradient."""
        ...


class Likelihood:
    """Minus the weighted sum of log P(labels | sequence) as a function of the weights.

    The sequences of a process are one part; in a group, the sums are those of all processes.
    """

    def __init__(self, training: TrainingData, space: LinearSpace, *, double: bool = False) -> None:
        self.training, self.space = training, space
        limits = training.group.merged(SumLimits.of(training, space.attributes(training)))
        self._part = LikelihoodPart(training, space, limits, double=double)
        self._observed = self._part.observed

    @property
    def n_threads(self) -> int:
        return self.training.n_threads

    @property
    def total_weight(self) -> float:
        return float(self._observed.sum())

    @property
    def comparable(self) -> bool:
        return not self.training.prunes

    def __call__(self, weights: Floats64) -> tuple[float, Floats64]:
        own, group = self._part.evaluate(weights), self.training.group
        sums = PartSums(group.concatenated(own.losses), group.sum(own.gradient), group.sum(own.expected))
        return sum_parts(self.space, self._observed, [sums])


def sum_parts(space: LinearSpace, observed: Floats64, parts: Iterable[PartSums]) -> tuple[float, Floats64]:
    """The value of the likelihood and its gradient, from the sums of all parts, in any order.

    `observed` has the gold counts of the cells of the transition table in all parts. All sums are exact, and the value
    is rounded once.
    """
    losses: list[Floats64] = []
    gradient, expected = np.zeros(space.n_weights), np.zeros(observed.shape)
    by_attribute = gradient[: space.n_weights - len(space.n_grams)]
    for part in parts:
        losses.append(part.losses)
        by_attribute += part.gradient
        expected += part.expected
    gradient[len(by_attribute) :] = space.n_grams.summed(expected) - space.n_grams.summed(observed)
    return exact_sum(losses), gradient


def exact_sum(arrays: Iterable[Floats64]) -> float:
    """The sum of all numbers, rounded once: their order does not matter."""
    blocks = (array[first : first + SUMMED] for array in arrays for first in range(0, len(array), SUMMED))
    return math.fsum(chain.from_iterable(block.tolist() for block in blocks))
