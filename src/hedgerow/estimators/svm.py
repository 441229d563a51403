"""StructuredSVM: weights by which gold beats every other path by that path's loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from hedgerow.errors import InputError
from hedgerow.estimators.conventions import with_parameters
from hedgerow.estimators.linear_estimator import MarginEstimator
from hedgerow.estimators.parameters import AtLeast, MoreThan
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
    """Structured support vector machine, learned with loss-augmented decoding.

    Minimises `|w|^2 / 2` plus `C / 2` times the sum of the hinge losses of the sequences. The hinge loss is by how much
    the score of gold fails to exceed that of every other path by the loss of that path: the number of wrong labels,
    or 1.

    `solver="pegasos"` makes a number of passes over the sequences. `solver="frank-wolfe"` ends where the objective is
    provably close to its least value: each record of `training_log_` has the duality gap `gap`, and the least value
    lies between `loss - gap` and `loss`.

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
    solver: Annotated[
        Literal["pegasos", "frank-wolfe"],
        'How the weights are found: "pegasos" by a step for each sequence of each epoch, "frank-wolfe" by steps on the '
        "dual problem until the duality gap reaches `tol`. Frank-Wolfe takes longer, and has no learning rate.",
    ] = "pegasos"
    epochs: Annotated[Epochs, 'Used by solver="pegasos" only.'] = 20
    averaging: Annotated[
        Averaging, 'In the mean, the weights after t sequences count t times. Used by solver="pegasos" only.'
    ] = "average"
    max_iter: Annotated[int, AtLeast(1), 'Number of iterations of solver="frank-wolfe", at most.'] = 1000
    tol: Annotated[
        float,
        MoreThan(0),
        'With solver="frank-wolfe", the fit ends when the duality gap is at most this share of the loss. Raise it to '
        "end sooner.",
    ] = 1e-3
    beam: Beam = None

    def _check_combination(self) -> None:
        if self.solver == "frank-wolfe" and self.beam is not None:
            raise InputError(
                f'StructuredSVM: solver="frank-wolfe" learns without a beam, but beam is {self.beam}; use '
                'solver="pegasos" or beam=None'
            )

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        from hedgerow.learning.margin import MarginLearner, MarginRules
        from hedgerow.learning.parameter_mixing import MixingLearner

        if self.solver == "frank-wolfe":
            return self._frank_wolfe(training)
        rules = MarginRules(
            window=self.window,
            degree=self.degree,
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

    def _frank_wolfe(self, training: TrainingData) -> Learner:
        from hedgerow.learning.frank_wolfe import FrankWolfeLearner, FrankWolfeRules

        rules = FrankWolfeRules(
            window=self.window,
            degree=self.degree,
            C=self.C,
            loss=self.loss,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
            min_freq=self.min_freq,
            scale=self.scale,
            stopping=self._stopping(training),
        )
        return FrankWolfeLearner(training, rules)
