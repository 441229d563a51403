"""Column files: one position on a line, a blank line behind each sequence. CoNLL, CoNLL-U and CRF++ share this code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import CategoricalColumn, trusted
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError, first_few
from hedgerow.formats.base import (
    Choice,
    Format,
    Parsed,
    Probabilities,
    check_names,
    chosen_attributes,
    empty,
    label_name,
    refuse,
    refuse_empty,
    text_labels,
)
from hedgerow.formats.corpus import Corpus, Layout
from hedgerow.formats.label_text import flat_texts, label_codes
from hedgerow.formats.source import Source
from hedgerow.utilities import counted

if TYPE_CHECKING:
    from hedgerow.formats.content import Content

NEVER = 2**31


class _Columns(NamedTuple):
    """What the compiled reader returns; `ends` is where the line of each position ends in the text."""

    starts: NDArray[np.int64]
    lines: NDArray[np.int64]
    ends: NDArray[np.int64]
    columns: list[tuple[NDArray[np.int32], Alphabet]]
    n_lines: int


@dataclass(frozen=True)
class ColumnFormat(Format):
    """A format of columns. For the rules see src/core/data/column_text.hpp."""

    name: str
    tabs: bool | None = None  # None: as the first line has it
    comments: bool = False
    documents: bool = False
    numbered: bool = False
    absent_from: int = NEVER
    n_columns: int = 0  # 0: as the first line has it
    names: tuple[str, ...] = ()  # (): column0, column1, ...
    attributes: tuple[str, ...] = ()  # of a format with names: the columns of X by default
    label: str | None = None  # of a format with names: the label column by default

    def parse(self, source: Source, choice: Choice, *, first_line: int = 1, partial: bool = False) -> Parsed:
        tabs = _core.has_tabs(source.text) if self.tabs is None else self.tabs
        starts, lines, ends, columns, n_lines = self._read(source, tabs, first_line)
        if len(lines) == 0:
            if not partial:
                refuse_empty(source)
            return empty(Layout(self.name, (), None, ()), n_lines)
        layout = self._layout(source.name, choice, len(columns), "\t" if tabs else " ")
        named = dict(zip(layout.columns, columns, strict=True))
        place = layout.label or self.label
        column = layout.columns.index(place) if place in layout.columns else -1  # where `with_labels` puts labels
        y, label = None, layout.label
        if label is not None:
            codes, alphabet = named[label]
            if choice.layout is not None and _is_unlabelled(codes, partial):
                layout = replace(layout, label=None)
            else:
                _check_labels(source, label, codes, lines)
                y = text_labels(codes, alphabet, starts)
        attributes = tuple(trusted(CategoricalColumn, name, *named[name]) for name in layout.attributes)
        corpus = Corpus(Sequences.trusted(starts, attributes), y, None, layout, lines)
        return Parsed(corpus, n_lines, (ends, column))

    def _read(self, source: Source, tabs: bool, first_line: int) -> _Columns:
        """What the compiled reader returns; raises InputError for the first fault that it finds."""
        starts, lines, ends, columns, n_lines, fault = _core.read_columns(
            source.text, tabs, self.comments, self.documents, self.numbered, self.absent_from, self.n_columns
        )
        if fault is not None:
            kind, line, column, expected = fault
            if kind == "columns":
                content = source.line(line).decode("utf-8", "replace").strip()
                cause = f"{self.name} has" if self.names else "the first has"
                rule = f"a line must have {counted(expected, 'column')}, as {cause}, but this one has {column}"
                source.fail(line + first_line - 1, f"{rule}: {content!r:.80}{self._cure_of_columns(column, tabs)}")
            refuse(source, kind, line + first_line - 1, column)
        values = [(codes, Alphabet.trusted(blob, offsets)) for codes, blob, offsets in columns]
        return _Columns(starts, lines if first_line == 1 else lines + (first_line - 1), ends, values, n_lines)

    def _cure_of_columns(self, n: int, tabs: bool) -> str:
        if not self.names:
            return "; give format='crfsuite' for lines of a label and attributes" if tabs else ""
        if n > 1:
            return ""
        only = self.attributes[0]
        return f"; for text with a word on each line give format='conll', label=False and columns={only!r}"

    def settled(self, parsed: Parsed) -> ColumnFormat:
        layout = parsed.corpus.layout
        return replace(self, tabs=layout.separator == "\t", n_columns=len(layout.columns))

    def end_of_sequences(self, text: NDArray[np.uint8], begin: int) -> int:
        return _core.end_of_sequences(text, begin)

    def with_labels(
        self, text: bytes, parsed: Parsed, labels: Sequence[Any], probabilities: Probabilities = None
    ) -> bytes:
        """The text with the labels in a new column; in a format with names, in the column of the label."""
        if self.names:
            return self._in_place(text, parsed, labels, probabilities)
        separator = parsed.corpus.layout.separator or "\t"
        blob, offsets, codes = label_codes(labels, parsed.corpus.X, probabilities, separator)
        return _core.with_labels(text, parsed.places[0], separator.encode(), blob, offsets, codes)

    def _in_place(self, text: bytes, parsed: Parsed, labels: Sequence[Any], probabilities: Probabilities) -> bytes:
        """The text with the labels in their column, and probabilities in the last one, which holds `Name=value`."""
        blob, offsets, codes = label_codes(labels, parsed.corpus.X)
        names = [blob[begin:end].tobytes() for begin, end in pairwise(offsets.tolist())]
        ends, column = parsed.places
        notes = flat_texts(probabilities, parsed.corpus.X)
        parts, done = [], 0
        for end, code, note in zip(ends.tolist(), codes.tolist(), notes, strict=True):
            begin = text.rfind(b"\n", 0, end) + 1
            fields = text[begin:end].split(b"\t")
            fields[column] = names[code]
            if note:
                others = [] if fields[-1].strip() == b"_" else [fields[-1].rstrip(b"\r")]
                end_of_line = b"\r" if fields[-1].endswith(b"\r") else b""
                fields[-1] = b"|".join([*others, f"Probability={note}".encode()]) + end_of_line
            parts += [text[done:begin], b"\t".join(fields)]
            done = end
        return b"".join([*parts, text[done:]])

    def encode(self, content: Content) -> Iterable[bytes]:
        from hedgerow.formats.column_writer import write_columns, write_numbered

        return write_numbered(content, self.names) if self.numbered else write_columns(content, self.name)

    def _layout(self, name: str, choice: Choice, n: int, separator: str) -> Layout:
        if choice.layout is not None:
            return _as_trained(name, choice.layout, n, separator)
        if self.names:
            label = self.label if choice.label is None else label_name(name, self.names, choice.label)
            attributes = chosen_attributes(name, choice, self.names, [label], self.attributes)
            return Layout(self.name, self.names, label, attributes, separator=separator)
        names = tuple(f"column{i}" for i in range(n)) if choice.columns is None else check_names(choice.columns)
        if len(names) != n:
            raise InputError(f"{name} has {counted(n, 'column')}, but `columns` names {len(names)}; name each column")
        label = names[-1] if choice.label is None else label_name(name, names, choice.label)
        if label is not None and n == 1:
            raise InputError(
                f"{name} has one column, {label!r}, which is the label by default, and none for X; "
                "give label=False if it has no labels"
            )
        attributes = tuple(column for column in names if column != label)
        return Layout(self.name, names, label, attributes, separator=separator)


def _is_unlabelled(codes: NDArray[np.int32], partial: bool) -> bool:
    """Whether a file that the model shall label has an empty label column; of a stream some empty labels will do."""
    absent = codes < 0
    return bool(absent.any() if partial else absent.all())


def _check_labels(source: Source, name: str, codes: NDArray[np.int32], lines: NDArray[np.int64]) -> None:
    absent = np.flatnonzero(codes < 0)
    if len(absent):
        line = int(lines[absent[0]])
        source.fail(line, f"column {name!r} is the label, but it is empty; label every position, or give label=False")


def _as_trained(name: str, layout: Layout, n: int, separator: str) -> Layout:
    """The layout of training, without the label if the file has one column less."""
    if n == len(layout.columns):
        return replace(layout, separator=separator)
    unlabelled = tuple(column for column in layout.columns if column != layout.label)
    if n != len(unlabelled):
        raise InputError(
            f"{name} has {counted(n, 'column')}, but the training file had {len(layout.columns)} "
            f"({first_few(layout.columns)}); give the same columns, with or without the label"
        )
    return replace(layout, columns=unlabelled, label=None, separator=separator)
