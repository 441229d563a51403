"""Tables as text, CSV and TSV: a header, a position on each row, and columns that say which sequence it belongs to."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.columns import Column, column_of
from hedgerow.data.frame_columns import numeric_column
from hedgerow.data.frames import grouped
from hedgerow.data.ragged import first_duplicate
from hedgerow.data.read_y import read_labels
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError, first_few
from hedgerow.formats.base import Choice, Format, Parsed, chosen_attributes, label_name, refuse_empty, split_labels
from hedgerow.formats.content import Content, check_texts
from hedgerow.formats.corpus import Corpus, Layout
from hedgerow.formats.label_text import printable
from hedgerow.formats.source import Source

SEQUENCE = "sequence"  # the column of sequences by default
PREDICTION = "prediction"
ROW_NAMES = "(row)"  # a first column without a name, as R and pandas write it: names of rows, no attribute


@dataclass(frozen=True)
class Table:
    """The header and the rows of a file, with their lines."""

    names: list[str]
    rows: list[list[str]]
    lines: list[int]


@dataclass(frozen=True)
class DelimitedFormat(Format):
    """CSV or TSV, as the csv module of Python reads it."""

    name: str
    delimiter: str

    def parse(self, source: Source, choice: Choice, *, first_line: int = 1, partial: bool = False) -> Parsed:
        del first_line, partial  # a table is read at once
        table = self._table(source)
        layout = table_layout(self, source.name, choice, table.names)
        by_name = dict(zip(table.names, zip(*table.rows, strict=True), strict=True))
        keys = [list(by_name[name]) for name in layout.sequence] or [[""] * len(table.rows)]
        rows, starts = grouped(keys)
        order = rows.tolist()
        columns = tuple(_column(name, [by_name[name][row] for row in order], starts) for name in layout.attributes)
        lines = np.array(table.lines, np.int64)[rows]
        y = None
        if layout.label is not None:
            flat = [by_name[layout.label][row] for row in order]
            is_unlabelled = choice.layout is not None and not any(flat)
            if "" in flat and not is_unlabelled:
                source.fail(int(lines[flat.index("")]), f"column {layout.label!r} is the label, but it is empty")
            y = None if is_unlabelled else split_labels(np.array(flat, np.str_), starts)
        X = Sequences.trusted(starts, columns, rows)
        return Parsed(Corpus(X, y, None, layout, lines), max(table.lines), table)

    def _table(self, source: Source) -> Table:
        text = _decoded(source)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, strict=True)
        table = Table([], [], [])
        try:
            for row in reader:
                if not table.names:
                    table.names.extend(name.strip() or (f"column{i}" if i else ROW_NAMES) for i, name in enumerate(row))
                elif row:  # not a blank line
                    if not table.rows and len(row) == len(table.names) + 1:
                        table.names.insert(0, ROW_NAMES)
                    table.rows.append(row)
                    table.lines.append(reader.line_num)
                    if len(row) != len(table.names):
                        rule = f"a row must have {len(table.names)} columns, as the header has, but this one has"
                        source.fail(reader.line_num, f"{rule} {len(row)}")
        except csv.Error as error:
            source.fail(reader.line_num, f"a row must follow the rules of {self.name}, but this one does not ({error})")
        if not table.rows:
            if not table.names:
                refuse_empty(source)
            source.fail(1, "there must be rows below the header, but there are none")
        return table

    def with_labels(self, text: bytes, parsed: Parsed, labels: Sequence[Any]) -> bytes:
        """The table with the labels as its last column, "prediction"."""
        del text
        table: Table = parsed.places
        X = parsed.corpus.X
        assert X.rows is not None
        predictions = [""] * len(table.rows)
        for row, label in zip(X.rows.tolist(), read_labels(labels, X).tolist(), strict=True):
            predictions[row] = printable(str(label))
        return self.text([*table.names, PREDICTION], zip(*zip(*table.rows, strict=True), predictions, strict=True))

    def encode(self, content: Content) -> Iterator[bytes]:
        """A row for each position; the first column is the number of the sequence."""
        content.refuse_weights(self.name)
        columns = content.text_columns(self.name)
        if SEQUENCE in columns:
            raise InputError(f"the column of sequences is called {SEQUENCE!r}, but X has such a column too; rename it")
        for name, texts in columns.items():
            check_texts({name, *texts}, f"column {name!r}", lambda text: "\0" not in text, "must hold no NUL")
        numbers = np.repeat(np.arange(len(content.X)), content.X.lengths).tolist()
        yield self.text([SEQUENCE, *columns], zip(numbers, *columns.values(), strict=True))

    def text(self, names: list[str], rows: Any) -> bytes:
        """A header and rows as text."""
        file = io.StringIO(newline="")
        writer = csv.writer(file, delimiter=self.delimiter, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
        return file.getvalue().encode()


def table_layout(file_format: Format, name: str, choice: Choice, names: list[str]) -> Layout:
    """The layout of a table with these columns."""
    twice = first_duplicate(names)
    if twice is not None:
        raise InputError(f"{name} must have distinct column names, but {twice!r} occurs twice; rename one")
    if choice.layout is not None:
        trained = choice.layout
        absent = [column for column in (*trained.sequence, *trained.attributes) if column not in names]
        if absent:
            raise InputError(f"{name} must have the columns of the training file, but it lacks {first_few(absent)}")
        label = trained.label if trained.label in names else None
        return Layout(file_format.name, tuple(names), label, trained.attributes, trained.sequence)
    sequence = _sequence_columns(name, choice, names)
    others = [column for column in names if column not in (*sequence, ROW_NAMES)]
    if not others:
        raise InputError(f"{name} has no columns beside {first_few(names)}; give at least one attribute")
    label = others[-1] if choice.label is None else label_name(name, names, choice.label)
    attributes = [column for column in others if column != label]
    attributes = list(chosen_attributes(name, choice, names, [label, *sequence], attributes))
    return Layout(file_format.name, tuple(names), label, tuple(attributes), sequence)


def _sequence_columns(name: str, choice: Choice, names: list[str]) -> tuple[str, ...]:
    if choice.sequence is None:
        return (SEQUENCE,) if SEQUENCE in names else ()
    chosen = (choice.sequence,) if isinstance(choice.sequence, str) else tuple(choice.sequence)
    for column in chosen:
        if column not in names:
            raise InputError(f"{name} has no column {column!r} for `sequence`; its columns are {first_few(names)}")
    return chosen


def _decoded(source: Source) -> str:
    if b"\0" in source.text:
        source.fail(source.text[: source.text.index(b"\0")].count(b"\n") + 1, "text must not hold NUL bytes")
    try:
        return source.text.decode()
    except UnicodeDecodeError as error:
        source.fail_encoding(source.text.count(b"\n", 0, error.start) + 1)


def _column(name: str, values: list[str], starts: NDArray[np.int64]) -> Column:
    """Numbers if every value is a number or empty, which means missing; otherwise text."""
    if any(values):
        try:
            numbers = np.array([float(value) if value else np.nan for value in values])
            return numeric_column(name, numbers, starts)
        except ValueError as error:
            if isinstance(error, InputError):
                raise
    return column_of(_core.ingest_values([value or None for value in values], starts, name))


CSV = DelimitedFormat("csv", ",")
TSV = DelimitedFormat("tsv", "\t")
