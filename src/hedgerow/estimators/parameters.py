"""Parameters of estimators. Each is declared once, as an annotated field with a default, a rule and a help text.

    smoothing: Annotated[float, AtLeast(0), "Pseudo-count added to every count."] = 0.1

The signature, the check before `fit`, the conversion of numpy scalars, the docstring and the command-line flag of the
parameter are all made from this declaration.
"""

from __future__ import annotations

import difflib
import numbers
import os
import textwrap
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np

from hedgerow.encoding.imputation import Treatment
from hedgerow.encoding.window import WINDOW_RULE, Window
from hedgerow.errors import InputError

LARGEST = 1e30  # so that sums and products of a few still fit single precision
CRFSUITE = {"c1": "l1", "c2": "l2", "max_iterations": "max_iter"}  # its parameters, and what they are here
LARGEST_INTEGER = 2**63 - 1


@dataclass(frozen=True)
class AtLeast:
    """The number is not below `low`."""

    low: float

    def holds(self, value: Any) -> bool:
        return bool(value >= self.low)

    def __str__(self) -> str:
        return f"at least {self.low}"

    @property
    def sign(self) -> str:
        return f">= {self.low}"


@dataclass(frozen=True)
class MoreThan:
    """The number is above `low`."""

    low: float

    def holds(self, value: Any) -> bool:
        return bool(value > self.low)

    def __str__(self) -> str:
        return f"above {self.low}"

    @property
    def sign(self) -> str:
        return f"> {self.low}"


@dataclass(frozen=True)
class AtMost:
    """The number is not above `high`."""

    high: float

    def holds(self, value: Any) -> bool:
        return bool(value <= self.high)

    def __str__(self) -> str:
        return f"at most {self.high}"

    @property
    def sign(self) -> str:
        return f"<= {self.high}"


@dataclass(frozen=True)
class LessThan:
    """The number is below `high`."""

    high: float

    def holds(self, value: Any) -> bool:
        return bool(value < self.high)

    def __str__(self) -> str:
        return f"below {self.high}"

    @property
    def sign(self) -> str:
        return f"< {self.high}"


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


Rule: TypeAlias = AtLeast | AtMost | MoreThan | LessThan | CountOrAll


def python_scalar(value: Any) -> Any:
    """The value; a numpy scalar as the Python scalar it stands for."""
    return value.item() if isinstance(value, np.generic) else value


