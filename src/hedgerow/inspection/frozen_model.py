"""What the views share: they take a frozen model, and those that take long are computed once for each model."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from hedgerow.codes.potential import CodePotential
from hedgerow.errors import AbsentPartError, InputError, type_name
from hedgerow.model import Model
from hedgerow.pooling.potential import PoolPotential

T = TypeVar("T")


def check_model(model: object) -> None:
    """Raise InputError unless this is a frozen model."""
    if isinstance(model, Model):
        return
    cure = "pass its attribute model_" if hasattr(model, "predict") else "pass the attribute model_ of an estimator"
    raise InputError(f"hedgerow.inspection reads the model of a fitted estimator, but got {type_name(model)}; {cure}")


def absent_part(model: Model, part: str, cure: str) -> AbsentPartError:
    """The error for a model without a part, such as trees; names the learner where an estimator has several."""
    if isinstance(model.potential, CodePotential):
        return AbsentPartError(
            f"{model.estimator} has no {part} of labels, because each bit of the code words has a model of its own; "
            f"{cure}"
        )
    if isinstance(model.potential, PoolPotential):
        return AbsentPartError(
            f"{model.estimator} has no {part}, because each of its models has its own; fit its base alone, or {cure}"
        )
    learner = model.parameters.get("learner")
    setting = "" if learner is None else f" with learner={learner!r}"
    return AbsentPartError(f"{model.estimator}{setting} has no {part}; {cure}")


def once_per_model(view: Callable[[Model], T]) -> Callable[[Model], T]:
    """The view, with its results kept as long as their models exist. Models are frozen, so results stay right."""
    results: WeakKeyDictionary[Model, T] = WeakKeyDictionary()

    @wraps(view)
    def kept(model: Model) -> T:
        check_model(model)
        if model not in results:
            results[model] = view(model)
        return results[model]

    return kept
