"""Tables as text, CSV and TSV: a header, a position on each row, and columns that say which sequence it belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgerow.data.frames import grouped
from hedgerow.data.ragged import first_duplicate
from hedgerow.data.read_y import read_labels
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError, first_few
from hedgerow.formats.base import Choice, Format, Parsed, Probabilities, chosen_attributes, label_name, split_labels
from hedgerow.formats.content import ROW_NAMES, Content, check_texts
from hedgerow.formats.corpus import Corpus, Layout
from hedgerow.formats.label_text import flat_texts, printable
from hedgerow.formats.source import Source
from hedgerow.formats.table_columns import read_column
from hedgerow.formats.table_text import Table, read_table, table_as_text

SEQUENCE = "sequence"  # the column of sequences by default
PREDICTION = "prediction"
PROBABILITY = "probability"


@dataclass(frozen=True)
class DelimitedFormat(Format):
    """CSV or TSV, as the csv module of Python reads it."""

    name: str
    delimiter: str

    def parse(self, source: Source, choice: Choice, *, first_line: int = 1, partial: bool = False) -> Parsed:
        del first_line, partial  # a table is read at once
        table = read_table(source, choice, self.name, self._delimiter(source))
        layout = table_layout(self, source.name, choice, table.names, header=table.header)
        layout = replace(layout, separator=table.delimiter)
        by_name = dict(zip(table.names, zip(*table.rows, strict=True), strict=True))
        keys = [list(by_name[name]) for name in layout.sequence] or [[""] * len(table.rows)]
        rows, starts = grouped(keys)
        order = rows.tolist()
        lines = np.array(table.lines, np.int64)[rows]
        read = [
            read_column(source, name, [by_name[name][row] for row in order], lines, starts, choice.kind(name))
            for name in layout.attributes
        ]
        columns, notes = tuple(column for column, _ in read), tuple(note for _, note in read if note)
        layout = replace(layout, numeric=tuple(column.name for column in columns if column.kind == "numeric"))
        y = None
        if layout.label is not None:
            flat = [by_name[layout.label][row] for row in order]
            is_unlabelled = choice.layout is not None and not any(flat)
            if "" in flat and not is_unlabelled:
                source.fail(int(lines[flat.index("")]), f"column {layout.label!r} is the label, but it is empty")
            y = None if is_unlabelled else split_labels(np.array(flat, np.str_), starts)
        X = Sequences.trusted(starts, columns, rows)
        ids = {name: [by_name[name][rows[start]] for start in starts[:-1]] for name in layout.sequence}
        exact = {name: [by_name[name][row] for row in order] for name in layout.numeric if choice.exact}
        return Parsed(Corpus(X, y, None, layout, lines, ids, notes), max(table.lines), table, exact)

    def _delimiter(self, source: Source) -> str:
        """A semicolon in a CSV file whose first line has one, and no comma."""
        first = source.text.lstrip().partition(b"\n")[0]
        return ";" if self is CSV and b";" in first and b"," not in first else self.delimiter

    def with_labels(
        self, text: bytes, parsed: Parsed, labels: Sequence[Any], probabilities: Probabilities = None
    ) -> bytes:
        """The table with the labels as column "prediction", and the column "probability"."""
        del text
        table: Table = parsed.places
        X = parsed.corpus.X
        assert X.rows is not None
        new = {PREDICTION: [printable(str(label)) for label in read_labels(labels, X).tolist()]}
        if probabilities is not None:
            new[PROBABILITY] = flat_texts(probabilities, X)
        added: list[list[str]] = [[]] * len(table.rows)
        for row, *values in zip(X.rows.tolist(), *new.values(), strict=True):
            added[row] = values
        names = [*table.names, *new] if table.header else None
        rows = [old + values for old, values in zip(table.rows, added, strict=True)]
        return table_as_text(names, rows, table.delimiter)

    def encode(self, content: Content) -> Iterator[bytes]:
        """A row for each position; the first columns are the ids of the sequence."""
        content.refuse_weights(self.name)
        columns = content.text_columns(self.name)
        ids = content.sequence_columns(SEQUENCE)
        for name in ids:
            if name in columns:
                raise InputError(f"the column of sequences is called {name!r}, but X has such a column too; rename it")
        columns = content.in_order({name: [str(v) for v in listed] for name, listed in ids.items()} | columns)
        for name, texts in columns.items():
            check_texts({name, *texts}, f"column {name!r}", lambda text: "\0" not in text, "must hold no NUL")
        kept = content.layout is not None and content.layout.format == self.name and content.layout.separator
        yield table_as_text(list(columns), zip(*columns.values(), strict=True), kept or self.delimiter)


def table_layout(file_format: Format, name: str, choice: Choice, names: list[str], *, header: bool = True) -> Layout:
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
        return Layout(file_format.name, tuple(names), label, trained.attributes, trained.sequence, header=header)
    sequence = _sequence_columns(name, choice, names)
    others = [column for column in names if column not in (*sequence, ROW_NAMES)]
    if not others:
        raise InputError(f"{name} has no columns beside {first_few(names)}; give at least one attribute")
    label = others[-1] if choice.label is None else label_name(name, names, choice.label)
    attributes = [column for column in others if column != label]
    if header:  # otherwise `columns` has named all columns
        attributes = list(chosen_attributes(name, choice, names, [label, *sequence], attributes))
    return Layout(file_format.name, tuple(names), label, tuple(attributes), sequence, header=header)


def _sequence_columns(name: str, choice: Choice, names: list[str]) -> tuple[str, ...]:
    if choice.sequence is None:
        return (SEQUENCE,) if SEQUENCE in names else ()
    chosen = (choice.sequence,) if isinstance(choice.sequence, str) else tuple(choice.sequence)
    for column in chosen:
        if column not in names:
            raise InputError(f"{name} has no column {column!r} for `sequence`; its columns are {first_few(names)}")
    return chosen


CSV = DelimitedFormat("csv", ",")
TSV = DelimitedFormat("tsv", "\t")
