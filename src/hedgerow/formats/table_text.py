"""The rows of CSV and TSV files, and the names of their columns, with or without a header."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from itertools import count

from hedgerow.formats.base import Choice, check_names, refuse_empty
from hedgerow.formats.content import ROW_NAMES
from hedgerow.formats.corpus import Layout
from hedgerow.formats.source import Source


@dataclass(frozen=True)
class Table:
    """The names of the columns and the rows of a file, with their lines; `header` says whether a line has the names."""

    names: list[str]
    rows: list[list[str]]
    lines: list[int]
    header: bool
    delimiter: str


def read_table(source: Source, choice: Choice, file_format: str, delimiter: str) -> Table:
    """The table of a text, as the csv module of Python reads it."""
    text = _decoded(source)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for row in reader:
            if row:  # not a blank line
                rows.append(row)
                lines.append(reader.line_num)
                if len(rows) == 2 and len(row) == len(rows[0]) + 1:
                    rows[0].insert(0, "")  # no name for the names of rows
                if len(row) != len(rows[0]):
                    rule = f"a row must have {len(rows[0])} columns, as the first has, but this one has"
                    source.fail(reader.line_num, f"{rule} {len(row)}")
    except csv.Error as error:
        source.fail(reader.line_num, f"a row must follow the rules of {file_format}, but this one does not ({error})")
    if not rows:
        refuse_empty(source)
    names = _names_without_header(choice, rows[0])
    if names is not None:
        return Table(names, rows, lines, False, delimiter)
    _check_header(source, lines[0], rows[0])
    if len(rows) == 1:
        source.fail(lines[0], "there must be rows below the header, but there are none")
    names = [name.strip() or (f"column{i}" if i else ROW_NAMES) for i, name in enumerate(rows[0])]
    return Table(names, rows[1:], lines[1:], True, delimiter)


def table_as_text(names: list[str] | None, rows: object, delimiter: str) -> bytes:
    """Rows below a header, if there is one, as text."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    if names is not None:
        writer.writerow(names)
    writer.writerows(rows)  # type: ignore[arg-type]
    return file.getvalue().encode()


def _names_without_header(choice: Choice, first: list[str]) -> list[str] | None:
    """The names of the columns of a file without header; None if its first row is the header.

    A file has no header if the caller names as many columns as it has, and none of these names is in the first row; or
    if the training file had none.
    """
    if choice.layout is not None:
        return None if choice.layout.header else _as_trained(choice.layout, first)
    if choice.columns is None:
        return None
    names = list(check_names(choice.columns))
    return names if len(names) == len(first) and not set(names) & {cell.strip() for cell in first} else None


def _as_trained(layout: Layout, first: list[str]) -> list[str] | None:
    without_label = [name for name in layout.columns if name != layout.label]
    for names in (list(layout.columns), without_label):
        if len(names) == len(first) and not set(names) & {cell.strip() for cell in first}:
            return names
    return None


def _check_header(source: Source, line: int, cells: list[str]) -> None:
    """Raise InputError for a header that holds a number, unless numbers count the columns as pandas does."""
    numbers = [cell.strip() for cell in cells if _is_number(cell)]
    if any(number != str(i) for number, i in zip(numbers, count(int(numbers[:1] == ["1"])))):
        source.fail(
            line,
            f"a header must hold names, but {numbers[0]!r} is a number; if the file has no header, name each of its "
            f"{len(cells)} columns with `columns`",
        )


def _is_number(cell: str) -> bool:
    try:
        return float(cell) == float(cell)
    except ValueError:
        return False


def _decoded(source: Source) -> str:
    if b"\0" in source.text:
        source.fail(source.text[: source.text.index(b"\0")].count(b"\n") + 1, "text must not hold NUL bytes")
    try:
        return source.text.decode()
    except UnicodeDecodeError as error:
        source.fail_encoding(source.text.count(b"\n", 0, error.start) + 1)
