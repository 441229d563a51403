"""Parameters of estimators. Each is declared once, as an annotated field with a default, a rule and a help text.

    smoothing: Annotated[float, AtLeast(0), "Pseudo-count added to every count."] = 0.1

The signature, the check before `fit`, the conversion of numpy scalars, the docstring and the command-line flag of the
parameter all come from this declaration.
"""

from __future__ import annotations

import numbers
import operator
import textwrap
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np

from hedgerow.errors import InputError

LARGEST = 1e30  # so that sums and products of a few still fit single precision
_STEPS = ("n_rounds", "max_iter", "epochs")
# Parameters of CRFsuite, scikit-learn, XGBoost and LightGBM, and what may stand for them here.
ELSEWHERE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("n_estimators", "num_iterations", "num_boost_round", "num_rounds", "iterations"), _STEPS),
    **dict.fromkeys(("n_iter", "max_iterations", "max_iter", "n_epochs", "num_epochs", "epochs", "n_rounds"), _STEPS),
    **dict.fromkeys(("max_depth", "num_leaves", "max_leaf_nodes"), ("max_leaves",)),
    **dict.fromkeys(("min_samples_leaf", "min_data_in_leaf", "min_child_samples"), ("min_leaf",)),
    **dict.fromkeys(("c2", "reg_lambda", "lambda_l2", "l2_regularization", "weight_decay"), ("l2",)),
    **dict.fromkeys(("c1", "reg_alpha", "lambda_l1"), ("l1",)),
    **dict.fromkeys(("eta", "lr", "shrinkage"), ("learning_rate",)),
    **dict.fromkeys(("seed", "random_seed"), ("random_state",)),
    **dict.fromkeys(("n_threads", "num_threads", "nthread", "n_workers"), ("n_jobs",)),
    **dict.fromkeys(("delta", "epsilon"), ("tol",)),
    "algorithm": ("solver",),
    "all_possible_transitions": ("all_transitions",),
    "all_possible_states": ("observed_only",),
    "alpha": ("smoothing",),
    "standardize": ("scale",),
    "early_stopping_rounds": ("patience",),
    "n_iter_no_change": ("patience",),
}
LARGEST_INTEGER = 2**63 - 1
AUTO = "auto"  # the value that lets `fit` choose, where a parameter declares Literal["auto"]


@dataclass(frozen=True)
class Bound:
    """The number compares with `limit` as the subclass says."""

    limit: float
    words: ClassVar[str]
    symbol: ClassVar[str]
    compare: ClassVar[Callable[[Any, float], Any]]

    def holds(self, value: Any) -> bool:
        return bool(type(self).compare(value, self.limit))

    def __str__(self) -> str:
        return f"{self.words} {self.limit}"

    @property
    def sign(self) -> str:
        return f"{self.symbol} {self.limit}"


class AtLeast(Bound):
    """The number is not below `limit`."""

    words, symbol, compare = "at least", ">=", operator.ge


class MoreThan(Bound):
    """The number is above `limit`."""

    words, symbol, compare = "above", ">", operator.gt


class AtMost(Bound):
    """The number is not above `limit`."""

    words, symbol, compare = "at most", "<=", operator.le


class LessThan(Bound):
    """The number is below `limit`."""

    words, symbol, compare = "below", "<", operator.lt


@dataclass(frozen=True)
class CountOrAll:
    """A count of at least 1; -1 or None stand for all processors."""

    def holds(self, value: Any) -> bool:
        return bool(value == -1 or value >= 1)

    def __str__(self) -> str:
        return "at least 1, or -1 or None for all processors"

    @property
    def sign(self) -> str:
        return ">= 1, or -1 or None for all processors"


Rule: TypeAlias = Bound | CountOrAll


def python_scalar(value: Any) -> Any:
    """The value; a numpy scalar as the Python scalar it stands for."""
    return value.item() if isinstance(value, np.generic) else value


