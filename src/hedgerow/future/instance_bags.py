"""Instance bags: the positions after or before a position, and the noisy-or over them.

The instance bag B_t of position t is the next positions of its sequence, or the previous ones. With G(x_s) the log-odds
that position s shows a pattern, the probability that some position of the bag shows it is (dissertation, section 5.3)

    Q(B_t) = 1 - product over s in B_t of (1 - q_s),    q_s = 1 / (1 + exp(-G(x_s)))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core

Floats = NDArray[np.float64]

REST = 2**62  # the size of a bag that extends to the end of its sequence
MAX_LOG_ODDS = 1e6  # bounds of log-odds lie between this and its opposite


def logistic(log_odds: Floats) -> Floats:
    """Probabilities of log-odds of any size."""
    small = np.exp(-np.abs(log_odds))
    p: Floats = np.where(log_odds >= 0, 1.0, small) / (1 + small)
    return p


@dataclass(frozen=True, kw_only=True)
class InstanceBags:
    """The size of the bags, where the log-odds of a pattern start, and the bounds they are clipped to."""

    size: int
    initial_log_odds: float
    lowest: float
    highest: float

    def probabilities(self, log_odds: Floats, starts: NDArray[np.int64], back: bool, n_threads: int = 1) -> Floats:
        """Q of the bag of each position; with `back` bags are before their position."""
        return self.noisy_or(log_odds, starts, back, n_threads)[0]

    def noisy_or(
        self, log_odds: Floats, starts: NDArray[np.int64], back: bool, n_threads: int = 1
    ) -> tuple[Floats, Floats]:
        """(Q, 1 - Q) of the bag of each position."""
        q, rest = _core.bag_probabilities(log_odds, starts, self.size, back, n_threads)
        return q, rest

    def sums_where_contained(self, values: Floats, starts: NDArray[np.int64], back: bool, n_threads: int = 1) -> Floats:
        """By position, the sum of the values of the bags that contain it, which lie on its other side."""
        sums: Floats = _core.bag_sums(values, starts, self.size, not back, n_threads)
        return sums

    def stepped(self, log_odds: Floats, step: NDArray[np.floating[Any]]) -> Floats:
        """The log-odds after one more tree."""
        bounded: Floats = np.clip(log_odds + step, self.lowest, self.highest)
        return bounded
