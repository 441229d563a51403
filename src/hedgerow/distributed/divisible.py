"""Which fits can be divided among workers."""

from __future__ import annotations

from hedgerow.errors import InputError
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.linear_crf import LinearCRF
from hedgerow.learning.base import Record

# Learners that go through the sequences one after the other, or that need all of them at once.
INDIVISIBLE = {
    "SearchTagger": "fit it in one process",
    "OpinionPool": "its models are learned one after the other in one process; leave out client",
}


def check_divisible(settings: Estimator) -> None:
    """Raise InputError for an estimator, or settings of one, whose learner cannot be divided among workers."""
    name = type(settings).__name__
    if name in INDIVISIBLE:
        raise InputError(f"{name} cannot be fitted on several workers; {INDIVISIBLE[name]}")
    if name == "TreeCRF" and getattr(settings, "linear", False):
        raise InputError(
            "TreeCRF: the linear part learns from one sequence after the other, which cannot be divided among workers, "
            "but linear is set; set linear=False"
        )
    if name == "MEMM" and getattr(settings, "learner", "trees") != "trees":
        raise InputError('MEMM: only learner="trees" can be divided among workers; set it, or use LinearCRF')
    if name == "StructuredPerceptron" and getattr(settings, "averaging", "average") == "vote":
        raise InputError(
            'StructuredPerceptron: averaging="vote" keeps the weights after each sequence, which cannot be mixed with '
            'those of other workers; set averaging="average" or "none", or fit it in one process'
        )
    if getattr(settings, "degree", 1) != 1:
        raise InputError(
            f"{name}: degree=2 lists the pairs of attributes of all sequences, which cannot be divided among workers; "
            "set degree=1, or fit it in one process"
        )
    if name == "StructuredSVM" and getattr(settings, "solver", "pegasos") != "pegasos":
        raise InputError(
            'StructuredSVM: solver="frank-wolfe" learns from one sequence after the other, which cannot be divided '
            'among workers; set solver="pegasos", or fit it in one process'
        )
    if name == "LinearCRF":
        _check_linear_crf(settings)


def _check_linear_crf(settings: Estimator) -> None:
    if getattr(settings, "induce", None) is not None:
        raise InputError(
            "LinearCRF: induce needs all sequences at once, which cannot be divided among workers; set induce=None"
        )
    if settings.get_params()["solver"] == "sgd":
        raise InputError(
            'LinearCRF: solver="sgd" learns from one sequence after the other, which cannot be divided among workers; '
            'set solver="lbfgs", which reaches the same optimum'
        )


def choose_divisible(settings: Estimator) -> Record:
    """Replace parameters that are "auto" by what can be divided among workers; returns fields of the first record."""
    if not isinstance(settings, LinearCRF) or settings.solver != "auto":
        return {}
    settings.solver = settings._solver
    return {"solver": settings.solver}
