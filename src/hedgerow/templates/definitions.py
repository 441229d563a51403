"""Definitions: how a template describes one derived column, and the same in types that JSON and TOML have.

{from = "form", part = "suffix3", at = -1}                part of a text at an offset
{from = "heat", statistic = "mean", at = [-5, 5]}         statistic of numbers over a range of offsets
{join = ["form[-1]", {from = "tag"}]}                     values of several columns together
{any = ["form[-1]", {from = "form", at = 1}]}             values of several columns, of which each is an attribute
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from hedgerow.encoding.rules import Outside, Part, Statistic, Summary, is_offset
from hedgerow.encoding.text_parts import PARTS, is_part
from hedgerow.encoding.window import LONGEST
from hedgerow.errors import InputError


@dataclass(frozen=True)
class Join:
    """The values of several columns together: columns of the template by name, or parts that are no columns."""

    members: tuple[str | Part, ...]


@dataclass(frozen=True)
class AnyOf:
    """A bag of the values of several columns: equal values of different columns are one attribute."""

    members: tuple[str | Part | Join, ...]


Definition: TypeAlias = Part | Summary | Join | AnyOf


def definition_to_json(definition: Definition) -> dict[str, Any]:
    """The definition in types that JSON and TOML have; what is at its default is left out."""
    if isinstance(definition, (Join, AnyOf)):
        key = "join" if isinstance(definition, Join) else "any"
        return {key: [m if isinstance(m, str) else definition_to_json(m) for m in definition.members]}
    if isinstance(definition, Summary):
        first, last = definition.first, definition.last
        at: Any = first if definition.statistic == "change" else [first, last]
        return {"from": definition.source, "statistic": definition.statistic, "at": at}
    described: dict[str, Any] = {"from": definition.source}
    if definition.part != "text":
        described["part"] = definition.part
    if definition.offset:
        described["at"] = definition.offset
    if definition.outside != "same":
        described["outside"] = definition.outside
    return described


def definition_from_json(key: str, stored: object) -> Definition:
    """The definition of a column; raises InputError that begins with `key`, and names the key that breaks a rule."""
    if not isinstance(stored, Mapping):
        raise InputError(f'{key} must be a table such as {{ from = "form", part = "suffix3" }}, but got {stored!r}')
    if "join" in stored:
        return _join(key, stored)
    if "any" in stored:
        _check_keys(key, stored, ("any",))
        return AnyOf(_any_members(f"{key}.any", stored["any"]))
    if not isinstance(stored.get("from"), str):
        raise InputError(
            f"{key} must have a key 'from' with the name of a column of X, or a key 'join', but got {stored!r}"
        )
    return _statistic(key, stored) if "statistic" in stored else _part(key, stored)


def _join(key: str, stored: Mapping[str, Any]) -> Join:
    _check_keys(key, stored, ("join",))
    return Join(tuple(_text_member(place, member) for place, member in _listed(f"{key}.join", stored["join"])))


def _any_members(key: str, stored: object) -> tuple[str | Part | Join, ...]:
    return tuple(
        _join(place, member) if isinstance(member, Mapping) and "join" in member else _text_member(place, member)
        for place, member in _listed(key, stored)
    )


def _listed(key: str, stored: object) -> list[tuple[str, object]]:
    """The members of a join or a bag, each with its key."""
    if not isinstance(stored, (list, tuple)) or len(stored) < 2:
        raise InputError(f"{key} must be a list of two or more columns, but got {stored!r}")
    return [(f"{key}[{i}]", member) for i, member in enumerate(stored)]


def _text_member(key: str, member: object) -> str | Part:
    if isinstance(member, str):
        return member
    if isinstance(member, Mapping) and isinstance(member.get("from"), str):
        return _part(key, member)
    raise InputError(
        f"{key} must be the name of a column of the template, or a table with a key 'from', but got {member!r}"
    )


def _part(key: str, stored: Mapping[str, Any]) -> Part:
    _check_keys(key, stored, ("from", "part", "at", "outside"))
    part, at, outside = stored.get("part", "text"), stored.get("at", 0), stored.get("outside", "same")
    if not is_part(part):
        raise InputError(f"{key}.part must be {PARTS}, but got {part!r}")
    if not is_offset(at):
        raise InputError(f"{key}.at must be an integer from {-LONGEST} to {LONGEST}, but got {at!r}")
    if outside not in get_args(Outside):
        raise InputError(f'{key}.outside must be "same" or "distance", but got {outside!r}')
    return Part(stored["from"], part, at, outside)


def _statistic(key: str, stored: Mapping[str, Any]) -> Summary:
    _check_keys(key, stored, ("from", "statistic", "at"))
    statistic: Any = stored["statistic"]
    at: Any = stored.get("at")
    if statistic not in get_args(Statistic):
        raise InputError(f"{key}.statistic must be {', '.join(get_args(Statistic))}, but got {statistic!r}")
    if statistic == "change":
        if not is_offset(at):
            raise InputError(f"{key}.at must be the offset from which the change is measured, but got {at!r}")
        return Summary(stored["from"], statistic, at, at)
    match at:
        case [first, last] if is_offset(first) and is_offset(last) and first <= last:
            return Summary(stored["from"], statistic, first, last)
    raise InputError(f"{key}.at must be the first and the last offset, such as [-5, 5], but got {at!r}")


def _check_keys(key: str, stored: Mapping[str, Any], known: tuple[str, ...]) -> None:
    unknown = [name for name in stored if name not in known]
    if unknown:
        raise InputError(f"{key} must have no key {unknown[0]!r}; it may have {', '.join(known)}")
