"""The rules of feature induction, LinearCRF(induce={...}): what each is, its default and its check."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from hedgerow.errors import InputError
from hedgerow.estimators.parameters import AtLeast, AtMost, MoreThan, ValueType, declare, python_scalar

if TYPE_CHECKING:
    from hedgerow.learning.induction import InductionRules


def _are_proportions(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and all(
        isinstance(one := python_scalar(share), (int, float)) and not isinstance(one, bool) and 0 < one <= 1
        for share in value
    )


_PROPORTIONS = ValueType(
    "a list of numbers above 0 and at most 1",
    _are_proportions,
    convert=lambda value: [float(share) for share in value],
)


class _Rules:
    """The defaults are what McCallum recommended to the author of the dissertation."""

    every: Annotated[int, AtLeast(1), "iterations between inductions"] = 8
    features: Annotated[int, AtLeast(1), "number of features added at once, at most"] = 500
    threshold: Annotated[
        float, MoreThan(0), AtMost(1), "only positions whose gold label is less probable propose features"
    ] = 0.95
    proportions: Annotated[
        Any, _PROPORTIONS, "shares of the sequences to train on before each of the first inductions"
    ] = (0.2, 0.5, 0.8)


_DECLARED = declare(_Rules)
#: What each rule is, for the help of the parameter.
RULES = "; ".join(f"{rule.name}, {rule.help} ({_DECLARED[rule.name].default})" for rule in _DECLARED.values())


def check_rules(induce: Any) -> None:
    """Raise InputError unless the names and values of a dict are those of rules."""
    for name, value in induce.items() if isinstance(induce, dict) else ():
        if name not in _DECLARED:
            raise InputError(f"LinearCRF: induce must be a dict of {', '.join(_DECLARED)}; it has {name!r}")
        _DECLARED[name].check("LinearCRF: induce", value)


def rules_of(induce: Any) -> InductionRules:
    """The rules of a checked value: those of a dict, and the defaults of all others."""
    from hedgerow.learning.induction import InductionRules

    own = induce if isinstance(induce, dict) else {}
    values = {name: rule.convert(own.get(name, rule.default)) for name, rule in _DECLARED.items()}
    return InductionRules(**values)


def _is_induce(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(name, str) for name in value)
    return value is None or (isinstance(value, str) and value == "mccallum")


def _converted(value: Any) -> Any:
    if not isinstance(value, dict):
        return python_scalar(value)
    return {name: _DECLARED[name].convert(one) if name in _DECLARED else one for name, one in value.items()}


def _parsed(text: str) -> Any:
    if text == "mccallum":
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise InputError(f"induce must be mccallum, none or a JSON object; it is {text!r}") from None


INDUCE = ValueType('"mccallum", a dict of its rules, or None', _is_induce, convert=_converted, parse=_parsed)
