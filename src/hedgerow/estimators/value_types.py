"""Types of parameters with values of several kinds: seeds, verbosity, paths, windows, features, constraints."""

from __future__ import annotations

import json
import numbers
import os
from typing import Any

import numpy as np

from hedgerow.encoding.window import WINDOW_RULE, Window
from hedgerow.errors import InputError
from hedgerow.estimators.parameters import LARGEST_INTEGER, ValueType, python_scalar
from hedgerow.templates import Template, parse_template, template_from_json
from hedgerow.utilities import BEAM_RULE, is_beam


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
        raise InputError(f"random_state must be an integer of at least 0; it is {text!r}") from None


SEED = ValueType(
    "an integer of at least 0, a numpy RandomState or Generator, or None", _is_seed, convert=_seed, parse=_parse_seed
)


def _is_verbosity(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and int(value) >= 0


def _parse_verbosity(text: Any) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"verbose must be an integer of at least 0; it is {text!r}") from None


VERBOSITY = ValueType("an integer of at least 0, or a bool", _is_verbosity, convert=int, parse=_parse_verbosity)


def _is_path(value: Any) -> bool:
    return (
        value is None
        or isinstance(value, str)
        or (isinstance(value, os.PathLike) and isinstance(value.__fspath__(), str))
    )


def _path(value: Any) -> str | None:
    return None if value is None else str(os.fspath(value))


PATH = ValueType("a str, a path or None", _is_path, convert=_path)


KL = "kl"
KL_BOUND = 0.03  # of the divergence, with beam="kl"


def lattice_beam(value: Any) -> float | None:
    """The beam of a lattice: "kl" is a bound."""
    return KL_BOUND if value == KL else value


def _parse_beam(text: Any) -> Any:
    if text is None or text == KL:  # typer also parses the default
        return text
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise InputError(f"beam must be {BEAM.words}; it is {text!r}") from None


BEAM = ValueType(
    f'"{KL}", {BEAM_RULE}',
    lambda value: value is None or value == KL or is_beam(value),
    parse=_parse_beam,
)


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


WINDOW = ValueType(WINDOW_RULE, _is_window, convert=_window, parse=_parse_window)


def _plain_features(value: Any) -> Any:
    return None if value is None else value.to_json()


def _restored_features(stored: Any) -> Any:
    return None if stored is None else template_from_json(stored)


FEATURES = ValueType(
    "a template such as hedgerow.templates.words(), or None",
    lambda value: value is None or isinstance(value, Template),
    _plain_features,
    _restored_features,
    parse=parse_template,
)


def _is_linear(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_)) or (
        isinstance(value, dict) and all(isinstance(name, str) for name in value)
    )


def _linear(value: Any) -> Any:
    return {k: python_scalar(v) for k, v in value.items()} if isinstance(value, dict) else bool(value)


def _parse_linear(text: Any) -> Any:
    if isinstance(text, bool):  # typer also parses the default
        return text
    try:
        return json.loads(text.lower() if text in ("True", "False") else text)
    except ValueError:
        raise InputError(f"linear must be true, false or a JSON object; it is {text!r}") from None


LINEAR = ValueType(
    "True, False or a dict of parameters of StructuredSVM", _is_linear, convert=_linear, parse=_parse_linear
)


SCHEMES = ("IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU")


def _is_pair(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 2 and all(map(_is_label, value)) and value[1] is not None


def _is_label(value: Any) -> bool:
    return value is None or isinstance(value, (str, numbers.Integral, np.bool_))


def _are_constraints(value: Any) -> bool:
    if value is None or isinstance(value, str):
        return value is None or value in SCHEMES
    return isinstance(value, (list, tuple, set, frozenset)) and all(map(_is_pair, value))


def _constraints(value: Any) -> Any:
    """A scheme, or a list of pairs in a fixed order; sets have none."""
    if value is None or isinstance(value, str):
        return value
    pairs = {(python_scalar(previous), python_scalar(label)) for previous, label in value}
    return sorted(pairs, key=lambda pair: (pair[0] is not None, str(pair[0]), str(pair[1])))


def _plain_constraints(value: Any) -> Any:
    return [list(pair) for pair in value] if isinstance(value, list) else value


def _restored_constraints(stored: Any) -> Any:
    return [tuple(pair) for pair in stored] if isinstance(stored, list) else stored


def _parse_constraints(text: Any) -> Any:
    if text is None or text in SCHEMES:
        return text
    try:
        return _restored_constraints(json.loads(text))
    except (TypeError, ValueError):
        raise InputError(f"constraints must be {_CONSTRAINTS_WORDS}; they are {text!r}") from None


_CONSTRAINTS_WORDS = f"one of {', '.join(SCHEMES)}, a list of (label or None, label), or None"
CONSTRAINTS = ValueType(
    _CONSTRAINTS_WORDS,
    _are_constraints,
    _plain_constraints,
    _restored_constraints,
    convert=_constraints,
    parse=_parse_constraints,
)
