"""Parameters, declared once: an annotated field of an estimator gives its default, its rule and its help.

    smoothing: Annotated[float, AtLeast(0), "pseudo-counts added to every count"] = 0.1

From that come the signature, the check before `fit`, the documentation and the flags of the command line.
"""

from __future__ import annotations

import numbers
import types
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from hedgerow.encoding.imputation import Treatment
from hedgerow.errors import InputError

LARGEST = 1e30  # so that sums and products of a few still fit single precision
LARGEST_INTEGER = 2**63 - 1


@dataclass(frozen=True)
class AtLeast:
    """The number is not below `low`."""

    low: float

    def holds(self, value: Any) -> bool:
        return bool(value >= self.low)

    def __str__(self) -> str:
        return f"at least {self.low}"


@dataclass(frozen=True)
class MoreThan:
    """The number is above `low`."""

    low: float

    def holds(self, value: Any) -> bool:
        return bool(value > self.low)

    def __str__(self) -> str:
        return f"above {self.low}"


@dataclass(frozen=True)
class AtMost:
    """The number is not above `high`."""

    high: float

    def holds(self, value: Any) -> bool:
        return bool(value <= self.high)

    def __str__(self) -> str:
        return f"at most {self.high}"


@dataclass(frozen=True)
class CountOrAll:
    """A count of at least 1, or -1 for all."""

    def holds(self, value: Any) -> bool:
        return bool(value == -1 or value >= 1)

    def __str__(self) -> str:
        return "at least 1, or -1 for all"


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Form:
    """What a parameter takes that is of no simple type: in words, as a test, and how a model file holds it."""

    words: str
    holds: Callable[[Any], bool]
    plain: Callable[[Any], Any] = _as_it_is
    restored: Callable[[Any], Any] = _as_it_is


# What several estimators declare in the same words.
WindowSize: TypeAlias = Annotated[int, AtLeast(0), "how many positions on either side are read"]
Beam: TypeAlias = Annotated[
    int | None, AtLeast(1), "nodes of a position that are kept, in training and prediction; None keeps all"
]
Filled: TypeAlias = Annotated[
    Treatment, "missing values are filled in by what is typical of their column; an indicator also marks them"
]


@dataclass(frozen=True)
class Parameter:
    """One declared parameter."""

    name: str
    type: Any  # int, float, bool, str or a Literal; optional ones also take None; anything if there is a form
    optional: bool
    default: Any
    rules: tuple[AtLeast | AtMost | MoreThan | CountOrAll, ...]
    help: str
    form: Form | None = None

    @property
    def choices(self) -> tuple[Any, ...]:
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    def describe(self) -> str:
        """What values it takes, in words."""
        if self.form is not None:
            return self.form.words
        if self.choices:
            words = "one of " + ", ".join(repr(choice) for choice in self.choices)
        else:
            kind = {int: "an integer", float: "a number", bool: "True or False", str: "a string"}[self.type]
            words = " ".join(filter(None, [kind, " and ".join(map(str, self.rules))]))
        return words + (" or None" if self.optional else "")

    def check(self, owner: str, value: Any) -> None:
        """Raises InputError unless the value is of the type and keeps the rules."""
        if self.form is not None:
            if not self.form.holds(value):
                raise InputError(f"{owner}: {self.name} must be {self.form.words}; it is {value!r}")
            return
        if value is None and self.optional:
            return
        if not (self._is_of_type(value) and all(rule.holds(value) for rule in self.rules)):
            raise InputError(f"{owner}: {self.name} must be {self.describe()}; it is {value!r}")
        largest = {int: LARGEST_INTEGER, float: LARGEST}.get(self.type)
        if largest is not None and abs(value) > largest:
            raise InputError(f"{owner}: {self.name} must not be larger than {largest:g}; it is {value!r}")

    def plain(self, value: Any) -> Any:
        """A checked value as JSON can hold it: numbers of numpy become Python's."""
        if self.form is not None:
            return self.form.plain(value)
        return self.type(value) if self.type in (int, float) and value is not None else value

    def _is_of_type(self, value: Any) -> bool:
        if self.choices:
            return any(type(value) is type(choice) and value == choice for choice in self.choices)
        if self.type is int:
            return isinstance(value, numbers.Integral) and not isinstance(value, bool)
        if self.type is float:
            return isinstance(value, numbers.Real) and not isinstance(value, bool) and value == value
        return isinstance(value, self.type)


_KNOWN: dict[type, dict[str, Parameter]] = {}


def parameters(estimator: type) -> dict[str, Parameter]:
    """The declared parameters of an estimator class, in the order of its signature."""
    if estimator not in _KNOWN:
        _KNOWN[estimator] = {parameter.name: parameter for parameter in _declared(estimator)}
    return _KNOWN[estimator]


def _declared(estimator: type) -> Iterator[Parameter]:
    hints = get_type_hints(estimator, include_extras=True)
    for field in fields(estimator):
        hint = hints[field.name]
        assert get_origin(hint) is Annotated, f"{estimator.__name__}.{field.name} is not declared as a parameter"
        kind, *details = get_args(hint)
        form = next((detail for detail in details if isinstance(detail, Form)), None)
        optional = form is None and get_origin(kind) in (Union, types.UnionType) and type(None) in get_args(kind)
        if optional:
            (kind,) = (choice for choice in get_args(kind) if choice is not type(None))
        assert field.default is not MISSING, f"{estimator.__name__}.{field.name} has no default"
        rules = tuple(detail for detail in details if not isinstance(detail, (str, Form)))
        help_text = " ".join(detail for detail in details if isinstance(detail, str))
        yield Parameter(field.name, kind, optional, field.default, rules, help_text, form)


def documentation(estimator: type) -> str:
    """The parameters as indented text, for docstrings."""
    declared = parameters(estimator).values()
    lines = [f"    {p.name} ({p.describe()}; default {p.default!r}): {p.help}" for p in declared]
    return "\n".join(["Parameters:", *lines])
