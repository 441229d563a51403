"""The check that views begin with: the model is a fitted estimator."""

from __future__ import annotations

from hedgerow.errors import InputError, type_name
from hedgerow.estimators.base import Estimator
from hedgerow.model import Model


def fitted_model(model: object, view: str, name: str = "the model") -> tuple[Estimator, Model]:
    """The estimator and its frozen model; raises InputError or NotFittedError unless it is a fitted estimator.

    `view` is the function that was called, and `name` its argument.
    """
    if isinstance(model, Estimator):
        return model, model._fitted()
    got, cure = type_name(model), "fit one of hedgerow's"
    if isinstance(model, Model):
        cure = "pass the estimator itself, not its model_"
    elif isinstance(model, type) and issubclass(model, Estimator):
        got, cure = f"the class {model.__name__}", f"pass what {model.__name__}(...).fit(X, y) returns"
    elif hasattr(model, "steps"):
        cure = "pass its last step, model[-1], and what the steps before it make of X"
    elif hasattr(model, "model_filename"):
        cure = "pass its estimator_"
    raise InputError(f"{view}: {name} must be a fitted estimator, but got {got}; {cure}")
