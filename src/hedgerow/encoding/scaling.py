"""Standardisation of numeric columns, for models that multiply numbers by weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import NumericColumn
from hedgerow.encoding.encoded import Encoded
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
        known = values[~np.isnan(values)].astype(np.float64)
        if not len(known):
            return cls(0.0, 1.0)
        deviation = float(known.std())
        negligible = 1e-6 * float(np.abs(known).max())  # within rounding errors of single precision
        return cls(float(known.mean()), deviation if deviation > negligible else 1.0)

    def transform(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """The standardised values; NaN stays NaN."""
        return ((values - self.mean) / self.deviation).astype(np.float32)


AS_IS = Scaling(0.0, 1.0, zero_is_absent=True)


def fit_scalings(sequences: Encoded, *, scale: bool = True) -> dict[str, Scaling]:
    """The scaling of each numeric column, by name; the identity if `scale` is False."""
    numeric = [column for column in sequences.columns if isinstance(column, NumericColumn)]
    return {column.name: Scaling.fit(column.values) if scale else AS_IS for column in numeric}
