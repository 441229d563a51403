"""Sums of numbers without rounding: they do not depend on the order of the numbers, and sums of parts can be merged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.utilities import Floats64

BLOCK = 2**20  # numbers that are added at once, in double precision: 27 bits each, so below 2^53
LOW_BITS = 26  # of the 53 bits of a double; the other 27 are added apart


@dataclass(frozen=True, eq=False)
class ExactSums:
    """Some sums of doubles: sum i is the sum over j of limbs[i, j] * 2 ** (lowest + j).

    A limb has room for the sum of 2^36 numbers.
    """

    limbs: NDArray[np.int64]
    lowest: int = 0

    @classmethod
    def zeros(cls, n: int) -> Self:
        return cls(np.zeros((n, 0), np.int64))

    @classmethod
    def of(cls, values: Floats64, of_sum: NDArray[np.integer[Any]] | None = None, n: int = 1) -> Self:
        """The n sums of finite numbers; number i belongs to sum of_sum[i]. Without `of_sum` there is one sum."""
        if of_sum is None:
            limbs, lowest = _core.exact_sum(values)
            return cls(limbs[None], lowest)
        sums = cls.zeros(n)
        for first in range(0, len(values), BLOCK):
            there = slice(first, first + BLOCK)
            sums = sums.merge([cls._of_block(values[there], of_sum[there], n)])
        return sums

    @classmethod
    def weighted(cls, values: Floats64, weights: Floats64) -> Self:
        """The sum of weight * value, each product rounded to a double; with the weight 0, a value may be infinite."""
        limbs, lowest = _core.exact_sum(values, weights)
        return cls(limbs[None], lowest)

    @classmethod
    def _of_block(cls, values: Floats64, of_sum: NDArray[np.integer[Any]], n: int) -> Self:
        some = values != 0
        if not some.any():
            return cls.zeros(n)
        fractions, exponents = np.frexp(values[some])
        rows = of_sum[some].astype(np.int64)
        whole = np.ldexp(fractions, 53)
        high = np.trunc(np.ldexp(whole, -LOW_BITS))
        low = whole - np.ldexp(high, LOW_BITS)
        shift = int(exponents.min())
        width = int(exponents.max()) - shift + 1
        cells = rows * width + (exponents - shift)
        high_limbs, low_limbs = (
            np.bincount(cells, part, minlength=n * width).astype(np.int64).reshape(n, width) for part in (high, low)
        )
        highs = cls(high_limbs, shift - 53 + LOW_BITS)
        return highs.merge([cls(low_limbs, shift - 53)]) if low_limbs.any() else highs

    def merge(self, others: Iterable[Self]) -> Self:
        """The sums over the numbers of this and the others, in any order."""
        filled = [sums for sums in (self, *others) if sums.limbs.shape[1]]
        if not filled:
            return self
        lowest = min(sums.lowest for sums in filled)
        highest = max(sums.lowest + sums.limbs.shape[1] for sums in filled)
        limbs = np.zeros((len(self.limbs), highest - lowest), np.int64)
        for sums in filled:
            first = sums.lowest - lowest
            limbs[:, first : first + sums.limbs.shape[1]] += sums.limbs
        return type(self)(limbs, lowest)

    def whole_totals(self) -> tuple[list[int], int]:
        """(whole numbers, bits): the sums are the whole numbers divided by 2 ** bits, exactly."""
        up = max(self.lowest, 0)
        totals = [sum(limb << (j + up) for j, limb in enumerate(row)) for row in self.limbs.tolist()]
        return totals, max(-self.lowest, 0)

    def rounded(self) -> list[float]:
        """The sums, each rounded once."""
        totals, bits = self.whole_totals()
        return [total / (1 << bits) for total in totals]  # Python divides whole numbers of any size exactly


def mean_and_variance(weight: int, total: int, squares: int) -> tuple[float, float]:
    """Of numbers, from the sums of weights, of values and of squares in multiples of the same unit.

    Each is rounded once: Python divides whole numbers of any size exactly. `weight` is above 0.
    """
    return total / weight, max(squares * weight - total * total, 0) / (weight * weight)
