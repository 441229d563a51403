"""StructuredPerceptron: weights that change where the best path is wrong."""

from __future__ import annotations

from typing import Annotated

from hedgerow.estimators.conventions import estimator
from hedgerow.estimators.linear_estimator import MarginEstimator
from hedgerow.estimators.parameters import AtLeast, Beam, Filled, WindowSize
from hedgerow.learning.base import Learner, TrainingData
from hedgerow.learning.margin import Averaging, MarginLearner, MarginRules
from hedgerow.model import Model


@estimator
class StructuredPerceptron(MarginEstimator):
    """Structured perceptron (Collins 2002): gold minus the best path is added to the weights wherever it is wrong.

    A tie is a mistake. It ends after an epoch without one, or after `epochs`; those that are left would change nothing,
    and count in the mean and in votes as if they had been. The weights are the mean over all steps, those of the last
    one, or all of them, each with a vote for every example it survived. A vote costs as much time as there were
    mistakes; a label's probability at a position is then its share of the votes there.

    Scores have no probabilistic scale. `predict_proba` and whatever else speaks of probabilities divides them by
    `temperature_`, fitted on the dev data by maximum likelihood, 1 without any: a reading of scores, not probabilities
    that the model learned.
    """

    window: WindowSize = 0
    averaging: Annotated[
        Averaging, "the mean of the weights over all steps, a vote among them, or those of the last step"
    ] = "average"
    epochs: Annotated[int, AtLeast(1), "passes over the sequences at most"] = 10
    min_freq: Annotated[int, AtLeast(1), "attributes that occur less often are left out"] = 1
    missing: Filled = "indicator"
    beam: Beam = None
    early_update: Annotated[bool, "with a beam: where it loses gold, learn from the part up to there"] = True

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        rules = MarginRules(
            self.window, self.epochs, self.averaging, self.random_state, self.min_freq, self.early_update
        )
        return MarginLearner(training, rules)
