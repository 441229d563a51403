"""Learners: the loop that fits a potential, once each."""

from hedgerow.learners.base import Held, Learner, Record, Training, held_out_scores
from hedgerow.learners.boosting import Boosting, BoostingRules
from hedgerow.learners.counting import Counting
from hedgerow.learners.gradient import Penalty, QuasiNewton
from hedgerow.learners.induction import Induction
from hedgerow.learners.likelihood import LinearSpace

__all__ = [
    "Boosting",
    "BoostingRules",
    "Counting",
    "Held",
    "Induction",
    "Learner",
    "LinearSpace",
    "Penalty",
    "QuasiNewton",
    "Record",
    "Training",
    "held_out_scores",
]
