"""StructuredPerceptron: weights that change where the best path is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import hedgerow.potentials.votes  # noqa: F401 - registers a kind of potential that model files hold
from hedgerow.errors import InputError
from hedgerow.estimators.conventions import with_parameters
from hedgerow.estimators.linear_estimator import MarginEstimator
from hedgerow.estimators.shared_parameters import (
    Beam,
    Epochs,
)

if TYPE_CHECKING:
    from hedgerow.learning.base import Learner, TrainingData
    from hedgerow.learning.margin import MarginRules
    from hedgerow.model import Model


@with_parameters
class StructuredPerceptron(MarginEstimator):
    """Structured perceptron (Collins 2002): where the best path is wrong, the features of gold minus its are added.

    A tie counts as a mistake. The fit ends after an epoch without a mistake, or after `epochs`. The epochs that remain
    would not change the weights, but the average and the votes count them.

    Scores have no probabilistic scale. Probabilities are computed from scores divided by `temperature_`, which
    maximises the likelihood of the dev data, and is 1 without dev data.

    With `averaging="vote"` every weight vector of the training predicts labels, and the votes at each position are
    counted: a vector has one vote for each sequence it survived. The probability of a label is its share of the votes
    at that position. Positions are decoded one by one, so `decode="viterbi"` and "marginal" give the same labels.
    The time of prediction grows with the number of mistakes in training.

    With a `client`, each worker learns from its own sequences and the weights are mixed after every epoch: this is
    another algorithm, whose result depends on the number of workers.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
    >>> hr.StructuredPerceptron(random_state=0).fit(X, y).predict_single("dot").tolist()
    ['-', 'o', '-']
    """

    averaging: Annotated[
        Literal["average", "vote", "none"],
        'Which weights predict: "average" the mean of the weights after each sequence of each epoch, "vote" all of '
        'them by vote, "none" the weights at the end. The average is usually the most accurate.',
    ] = "average"
    epochs: Epochs = 10
    beam: Beam = None
    update: Annotated[
        Literal["early", "standard"],
        'With a beam: "early" learns from the positions up to where the beam loses the gold labels, "standard" from '
        "the whole sequence.",
    ] = "early"

    def _check_combination(self) -> None:
        if self.averaging == "vote" and self.degree != 1:
            raise InputError(
                'StructuredPerceptron: averaging="vote" has no weights for pairs of attributes, but degree is '
                f'{self.degree}; use averaging="average" or degree=1'
            )

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        from hedgerow.learning.margin import MarginLearner
        from hedgerow.learning.parameter_mixing import MixingLearner

        learner = MarginLearner if training.group.size == 1 else MixingLearner
        return learner(training, self._rules(training))

    def _rules(self, training: TrainingData) -> MarginRules:
        from hedgerow.learning.margin import MarginRules

        return MarginRules(
            window=self.window,
            degree=self.degree,
            epochs=self.epochs,
            averaging=self.averaging,
            random_state=self.random_state,
            min_freq=self.min_freq,
            scale=self.scale,
            early_update=self.update == "early",
            stopping=self._stopping(training),
        )
