"""StructuredPerceptron: weights that change where the best path is wrong."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding.encoded import Encoded
from hedgerow.estimators.base import n_threads
from hedgerow.estimators.conventions import estimator
from hedgerow.estimators.linear_estimator import MarginEstimator
from hedgerow.estimators.parameters import AtLeast, Beam, Filled, WindowSize
from hedgerow.learning.base import Decode, Learner, TrainingData
from hedgerow.learning.margin import Averaging, MarginLearner, MarginRules
from hedgerow.model import Model
from hedgerow.potentials.votes import VotedPotential


@estimator
class StructuredPerceptron(MarginEstimator):
    """Structured perceptron (Collins 2002): gold minus the best path is added to the weights wherever it is wrong.

    A tie is a mistake. It ends after an epoch without one, or after `epochs`; those that are left would change nothing,
    and count in the mean and in votes as if they had been. The weights are the mean over all steps, those of the last
    one, or all of them, each with a vote for every example it survived. A vote costs as much time as there were
    mistakes, and gives labels only.

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

    def _best_labels(self, sequences: Encoded, decode: Decode) -> NDArray[np.int32]:
        model = self._fitted()
        if not isinstance(model.potential, VotedPotential):
            return super()._best_labels(sequences, decode)
        votes = model.potential.votes(sequences, self._beam, n_threads(self._value("n_jobs")))
        best: NDArray[np.int32] = votes.argmax(axis=1).astype(np.int32)
        return best
