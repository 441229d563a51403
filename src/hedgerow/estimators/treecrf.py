"""TreeCRF: a conditional random field whose potentials are boosted regression trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import Window
from hedgerow.errors import InputError
from hedgerow.estimators.conventions import estimator
from hedgerow.estimators.parameters import AtLeast, AtMost, MoreThan
from hedgerow.estimators.shared_parameters import (
    IMPUTED,
    LEARNED,
    SURROGATE,
    WEIGHTING,
    Beam,
    CheckpointPath,
    EarlyStopping,
    LeafL2,
    LearningRate,
    MaxLeaves,
    MinLeaf,
    Newton,
    NRounds,
    Patience,
    Subsample,
    ValidationFraction,
    WarmStart,
    WindowSize,
)
from hedgerow.estimators.tree_estimator import TreeEstimator
from hedgerow.inspection.tree_views import transition_table
from hedgerow.potentials.trees import TreePotential

if TYPE_CHECKING:
    from hedgerow.estimators.checkpoint import Checkpoint
    from hedgerow.learning.base import Learner, Record, TrainingData
    from hedgerow.learning.boosting import BoostingRules
    from hedgerow.model import Model

MOST_LABELS_FOR_TREES = 10


@estimator
class TreeCRF(TreeEstimator):
    """Conditional random field whose potentials are boosted regression trees (Dietterich, Ashenfelter & Bulatov 2004).

    Each round grows a regression tree for every label on the residuals: gold labels minus marginal probabilities. Trees
    combine attributes of the window. A split can also test previous labels (`transitions="trees"`), or a table of
    transition scores is learned beside the trees (`"table"`: faster, and better from about ten labels on).

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
    >>> model = hr.TreeCRF(window=1, n_rounds=10).fit(X, y)
    >>> model.predict_single("dot").tolist()
    ['-', 'o', '-']
    >>> model.training_log_[-1]["step"]
    10
    """

    window: WindowSize = 0
    transitions: Annotated[
        Literal["auto", "trees", "table"],
        'How the dependence on previous labels is learned: "trees" lets trees test previous labels, "table" learns a '
        'table of scores, "auto" uses trees for up to ten labels.',
    ] = "auto"
    trees: Annotated[
        Literal["per-label", "shared"],
        'Whether a round grows one tree for each label or a single tree with a value for each label. "shared" is '
        "faster with many labels and needs a transition table.",
    ] = "per-label"
    n_rounds: NRounds = 100
    learning_rate: LearningRate = 0.1
    max_leaves: MaxLeaves = 50
    l2: LeafL2 = 1.0
    newton: Newton = True
    max_step: Annotated[
        float, MoreThan(0), "Largest absolute value of a Newton leaf, before the learning rate. Lower it for stability."
    ] = 1.0
    min_leaf: MinLeaf = 1
    max_features: Annotated[
        float,
        MoreThan(0),
        AtMost(1),
        "Share of the tests that a node chooses from, drawn anew. A smaller share is faster and adds randomness.",
    ] = 1.0
    category_splits: Annotated[
        Literal["one-hot", "subset"],
        'How a node splits categories and previous labels: "one-hot" one value against all others, "subset" any two '
        "sets of values, which needs fewer leaves and overfits sooner.",
    ] = "one-hot"
    subsample: Subsample = 1.0
    influence_trim: Annotated[
        float,
        AtLeast(0),
        "Positions whose absolute residuals sum to less than this are left out of a tree's growth. Raise it for speed; "
        "0 uses all positions.",
    ] = 0.0
    pseudo_rounds: Annotated[
        int,
        AtLeast(0),
        "Number of first rounds that maximise the pseudo-likelihood, where neighbours have gold labels.",
    ] = 0
    line_search: Annotated[
        bool,
        "Whether each round also tries longer steps, up to 16 times the learning rate. Fewer rounds, more time each.",
    ] = False
    missing: Annotated[
        Literal["weighting", "surrogate", "learned", "impute", "indicator"],
        "How missing values are handled:",
        WEIGHTING,
        SURROGATE,
        LEARNED,
        IMPUTED,
    ] = "weighting"
    beam: Beam = None
    early_stopping: EarlyStopping = None
    patience: Patience = 20
    validation_fraction: ValidationFraction = 0.1
    warm_start: WarmStart = False
    checkpoint: CheckpointPath = None

    @classmethod
    def published(cls, *, l2: float = 20.0, n_rounds: int = 100, max_leaves: int = 100, **others: Any) -> Self:
        """Make an estimator with the algorithm of the dissertation (Hao 2009, table 3.3).

        Trees are fitted to the plain residuals with step length 1, and they test previous labels. The paper of 2004
        differs: it begins with three rounds on the pseudo-likelihood and has no L2 penalty. Two rules of the
        dissertation differ here: how surrogate splits are chosen, and how the indicator of missing values is coded.

        Parameters
        ----------
        l2 : float, default=20.0
            L2 penalty on leaf values.
        n_rounds : int, default=100
            Number of boosting rounds.
        max_leaves : int, default=100
            Number of leaves of a tree, at most.
        **others
            Other parameters of `TreeCRF`.

        Returns
        -------
        TreeCRF
            The unfitted estimator.

        Examples
        --------
        >>> import hedgerow as hr
        >>> hr.TreeCRF.published(window=3).learning_rate
        1.0
        """
        fixed: dict[str, Any] = {"newton": False, "learning_rate": 1.0, "transitions": "trees"}
        return cls(l2=l2, n_rounds=n_rounds, max_leaves=max_leaves, **fixed, **others)

    @property
    def transition_table_(self) -> NDArray[np.float32]:
        """Scores of labels after `start` and after each label: the table, or the mean of the trees over training.

        Read-only; `.copy()` can be changed.
        """
        return transition_table(self._fitted())

    @property
    def _takes_missing(self) -> bool:
        return True

    def _check_combination(self) -> None:
        if self.trees != "shared":
            return
        if self.transitions == "trees" and self.order > 0:
            raise InputError(
                'TreeCRF: trees="shared" cannot test previous labels, but transitions is "trees"; use "table" or "auto"'
            )
        if self.category_splits == "subset":
            raise InputError(
                'TreeCRF: trees="shared" splits off one value at a time, but category_splits is "subset"; use "one-hot"'
            )

    def _checkpoint(self, training: TrainingData) -> Checkpoint | None:
        from hedgerow.estimators.checkpoint import Checkpoint

        if self.checkpoint is None:
            return None
        if (self.subsample < 1 or self.max_features < 1) and self.random_state is None:
            raise InputError(
                "checkpoint needs a random_state with subsample or max_features below 1, but it is None; pass a seed"
            )
        return Checkpoint.of(self.checkpoint, training, self._plain_params())

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        from hedgerow.learning.boosting import BoostingLearner, BoostingRules

        shared, transitions = self.trees == "shared", self.transitions
        if transitions == "auto":
            few = len(training.labels) <= MOST_LABELS_FOR_TREES
            transitions = "trees" if few and not shared else "table"
        growth = self._growth(
            max_step=self.max_step,
            influence_trim=self.influence_trim,
            category_splits=self.category_splits,
            max_features=self.max_features,
        )
        rules = BoostingRules(
            window=self.window,
            transitions=transitions,
            shared=shared,
            n_rounds=self.n_rounds,
            learning_rate=self.learning_rate,
            line_search=self.line_search,
            growth=growth,
            subsample=self.subsample,
            pseudo_rounds=self.pseudo_rounds,
            stopping=self._stopping(training),
            seed=self._seed,
        )
        return BoostingLearner(
            training, rules, start=None if earlier is None else _start(earlier, rules, training, self.missing)
        )


def _start(
    earlier: Model, rules: BoostingRules, training: TrainingData, missing: str
) -> tuple[TreePotential, list[Record]]:
    """The potential to continue from, and its training log; raises InputError if the parameters do not fit it."""
    from hedgerow.estimators.checkpoint import check_rounds, check_unchanged

    potential = earlier.potential
    assert isinstance(potential, TreePotential)
    settings = {
        "order": (earlier.order, training.order),
        "window": (potential.window, Window.of(rules.window)),
        "transitions": ("trees" if potential.table is None else "table", rules.transitions),
        "trees": (potential.trees.values.shape[1] > 1, rules.shared),
        "missing": (earlier.parameters.get("missing", "weighting"), missing),
    }
    check_unchanged(settings)
    a_round = 1 if rules.shared else len(training.labels)
    n_done = len(potential.trees) // a_round
    check_rounds(n_done, rules.n_rounds)
    return potential, earlier.training_log[:n_done]
