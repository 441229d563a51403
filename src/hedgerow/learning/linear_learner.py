"""The base of the learners of LinearCRF: a space of features, and their weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from hedgerow.learning.base import Record, TrainingData
from hedgerow.learning.early_stopping import Stopping, check_dev_data, stop_early
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.potentials.linear import LinearPotential


class LinearLearner(ABC):
    """A learner whose weights start at 0. `_steps` sets new weights, and may replace the space."""

    def __init__(self, training: TrainingData, space: LinearSpace, l2: float, stopping: Stopping | None) -> None:
        check_dev_data(stopping, training.dev)
        self.training, self.space, self.l2, self.stopping = training, space, l2, stopping
        self._weights = np.zeros(space.n_weights)

    @property
    def training_log(self) -> list[Record]:
        return []

    @property
    def potential(self) -> LinearPotential:
        return self.space.potential(self._weights)

    def __iter__(self) -> Iterator[Record]:
        best = yield from stop_early(self._records(), self.stopping, lambda: (self.space, self._weights))
        if best is not None:
            self.space, self._weights = best

    def _records(self) -> Iterator[Record]:
        """The records of the steps; the first also has the L2 penalty, which may have been chosen by the data."""
        for i, record in enumerate(self._steps()):
            yield record if i else {**record, "l2": self.l2}

    @abstractmethod
    def _steps(self) -> Iterator[Record]:
        """One record for each step of the algorithm."""
