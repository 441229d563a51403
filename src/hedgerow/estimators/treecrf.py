"""TreeCRF: a conditional random field whose potentials are boosted regression trees."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import Window
from hedgerow.errors import InputError
from hedgerow.estimators.checkpoint import Checkpoint, check_make
from hedgerow.estimators.conventions import estimator
from hedgerow.estimators.parameters import AtLeast, AtMost, Beam, MoreThan, WindowSize
from hedgerow.estimators.tree_estimator import TreeEstimator
from hedgerow.inspection.tree_views import transition_table
from hedgerow.learning.base import Learner, Record, TrainingData
from hedgerow.learning.boosting import BoostingLearner, BoostingRules
from hedgerow.learning.early_stopping import Stopping
from hedgerow.model import Model
from hedgerow.potentials.trees import TreePotential

MOST_LABELS_FOR_TREES = 10


@estimator
class TreeCRF(TreeEstimator):
    """Conditional random field trained by gradient tree boosting (Dietterich, Ashenfelter & Bulatov 2004).

    Each round grows a regression tree for every label, best split first, on what the model gets wrong. Trees combine
    attributes of the window by themselves; a split can also ask for previous labels (`transitions="trees"`), or a
    table of transitions is learned beside the trees (`"table"`: faster, and better from about ten labels on).
    """

    window: WindowSize = 0
    transitions: Annotated[
        Literal["auto", "trees", "table"], "where dependence on previous labels is learned; auto goes by their number"
    ] = "auto"
    trees: Annotated[
        Literal["per-label", "shared"],
        "a round grows one tree for each label, or a single one with a value for each; the latter only with a table",
    ] = "per-label"
    n_rounds: Annotated[int, AtLeast(1), "boosting rounds"] = 100
    learning_rate: Annotated[float, MoreThan(0), "what share of its step a round takes"] = 0.1
    max_leaves: Annotated[int, AtLeast(2), "leaves of a tree at most"] = 50
    l2: Annotated[float, AtLeast(0), "shrinkage of leaves, as weight of residuals that are zero"] = 1.0
    newton: Annotated[bool, "leaves are Newton steps; if not, means of residuals as in the papers"] = True
    max_step: Annotated[float, MoreThan(0), "Newton leaves are clipped to this size"] = 1.0
    min_leaf: Annotated[int, AtLeast(1), "positions a leaf must have"] = 1
    max_features: Annotated[float, MoreThan(0), AtMost(1), "share of tests that a node may choose among"] = 1.0
    category_splits: Annotated[
        Literal["one-hot", "subset"], "one value or previous label against the rest, or two sets of them"
    ] = "one-hot"
    subsample: Annotated[float, MoreThan(0), AtMost(1), "share of sequences that a round learns from"] = 1.0
    influence_trim: Annotated[
        float, AtLeast(0), "positions whose residuals come to less than this are left out of a tree's growth"
    ] = 0.0
    pseudo_rounds: Annotated[int, AtLeast(0), "first rounds that follow the pseudo-likelihood"] = 0
    line_search: Annotated[bool, "whether a round also tries steps of twice the length and more"] = False
    missing: Annotated[
        Literal["weighting", "surrogate", "learned", "impute", "indicator"],
        "what becomes of missing values: a part to each side of a split, or as other tests say, or to the better side; "
        "or they are filled in by what is typical of their column, which an indicator also marks",
    ] = "weighting"
    beam: Beam = None
    early_stopping: Annotated[
        Stopping,
        "stop when this no longer rises on the dev data, and keep the best round",
    ] = None
    warm_start: Annotated[bool, "whether `fit` of a fitted model goes on from it, up to n_rounds in all"] = False
    checkpoint: Annotated[
        str | None, "a file written every few rounds; `fit` with the same data and parameters goes on from it"
    ] = None

    @classmethod
    def published(cls, *, l2: float = 20.0, n_rounds: int = 100, max_leaves: int = 100, **others: Any) -> Self:
        """The papers' algorithm exactly: first-order residuals, step 1, trees that test previous labels."""
        fixed: dict[str, Any] = {"newton": False, "learning_rate": 1.0, "transitions": "trees"}
        return cls(l2=l2, n_rounds=n_rounds, max_leaves=max_leaves, **fixed, **others)

    @property
    def transition_table_(self) -> NDArray[np.float32]:
        """Log-scores of labels after `start` and after each label: the table, or the trees' mean over training."""
        return transition_table(self._fitted())

    @property
    def _takes_missing(self) -> bool:
        return True

    def _checkpoint(self, training: TrainingData) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        if (self.subsample < 1 or self.max_features < 1) and self.random_state is None:
            raise InputError("checkpoint needs a random_state here, or what is drawn would differ; give a seed")
        return Checkpoint.of(self.checkpoint, training, self._plain_params())

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        shared, transitions = self.trees == "shared", self.transitions
        if transitions == "auto":
            few = len(training.labels) <= MOST_LABELS_FOR_TREES
            transitions = "trees" if few and not shared else "table"
        if shared and transitions == "trees" and self.order > 0:
            raise InputError('trees="shared" cannot test previous labels; take transitions="table" or "auto"')
        if shared and self.category_splits == "subset":
            raise InputError('trees="shared" splits off one value at a time; take category_splits="one-hot"')
        growth = self._growth(
            max_step=self.max_step,
            influence_trim=self.influence_trim,
            category_splits=self.category_splits,
            max_features=self.max_features,
        )
        rules = BoostingRules(
            self.window, transitions, shared, self.n_rounds, self.learning_rate, self.line_search, growth,
            self.subsample, self.pseudo_rounds, self.early_stopping, self._seed,
        )  # fmt: skip
        return BoostingLearner(
            training, rules, None if earlier is None else _start(earlier, rules, training, self.missing)
        )


def _start(
    earlier: Model, rules: BoostingRules, training: TrainingData, missing: str
) -> tuple[TreePotential, list[Record]]:
    """The potential to go on from, and its rounds; raises InputError unless it is of the same make."""
    potential = earlier.potential
    assert isinstance(potential, TreePotential)
    makes = {
        "order": (earlier.order, training.order),
        "window": (potential.window, Window.of(rules.window)),
        "transitions": ("trees" if potential.table is None else "table", rules.transitions),
        "trees": (potential.trees.values.shape[1] > 1, rules.shared),
        "missing": (earlier.parameters.get("missing", "weighting"), missing),
    }
    check_make(makes)
    a_round = 1 if rules.shared else len(training.labels)
    return potential, earlier.history[: len(potential.trees) // a_round]
