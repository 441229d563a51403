"""scikit-learn's conventions without scikit-learn: parameters in and out, clone, tags; and the list of estimators."""

from __future__ import annotations

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
        """Parameters by name."""
        return {name: getattr(self, name) for name in parameters(type(self))}

    def _plain_params(self) -> dict[str, Any]:
        """Checked parameters as a model file can hold them."""
        return {name: p.plain(getattr(self, name)) for name, p in parameters(type(self)).items()}

    def set_params(self, **values: Any) -> Self:
        """Change parameters; raises InputError for a name that is none."""
        known = parameters(type(self))
        for name in values:
            if name not in known:
                raise InputError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}")
        for name, value in values.items():
            setattr(self, name, value)
        return self

    def check_parameters(self) -> None:
        """Raises InputError for the first parameter that breaks its rule."""
        for name, parameter in parameters(type(self)).items():
            parameter.check(type(self).__name__, getattr(self, name))

    def __repr__(self) -> str:
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, parameter in parameters(type(self)).items()
            if getattr(self, name) != parameter.default
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
