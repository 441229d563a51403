"""HMM: the hidden Markov model, estimated from labelled sequences."""

from __future__ import annotations

from typing import Annotated

from hedgerow.estimators.base import Estimator
from hedgerow.estimators.conventions import estimator
from hedgerow.estimators.parameters import AtLeast
from hedgerow.learning.base import Learner, TrainingData
from hedgerow.learning.counting import CountingLearner
from hedgerow.model import Model


@estimator
class HMM(Estimator):
    """Hidden Markov model of order k, estimated by counting labelled sequences.

    Columns are independent given the label: categorical values and the attributes of bags are counted, numeric
    columns are normal with a mean and variance for each label. Missing values are summed out.

    With smoothing s, a count n of N is estimated as (n + s V p) / (N + s V), where V is the number of
    possibilities and p what is expected beforehand: 1 / V for values; for labels the estimate given one label
    of history less, and 1 / V without history. s = 0 gives relative frequencies.
    """

    smoothing: Annotated[float, AtLeast(0), "pseudo-counts for each possibility"] = 0.1

    @property
    def _takes_missing(self) -> bool:
        return True

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        return CountingLearner(training, self.smoothing)
