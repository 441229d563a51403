"""Standardisation of numeric columns, for models that multiply numbers by weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import NumericColumn
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.moments import Moments
from hedgerow.errors import InputError


@dataclass(frozen=True)
class Scaling:
    """Standardisation of a numeric column: (value - mean) / deviation."""

    mean: float
    deviation: float
    zero_is_absent: bool = False  # features are counted where the number is not 0, as CRFsuite does

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mean) and np.isfinite(self.deviation) and self.deviation > 0):
            raise InputError(
                f"a scaling must have a finite mean and a finite, positive deviation, but got {self.mean} and "
                f"{self.deviation}"
            )

    @classmethod
    def fit(cls, values: NDArray[np.float32]) -> Scaling:
        """The mean and standard deviation of the known values; the deviation of a constant column is set to 1."""
        return cls.of(Moments.of(values))

    @classmethod
    def of(cls, moments: Moments) -> Scaling:
        """The same from the moments of the values."""
        mean, deviation = moments.mean_and_deviation()
        negligible = 1e-6 * moments.largest  # within rounding errors of single precision
        return cls(mean, deviation if deviation > negligible else 1.0)

    def transform(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """The standardised values; NaN stays NaN."""
        return ((values - self.mean) / self.deviation).astype(np.float32)


AS_IS = Scaling(0.0, 1.0, zero_is_absent=True)


def numeric_moments(sequences: Encoded) -> dict[str, Moments]:
    """The moments of each numeric column, by name."""
    numeric = [column for column in sequences.columns if isinstance(column, NumericColumn)]
    return {column.name: Moments.of(column.values) for column in numeric}


def fit_scalings(sequences: Encoded, *, scale: bool = True) -> dict[str, Scaling]:
    """The scaling of each numeric column, by name; the identity if `scale` is False."""
    if scale:
        return {name: Scaling.of(moments) for name, moments in numeric_moments(sequences).items()}
    return {column.name: AS_IS for column in sequences.columns if isinstance(column, NumericColumn)}
