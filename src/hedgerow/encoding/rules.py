"""Rules of derived columns: how each is computed from the columns of X, and the templates that make the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from hedgerow.data.sequences import Sequences
from hedgerow.encoding.text_parts import is_part
from hedgerow.encoding.window import LONGEST
from hedgerow.errors import InputError

Statistic: TypeAlias = Literal["change", "mean", "deviation", "lowest", "highest"]
Outside: TypeAlias = Literal["same", "distance"]


@dataclass(frozen=True)
class Part:
    """A part of the text of a column, such as its last three letters, at an offset from the position.

    Outside the sequence there is one value, or with outside="distance" one for each distance, as in CRF++.
    """

    source: str
    part: str
    offset: int = 0
    outside: Outside = "same"

    @property
    def values(self) -> tuple[str, str, Outside]:
        """What the values depend on, other than the offset. Columns that agree in it share an alphabet."""
        return self.source, self.part, self.outside


@dataclass(frozen=True)
class Pair:
    """The values of two derived columns together."""

    left: str
    right: str


@dataclass(frozen=True)
class Bag:
    """The values of several derived columns as a bag with one alphabet. A value that occurs twice has the weight 2."""

    members: tuple[str, ...]


@dataclass(frozen=True)
class Summary:
    """A statistic of a numeric column from `first` to `last` positions after the position."""

    source: str
    statistic: Statistic
    first: int
    last: int


Rule: TypeAlias = Part | Pair | Bag | Summary


class Derived(NamedTuple):
    """A column to derive. A hidden one is only read by pairs and bags."""

    name: str
    rule: Rule
    hidden: bool = False


# Derived columns in their order; the columns of a pair or a bag come before it.
Plan: TypeAlias = Sequence[Derived]


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
    return {"members": list(rule.members)} if isinstance(rule, Bag) else dict(vars(rule))


def rule_from_json(entry: object) -> Rule:
    """The rule that `rule_to_json` described; raises InputError if the description is not valid."""
    match entry:
        case {"source": str(source), "part": str(part), "offset": int(offset), "outside": str(outside)}:
            if is_part(part) and is_offset(offset) and outside in get_args(Outside):
                return Part(source, part, offset, outside)  # type: ignore[arg-type]
        case {"left": str(left), "right": str(right)}:
            return Pair(left, right)
        case {"members": [*members]} if members and all(isinstance(member, str) for member in members):
            return Bag(tuple(members))
        case {"source": str(source), "statistic": str(name), "first": int(first), "last": int(last)}:
            if name in get_args(Statistic) and is_offset(first) and is_offset(last) and first <= last:
                return Summary(source, name, first, last)  # type: ignore[arg-type]
    raise InputError(f"the rule of a derived column must be of a known kind, but got {entry!r}")


def is_offset(value: object) -> bool:
    """Whether the value is an integer that a window or a rule may have as an offset."""
    return type(value) is int and abs(value) <= LONGEST
