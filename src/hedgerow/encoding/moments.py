"""Count, mean and deviation of a numeric column, from parts that can be merged in any order."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding.exact_sums import BLOCK, ExactSums, mean_and_variance


@dataclass(frozen=True, eq=False)
class Moments:
    """The known values of a column: how many, the exact sums of values and of squares, the largest absolute value."""

    n: int
    sums: ExactSums
    largest: float

    @classmethod
    def of(cls, values: NDArray[np.float32]) -> Self:
        moments = cls(0, ExactSums.zeros(2), 0.0)
        for first in range(0, len(values), BLOCK):
            block = values[first : first + BLOCK]
            known = block[~np.isnan(block)].astype(np.float64)
            powers = np.concatenate([known, known**2])  # the square of a float32 is exact in double precision
            sums = ExactSums.of(powers, np.repeat([0, 1], len(known)), 2)
            moments = moments.merge([cls(len(known), sums, float(np.abs(known).max(initial=0.0)))])
        return moments

    def merge(self, others: Iterable[Self]) -> Self:
        """The moments of the values of this and the others."""
        parts = [self, *others]
        return type(self)(
            sum(part.n for part in parts),
            self.sums.merge(part.sums for part in parts[1:]),
            max(part.largest for part in parts),
        )

    def mean_and_deviation(self) -> tuple[float, float]:
        """Rounded once; (0, 0) if no value is known."""
        if not self.n:
            return 0.0, 0.0
        (total, squares), bits = self.sums.whole_totals()
        mean, variance = mean_and_variance(self.n << bits, total, squares)
        return mean, math.sqrt(variance)
