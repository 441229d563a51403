"""Scores as ratios of sums over sequences, their standard errors, and paired differences.

A score is R = sum(gains) / sum(sizes) over units: sequences, or groups of them. Accuracy has correct positions over
positions; span F1 twice the correct spans over found plus gold spans. To first order a unit changes R by
e = (gain - R size) / sum(sizes), so that the squared standard error of R is n / (n - 1) sum(e^2); and that of the
difference of two scores on the same units is n / (n - 1) sum((e - e')^2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hedgerow.utilities import Floats64

NOISE = 2.0  # standard errors: a smaller difference is noise


class Evidence(NamedTuple):
    """Gain and size of each unit; the unit is a fold if only a whole fold has a score."""

    gains: Floats64
    sizes: Floats64

    @property
    def score(self) -> float:
        size = float(self.sizes.sum())
        return float(self.gains.sum()) / size if size else 0.0

    @property
    def standard_error(self) -> float:
        """NaN if there is only one unit."""
        return _spread(self.influence)

    @property
    def influence(self) -> Floats64:
        """By how much each unit changes the score, to first order."""
        size = float(self.sizes.sum())
        return (self.gains - self.score * self.sizes) / size if size else np.zeros(len(self.gains))


def pooled(parts: Sequence[Evidence]) -> Evidence:
    """The evidence of all folds together."""
    return Evidence(np.concatenate([p.gains for p in parts]), np.concatenate([p.sizes for p in parts]))


def difference(first: Evidence, second: Evidence) -> tuple[float, float]:
    """(first score minus second, its standard error): paired, because both were measured on the same units."""
    return first.score - second.score, _spread(first.influence - second.influence)


def is_noise(first: Evidence, second: Evidence) -> bool:
    """Whether the two scores differ by less than two standard errors of their difference; True if that is unknown."""
    gap, error = difference(first, second)
    return math.isnan(error) or abs(gap) <= NOISE * error


def _spread(influence: Floats64) -> float:
    n = len(influence)
    return math.sqrt(n / (n - 1) * float(np.square(influence).sum())) if n > 1 else math.nan
