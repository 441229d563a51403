"""scikit-learn's conventions without scikit-learn: parameters in and out, clone, tags; and the list of estimators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar, dataclass_transform

from hedgerow.errors import InputError
from hedgerow.estimators.parameters import documentation, parameters

#: Every estimator by name, as model files and the command line know it.
REGISTRY: dict[str, type[Any]] = {}

T = TypeVar("T", bound="Conventions")


@dataclass_transform(kw_only_default=True)
def estimator(cls: type[T]) -> type[T]:
    """Makes annotated fields keyword parameters, tells of them in the docstring, and lists the class."""
    made = dataclass(kw_only=True, eq=False, repr=False)(cls)
    made.__doc__ = f"{made.__doc__}\n\n{documentation(made)}\n"
    REGISTRY[made.__name__] = made
    return made


class Conventions:
    """What scikit-learn's tools ask of an estimator."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep` also those of estimators among them, as `name__parameter`."""
        own = {name: getattr(self, name) for name in parameters(type(self))}
        if not deep:
            return own
        nested = {name: value.get_params() for name, value in own.items() if isinstance(value, Conventions)}
        return own | {f"{name}__{inner}": value for name, of in nested.items() for inner, value in of.items()}

    def _plain_params(self) -> dict[str, Any]:
        """Checked parameters as a model file can hold them."""
        return {name: p.plain(getattr(self, name)) for name, p in parameters(type(self)).items()}

    def set_params(self, **values: Any) -> Self:
        """Change parameters, `name__parameter` for one of an estimator among them; raises InputError for others."""
        known = parameters(type(self))
        nested: dict[str, dict[str, Any]] = {}
        for full, value in values.items():
            name, deeper, inner = full.partition("__")
            if name not in known or (deeper and known[name].form is None):
                raise InputError(f"{type(self).__name__} has no parameter {full!r}; it has {', '.join(known)}")
            if deeper:
                nested.setdefault(name, {})[inner] = value
        for name in known:
            if name in values:
                setattr(self, name, values[name])
        for name, of in nested.items():
            owner = getattr(self, name)
            if not isinstance(owner, Conventions):
                raise InputError(f"{type(self).__name__}: {name} is {owner!r} and has no parameters; give an estimator")
            owner.set_params(**of)
        return self

    @classmethod
    def _from_plain(cls, values: Mapping[str, Any]) -> Self:
        """The estimator whose `_plain_params` these are; raises TypeError or InputError if they are of none."""
        forms = {name: p.form for name, p in parameters(cls).items() if p.form is not None}
        return cls(**{name: forms[name].restored(value) if name in forms else value for name, value in values.items()})

    def check_parameters(self) -> None:
        """Raises InputError for the first parameter that breaks its rule."""
        for name, parameter in parameters(type(self)).items():
            parameter.check(type(self).__name__, getattr(self, name))

    def __repr__(self) -> str:
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, parameter in parameters(type(self)).items()
            if not _is_default(getattr(self, name), parameter.default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags  # only scikit-learn itself asks

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True),
            input_tags=InputTags(two_d_array=False, allow_nan=True, string=True),
        )


def _is_default(value: Any, default: Any) -> bool:
    if value is default:
        return True
    return type(value) is type(default) and bool(value == default) if default is not None else False