def _unchanged(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class ValueType:
    """The values of a parameter that has no simple type.

    `words` describes them; `holds` tests a value, of numpy or of Python. `convert` returns the value that learners use,
    `plain` the value that a model file stores, and `restored` reads that back. `parse` reads a command-line flag.
    """

    words: str
    holds: Callable[[Any], bool]
    plain: Callable[[Any], Any] = _unchanged
    restored: Callable[[Any], Any] = _unchanged
    convert: Callable[[Any], Any] = python_scalar
    parse: Callable[[str], Any] = _unchanged


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One declared parameter."""

    name: str
    type: Any  # int, float, bool, str or a Literal; optional ones also take None; anything if there is a value type
    optional: bool
    automatic: bool  # besides numbers it takes AUTO
    default: Any
    rules: tuple[Rule, ...]
    help: str
    value_type: ValueType | None = None

    @property
    def choices(self) -> tuple[Any, ...]:
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    @property
    def annotation(self) -> Any:
        """The plain type, for signatures."""
        plain = self.type | Literal["auto"] if self.automatic else self.type
        return plain | None if self.optional else plain

    def describe(self) -> str:
        """Which values are allowed, in words."""
        if self.value_type is not None:
            return self.value_type.words
        if self.choices:
            words = "one of " + ", ".join(repr(choice) for choice in self.choices)
        else:
            kind = {int: "an integer", float: "a number", bool: "True or False", str: "a string"}[self.type]
            rules = " and ".join(map(str, self.rules))
            words = f"{kind} of {rules}" if rules.startswith("at ") else f"{kind} {rules}".rstrip()
        return words + self._or_other

    @property
    def _or_other(self) -> str:
        says_so = any(isinstance(rule, CountOrAll) for rule in self.rules)
        return f" or {AUTO!r}" * self.automatic + " or None" * (self.optional and not says_so)

    def check(self, owner: str, value: Any) -> None:
        """Raise InputError unless the value has the declared type and keeps the rules."""
        value = python_scalar(value)
        if self.value_type is not None:
            if not self.value_type.holds(value):
                raise InputError(f"{owner}: {self.name} must be {self.value_type.words}; it is {value!r}")
            return
        if (value is None and self.optional) or (self.automatic and isinstance(value, str) and value == AUTO):
            return
        if not (self._is_of_type(value) and all(rule.holds(value) for rule in self.rules)):
            raise InputError(f"{owner}: {self.name} must be {self.describe()}; it is {value!r}")
        largest = {int: LARGEST_INTEGER, float: LARGEST}.get(self.type)
        if largest is not None and abs(value) > largest:
            raise InputError(f"{owner}: {self.name} must not be larger than {largest:g}; it is {value!r}")

    def convert(self, value: Any) -> Any:
        """A checked value as learners and the core need it: an int, float, bool, str or None of Python."""
        value = python_scalar(value)
        if self.value_type is not None:
            return self.value_type.convert(value)
        return self.type(value) if self.type in (int, float) and isinstance(value, numbers.Real) else value

    def plain(self, converted: Any) -> Any:
        """A converted value as JSON can hold it."""
        return converted if self.value_type is None else self.value_type.plain(converted)

    def restored(self, stored: Any) -> Any:
        """The value whose `plain` value was stored."""
        return stored if self.value_type is None else self.value_type.restored(stored)

    def document(self) -> str:
        """The numpydoc entry."""
        if self.value_type is not None:
            allowed = self.value_type.words.removeprefix("an ").removeprefix("a ")
        elif self.choices:
            allowed = f"{{{', '.join(map(repr, self.choices))}}}"
        else:
            signs = " and ".join(rule.sign for rule in self.rules)
            allowed = f"{self.type.__name__} {signs}".strip()
        end, text = f"{self._or_other}, default={self.default!r}", self.help
        if self.choices and len(self.name + allowed + end) > 110:  # a head cannot be wrapped
            allowed, text = "str", f"One of {', '.join(map(repr, self.choices))}. {text}"
        body = textwrap.fill(text, 100, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
        return f"{self.name} : {allowed}{end}\n{body}"

    def _is_of_type(self, value: Any) -> bool:
        if self.choices:
            return any(type(value) is type(choice) and value == choice for choice in self.choices)
        if self.type is int:
            return isinstance(value, numbers.Integral) and not isinstance(value, bool)
        if self.type is float:
            return isinstance(value, numbers.Real) and not isinstance(value, bool) and value == value
        return isinstance(value, self.type)


def parameters(estimator: type) -> dict[str, Parameter]:
    """The parameters of an estimator class, in the order of its signature."""
    declared: dict[str, Parameter] = estimator._parameters  # type: ignore[attr-defined]
    return declared


def declare(cls: type) -> dict[str, Parameter]:
    """The parameters that the body of a class declares, and after them those of its bases."""
    own = vars(cls).get("__annotations__", {})
    hints = get_type_hints(cls, include_extras=True)
    declared = {name: _declared(cls, name, hints[name]) for name in own if not name.startswith("_")}
    for base in cls.__mro__[1:]:
        for name, parameter in vars(base).get("_parameters", {}).items():
            declared.setdefault(name, parameter)
    return declared


def _declared(cls: type, name: str, hint: Any) -> Parameter:
    assert get_origin(hint) is Annotated, f"{cls.__name__}.{name} is not declared as a parameter"
    assert name in vars(cls), f"{cls.__name__}.{name} has no default"
    kind, *details = get_args(hint)
    value_type = next((detail for detail in details if isinstance(detail, ValueType)), None)
    optional = automatic = False
    if value_type is None and get_origin(kind) in (Union, types.UnionType):
        choices = get_args(kind)
        optional, automatic = type(None) in choices, Literal["auto"] in choices
        (kind,) = (choice for choice in choices if choice not in (type(None), Literal["auto"]))
    rules = tuple(detail for detail in details if not isinstance(detail, (str, ValueType)))
    help_text = " ".join(detail for detail in details if isinstance(detail, str))
    return Parameter(
        name=name,
        type=kind,
        optional=optional,
        automatic=automatic,
        default=vars(cls)[name],
        rules=rules,
        help=help_text,
        value_type=value_type,
    )


def unknown_parameter(owner: str, name: str, known: Iterable[str]) -> str:
    """The message for a parameter that an estimator does not have; it names the nearest one it has."""
    import difflib

    known = list(known)
    by_lower = {one.lower(): one for one in known}
    here = [one for one in ELSEWHERE.get(name, ()) if one in known]
    nearest = [] if name in ELSEWHERE else difflib.get_close_matches(name.lower(), by_lower, n=1)
    if here:
        cure = f"use {here[0]!r} here"
    elif name == "C" and "l2" in known:
        cure = "use 'l2' here; a larger l2 does what a smaller C does"
    elif nearest:
        cure = f"did you mean {by_lower[nearest[0]]!r}?"
    else:
        cure = f"it has {', '.join(known)}"
        if "base" in known:
            cure += f"; if it is a parameter of the base, pass it to the base, as in base=TreeCRF({name}=...)"
    return f"{owner} has no parameter {name!r}; {cure}"


def documentation(cls: type) -> str:
    """The Parameters section of a numpydoc docstring."""
    return "\n".join(["Parameters", "----------", *(p.document() for p in parameters(cls).values())])
