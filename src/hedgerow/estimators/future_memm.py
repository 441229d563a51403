"""FutureMEMM: a maximum-entropy Markov model that discovers patterns in the positions ahead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import BagWarning, warn_user
from hedgerow.estimators.conventions import with_parameters
from hedgerow.estimators.parameters import AtLeast, AtMost, MoreThan, ValueType
from hedgerow.estimators.published import refuse_fixed
from hedgerow.estimators.shared_parameters import (
    IMPUTED,
    LEARNED,
    WEIGHTING,
    DevShare,
    LeafL2,
    LearningRate,
    MaxLeaves,
    MinLeaf,
    NRounds,
    PredictionBeam,
    StoppingChoice,
    WindowSize,
)
from hedgerow.estimators.tree_estimator import TreeEstimator
from hedgerow.future.instance_bags import MAX_LOG_ODDS, REST, InstanceBags
from hedgerow.inspection.future_features import (
    FutureFeatureSummary,
    future_features,
    pattern_probabilities,
    plot_patterns,
)

if TYPE_CHECKING:
    from hedgerow.future.learner import FutureLearner
    from hedgerow.future.printed import PrintedLearner
    from hedgerow.learning.base import TrainingData
    from hedgerow.model import Model
    from hedgerow.typing import SequenceLike

# With Newton leaves, log-odds of patterns stay between this and its opposite: at larger log-odds the gradient of a
# position vanishes, so later trees could not correct it.
NEWTON_LOG_ODDS = 5.0
PRINTED_BOUNDS = {"alpha": 40.0, "beta": 1e5, "eta": 10.0}  # the most frequent ones in table 5.3
BEFORE = {"after": (False,), "before": (True,), "both": (False, True)}  # by bag_side: on which sides to try
MIN_TRIAL = 5  # sequences; with fewer none is split off as dev data


def _is_bag(value: Any) -> bool:
    if isinstance(value, str):
        return value == "rest"
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(1 <= value < 2**31)


def _plain_bag(value: Any) -> Any:
    return value if isinstance(value, str) else int(value)


def _parse_bag(text: str) -> Any:
    return int(text) if text.isdecimal() else text


@with_parameters
class FutureMEMM(TreeEstimator):
    """MEMM that discovers future features by multiple-instance learning (Hao 2009, chapter 5).

    A future feature is the probability that some position of the instance bag, the next `bag` positions, shows a
    pattern of attributes. Patterns are learned: when trees over the window, the last `order` labels and the features
    found so far gain no more, a second level of boosting fits a new pattern to the residuals, through the noisy-or of
    the instance bag. All trees of later rounds can test it.

    The numbers of rounds and of features are chosen on dev data: X_dev, or a fifth of X. In the latter case the
    features are kept, and the trees over them are then learned again from all of X. With fewer than five sequences, or
    with early_stopping=None, the training data decide.

    Examples
    --------
    A label is "+" if a z comes later.

    >>> import hedgerow as hr
    >>> X = ["abz", "bab", "zab", "baz"] * 5
    >>> y = [["+" if "z" in x[t + 1 :] else "-" for t in range(3)] for x in X]
    >>> model = hr.FutureMEMM(order=0, random_state=0).fit(X, y)
    >>> model.predict_single("abbbz").tolist()
    ['+', '+', '+', '+', '-']
    >>> model.future_features_[0].pattern[0][0]
    'symbol is z'
    """

    window: WindowSize = 0
    bag: Annotated[
        int | str,
        ValueType('an integer of at least 1 or "rest"', _is_bag, _plain_bag, parse=_parse_bag),
        'Number of positions in an instance bag; "rest" for all positions to the end of the sequence.',
    ] = "rest"
    bag_side: Annotated[
        Literal["after", "before", "both"],
        'Whether an instance bag lies after its position or before it. "both" tries both for each pattern.',
    ] = "after"
    initial_log_odds: Annotated[
        float,
        AtLeast(-100),
        AtMost(100),
        "Log-odds that a position shows a pattern, before learning; should be below 0. Lower it for long instance "
        "bags.",
    ] = -5.0
    max_future: Annotated[int, AtLeast(0), AtMost(1000), "Number of future features, at most."] = 20
    pattern_rounds: Annotated[int, AtLeast(1), "Number of trees of a pattern, at most."] = 10
    pattern_leaves: Annotated[int, AtLeast(2), "Number of leaves of a tree of a pattern, at most."] = 20
    max_alpha: Annotated[
        float | None,
        MoreThan(0),
        "Upper bound of alpha, the step of a tree of the top level, with newton=False: the line search tries no longer "
        "step. None is 40.",
    ] = None
    max_beta: Annotated[
        float | None,
        MoreThan(0),
        "Upper bound of beta, the step of a pattern's tree: the line search tries no longer step. None is 10, and 10^5 "
        "with newton=False.",
    ] = None
    max_eta: Annotated[
        float | None,
        MoreThan(0),
        "Upper bound of eta: the weights of a future feature for two labels differ by no more. None is no bound, and "
        "10 with newton=False.",
    ] = None
    n_rounds: Annotated[NRounds, "With newton=False the trees of patterns count as well."] = 400
    early_stopping: Annotated[
        StoppingChoice,
        "Score on the dev data that decides how far to go. When it no longer improves, the next pattern is searched; a "
        "pattern that does not improve it is dropped and ends the fit. The model of the best step is kept. "
        '"auto" is "span_f1" if the labels mark spans (O, B-...), otherwise "accuracy". None decides by the loss on '
        "the training data, which overfits sooner.",
    ] = "loss"
    patience: Annotated[
        int,
        AtLeast(1),
        "Number of rounds without a better score after which the next pattern is searched. Raise it for noisy data.",
    ] = 5
    validation_fraction: Annotated[
        DevShare,
        "Used with early_stopping, without X_dev, and from five sequences on, to choose the numbers of "
        "rounds and features. The trees are then learned again from all of X.",
    ] = 0.2
    learning_rate: LearningRate = 0.3
    max_leaves: MaxLeaves = 20
    l2: Annotated[LeafL2, "Also the penalty on the weights of future features."] = 1.0
    newton: Annotated[
        bool,
        "Whether leaves of both levels are Newton steps. False is the printed algorithm, for two labels (see "
        "`published`). It does not use learning_rate, early_stopping, patience and validation_fraction.",
    ] = True
    min_leaf: MinLeaf = 1
    missing: Annotated[
        Literal["weighting", "learned", "impute", "indicator"],
        "How missing values are handled:",
        WEIGHTING,
        LEARNED,
        IMPUTED,
    ] = "weighting"
    beam: PredictionBeam = None

    @classmethod
    def published(cls, *, max_leaves: int = 10, **others: Any) -> Self:
        """Make an estimator with the algorithm of the dissertation (Hao 2009, section 5.3.2).

        There are two labels and one score F: the log-odds of the second label in sorted order. Trees of the top level
        are fitted to the residuals of that label, with steps alpha, until the likelihood no longer improves. Then up to
        ten trees of the lower level are fitted to the gradients of proposition 5.2, with steps beta, until the
        likelihood no longer improves. The probability Q that an instance bag shows the pattern becomes a feature, in
        20 equal bins of its range as thermometer code, and eta Q is added to F. The top level continues. Leaves are
        means; only the number of leaves limits a tree. alpha, beta and eta are found by line search from 0 to
        `max_alpha`, `max_beta` and `max_eta`.

        Where print is silent:

        - The likelihood is that of the training data. A level ends when an iteration gains less than 0.001 in the mean
          log-likelihood of a position; this gives numbers of iterations like those of table 5.3. Training ends when a
          new feature and the iterations after it gain less, when the lower level gains nothing, or after `n_rounds`
          iterations of both levels. Print chooses their number by hold-out validation: with X_dev, records of
          `training_log_` have "iterations" and the dev accuracy.
        - While a pattern is learned, eta is 1. Its line search follows, as printed. eta is never negative, so a
          pattern can only support the second label; trees can use it for the first.
        - The line search is a golden-section search with a precision of 0.1 %. The default bounds are the most
          frequent ones of table 5.3: 40, 10^5 and 10.
        - More than two labels are refused.

        Parameters
        ----------
        max_leaves : int, default=10
            Number of leaves of a tree, at most, at both levels.
        **others
            Other parameters of `FutureMEMM`.

        Returns
        -------
        FutureMEMM
            The unfitted estimator.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X = ["abz", "bab", "zab", "baz"] * 5
        >>> y = [["no" if "z" not in x[t + 1 :] else "z" for t in range(3)] for x in X]
        >>> model = hr.FutureMEMM.published(order=0).fit(X, y)
        >>> model.predict_single("abbbz").tolist()
        ['z', 'z', 'z', 'z', 'no']
        """
        refuse_fixed("FutureMEMM.published", {"newton": False, "pattern_leaves": max_leaves}, others)
        printed: dict[str, Any] = {"decode": "viterbi", "l2": 0.0}
        return cls(max_leaves=max_leaves, pattern_leaves=max_leaves, newton=False, **printed | others)

    @property
    def future_features_(self) -> list[FutureFeatureSummary]:
        """The features in the order in which they were found: trees, side of the instance bag, effect on each label."""
        return future_features(self._fitted())

    def pattern_probabilities(self, x: SequenceLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Compute where in a sequence the patterns are.

        Parameters
        ----------
        x : sequence
            One sequence.

        Returns
        -------
        positions, instance_bags : arrays of shape (features, positions)
            The probability that a position shows the pattern, and that its instance bag does.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        InputError
            If `x` does not fit the training data.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X = ["abz", "bab", "zab", "baz"] * 5
        >>> y = [["+" if "z" in x[t + 1 :] else "-" for t in range(3)] for x in X]
        >>> model = hr.FutureMEMM(order=0, random_state=0).fit(X, y)
        >>> positions, instance_bags = model.pattern_probabilities("abz")
        >>> (positions[0] > 0.5).tolist(), (instance_bags[0] > 0.5).tolist()
        ([False, False, True], [True, True, False])
        """
        return pattern_probabilities(self._fitted(), self._encode([x]))

    def plot_patterns(self, x: SequenceLike, names: Sequence[object] | None = None, axes: Any = None) -> Any:
        """Plot `pattern_probabilities`, one panel for each feature.

        Parameters
        ----------
        x : sequence
            One sequence.
        names : list, optional
            What the positions are called; their characters or numbers by default.
        axes : list of matplotlib axes, optional
            One for each feature; a new figure by default.

        Returns
        -------
        list of matplotlib axes
            One for each feature.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        InputError
            If `x` does not fit the training data, if the names are not one for each position, or if there is no
            future feature.

        Examples
        --------
        >>> import hedgerow as hr, matplotlib
        >>> matplotlib.use("Agg")
        >>> X = ["abz", "bab", "zab", "baz"] * 5
        >>> y = [["+" if "z" in x[t + 1 :] else "-" for t in range(3)] for x in X]
        >>> model = hr.FutureMEMM(order=0, random_state=0).fit(X, y)
        >>> len(model.plot_patterns("abz")) == len(model.future_features_)
        True
        """
        sequences = self._encode([x])
        if names is None:
            names = list(x) if isinstance(x, str) else range(sequences.n_positions)
        return plot_patterns(self._fitted(), sequences, [str(name) for name in names], axes)

    @property
    def _takes_missing(self) -> bool:
        return True

    @property
    def _validation_fraction(self) -> float | None:
        """None: the learner splits off dev data for its trial only."""
        return None

    def _trial(self, training: TrainingData, seed: int) -> TrainingData:
        """The data that decide how far to go: the training data, with dev data if any can be split off."""
        from hedgerow.estimators.fitting import with_dev_split
        from hedgerow.future.learner import content_order

        if self.early_stopping is None or training.dev is not None or training.n_sequences < MIN_TRIAL:
            return training
        return with_dev_split(training, self.validation_fraction, content_order(training, seed))

    def _learner(self, training: TrainingData, earlier: Model | None) -> FutureLearner | PrintedLearner:
        self._warn(training)
        return self._newton_learner(training) if self.newton else self._printed_learner(training)

    def _newton_learner(self, training: TrainingData) -> FutureLearner:
        from hedgerow.future.discovery import DiscoveryRules
        from hedgerow.future.learner import FutureLearner
        from hedgerow.future.run import FutureRules

        seed = self._seed
        trial = self._trial(training, seed)
        stopping = self._stopping(trial)
        discovery = DiscoveryRules(
            instance_bags=self._instance_bags(max(NEWTON_LOG_ODDS, abs(self.initial_log_odds))),
            rounds=self.pattern_rounds,
            l2=self.l2,
            growth=self._growth(newton=False, max_leaves=self.pattern_leaves),
            max_beta=self.max_beta,
            max_eta=self.max_eta,
        )
        rules = FutureRules(
            window=self.window,
            sides=BEFORE[self.bag_side],
            max_future=self.max_future,
            n_rounds=self.n_rounds,
            learning_rate=self.learning_rate,
            growth=self._growth(),
            discovery=discovery,
            decided_by=None if stopping is None or trial.dev is None else stopping.by,
            patience=self.patience,
            seed=seed,
        )
        return FutureLearner(training, trial, rules)

    def _printed_learner(self, training: TrainingData) -> PrintedLearner:
        from hedgerow.future.printed import PrintedLearner, PrintedRules

        rules = PrintedRules(
            window=self.window,
            instance_bags=self._instance_bags(MAX_LOG_ODDS),
            sides=BEFORE[self.bag_side],
            max_future=self.max_future,
            n_iterations=self.n_rounds,
            pattern_iterations=self.pattern_rounds,
            growth=self._growth(),
            pattern_growth=self._growth(max_leaves=self.pattern_leaves),
            max_alpha=PRINTED_BOUNDS["alpha"] if self.max_alpha is None else self.max_alpha,
            max_beta=PRINTED_BOUNDS["beta"] if self.max_beta is None else self.max_beta,
            max_eta=PRINTED_BOUNDS["eta"] if self.max_eta is None else self.max_eta,
        )
        return PrintedLearner(training, rules)

    def _instance_bags(self, bound: float) -> InstanceBags:
        size = REST if self.bag == "rest" else int(self.bag)
        return InstanceBags(size=size, initial_log_odds=self.initial_log_odds, lowest=-bound, highest=bound)

    def _warn(self, training: TrainingData) -> None:
        lengths = training.sequences.lengths
        longest = int(training.group.concatenated(lengths.max(initial=0, keepdims=True)).max())
        if self.bag != "rest" and int(self.bag) >= longest:
            warn_user(
                f"bag is {self.bag}, but the longest sequence has {longest} positions, and an instance "
                'bag ends with its sequence; use bag="rest"',
                BagWarning,
            )
        if self.initial_log_odds >= 0:
            warn_user(
                f"initial_log_odds is {self.initial_log_odds}: every position shows the pattern at the start, but most "
                "positions should not; use a number below 0",
                BagWarning,
            )
