"""HMM: the hidden Markov model, estimated from labelled sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import hedgerow.potentials.table  # noqa: F401 - registers the kind of potential that model files hold
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.conventions import with_parameters
from hedgerow.estimators.parameters import AtLeast

if TYPE_CHECKING:
    from hedgerow.learning.base import Learner, TrainingData
    from hedgerow.model import Model


@with_parameters
class HMM(Estimator):
    """Hidden Markov model of order k, estimated by counting labelled sequences.

    Columns are independent given the label. Categorical values and the attributes of bags are counted; a numeric column
    has a normal distribution with a mean and a variance for each label. Missing values are summed out.

    With smoothing s, a probability is estimated as (n + s V p) / (N + s V): n is the count of the outcome, N that of
    all outcomes, V the number of outcomes, and p the prior probability of this one. For values p is 1 / V; for labels
    it is the estimate from a label context that is shorter by one label, and 1 / V without a label context.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
    >>> hr.HMM().fit(X, y).predict_single("dot").tolist()
    ['-', 'o', '-']
    """

    smoothing: Annotated[
        float,
        AtLeast(0),
        "Pseudo-count added for each outcome. Raise it if there is little data; 0 gives relative frequencies.",
    ] = 0.1

    @property
    def _takes_missing(self) -> bool:
        return True

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        from hedgerow.learning.counting import CountingLearner

        return CountingLearner(training, self.smoothing)
