"""scikit-learn's conventions without scikit-learn: parameters in and out, clone, tags."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

from hedgerow.errors import InputError
from hedgerow.estimators.parameters import Parameter, declare, documentation, parameters, unknown_parameter

T = TypeVar("T", bound="Conventions")


@dataclass_transform(kw_only_default=True)
def with_parameters(cls: type[T]) -> type[T]:
    """Make the annotated fields of a class its keyword parameters, in its signature and docstring."""
    declared = declare(cls)
    for name in vars(cls).get("__annotations__", {}):
        if name in declared:
            delattr(cls, name)  # help() would list every default as an attribute of the class
    cls._parameters = declared
    cls.__annotations__ = {}
    cls.__signature__ = inspect.Signature(
        [
            inspect.Parameter(p.name, inspect.Parameter.KEYWORD_ONLY, default=p.default, annotation=p.annotation)
            for p in declared.values()
        ]
    )
    text, heading, examples = inspect.cleandoc(cls.__doc__ or "").partition("Examples\n--------\n")
    cls.__doc__ = "\n\n".join([text.rstrip(), documentation(cls), _attributes(cls), heading + examples]).rstrip() + "\n"
    return cls


def _attributes(cls: type[Conventions]) -> str:
    """The Attributes section of a numpydoc docstring: what `fit` sets, and the properties whose names end with _."""
    described = dict(cls._set_by_fit)
    for name, member in inspect.getmembers(cls, lambda member: isinstance(member, property)):
        if name.endswith("_") and not name.startswith("_"):
            kind = re.sub(r"NDArray\[.*\]", "array", member.fget.__annotations__["return"])
            described[name] = kind, inspect.cleandoc(member.__doc__)
    entries = [f"{name} : {kind}\n{textwrap.indent(text, '    ')}" for name, (kind, text) in sorted(described.items())]
    return "\n".join(["Attributes", "----------", *entries]) if entries else ""


class Conventions:
    """What scikit-learn's tools require of an estimator."""

    _parameters: ClassVar[dict[str, Parameter]] = {}
    _set_by_fit: ClassVar[dict[str, tuple[str, str]]] = {}  # (type, text) of attributes that are no properties
    __signature__: ClassVar[inspect.Signature]

    def __init__(self, *unnamed: Any, **values: Any) -> None:
        known = parameters(type(self))
        if unnamed:
            raise TypeError(
                f"{type(self).__name__} takes its parameters by name, for example {next(iter(known))}={unnamed[0]!r}"
            )
        for name in values:
            if name not in known:
                raise TypeError(unknown_parameter(type(self).__name__, name, known))
        for name, parameter in known.items():
            setattr(self, name, values.get(name, parameter.default))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add the parameters of estimators among the values, named `name__parameter`.

        Returns
        -------
        dict
            The values as they were passed.

        Examples
        --------
        >>> import hedgerow as hr
        >>> hr.HMM(order=2).get_params()["order"]
        2
        """
        own = {name: getattr(self, name) for name in parameters(type(self))}
        if not deep:
            return own
        nested = {name: value.get_params() for name, value in own.items() if isinstance(value, Conventions)}
        return own | {f"{name}__{inner}": value for name, of in nested.items() for inner, value in of.items()}

    def set_params(self, **values: Any) -> Self:
        """Change parameters.

        Parameters
        ----------
        **values
            New values by name; `name__parameter` is a parameter of the estimator `name`.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If there is no parameter of that name.

        Examples
        --------
        >>> import hedgerow as hr
        >>> hr.OutputCode(base=hr.TreeCRF()).set_params(n_bits=20, base__window=1)
        OutputCode(base=TreeCRF(window=1), n_bits=20)
        """
        known = parameters(type(self))
        nested: dict[str, dict[str, Any]] = {}
        for full, value in values.items():
            name, deeper, inner = full.partition("__")
            if name not in known or (deeper and known[name].value_type is None):
                raise InputError(unknown_parameter(type(self).__name__, full, known))
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

    def check_parameters(self) -> None:
        """Check all parameters, as `fit` does.

        Raises
        ------
        InputError
            For the first parameter that breaks its rule, or does not go with another.

        Examples
        --------
        >>> import hedgerow as hr
        >>> hr.HMM(order=-1).check_parameters()
        Traceback (most recent call last):
        ...
        hedgerow.errors.InputError: HMM: order must be an integer of at least 0; it is -1
        """
        for name, parameter in parameters(type(self)).items():
            parameter.check(type(self).__name__, getattr(self, name))
        self._check_combination()

    def _check_combination(self) -> None:
        """Raise InputError for parameters that do not go together."""

    def _converted(self) -> Self:
        """An unfitted estimator with checked parameters as Python scalars: `fit` works with this one.

        A seed is drawn here from a random generator.
        """
        values = {name: getattr(self, name) for name in parameters(type(self))}
        return type(self)(
            **{
                name: value._converted() if isinstance(value, Conventions) else self._parameters[name].convert(value)
                for name, value in values.items()
            }
        )

    def _plain_params(self) -> dict[str, Any]:
        """Converted parameters as a model file stores them."""
        return {name: p.plain(getattr(self, name)) for name, p in parameters(type(self)).items()}

    @classmethod
    def _from_plain(cls, values: Mapping[str, Any]) -> Self:
        """The estimator whose `_plain_params` these are; raises TypeError or InputError for any other values."""
        known = parameters(cls)
        return cls(**{name: known[name].restored(value) if name in known else value for name, value in values.items()})

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
        from sklearn.utils import InputTags, Tags, TargetTags  # only scikit-learn calls this

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True),
            input_tags=InputTags(two_d_array=False, allow_nan=True, string=True),
        )


def _is_default(value: Any, default: Any) -> bool:
    if value is default:
        return True
    return type(value) is type(default) and bool(value == default) if default is not None else False
