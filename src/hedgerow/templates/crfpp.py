"""The template files of CRF++.

A line such as U05:%x[-1,0]/%x[0,0] is an attribute: its text, in which %x[row,column] is replaced by the value of a
column at an offset. So lines that differ in their macros only share attributes. Before the sequence the values are
_B-1, _B-2, ..., after it _B+1, _B+2, .... A line that begins with B is an attribute with weights for two labels;
without macros it stands for the transition table, which every estimator has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hedgerow.encoding.rules import Part
from hedgerow.encoding.window import LONGEST
from hedgerow.errors import InputError
from hedgerow.templates.base import Template
from hedgerow.templates.column_template import Columns, Edges
from hedgerow.templates.definitions import AnyOf, Definition, Join

MACRO = "\0"  # stands for a macro in the text of a line
_MACRO = re.compile(r"%x\[(-?[0-9]+),([0-9]+)\]")


class _Line(NamedTuple):
    number: int
    text: str  # with MACRO for each macro; lines of the same text give the same attributes
    macros: tuple[tuple[int, int], ...]  # (row, column)


def is_crfpp(text: str) -> bool:
    """Whether the text is a template of CRF++ rather than TOML: by its first line that is no comment."""
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    return re.match(r"\s*([UuBb*][^=]*$|[UuBb*].*%)", first) is not None


def parse_crfpp(text: str, names: Sequence[str | None] | None) -> Template:
    """The template of the text of a file; `names` are the columns of the file by number, None if not in X.

    Raises InputError that begins with the number of the line.
    """
    lines = [
        _line(number, line.removesuffix("\r"))
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip() and not line.startswith("#")
    ]
    states = [line for line in lines if line.text[0] == "U"]
    edges = [line for line in lines if line.text[0] == "B" and line.macros]
    if not states and not edges:
        raise InputError("a template of CRF++ must have a line that begins with U, but it has none")
    if not edges:
        return Columns(_definitions(states, names))
    of_edges = Edges(_definitions(edges, names))
    return Columns(_definitions(states, names)) + of_edges if states else of_edges


def _definitions(lines: Sequence[_Line], names: Sequence[str | None] | None) -> tuple[tuple[str, Definition], ...]:
    """The columns of the lines; lines of the same text are one column."""
    same_text: dict[str, list[_Line]] = {}
    for line in lines:
        same_text.setdefault(line.text, []).append(line)
    definitions: dict[str, Definition] = {}
    for shared, group in same_text.items():
        identifier, shown = shared.partition(":")[0].replace(MACRO, ""), shared.replace(MACRO, "%x")
        candidates = (identifier, shown, f"{shown} in line {group[0].number}")
        name = next(name for name in candidates if name not in definitions)
        members = tuple(_definition(line, names) for line in group)
        definitions[name] = members[0] if len(members) == 1 else AnyOf(members)
    return tuple(definitions.items())


def _line(number: int, line: str) -> _Line:
    """The text of a line, and its macros."""
    if line[0].isspace():
        raise InputError(f"line {number}: a line must begin with U or B, but got {line!r}; remove the blanks before it")
    if line[0] not in "UB":
        raise InputError(
            f"line {number}: a line must begin with U or B, but got {line!r}; only templates of CRF++ are read, not "
            "patterns of Wapiti"
        )
    macros = tuple((int(row), int(column)) for row, column in _MACRO.findall(line))
    text = _MACRO.sub(MACRO, line)
    if "%" in text:
        raise InputError(
            f"line {number}: % must begin a macro such as %x[-1,0], but got {line!r}; only the templates of CRF++ are "
            "read, not %t and %m of Wapiti"
        )
    for row, _ in macros:
        if abs(row) > LONGEST:
            raise InputError(f"line {number}: a row must be from {-LONGEST} to {LONGEST}, but got {row}")
    return _Line(number, text, macros)


def _definition(line: _Line, names: Sequence[str | None] | None) -> Part | Join:
    parts = [Part(_name(line, column, names), "text", row, "distance") for row, column in line.macros]
    if not parts:
        first = next((i for i, name in enumerate(names or ()) if name is not None), 0)  # any column gives a constant
        return Part(_name(line, first, names), "constant")
    return parts[0] if len(parts) == 1 else Join(tuple(parts))


def _name(line: _Line, column: int, names: Sequence[str | None] | None) -> str:
    if names is None:
        return f"column{column}"
    if column >= len(names):
        raise InputError(
            f"line {line.number}: column {column} must be one of {len(names)} columns, counted from 0; they are "
            f"{', '.join(map(_shown, names))}"
        )
    name = names[column]
    if name is None:
        raise InputError(
            f"line {line.number}: column {column} must be a column of X, but it is the label or names the sequence; "
            f"the columns, counted from 0, are {', '.join(map(_shown, names))}"
        )
    return name


def _shown(name: str | None) -> str:
    return "(not in X)" if name is None else repr(name)
