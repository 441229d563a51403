"""Rules of derived columns: how each is computed from the columns of X, and the templates that make the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from hedgerow.data.sequences import Sequences
from hedgerow.encoding.text_parts import is_part
from hedgerow.encoding.window import LONGEST
from hedgerow.errors import InputError

Statistic: TypeAlias = Literal["change", "mean", "deviation", "lowest", "highest"]


@dataclass(frozen=True)
class Part:
    """A part of the text of a column, such as its last three letters, at an offset from the position."""

    source: str
    part: str
    offset: int = 0


@dataclass(frozen=True)
class Pair:
    """The values of two derived columns together."""

    left: str
    right: str


@dataclass(frozen=True)
class Summary:
    """A statistic of a numeric column from `first` to `last` positions after the position."""

    source: str
    statistic: Statistic
    first: int
    last: int


Rule: TypeAlias = Part | Pair | Summary
# The names and rules of derived columns in their order; the columns of a pair come before it.
Plan: TypeAlias = Sequence[tuple[str, Rule]]


class Template:
    """A declaration of columns to derive; see `hedgerow.templates`."""

    def plan(self, sequences: Sequences) -> Plan:
        """The columns to derive from these sequences; raises InputError if they lack a column for it."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """The template in types that JSON has."""
        raise NotImplementedError


def rule_to_json(rule: Rule) -> dict[str, Any]:
    """The rule in types that JSON has."""
    return dict(vars(rule))


def rule_from_json(entry: object) -> Rule:
    """The rule that `rule_to_json` described; raises InputError if the description is not valid."""
    match entry:
        case {"source": str(source), "part": str(part), "offset": int(offset)}:
            if is_part(part) and _is_offset(offset):
                return Part(source, part, offset)
        case {"left": str(left), "right": str(right)}:
            return Pair(left, right)
        case {"source": str(source), "statistic": str(name), "first": int(first), "last": int(last)}:
            if name in get_args(Statistic) and _is_offset(first) and _is_offset(last) and first <= last:
                return Summary(source, name, first, last)  # type: ignore[arg-type]
    raise InputError(f"the rule of a derived column must be of a known kind, but got {entry!r}")


def _is_offset(value: int) -> bool:
    return type(value) is int and abs(value) <= LONGEST
