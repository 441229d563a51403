"""Early stopping: which round was the best on held-out data, and when to look no further."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from hedgerow.errors import InputError
from hedgerow.learning.base import DevData, Record

PATIENCE = 20  # rounds without a better dev score before early stopping

Stopping: TypeAlias = Literal["accuracy", "log-likelihood"] | None


class EarlyStopper:
    """Which round was the best on held-out data, and whether to go on."""

    def __init__(self, by: Stopping, before: list[Record]) -> None:
        self._key = "dev_log_likelihood" if by == "log-likelihood" else "dev_accuracy"
        self._stops = by is not None
        self._best = -np.inf
        self.best_round = self._last = 0
        for record in before:
            self.see(record)

    def see(self, record: Record) -> None:
        score = record.get(self._key)
        self._last += 1
        if score is not None and score > self._best:
            self._best, self.best_round = score, self._last

    @property
    def is_over(self) -> bool:
        return self._stops and self._last - self.best_round >= PATIENCE


def check_dev_data(by: Stopping, held: DevData | None) -> None:
    """Raises InputError if there is nothing to stop by."""
    if by is None:
        return
    if held is None:
        raise InputError("early_stopping needs held-out data; give X_dev and y_dev to fit, or set it to None")
    if not (held.codes >= 0).any():
        raise InputError("y_dev has no label in common with y, so early_stopping has nothing to go by")
