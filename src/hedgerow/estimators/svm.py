"""StructuredSVM: weights by which gold beats every other path by that path's loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from hedgerow.estimators.conventions import with_parameters
from hedgerow.estimators.linear_estimator import MarginEstimator
from hedgerow.estimators.parameters import MoreThan
from hedgerow.estimators.shared_parameters import (
    Averaging,
    Beam,
    Epochs,
)

if TYPE_CHECKING:
    from hedgerow.learning.base import Learner, TrainingData
    from hedgerow.model import Model


@with_parameters
class StructuredSVM(MarginEstimator):
    """Structured support vector machine, learned by Pegasos steps with loss-augmented decoding.

    Minimises `|w|^2 / 2` plus `C / 2` times the sum of the hinge losses of the sequences. The hinge loss is by how much
    the score of gold fails to exceed that of every other path by the loss of that path: the number of wrong labels,
    or 1.

    Scores have no probabilistic scale. Probabilities are computed from scores divided by `temperature_`, which
    maximises the likelihood of the dev data, and is 1 without dev data.

    With a `client`, each worker learns from its own sequences and the weights are mixed after every epoch: this is
    another algorithm, whose result depends on the number of workers.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
    >>> hr.StructuredSVM(random_state=0).fit(X, y).predict_single("dot").tolist()
    ['-', 'o', '-']
    """

    C: Annotated[
        float, MoreThan(0), "Weight of the hinge losses against the size of the weights. Lower it against overfitting."
    ] = 0.5
    loss: Annotated[
        Literal["hamming", "zero-one"],
        'Loss of a wrong path: "hamming" the number of its wrong labels, "zero-one" 1.',
    ] = "hamming"
    epochs: Epochs = 20
    averaging: Annotated[Averaging, "In the mean, the weights after t sequences count t times."] = "average"
    beam: Beam = None

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        from hedgerow.learning.margin import MarginLearner, MarginRules
        from hedgerow.learning.parameter_mixing import MixingLearner

        rules = MarginRules(
            window=self.window,
            epochs=self.epochs,
            averaging=self.averaging,
            random_state=self.random_state,
            min_freq=self.min_freq,
            scale=self.scale,
            C=self.C,
            loss=self.loss,
            stopping=self._stopping(training),
        )
        learner = MarginLearner if training.group.size == 1 else MixingLearner
        return learner(training, rules)
