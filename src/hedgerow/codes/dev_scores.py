"""Dev accuracy of a code as it gets longer: label scores that are summed bit by bit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.codes.bits import TrainedBit
from hedgerow.codes.distances import Distance, bit_terms
from hedgerow.learning.base import Record, TrainingData

MAX_RUNNING_SCORES = 2**25  # scores (dev positions times labels) that are kept up to date for the training log


class RunningDevScores:
    """Scores (dev positions, labels) of the bits so far.

    Without `always` they are kept only if there are dev data, few enough of them, and the distance is a sum over bits.
    """

    def __init__(self, training: TrainingData, distance: Distance, *, always: bool = False) -> None:
        dev, k = training.dev, len(training.labels)
        kept = always or (dev is not None and distance != "lattice" and len(dev.codes) * k <= MAX_RUNNING_SCORES)
        self._dev = dev if kept else None
        self._distance = distance
        self.scores = np.zeros((0 if self._dev is None else len(self._dev.codes), k))

    def add(self, bit: TrainedBit, column: NDArray[np.uint8]) -> None:
        """Add the terms of a bit that is 1 for the labels with a 1 in `column`."""
        if self._dev is None or bit.dev_probabilities is None:
            return
        if_zero, if_one = bit_terms(bit.dev_probabilities, self._distance)
        self.scores += np.where(column[None, :] == 1, if_one[:, None], if_zero[:, None])

    @property
    def accuracy(self) -> float:
        """The share of dev positions whose best label is the gold one."""
        assert self._dev is not None
        return float(np.mean(self.scores.argmax(axis=1) == self._dev.codes))

    @property
    def record(self) -> Record:
        """The dev accuracy for the training log; nothing if the scores are not kept."""
        return {} if self._dev is None else {"dev_accuracy": self.accuracy}
