"""The parameter `base` of composite estimators: the estimator that learns each of their models."""

from __future__ import annotations

from typing import Any

from hedgerow.errors import InputError
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.parameters import ValueType
from hedgerow.estimators.registry import REGISTRY

NO_BASES = "OutputCode, OpinionPool and SearchTagger"  # the estimators whose `_can_be_base` is False


def _plain(base: Any) -> Any:
    return None if base is None else {"estimator": type(base).__name__, "parameters": base._plain_params()}


def _restored(stored: Any) -> Any:
    match stored:
        case None:
            return None
        case {"estimator": str(name), "parameters": dict(values)} if name in REGISTRY:
            return REGISTRY[name]._from_plain(values)
    raise InputError(f"base must be an estimator and its parameters, but it is {stored!r}")


def base_type(default: str) -> ValueType:
    """The values of `base`; None stands for the default, which is named here."""
    return ValueType(
        f"an estimator other than {NO_BASES}, or None for {default}",
        lambda value: value is None or (isinstance(value, Estimator) and value._can_be_base),
        _plain,
        _restored,
    )


def check_base(owner: str, base: Estimator, foreign: dict[str, str]) -> None:
    """Raise InputError for a parameter of the base that breaks its rule, or is set though it must not be.

    `foreign` has the parameters that a base must not have, and why.
    """
    base.check_parameters()
    for name, why in foreign.items():
        if getattr(base, name, None):
            raise InputError(f"{owner}: base must not have {name}={getattr(base, name)!r}; {why}")
