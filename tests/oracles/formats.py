"""Column files and items read the slow way: line by line, with Python's own strings."""

from __future__ import annotations

import re


class Fault(Exception):  # noqa: N818
    """(kind, line) of the first broken rule."""


def _split(line: str, tabs: bool) -> list[str]:
    return line.split("\t") if tabs else [field for field in re.split("[ \t]+", line) if field]


def _lines(text: bytes) -> list[bytes]:
    lines = text.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def read_columns(
    text: bytes, *, tabs: bool, comments: bool, documents: bool, numbered: bool = False, absent_from: int = 10**9
) -> list[list[list[str | None]]]:
    """Sequences of positions of values; None for what is absent."""
    n_columns = None
    raw = [line.decode("latin-1").rstrip("\r") for line in _lines(text)]
    lines = [line for line in raw if line.strip(" \t\r") and not (documents and line.startswith("-DOCSTART-"))]
    certain = [line for line in lines if not (comments and line.startswith("#"))]
    for line in certain or [line for line in lines if tabs and "\t" in line]:
        n_columns = len(_split(line, tabs))
        break
    sequences: list[list[list[str | None]]] = [[]]
    for number, line in enumerate(raw, start=1):
        if "\0" in line:
            raise Fault("nul", number)
        if not line.strip(" \t\r"):
            sequences.append([])
            continue
        if documents and line.startswith("-DOCSTART-"):
            sequences.append([])
            _checked(line, number, breaks=True)
            continue
        if numbered and line.startswith("#"):
            _checked(line, number, breaks=True)
            continue
        fields = _split(line, tabs)
        if comments and line.startswith("#"):
            first = not tabs and not sequences[-1] and fields[0] == "#" and fields[1:2] != ["#"]
            if first or len(fields) != n_columns:
                _checked(line, number, breaks=True)
                continue
        if len(fields) != n_columns:
            raise Fault("columns", number)
        if numbered and set(fields[0]) & {"-", "."}:
            _checked(line, number, breaks=True)
            continue
        position: list[str | None] = []
        for column, field in enumerate(fields):
            value = _checked(field, number)
            position.append(None if not value or (value == "_" and column >= absent_from) else value)
        sequences[-1].append(position)
    return [sequence for sequence in sequences if sequence]


def read_items(text: bytes, labelled: bool) -> list[tuple[float, list[tuple[str | None, dict[str, float]]]]]:
    """(weight, items) of each sequence; an item is (label, weights of its attributes)."""
    sequences: list[tuple[float, list[tuple[str | None, dict[str, float]]]]] = []
    weight = 1.0
    items: list[tuple[str | None, dict[str, float]]] = []
    for number, raw in enumerate([*_lines(text), b""], start=1):
        line = raw.decode("latin-1").rstrip("\r")
        if "\0" in line:
            raise Fault("nul", number)
        if not line.strip(" \t\r"):
            if items:
                sequences.append((weight, items))
                weight, items = 1.0, []
            continue
        fields = [_name_and_value(field, number) for field in line.split("\t") if field]
        if fields[0][0] == "@weight":
            weight = _number(fields[0][1], number)
            if weight < 0:
                raise Fault("number", number)
            continue
        label = None
        attributes: dict[str, float] = {}
        for i, (name, value) in enumerate(fields):
            name = _checked(name, number)
            if labelled and i == 0:
                _checked(value, number, breaks=True)
                label = name
                continue
            attributes[name] = attributes.get(name, 0.0) + (_number(value, number) if value else 1.0)
        items.append((label, attributes))
    return sequences


def _name_and_value(field: str, number: int) -> tuple[str, str]:
    name, at = "", 0
    while at < len(field) and field[at] != ":":
        if field[at : at + 2] in ("\\:", "\\\\"):
            at += 1
        name += field[at]
        at += 1
    return name, field[at + 1 :]


def _checked(name: str, number: int, *, breaks: bool = False) -> str:
    try:
        value = name.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        raise Fault("encoding", number) from None
    if "\r" in value and not breaks:
        raise Fault("carriage return", number)
    return value


def _number(text: str, number: int) -> float:
    if not re.fullmatch(r"[+]?-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text) or abs(float(text)) > 3.4e38:
        raise Fault("number", number)
    return float(text)