def _unchanged(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Form:
    """The values of a parameter that has no simple type.

    `words` describes them, `holds` tests one that has been converted. `convert` makes what learners use, `plain` what a
    model file stores, `restored` reads that back. `parse` reads the text of a command-line flag.
    """

    words: str
    holds: Callable[[Any], bool]
    plain: Callable[[Any], Any] = _unchanged
    restored: Callable[[Any], Any] = _unchanged
    convert: Callable[[Any], Any] = python_scalar
    parse: Callable[[str], Any] = _unchanged


@dataclass(frozen=True)
class Parameter:
    """One declared parameter."""

    name: str
    type: Any  # int, float, bool, str or a Literal; optional ones also take None; anything if there is a form
    optional: bool
    default: Any
    rules: tuple[Rule, ...]
    help: str
    form: Form | None = None

    @property
    def choices(self) -> tuple[Any, ...]:
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    @property
    def annotation(self) -> Any:
        """The plain type, for signatures."""
        return self.type | None if self.optional else self.type

    def describe(self) -> str:
        """Which values are allowed, in words."""
        if self.form is not None:
            return self.form.words
        if self.choices:
            words = "one of " + ", ".join(repr(choice) for choice in self.choices)
        else:
            kind = {int: "an integer", float: "a number", bool: "True or False", str: "a string"}[self.type]
            words = " ".join(filter(None, [kind, " and ".join(map(str, self.rules))]))
        return words + self._or_none

    @property
    def _or_none(self) -> str:
        says_so = any(isinstance(rule, CountOrAll) for rule in self.rules)
        return " or None" if self.optional and not says_so else ""

    def check(self, owner: str, value: Any) -> None:
        """Raise InputError unless the value has the declared type and keeps the rules."""
        value = python_scalar(value)
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

    def convert(self, value: Any) -> Any:
        """A checked value as learners and the core take it: an int, float, bool, str or None of Python."""
        value = python_scalar(value)
        if self.form is not None:
            return self.form.convert(value)
        return self.type(value) if self.type in (int, float) and value is not None else value

    def plain(self, converted: Any) -> Any:
        """A converted value as JSON can hold it."""
        return converted if self.form is None else self.form.plain(converted)

    def restored(self, stored: Any) -> Any:
        """The value whose `plain` form was stored."""
        return stored if self.form is None else self.form.restored(stored)

    def document(self) -> str:
        """The numpydoc entry."""
        if self.form is not None:
            allowed = self.form.words.removeprefix("an ").removeprefix("a ")
        elif self.choices:
            allowed = f"{{{', '.join(map(repr, self.choices))}}}"
        else:
            signs = " and ".join(rule.sign for rule in self.rules)
            allowed = f"{self.type.__name__} {signs}".strip()
        head = f"{self.name} : {allowed}{self._or_none}, default={self.default!r}"
        return f"{head}\n{textwrap.fill(self.help, 100, initial_indent='    ', subsequent_indent='    ')}"

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
    form = next((detail for detail in details if isinstance(detail, Form)), None)
    optional = form is None and get_origin(kind) in (Union, types.UnionType) and type(None) in get_args(kind)
    if optional:
        (kind,) = (choice for choice in get_args(kind) if choice is not type(None))
    rules = tuple(detail for detail in details if not isinstance(detail, (str, Form)))
    help_text = " ".join(detail for detail in details if isinstance(detail, str))
    return Parameter(name, kind, optional, vars(cls)[name], rules, help_text, form)


def unknown_parameter(owner: str, name: str, known: Iterable[str]) -> str:
    """The message for a parameter that an estimator does not have; it names the nearest one it has."""
    known = list(known)
    nearest = difflib.get_close_matches(name, known, n=1)
    here = CRFSUITE.get(name)
    if here in known:
        cure = f"CRFsuite's {name} is {here} here"
    elif nearest:
        cure = f"did you mean {nearest[0]!r}?"
    else:
        cure = f"it has {', '.join(known)}"
        if "base" in known:
            cure += f"; if it is a parameter of the base estimator, give it to base, as in base=TreeCRF({name}=...)"
    return f"{owner} has no parameter {name!r}; {cure}"


def documentation(cls: type) -> str:
    """The Parameters section of a numpydoc docstring."""
    return "\n".join(["Parameters", "----------", *(p.document() for p in parameters(cls).values())])


def _is_seed(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, numbers.Integral):
        return not isinstance(value, bool) and 0 <= int(value) <= LARGEST_INTEGER
    return isinstance(value, (np.random.RandomState, np.random.Generator))


def _seed(value: Any) -> int | None:
    """The seed; one that is drawn now from a generator."""
    if isinstance(value, np.random.RandomState):
        return int(value.randint(2**31))
    if isinstance(value, np.random.Generator):
        return int(value.integers(2**31))
    return None if value is None else int(value)


def _parse_seed(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"random_state must be an integer at least 0; it is {text!r}") from None


SEED = Form(
    "an integer at least 0, a numpy RandomState or Generator, or None", _is_seed, convert=_seed, parse=_parse_seed
)


def _is_verbosity(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and int(value) >= 0


def _parse_verbosity(text: Any) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"verbose must be an integer at least 0; it is {text!r}") from None


VERBOSITY = Form("an integer at least 0, or a bool", _is_verbosity, convert=int, parse=_parse_verbosity)


def _is_path(value: Any) -> bool:
    return (
        value is None
        or isinstance(value, str)
        or (isinstance(value, os.PathLike) and isinstance(value.__fspath__(), str))
    )


def _path(value: Any) -> str | None:
    return None if value is None else str(os.fspath(value))


PATH = Form("a str, a path or None", _is_path, convert=_path)

# Declarations that several estimators share.


def _is_window(value: Any) -> bool:
    try:
        Window.of(value)
    except InputError:
        return False
    return True


def _window(value: Any) -> int | list[int]:
    return int(value) if isinstance(value, numbers.Integral) else list(Window.of(value).offsets)


def _parse_window(text: Any) -> int | list[int]:
    try:
        offsets = [int(offset) for offset in str(text).split(",")]  # typer also parses the default, which is a number
        return offsets if len(offsets) > 1 else offsets[0]
    except ValueError:
        raise InputError(f"window must be a number or offsets with commas between them; it is {text!r}") from None


WINDOW = Form(WINDOW_RULE, _is_window, convert=_window, parse=_parse_window)
WindowSize: TypeAlias = Annotated[
    int | tuple[int, int] | list[int],
    WINDOW,
    "Neighbouring positions whose columns are read, as offsets. A wider window sees more context; the number of "
    "attributes grows with it.",
]
Beam: TypeAlias = Annotated[
    int | None,
    AtLeast(1),
    "Number of label contexts kept at each position, in training and prediction. Smaller is faster and less exact; "
    "None keeps all.",
]
PredictionBeam: TypeAlias = Annotated[
    int | None,
    AtLeast(1),
    "Number of label contexts kept at each position in prediction; training needs no lattice. Smaller is faster and "
    "less exact; None keeps all.",
]
Filled: TypeAlias = Annotated[
    Treatment,
    'How missing values are handled: "impute" replaces them by the most frequent value or the median of their column; '
    '"indicator" also adds an attribute that marks them.',
]
MinFreq: TypeAlias = Annotated[
    int,
    AtLeast(1),
    "Attributes with fewer occurrences in training are ignored. Raise it for a smaller model and less overfitting.",
]
Scale: TypeAlias = Annotated[
    bool,
    "Whether numeric columns are standardised: the mean is subtracted, and the difference divided by the standard "
    "deviation. False uses the numbers as they are, as CRFsuite does.",
]
Epochs: TypeAlias = Annotated[int, AtLeast(1), "Number of passes over the sequences, at most."]
NRounds: TypeAlias = Annotated[
    int, AtLeast(1), "Number of boosting rounds. More rounds fit the training data more closely and take longer."
]
LearningRate: TypeAlias = Annotated[
    float,
    MoreThan(0),
    "Factor on the step of each round. Smaller steps need more rounds and often generalise better.",
]
MaxLeaves: TypeAlias = Annotated[
    int, AtLeast(2), "Number of leaves of a tree, at most. More leaves combine more attributes and overfit sooner."
]
LeafL2: TypeAlias = Annotated[
    float,
    AtLeast(0),
    "L2 penalty on leaf values: leaf = sum(residuals) / (l2 + sum(weights)). Raise it against overfitting.",
]
MinLeaf: TypeAlias = Annotated[
    int, AtLeast(1), "Number of positions that a leaf must have. Raise it against overfitting."
]
Newton: TypeAlias = Annotated[
    bool,
    "Whether leaf values are Newton steps. If False they are mean residuals, as in the publications: slower to learn.",
]
Subsample: TypeAlias = Annotated[
    float,
    MoreThan(0),
    AtMost(1),
    "Share of the sequences that each round learns from, drawn anew. Less is faster and adds randomness.",
]
WarmStart: TypeAlias = Annotated[
    bool, "Whether `fit` continues from the fitted model until there are n_rounds rounds, instead of starting again."
]
CheckpointPath: TypeAlias = Annotated[
    str | os.PathLike[str] | None,
    PATH,
    "File to which `fit` saves the model every 10 rounds. A `fit` with the same data and parameters continues from it.",
]
StoppingChoice: TypeAlias = Literal["auto", "loss", "accuracy", "span_f1"] | None
EarlyStopping: TypeAlias = Annotated[
    StoppingChoice,
    "Score on the dev data that ends the fit when it no longer improves; the model of the best step is kept. "
    '"auto" is "span_f1" if the labels mark spans (O, B-...), otherwise "accuracy". None makes all steps.',
]
Patience: TypeAlias = Annotated[
    int,
    AtLeast(1),
    "With early_stopping: number of steps without a better score that end the fit. Raise it for noisy data.",
]
DevShare: TypeAlias = Annotated[
    float, MoreThan(0), LessThan(1), "Share of the sequences of X that become dev data, drawn by random_state."
]
ValidationFraction: TypeAlias = Annotated[
    DevShare, "Used with early_stopping and without X_dev. Nothing is learned from these sequences."
]
