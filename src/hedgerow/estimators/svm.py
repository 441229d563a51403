"""StructuredSVM: weights by which gold beats every other path by as much as that is wrong."""

from __future__ import annotations

from typing import Annotated

from hedgerow.estimators.conventions import estimator
from hedgerow.estimators.linear_estimator import MarginEstimator
from hedgerow.estimators.parameters import AtLeast, Beam, Filled, MoreThan, WindowSize
from hedgerow.learning.base import Learner, TrainingData
from hedgerow.learning.margin import Averaging, Loss, MarginLearner, MarginRules
from hedgerow.model import Model


@estimator
class StructuredSVM(MarginEstimator):
    """Structured support vector machine, learned by Pegasos steps with loss-augmented decoding.

    Minimises 1/2 |w|^2 + C/2 times the sum over sequences of what gold lacks, by its score, to beat every other path by
    its loss: the number of wrong labels, or 1. `training_log_` has this objective after each epoch.

    Scores have no probabilistic scale. `predict_proba` and whatever else speaks of probabilities divides them by
    `temperature_`, fitted on the dev data by maximum likelihood, 1 without any: a reading of scores, not probabilities
    that the model learned.
    """

    window: WindowSize = 0
    C: Annotated[float, MoreThan(0), "weight of the losses against the size of the weights"] = 0.5
    loss: Annotated[Loss, "wrong labels are counted one by one, or a wrong path counts once"] = "hamming"
    epochs: Annotated[int, AtLeast(1), "passes over the sequences"] = 20
    averaging: Annotated[
        bool, "the mean of the weights, those after step t counted t times; if not, those of the last step"
    ] = True
    missing: Filled = "indicator"
    beam: Beam = None

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        averaging: Averaging = "average" if self.averaging else "none"
        rules = MarginRules(self.window, self.epochs, averaging, self.random_state, C=self.C, loss=self.loss)
        return MarginLearner(training, rules)
