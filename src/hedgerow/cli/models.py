"""Models by the names that the command line has for them, and the one that `train` learns by default."""

from __future__ import annotations

from typing import Any

from hedgerow.cli.suggestions import did_you_mean
from hedgerow.errors import InputError

AUTO = "auto"  # the race of `hedgerow.tune`
MODELS = {
    "treecrf": "TreeCRF",
    "linear": "LinearCRF",
    "svm": "StructuredSVM",
    "perceptron": "StructuredPerceptron",
    "hmm": "HMM",
    "memm": "MEMM",
    "future": "FutureMEMM",
    "search": "SearchTagger",
    "code": "OutputCode",
    "pool": "OpinionPool",
}
DEFAULT = "treecrf"


def estimator_class(name: str) -> type[Any]:
    """The estimator of a name such as "linear" or "LinearCRF"; raises InputError if there is none."""
    from hedgerow.estimators.registry import REGISTRY

    found = MODELS.get(name, name)
    if found not in MODELS.values():
        raise InputError(f"the model must be one of {', '.join(MODELS)} or {AUTO}; it is {name!r}{_meant(name)}")
    found_class: type[Any] = REGISTRY[found]
    return found_class


def _meant(name: str) -> str:
    """The models whose class has this in its name, such as crf, or else the one of the nearest name."""
    inside = [model for model, cls in MODELS.items() if name and name.lower() in cls.lower()]
    question = f"did you mean {' or '.join(inside)}?" if inside else did_you_mean(name, [*MODELS, AUTO], otherwise="")
    return question and f"; {question}"


def command_line_name(estimator: str) -> str:
    """The name on the command line of an estimator such as "LinearCRF"."""
    return next(name for name, cls in MODELS.items() if cls == estimator)
