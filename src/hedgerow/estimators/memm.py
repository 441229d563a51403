"""MEMM: a maximum-entropy Markov model, whose potentials are boosted trees or sums of weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from hedgerow.errors import InputError
from hedgerow.estimators.conventions import with_parameters
from hedgerow.estimators.linear_estimator import LinearEstimator
from hedgerow.estimators.parameters import AtLeast
from hedgerow.estimators.shared_parameters import (
    IMPUTED,
    LEARNED,
    WEIGHTING,
    CheckpointPath,
    EarlyStopping,
    LearningRate,
    MaxIter,
    MaxLeaves,
    MinLeaf,
    Newton,
    NRounds,
    PairMinFreq,
    Patience,
    PredictionBeam,
    Scale,
    Subsample,
    ValidationFraction,
    WarmStart,
    WindowSize,
)
from hedgerow.estimators.tree_estimator import TreeEstimator
from hedgerow.potentials.local import LocalPotential
from hedgerow.potentials.trees import TreePotential

if TYPE_CHECKING:
    from hedgerow.estimators.checkpoint import Checkpoint
    from hedgerow.learning.base import Learner, Record, TrainingData
    from hedgerow.model import Model

TOL = 1e-5  # of the linear learner: the default of LinearCRF


@with_parameters
class MEMM(TreeEstimator, LinearEstimator):
    """Maximum-entropy Markov model (McCallum, Freitag & Pereira 2000): each label given the labels before it.

    The probability of a label is a softmax of scores of the window and of the last `order` labels. It is learned
    position by position with gold label contexts: training needs no lattice and costs less. Order 0 is the sliding
    window, which labels every position on its own. Predictions come from the exact lattice, or from a beam.

    With `learner="trees"` the scores are sums of boosted regression trees, as in TreeCRF; with "linear" sums of weights
    of attributes and of labels that follow each other, as in LinearCRF. Parameters whose help says "Trees only." or
    "Linear only." have no effect with the other learner.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
    >>> hr.MEMM(window=1, n_rounds=10).fit(X, y).predict_single("dot").tolist()
    ['-', 'o', '-']
    """

    window: WindowSize = 0
    learner: Annotated[
        Literal["trees", "linear"], "What is learned: boosted regression trees, or weights of attributes."
    ] = "trees"
    l2: Annotated[
        float,
        AtLeast(0),
        "Trees: L2 penalty on leaf values, as in TreeCRF. Linear: L2 penalty on weights, l2 times the sum of their "
        "squares, as in LinearCRF. Raise it against overfitting.",
    ] = 1.0
    n_rounds: Annotated[NRounds, "Trees only."] = 100
    learning_rate: Annotated[LearningRate, "Trees only."] = 0.1
    max_leaves: Annotated[MaxLeaves, "Trees only."] = 50
    newton: Annotated[Newton, "Trees only."] = True
    min_leaf: Annotated[MinLeaf, "Trees only."] = 1
    subsample: Annotated[Subsample, "Trees only."] = 1.0
    max_iter: Annotated[MaxIter, "Linear only."] = 1000
    min_freq: Annotated[PairMinFreq, "The same holds for a label context and a label. Linear only."] = 1
    scale: Annotated[Scale, "Linear only."] = True
    missing: Annotated[
        Literal["auto", "weighting", "learned", "impute", "indicator"],
        'How missing values are handled. "auto" is "weighting" for trees and "indicator" for linear. Trees only:',
        WEIGHTING,
        LEARNED,
        "Trees and linear:",
        IMPUTED,
    ] = "auto"
    beam: PredictionBeam = None
    early_stopping: EarlyStopping = None
    patience: Patience = 20
    validation_fraction: ValidationFraction = 0.1
    warm_start: Annotated[WarmStart, "Trees only."] = False
    checkpoint: Annotated[CheckpointPath, "Trees only."] = None

    def _check_combination(self) -> None:
        if self.learner != "linear":
            return
        if self.missing in ("weighting", "learned"):
            raise InputError(
                f'MEMM: missing="{self.missing}" is for trees, but learner is "linear"; use "impute" or "indicator"'
            )
        for name in ("warm_start", "checkpoint"):
            if getattr(self, name):
                raise InputError(f'MEMM: {name} is for trees, but learner is "linear"; use learner="trees"')

    @property
    def _missing(self) -> str:
        if self.missing != "auto":
            return self.missing
        return "weighting" if self.learner == "trees" else "indicator"

    @property
    def _takes_missing(self) -> bool:
        return self.learner == "trees"

    def _checkpoint(self, training: TrainingData) -> Checkpoint | None:
        from hedgerow.estimators.checkpoint import Checkpoint

        if self.checkpoint is None:
            return None
        if self.subsample < 1 and self.random_state is None:
            raise InputError("checkpoint needs a random_state with subsample below 1, but it is None; pass a seed")
        return Checkpoint.of(self.checkpoint, training, self._plain_params())

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        from hedgerow.learning.boosting import BoostingRules
        from hedgerow.learning.local_boosting import LocalBoostingLearner
        from hedgerow.learning.local_gradient import LocalGradientLearner
        from hedgerow.learning.quasi_newton import Penalty, QuasiNewtonRules

        stopping = self._stopping(training)
        if self.learner == "linear":
            descent = QuasiNewtonRules(
                penalty=Penalty(0.0, self.l2), max_iter=self.max_iter, tol=TOL, stopping=stopping
            )
            return LocalGradientLearner(training, descent, window=self.window, min_freq=self.min_freq, scale=self.scale)
        rules = BoostingRules(
            window=self.window,
            transitions="trees",
            shared=False,
            n_rounds=self.n_rounds,
            learning_rate=self.learning_rate,
            line_search=False,
            growth=self._growth(),
            subsample=self.subsample,
            pseudo_rounds=0,
            stopping=stopping,
            seed=self._seed,
        )
        return LocalBoostingLearner(training, rules, start=None if earlier is None else self._start(earlier))

    def _start(self, earlier: Model) -> tuple[TreePotential, list[Record]]:
        """The trees to continue from, and their training log; raises InputError if the parameters do not fit them."""
        from hedgerow.estimators.checkpoint import check_rounds, check_unchanged

        potential = earlier.potential
        inner = potential.inner if isinstance(potential, LocalPotential) else None
        now = {"learner": self.learner, "order": self.order, "window": self.window, "missing": self.missing}
        check_unchanged({name: (earlier.parameters.get(name), value) for name, value in now.items()})
        assert isinstance(inner, TreePotential)
        n_done = len(inner.trees) // len(earlier.labels)
        check_rounds(n_done, self.n_rounds)
        return inner, earlier.training_log[:n_done]
