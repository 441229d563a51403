"""Numbers on a common scale, for models that add them up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import NumericColumn
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError


@dataclass(frozen=True)
class Scaling:
    """A numeric column less its mean, in units of its standard deviation."""

    mean: float
    deviation: float
    zero_is_absent: bool = False  # features are counted where the number is not 0, as CRFsuite does

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mean) and np.isfinite(self.deviation) and self.deviation > 0):
            raise InputError(
                f"a scaling needs a finite mean and a positive deviation; they are {self.mean} and {self.deviation}"
            )

    @classmethod
    def fit(cls, values: NDArray[np.float32]) -> Scaling:
        """From the values that are there; a column that never changes keeps its unit."""
        there = values[~np.isnan(values)].astype(np.float64)
        if not len(there):
            return cls(0.0, 1.0)
        deviation = float(there.std())
        negligible = 1e-6 * float(np.abs(there).max())  # what single precision cannot tell from no change
        return cls(float(there.mean()), deviation if deviation > negligible else 1.0)

    def transform(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Scaled values; NaN stays NaN."""
        return ((values - self.mean) / self.deviation).astype(np.float32)


AS_IS = Scaling(0.0, 1.0, zero_is_absent=True)


def fit_scalings(sequences: Encoded, *, scale: bool = True) -> dict[str, Scaling]:
    """The scaling of each numeric column; without `scale`, numbers are read as they are."""
    numeric = [column for column in sequences.columns if isinstance(column, NumericColumn)]
    return {column.name: Scaling.fit(column.values) if scale else AS_IS for column in numeric}
