"""What bounds the sums over training data, and the units to which their terms are rounded.

Every sum over positions is exact: its terms are rounded once to multiples of a unit, a power of two, so that neither
the order of the sequences nor their division into parts changes a bit. A unit depends on the number of positions, the
largest weight and the largest values in the data of all parts, and these can be merged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from hedgerow import _core
from hedgerow.data.columns import BagColumn, NumericColumn
from hedgerow.encoding import AttributeReader
from hedgerow.utilities import Floats32, Floats64

if TYPE_CHECKING:
    from hedgerow.learning.base import TrainingData

EXACT_BITS = 53  # whole numbers of so many bits are exact in double precision
RESIDUAL_BITS = 25  # of a residual of 1: the sum of 32 residuals fits 32 bits
VALUE_BITS = 50  # of the product of a residual and a value: no more, so that it can be rounded
COUNT_BITS = 40  # of an expected count of 1


@dataclass(frozen=True, eq=False)
class SumLimits:
    """The number of positions, the largest weight of a sequence, and by attribute the largest absolute value.

    `largest_values` is None if all values are 1.
    """

    n_positions: int
    largest_weight: float
    largest_values: Floats32 | None = None

    @classmethod
    def of(cls, training: TrainingData, attributes: AttributeReader | None = None) -> Self:
        """The limits of training data; with their attributes if these are summed."""
        largest = None if attributes is None or not _has_values(attributes) else _core.largest_values(attributes.reader)
        return cls(training.sequences.n_positions, float(training.weights.max(initial=0.0)), largest)

    def merge(self, others: Iterable[Self]) -> Self:
        """The limits of the data of this part and the others."""
        parts = [self, *others]
        values = [part.largest_values for part in parts if part.largest_values is not None]
        return type(self)(
            sum(part.n_positions for part in parts),
            max(part.largest_weight for part in parts),
            np.maximum.reduce(values) if values else None,
        )

    @property
    def residual_unit(self) -> float:
        """The unit of residuals times weights."""
        return math.ldexp(self._weight_bound, -self._residual_bits)

    @property
    def value_unit(self) -> float:
        """The unit of products with values, relative to residuals and to the bound of the values."""
        return math.ldexp(1.0, self._residual_bits - min(VALUE_BITS, EXACT_BITS - self._position_bits))

    @property
    def count_unit(self) -> float:
        """The unit of expected counts: a sequence adds less than 2^51 units."""
        return math.ldexp(self._weight_bound, -min(COUNT_BITS, EXACT_BITS - 2 - self._position_bits))

    def rounded_weights(self, weights: Floats64, largest_value: float = 1.0) -> Floats64:
        """The weights, rounded so that sums over positions are exact; whole numbers stay as they are.

        If the weights have been multiplied by values, `largest_value` is what no value exceeds.
        """
        bound = self._weight_bound * power_of_two(largest_value)
        rounder = 1.5 * 2.0**52 * math.ldexp(bound, self._position_bits - (EXACT_BITS - 1))
        return (weights + rounder) - rounder

    @property
    def _position_bits(self) -> int:
        """There are at most 2 to the power of so many positions."""
        return max(self.n_positions - 1, 0).bit_length()

    @property
    def _residual_bits(self) -> int:
        return min(RESIDUAL_BITS, EXACT_BITS - self._position_bits)

    @property
    def _weight_bound(self) -> float:
        return power_of_two(self.largest_weight)


def power_of_two(x: float) -> float:
    """The least power of two that is not below x; 1 for 0."""
    fraction, exponent = math.frexp(x or 1.0)
    return math.ldexp(1.0, exponent - (fraction == 0.5))


def _has_values(attributes: AttributeReader) -> bool:
    """Whether there are numbers or weights, which make an attribute count more or less than once."""
    return any(
        isinstance(column, NumericColumn) or (isinstance(column, BagColumn) and column.weights is not None)
        for column in attributes.sequences.columns
    )
