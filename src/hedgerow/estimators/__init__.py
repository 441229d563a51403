"""The estimators, with the API of scikit-learn. A class is imported when it is first used."""

from typing import TYPE_CHECKING, Any

from hedgerow.estimators.base import Estimator, load

if TYPE_CHECKING:
    from hedgerow.estimators.future_memm import FutureMEMM
    from hedgerow.estimators.hmm import HMM
    from hedgerow.estimators.linear_crf import LinearCRF
    from hedgerow.estimators.memm import MEMM
    from hedgerow.estimators.opinion_pool import OpinionPool
    from hedgerow.estimators.output_code import OutputCode
    from hedgerow.estimators.perceptron import StructuredPerceptron
    from hedgerow.estimators.search_tagger import SearchTagger
    from hedgerow.estimators.svm import StructuredSVM
    from hedgerow.estimators.treecrf import TreeCRF
else:

    def __getattr__(name: str) -> Any:
        from hedgerow.estimators.registry import REGISTRY

        if name not in REGISTRY:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return REGISTRY[name]


__all__ = [
    "HMM",
    "MEMM",
    "Estimator",
    "FutureMEMM",
    "LinearCRF",
    "OpinionPool",
    "OutputCode",
    "SearchTagger",
    "StructuredPerceptron",
    "StructuredSVM",
    "TreeCRF",
    "load",
]
