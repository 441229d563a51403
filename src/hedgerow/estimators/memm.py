"""MEMM: a maximum-entropy Markov model, whose potentials are boosted trees or sums of weights."""

from __future__ import annotations

from typing import Annotated, Literal

from hedgerow.errors import InputError
from hedgerow.estimators.checkpoint import Checkpoint, check_make
from hedgerow.estimators.conventions import estimator
from hedgerow.estimators.linear_estimator import LinearEstimator
from hedgerow.estimators.parameters import AtLeast, AtMost, MoreThan, WindowSize
from hedgerow.estimators.tree_estimator import TreeEstimator
from hedgerow.learning.base import Learner, Record, TrainingData
from hedgerow.learning.boosting import BoostingRules
from hedgerow.learning.early_stopping import Stopping
from hedgerow.learning.local_learners import LocalBoostingLearner, LocalGradientLearner
from hedgerow.learning.quasi_newton import Penalty
from hedgerow.model import Model
from hedgerow.potentials.local import LocalPotential
from hedgerow.potentials.trees import TreePotential

TOL = 1e-5  # of the linear learner: as LinearCRF has it


@estimator
class MEMM(TreeEstimator, LinearEstimator):
    """Maximum-entropy Markov model (McCallum, Freitag & Pereira 2000): each label given the labels before it.

    A label is a softmax of potentials of its window and of the last `order` labels, learned on gold histories one
    position at a time: no lattice in training, and none of its costs. Order 0 is the sliding window, which labels every
    position by itself. Predictions come from the exact lattice, or from a beam.

    With `learner="trees"` the potentials are boosted regression trees, as in TreeCRF; with "linear" weights of
    attributes and of labels that follow each other, as in LinearCRF. `l2` means what it means there.
    """

    window: WindowSize = 0
    learner: Annotated[Literal["trees", "linear"], "what potentials are: boosted trees, or sums of weights"] = "trees"
    l2: Annotated[
        float,
        AtLeast(0),
        "trees: shrinkage of leaves, as weight of residuals that are zero; linear: penalty on squares of weights",
    ] = 1.0
    n_rounds: Annotated[int, AtLeast(1), "trees: boosting rounds"] = 100
    learning_rate: Annotated[float, MoreThan(0), "trees: what share of its step a round takes"] = 0.1
    max_leaves: Annotated[int, AtLeast(2), "trees: leaves of one at most"] = 50
    newton: Annotated[bool, "trees: leaves are Newton steps; if not, means of residuals as in the papers"] = True
    min_leaf: Annotated[int, AtLeast(1), "trees: positions a leaf must have"] = 1
    subsample: Annotated[float, MoreThan(0), AtMost(1), "trees: share of sequences that a round learns from"] = 1.0
    max_iter: Annotated[int, AtLeast(1), "linear: iterations at most"] = 1000
    missing: Annotated[
        Literal["auto", "weighting", "learned", "impute", "indicator"],
        "what becomes of missing values: trees send a part to each side of a split, or all to the better side; or they "
        "are filled in by what is typical of their column, which an indicator also marks; auto is weighting for trees "
        "and indicator for linear",
    ] = "auto"
    beam: Annotated[int | None, AtLeast(1), "nodes of a position that are kept in prediction; None keeps all"] = None
    early_stopping: Annotated[
        Stopping, "stop when this no longer rises on the dev data, decoded as predictions are, and keep the best round"
    ] = None
    warm_start: Annotated[bool, "trees: whether `fit` of a fitted model goes on from it, up to n_rounds in all"] = False
    checkpoint: Annotated[
        str | None, "trees: a file written every few rounds; `fit` with the same data and parameters goes on from it"
    ] = None

    def check_parameters(self) -> None:
        """Raises InputError for the first parameter that breaks its rule, or that the learner cannot follow."""
        super().check_parameters()
        if self.learner != "linear":
            return
        if self.missing in ("weighting", "learned"):
            raise InputError(
                f'MEMM: missing="{self.missing}" is for trees, but learner is "linear"; take "impute" or "indicator"'
            )
        for name in ("warm_start", "checkpoint"):
            if getattr(self, name):
                raise InputError(f'MEMM: {name} is for trees, but learner is "linear"; take learner="trees"')

    @property
    def _missing(self) -> str:
        if self.missing != "auto":
            return self.missing
        return "weighting" if self.learner == "trees" else "indicator"

    @property
    def _takes_missing(self) -> bool:
        return self.learner == "trees"

    def _checkpoint(self, training: TrainingData) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        if self.subsample < 1 and self.random_state is None:
            raise InputError("checkpoint needs a random_state here, or what is drawn would differ; give a seed")
        return Checkpoint.of(self.checkpoint, training, self._plain_params())

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        if self.learner == "linear":
            penalty = Penalty(0.0, self.l2)
            return LocalGradientLearner(training, self.window, penalty, self.max_iter, TOL, self.early_stopping)
        rules = BoostingRules(
            self.window, "trees", False, self.n_rounds, self.learning_rate, False, self._growth(), self.subsample, 0,
            self.early_stopping, self._seed,
        )  # fmt: skip
        return LocalBoostingLearner(training, rules, None if earlier is None else self._start(earlier))

    def _start(self, earlier: Model) -> tuple[TreePotential, list[Record]]:
        """The trees to go on from, and their rounds; raises InputError unless they are of the same make."""
        potential = earlier.potential
        inner = potential.inner if isinstance(potential, LocalPotential) else None
        now = {"learner": self.learner, "order": self.order, "window": self.window, "missing": self.missing}
        check_make({name: (earlier.parameters.get(name), value) for name, value in now.items()})
        assert isinstance(inner, TreePotential)
        return inner, earlier.history[: len(inner.trees) // len(earlier.labels)]
