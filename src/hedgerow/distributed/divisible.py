"""Which fits can be divided among workers."""

from __future__ import annotations

from hedgerow.errors import InputError
from hedgerow.estimators.base import Estimator

# Learners that go through the sequences one after the other, or that need all of them at once.
INDIVISIBLE = {
    "SearchTagger": "fit it in one process",
    "StructuredSVM": "use LinearCRF or StructuredPerceptron, or fit it in one process",
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
    if name == "LinearCRF":
        _check_linear_crf(settings)


def _check_linear_crf(settings: Estimator) -> None:
    if getattr(settings, "induce", None) is not None:
        raise InputError(
            "LinearCRF: induce needs all sequences at once, which cannot be divided among workers; set induce=None"
        )
    solver, l1 = getattr(settings, "solver", "auto"), getattr(settings, "l1", 0.0)
    if solver == "sgd" or (solver == "auto" and l1 == 0):
        raise InputError(
            f"LinearCRF: solver={solver!r} learns from one sequence after the other, which cannot be divided among "
            'workers; set solver="lbfgs", which reaches the same optimum'
        )
