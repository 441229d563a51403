from hedgerow.estimators.base import Estimator, load
from hedgerow.estimators.hmm import HMM

__all__ = ["HMM", "Estimator", "load"]
