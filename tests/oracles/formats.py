"""Column files read the slow way: line by line, with Python's own strings."""

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
    for line in raw:
        skipped = (comments and line.startswith("#")) or (documents and line.startswith("-DOCSTART-"))
        if line.strip(" \t\r") and not skipped:
            n_columns = len(_split(line, tabs))
            break
    sequences: list[list[list[str | None]]] = [[]]
    for number, line in enumerate(raw, start=1):
        if "\0" in line:
            raise Fault("nul", number)
        if not line.strip(" \t\r") or (documents and line.startswith("-DOCSTART-")):
            sequences.append([])
            continue
        if numbered and line.startswith("#"):
            continue
        fields = _split(line, tabs)
        if comments and line.startswith("#"):
            first = not tabs and not sequences[-1] and fields[0] == "#" and fields[1:2] != ["#"]
            if first or len(fields) != n_columns:
                continue
        if len(fields) != n_columns:
            raise Fault("columns", number)
        if numbered and set(fields[0]) & {"-", "."}:
            continue
        position: list[str | None] = []
        for column, field in enumerate(fields):
            try:
                value = field.encode("latin-1").decode("utf-8")
            except UnicodeDecodeError:
                raise Fault("encoding", number) from None
            if "\r" in value:
                raise Fault("carriage return", number)
            position.append(None if not value or (value == "_" and column >= absent_from) else value)
        sequences[-1].append(position)
    return [sequence for sequence in sequences if sequence]
