"""FutureMEMM: a maximum-entropy Markov model that finds out what to look for ahead."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import BagWarning
from hedgerow.estimators.conventions import estimator
from hedgerow.estimators.parameters import AtLeast, AtMost, Form, MoreThan, WindowSize
from hedgerow.estimators.tree_estimator import TreeEstimator
from hedgerow.future.discovery import DiscoveryRules
from hedgerow.future.learner import FutureLearner, FutureRules
from hedgerow.future.potential import REST, WIDEST, InstanceBags
from hedgerow.inspection.future_features import FoundFeature, future_features, pattern_probabilities, plot_patterns
from hedgerow.learning.base import Learner, TrainingData
from hedgerow.model import Model

BOUND = 5.0  # log-odds of instances stay within this and its opposite, so that no pattern is ever beyond recall
SIDES = {"future": (False,), "past": (True,), "both": (False, True)}


def _is_bag(value: Any) -> bool:
    if isinstance(value, str):
        return value == "rest"
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(1 <= value < 2**31)


def _plain_bag(value: Any) -> Any:
    return value if isinstance(value, str) else int(value)


@estimator
class FutureMEMM(TreeEstimator):
    """MEMM that discovers future features by multiple-instance learning (Hao 2009, chapter 5).

    A future feature says whether some position of the bag, the next `bag` positions, shows a pattern of its attributes.
    Patterns are not given: when trees over the window, the last `order` labels and the features so far gain no more,
    a lower level of boosting finds the pattern that explains most of what is left, through the noisy-or of the bag.
    With many labels each pattern speaks for some of them and against others, and all trees may use it.

    How many rounds and features there are is decided by held-out data: X_dev, or a fifth of X. In the latter case the
    features stay, and the trees over them are then learned from all of X.
    """

    window: WindowSize = 0
    bag: Annotated[
        int | str,
        Form('an integer of at least 1 or "rest"', _is_bag, _plain_bag),
        'how many positions ahead are looked at; "rest" for all to the end of the sequence',
    ] = "rest"
    direction: Annotated[
        Literal["future", "past", "both"], "whether bags go after their position or before it; both: as is best"
    ] = "future"
    initial_log_odds: Annotated[
        float, AtLeast(-100), AtMost(100), "log-odds of a pattern at a position before anything is known; below 0"
    ] = -5.0
    max_future: Annotated[int, AtLeast(0), AtMost(1000), "future features at most"] = 20
    pattern_rounds: Annotated[int, AtLeast(1), "trees of a pattern at most"] = 10
    pattern_leaves: Annotated[int, AtLeast(2), "leaves of such a tree at most"] = 20
    max_pattern_step: Annotated[
        float | None,
        MoreThan(0),
        "longest step that the line search of a pattern tries; None for 10 with Newton leaves, 10^7 without",
    ] = None
    n_rounds: Annotated[int, AtLeast(1), "rounds of the top level at most"] = 400
    learning_rate: Annotated[float, MoreThan(0), "what share of its step a round takes"] = 0.3
    max_leaves: Annotated[int, AtLeast(2), "leaves of a tree at most"] = 20
    l2: Annotated[float, AtLeast(0), "shrinkage of leaves, as weight of residuals that are zero"] = 1.0
    newton: Annotated[
        bool, "leaves of both levels are Newton steps; if not, means of gradients and searched steps, as published"
    ] = True
    min_leaf: Annotated[int, AtLeast(1), "positions a leaf must have"] = 1
    missing: Annotated[
        Literal["weighting", "learned", "impute", "indicator"],
        "what becomes of missing values: a part to each side of a split, or all to the better side; or they are filled "
        "in by what is typical of their column, which an indicator also marks",
    ] = "weighting"
    beam: Annotated[int | None, AtLeast(1), "nodes of a position that are kept in prediction; None keeps all"] = None

    @classmethod
    def published(cls, *, max_leaves: int = 10, **others: Any) -> Self:
        """The dissertation's algorithm: first-order trees at both levels, and steps by search."""
        return cls(max_leaves=max_leaves, pattern_leaves=max_leaves, newton=False, **others)

    @property
    def future_features_(self) -> list[FoundFeature]:
        """What was found, in order: patterns, the trees that say them, where they fire, and for which labels."""
        return future_features(self._fitted())

    def pattern_probabilities(self, x: object) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For one sequence, (features, positions) twice: that a position shows the pattern, and that its bag does."""
        return pattern_probabilities(self._fitted(), self._encode([x]))

    def plot_patterns(self, x: object, names: Sequence[object] | None = None, axes: Any = None) -> Any:
        """The same as a picture, a panel for each feature; positions are called by `names`, or as they are counted."""
        sequences = self._encode([x])
        called = list(x) if names is None and isinstance(x, str) else names
        texts = [str(one) for one in (range(sequences.n_positions) if called is None else called)]
        return plot_patterns(self._fitted(), sequences, texts, axes)

    @property
    def _takes_missing(self) -> bool:
        return True

    def _learner(self, training: TrainingData, earlier: Model | None) -> Learner:
        self._warn(training)
        growth = self._growth()
        size = REST if self.bag == "rest" else int(self.bag)
        bound = max(BOUND, abs(self.initial_log_odds)) if self.newton else WIDEST
        lower = self._growth(newton=False, max_leaves=self.pattern_leaves)
        rules = FutureRules(
            self.window,
            SIDES[self.direction],
            self.max_future,
            self.n_rounds,
            self.learning_rate,
            growth,
            DiscoveryRules(
                InstanceBags(size, self.initial_log_odds, -bound, bound),
                self.pattern_rounds,
                self.newton,
                self.l2,
                lower,
                np.inf if self.max_pattern_step is None else self.max_pattern_step,
            ),
            self._seed,
        )
        return FutureLearner(training, rules)

    def _warn(self, training: TrainingData) -> None:
        longest = int(training.sequences.lengths.max())
        if self.bag != "rest" and int(self.bag) >= longest:
            warnings.warn(
                f"bag is {self.bag}, but the longest sequence has {longest} positions: bags go on to its end at most; "
                'take bag="rest"',
                BagWarning,
                stacklevel=4,
            )
        if self.initial_log_odds >= 0:
            warnings.warn(
                f"initial_log_odds is {self.initial_log_odds}: every position shows the pattern at the start, but most "
                "positions should not; use a number below 0",
                BagWarning,
                stacklevel=4,
            )
