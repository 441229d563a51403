"""TreeCRF: a conditional random field whose potentials are boosted regression trees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.encoding import Window
from hedgerow.errors import InputError
from hedgerow.estimators.conventions import with_parameters
from hedgerow.estimators.parameters import AtLeast, AtMost, LessThan, MoreThan, parameters
from hedgerow.estimators.published import refuse_fixed
from hedgerow.estimators.shared_parameters import (
    IMPUTED,
    LEARNED,
    PUBLISHED_RULES,
    SURROGATE,
    WEIGHTING,
    Beam,
    CheckpointPath,
    EarlyStopping,
    LeafL2,
    Newton,
    Patience,
    WarmStart,
    WindowSize,
)
from hedgerow.estimators.tree_estimator import TreeEstimator
from hedgerow.estimators.value_types import LINEAR
from hedgerow.potentials.tree_columns import same_columns
from hedgerow.potentials.trees import TreePotential

if TYPE_CHECKING:
    from hedgerow.estimators.checkpoint import Checkpoint
    from hedgerow.learning.base import Learner, Record, TrainingData
    from hedgerow.learning.boosting import BoostingRules
    from hedgerow.learning.cross_fitting import ColumnRules, LearnedColumns
    from hedgerow.model import Model

LINEAR_PARAMETERS = ("C", "epochs", "loss", "min_freq", "scale")  # of StructuredSVM, for the linear part
GROWTH = ("max_leaves", "min_leaf", "max_features", "influence_trim")
# What the papers prescribe, and the parameters that they leave open.
RESIDUAL_STEPS: dict[str, Any] = {
    "newton": False, "learning_rate": 1.0, "transitions": "trees", "trees": "per-label",
}  # fmt: skip
PAPERS: dict[str, Any] = {
    "min_leaf": 1, "max_features": 1.0, "influence_trim": 0.0, "missing": "weighting", "label_statistics": False,
}  # fmt: skip
PUBLISHED_METHODS = ("published-weighting", "published-surrogate", "published-indicator")  # of missing values
LINEAR_DEFAULTS: dict[str, Any] = {"C": 0.5, "epochs": 10}


@with_parameters
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
        'table of scores. "auto" uses trees for up to ten labels, unless they read label statistics or linear scores.',
    ] = "auto"
    all_transitions: Annotated[
        bool,
        "Whether labels that never follow each other in training also get a score in the transition table. False is "
        "faster with hundreds of labels.",
    ] = True
    trees: Annotated[
        Literal["auto", "per-label", "shared"],
        'Whether a round grows one tree for each label or a single tree with a value for each label. "shared" is '
        "faster with many labels and needs a transition table.",
    ] = "auto"
    n_rounds: Annotated[
        int | Literal["auto"],
        AtLeast(1),
        "Number of boosting rounds, at most: boosting ends before if no step lowers the training loss any more. More "
        'rounds fit the training data more closely and take longer. "auto" holds out some sequences, boosts until '
        "their loss hardly falls any more, and then fits all sequences with as many rounds, if there are fewer than "
        "50,000 positions.",
    ] = "auto"
    learning_rate: Annotated[
        float | Literal["auto"],
        MoreThan(0),
        "Factor on the step of each round. Smaller steps need more rounds and often generalise better.",
    ] = "auto"
    max_leaves: Annotated[
        int | Literal["auto"],
        AtLeast(2),
        "Number of leaves of a tree, at most. More leaves combine more attributes and overfit sooner.",
    ] = "auto"
    l2: LeafL2 = 1.0
    newton: Newton = True
    max_step: Annotated[
        float, MoreThan(0), "Largest absolute value of a Newton leaf, before the learning rate. Lower it for stability."
    ] = 1.0
    min_leaf: Annotated[
        int | Literal["auto"],
        AtLeast(1),
        "Number of positions that a leaf must have, at least. Raise it against overfitting.",
    ] = "auto"
    max_features: Annotated[
        float | Literal["auto"],
        MoreThan(0),
        AtMost(1),
        "Share of the tests that a node chooses from, drawn anew. A smaller share is faster and adds randomness.",
    ] = "auto"
    category_splits: Annotated[
        Literal["one-hot", "subset"],
        'How a node splits categories and previous labels: "one-hot" one value against all others, "subset" any two '
        "sets of values, which needs fewer leaves and overfits sooner. Columns of more than 50 values are always split "
        "one value at a time, because sets of rare values overfit. Columns that are read through label "
        "statistics are numbers, and not split by values at all.",
    ] = "one-hot"
    label_statistics: Annotated[
        bool,
        "Whether columns of more than 50 values, such as words, are read through label statistics: how often their "
        "values have each label in other training sequences. False lets trees test the values themselves.",
    ] = True
    linear: Annotated[
        bool | dict[str, Any],
        LINEAR,
        "Whether trees also read the scores of a linear model, to which theirs are added. A dict sets parameters of "
        "that StructuredSVM, such as {'epochs': 10}.",
    ] = False
    subsample: Annotated[
        float,
        MoreThan(0),
        AtMost(1),
        "Share of the training data that each round learns from, drawn anew. A smaller share adds randomness; it "
        "rarely saves time.",
    ] = 1.0
    sample_by: Annotated[
        Literal["sequence", "example"],
        'What subsample draws: "sequence" whole sequences, the same for all trees of a round; "example" pairs of a '
        "position and a label context, anew for each tree, as in the paper.",
    ] = "sequence"
    influence_trim: Annotated[
        float | Literal["auto"],
        AtLeast(0),
        "Positions whose absolute residuals sum to less than this are left out of a tree's growth. Raise it for speed; "
        "0 uses all positions.",
    ] = "auto"
    trim_by: Annotated[
        Literal["position", "example"],
        'What influence_trim leaves out: "position" positions by the sum of their absolute residuals over label '
        'contexts; "example" single pairs of a position and a label context by their absolute residual, as in the '
        "paper.",
    ] = "position"
    pseudo_rounds: Annotated[
        int,
        AtLeast(0),
        "Number of first rounds that maximise the pseudo-likelihood, where neighbours have gold labels.",
    ] = 0
    objective: Annotated[
        Literal["likelihood", "virtual-evidence"],
        'What rounds maximise: "likelihood" the probability of whole label sequences, "virtual-evidence" that of each '
        "label on its own, given the evidence of the other positions on its neighbours (order 1 only).",
    ] = "likelihood"
    line_search: Annotated[
        bool,
        "Whether each round searches for the length of its step, up to 64 times the learning rate, at which the "
        "training loss is lowest. Fewer rounds, more time each. A fit with a beam searches in pseudo-likelihood rounds "
        "alone, because other losses cannot be compared.",
    ] = False
    missing: Annotated[
        Literal[
            "weighting",
            "surrogate",
            "learned",
            "impute",
            "indicator",
            "published-weighting",
            "published-surrogate",
            "published-indicator",
        ],
        "How missing values are handled:",
        WEIGHTING,
        SURROGATE,
        LEARNED,
        IMPUTED,
        PUBLISHED_RULES,
    ] = "weighting"
    beam: Beam = None
    early_stopping: EarlyStopping = None
    patience: Patience = 20
    validation_fraction: Annotated[
        float | Literal["auto"],
        MoreThan(0),
        LessThan(1),
        'Share of the sequences of X that are held out, drawn by random_state: with n_rounds="auto" or early_stopping, '
        "and without X_dev.",
    ] = "auto"
    warm_start: WarmStart = False
    checkpoint: CheckpointPath = None

    @classmethod
    def published(cls, *, l2: float = 20.0, n_rounds: int = 100, max_leaves: int = 100, **others: Any) -> Self:
        """Make an estimator with the algorithm of the dissertation (Hao 2009, tables 3.1 and 3.3, equation 3.1).

        All potentials begin at 0. A round grows a tree for each label, best-first up to `max_leaves`, on pairs of a
        position and a previous label; `start` is a previous label of its own. Trees are fitted to the plain residuals,
        gold minus the probability of the pair. A leaf has the value sum / (l2 + number of pairs), and a split is chosen
        by the drop of the squared error with this penalty, the first of equals. Steps have the size 1.

        The methods of missing values are those of the dissertation's chapter 4: `missing="weighting"` sets
        "published-weighting", and so on.

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
        refuse_fixed("TreeCRF.published", RESIDUAL_STEPS, others)
        return cls(
            l2=l2, n_rounds=n_rounds, max_leaves=max_leaves, **_with_printed_missing(PAPERS | others), **RESIDUAL_STEPS
        )

    @classmethod
    def published_2004(
        cls, *, n_rounds: int = 100, max_leaves: int = 50, line_search: bool = False, **others: Any
    ) -> Self:
        """Make an estimator with the algorithm of the paper (Dietterich, Ashenfelter & Bulatov 2004, table 2).

        It is that of `published` without an L2 penalty, and its first three rounds follow the pseudo-likelihood, where
        the neighbours of a label are gold. The number of leaves is what controls overfitting. The paper's authors tried
        a line search for the size of each step, found it too expensive and used steps of size 1.

        Parameters
        ----------
        n_rounds : int, default=100
            Number of boosting rounds, the three first ones included.
        max_leaves : int, default=50
            Number of leaves of a tree, at most.
        line_search : bool, default=False
            Whether each round searches for the size of its step that maximises the likelihood, or in the first three
            rounds the pseudo-likelihood.
        **others
            Other parameters of `TreeCRF`.

        Returns
        -------
        TreeCRF
            The unfitted estimator.

        Examples
        --------
        >>> import hedgerow as hr
        >>> hr.TreeCRF.published_2004(window=5).pseudo_rounds
        3
        """
        refuse_fixed("TreeCRF.published_2004", {"l2": 0.0, "pseudo_rounds": 3, **RESIDUAL_STEPS}, others)
        rules = {"n_rounds": n_rounds, "max_leaves": max_leaves, "line_search": line_search, "pseudo_rounds": 3}
        return cls.published(l2=0.0, **others, **rules)

    @property
    def transition_table_(self) -> NDArray[np.float32]:
        """Scores of labels after `start` and after each label: the table, or the mean of the trees over training.

        Read-only; `.copy()` can be changed.
        """
        from hedgerow.inspection.tree_views import transition_table

        return transition_table(self._fitted())

    @property
    def _takes_missing(self) -> bool:
        return True

    @property
    def _validation_fraction(self) -> float | None:
        from hedgerow.learning.adaptive_rules import SMALL_SHARE

        if self.early_stopping is None:
            return None
        return SMALL_SHARE if self.validation_fraction == "auto" else float(self.validation_fraction)

    def _check_combination(self) -> None:
        for name in ("warm_start", "checkpoint"):
            if getattr(self, name) and self.n_rounds == "auto":
                raise InputError(f'TreeCRF: {name} needs a number of rounds, but n_rounds is "auto"; set n_rounds')
        if isinstance(self.linear, dict):
            self._check_linear(self.linear)
        if self.objective == "virtual-evidence":
            self._check_virtual_evidence()
        if not self.all_transitions and self.transitions == "trees":
            raise InputError(
                "TreeCRF: all_transitions=False leaves scores out of a transition table, but with "
                'transitions="trees" there is none; use "table" or "auto"'
            )
        if self.trees != "shared":
            return
        for name in ("sample_by", "trim_by"):
            if getattr(self, name) == "example":
                other = "sequence" if name == "sample_by" else "position"
                raise InputError(
                    f'TreeCRF: trees="shared" fits all labels of a position together, but {name} is "example"; use '
                    f'"{other}", or trees="per-label"'
                )
        if self.transitions == "trees" and self.order > 0:
            raise InputError(
                'TreeCRF: trees="shared" cannot test previous labels, but transitions is "trees"; use "table" or "auto"'
            )
        if self.category_splits == "subset":
            raise InputError(
                'TreeCRF: trees="shared" splits off one value at a time, but category_splits is "subset"; use "one-hot"'
            )

    def _check_virtual_evidence(self) -> None:
        """Raise InputError if a parameter does not go with objective="virtual-evidence"."""
        needs: dict[str, tuple[Any, ...]] = {
            "order": (1,),
            "transitions": ("auto", "trees"),
            "trees": ("auto", "per-label"),
            "pseudo_rounds": (0,),
            "line_search": (False,),
            "beam": (None,),
        }
        for name, allowed in needs.items():
            value = getattr(self, name)
            if value not in allowed:
                raise InputError(
                    f'TreeCRF: objective="virtual-evidence" needs {name}={allowed[-1]!r}, but it is {value!r}; '
                    'change it, or use objective="likelihood"'
                )

    def _check_linear(self, own: dict[str, Any]) -> None:
        """Raise InputError unless these are parameters of a StructuredSVM that the linear part can have."""
        from hedgerow.estimators.svm import StructuredSVM

        declared = parameters(StructuredSVM)
        for name, value in own.items():
            if name not in LINEAR_PARAMETERS:
                known = ", ".join(LINEAR_PARAMETERS)
                raise InputError(f"TreeCRF: linear must be a dict of {known}; it has {name!r}")
            declared[name].check("TreeCRF: linear", value)

    def _checkpoint(self, training: TrainingData) -> Checkpoint | None:
        from hedgerow.estimators.checkpoint import Checkpoint
        from hedgerow.learning.cross_fitting import draws_folds

        if self.checkpoint is None:
            return None
        folds = draws_folds(training, self._column_rules())
        draws = folds or self.subsample < 1 or self._chosen(training, reads_scores=folds)["max_features"] < 1
        if self.random_state is None and draws:
            raise InputError(
                "checkpoint needs a random_state with subsample or max_features below 1, with label statistics or with "
                "a linear part, but it is None; pass a seed"
            )
        return Checkpoint.of(self.checkpoint, training, self._plain_params())

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        from hedgerow.learning.auto_boosting import AutoBoostingLearner, SearchRules, search_stopping
        from hedgerow.learning.boosting import BoostingLearner
        from hedgerow.learning.cross_fitting import learn_columns

        learned = learn_columns(training, self._column_rules())
        chosen = self._chosen(training, reads_scores=learned is not None)
        rules = self._boosting_rules(training, chosen)
        notes = {name: chosen[name] for name in (*GROWTH, "trees", "learning_rate")}
        notes |= {} if learned is None else {"columns": learned.columns.summary()}
        if self.n_rounds == "auto" and rules.stopping is None:
            notes["n_rounds"] = chosen["n_rounds"]
            if training.dev is None:
                share, refit = chosen["validation_fraction"], chosen["refit"]
                search = SearchRules(share=share, patience=self.patience, refit=refit)
                return AutoBoostingLearner(training, rules, search, learned, notes)
            rules = replace(rules, stopping=search_stopping(self.patience, training.dev.n_sequences))
        start = None if earlier is None else _start(earlier, rules, training, self.missing, learned)
        return BoostingLearner(training, rules, start=start, learned=learned, notes=notes)

    def _chosen(self, training: TrainingData, *, reads_scores: bool) -> dict[str, Any]:
        """The parameters that can be "auto", with what was chosen for these data."""
        from hedgerow.learning.adaptive_rules import Situation, adapted

        has_missing = training.has_missing
        situation = Situation(training.n_positions, len(training.labels), reads_scores, has_missing)
        given = self.get_params()
        if self.objective == "virtual-evidence":
            given |= {"transitions": "trees", "trees": "per-label"}
        return adapted(situation, given)

    def _boosting_rules(self, training: TrainingData, chosen: dict[str, Any]) -> BoostingRules:
        from hedgerow.learning.boosting import BoostingRules

        growth = self._growth(
            max_step=self.max_step,
            category_splits=self.category_splits,
            trim_by=self.trim_by,
            example_share=self.subsample if self.sample_by == "example" else 1.0,
            **{name: chosen[name] for name in GROWTH},
        )
        return BoostingRules(
            window=self.window,
            transitions=chosen["transitions"],
            shared=chosen["trees"] == "shared",
            n_rounds=chosen["n_rounds"],
            learning_rate=chosen["learning_rate"],
            line_search=self.line_search,
            growth=growth,
            subsample=self.subsample if self.sample_by == "sequence" else 1.0,
            pseudo_rounds=self.pseudo_rounds,
            objective=self.objective,
            stopping=self._stopping(training),
            seed=self._seed,
            all_transitions=self.all_transitions,
        )

    def _column_rules(self) -> ColumnRules:
        from hedgerow.learning.cross_fitting import ColumnRules
        from hedgerow.learning.margin import MarginRules

        seed, linear = self._seed, None
        if self.linear:
            own = self.linear if isinstance(self.linear, dict) else {}
            linear = MarginRules(window=self.window, averaging="average", random_state=seed, **(LINEAR_DEFAULTS | own))
        return ColumnRules(window=self.window, statistics=self.label_statistics, linear=linear, seed=seed)


def _with_printed_missing(given: dict[str, Any]) -> dict[str, Any]:
    """The parameters with the printed rule of the method of missing values that is given."""
    printed = f"published-{given['missing']}"
    return given | {"missing": printed} if printed in PUBLISHED_METHODS else given


def _start(
    earlier: Model, rules: BoostingRules, training: TrainingData, missing: str, learned: LearnedColumns | None
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
    if not same_columns(potential.columns, None if learned is None else learned.columns):
        raise InputError(
            "a fit continues with the data that it began with, but the label statistics of X and y differ from those "
            "of the fitted model; pass the same X and y, or start a new fit"
        )
    a_round = 1 if rules.shared else len(training.labels)
    n_done = len(potential.trees) // a_round
    check_rounds(n_done, rules.n_rounds)
    return potential, earlier.training_log[:n_done]
