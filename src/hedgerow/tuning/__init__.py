"""Model selection on sequences: a race between estimators and settings, and predictions out of fold."""

from hedgerow.tuning.entry import tune
from hedgerow.tuning.out_of_fold import cross_val_predict
from hedgerow.tuning.result import TuningResult

__all__ = ["TuningResult", "cross_val_predict", "tune"]
