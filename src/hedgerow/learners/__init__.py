"""Learners: the loop that fits a potential, once each."""

from hedgerow.learners.base import Held, Learner, Record, Training, held_out_scores
from hedgerow.learners.boosting import Boosting, BoostingRules
from hedgerow.learners.counting import Counting
from hedgerow.learners.discovery import DiscoveryRules
from hedgerow.learners.future import FutureBoosting, FutureRules
from hedgerow.learners.gradient import Penalty, QuasiNewton
from hedgerow.learners.induction import Induction
from hedgerow.learners.likelihood import LinearSpace
from hedgerow.learners.local import LocalBoosting, LocalGradient
from hedgerow.learners.margin import Margin, MarginRules
from hedgerow.learners.search import Searching, SearchRules
from hedgerow.learners.stochastic import Stochastic, StochasticRules

__all__ = [
    "Boosting",
    "BoostingRules",
    "Counting",
    "DiscoveryRules",
    "FutureBoosting",
    "FutureRules",
    "Held",
    "Induction",
    "Learner",
    "LinearSpace",
    "LocalBoosting",
    "LocalGradient",
    "Margin",
    "MarginRules",
    "Penalty",
    "QuasiNewton",
    "Record",
    "SearchRules",
    "Searching",
    "Stochastic",
    "StochasticRules",
    "Training",
    "held_out_scores",
]
