"""The estimators, with the API of scikit-learn."""

from hedgerow.estimators.base import Estimator, load
from hedgerow.estimators.future_memm import FutureMEMM
from hedgerow.estimators.hmm import HMM
from hedgerow.estimators.linear_crf import LinearCRF
from hedgerow.estimators.memm import MEMM
from hedgerow.estimators.output_code import OutputCode
from hedgerow.estimators.perceptron import StructuredPerceptron
from hedgerow.estimators.search_tagger import SearchTagger
from hedgerow.estimators.svm import StructuredSVM
from hedgerow.estimators.treecrf import TreeCRF

__all__ = [
    "HMM",
    "MEMM",
    "Estimator",
    "FutureMEMM",
    "LinearCRF",
    "OutputCode",
    "SearchTagger",
    "StructuredPerceptron",
    "StructuredSVM",
    "TreeCRF",
    "load",
]
