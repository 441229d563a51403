"""Column files: one position on a line, a blank line behind each sequence. CoNLL, CoNLL-U and CRF++ share this code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import CategoricalColumn, trusted
from hedgerow.data.ragged import first_duplicate
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError, first_few
from hedgerow.formats.corpus import Corpus, Layout
from hedgerow.formats.source import Source
from hedgerow.utilities import counted, is_count

NEVER = 2**31


@dataclass(frozen=True)
class ColumnRules:
    """Rules by which the lines of a column file are read; see src/core/data/column_text.hpp."""

    format: str
    tabs: bool | None = None  # None: as the first line has it
    comments: bool = False
    documents: bool = False
    numbered: bool = False
    absent_from: int = NEVER
    n_columns: int = 0  # 0: as the first line has it
    names: tuple[str, ...] = ()  # () : column0, column1, ...
    attributes: tuple[str, ...] = ()  # the columns of X by default; (): all but the label
    label: str | None = None  # the label column by default; None: the last column


@dataclass(frozen=True)
class Choice:
    """What the caller says about the columns; the arguments of `read`."""

    label: str | int | bool | None = None
    columns: Sequence[str] | None = None
    sequence: str | Sequence[str] | None = None
    layout: Layout | None = None


@dataclass(frozen=True)
class Parsed:
    """A corpus, and where the line of each position ends in the text."""

    corpus: Corpus
    ends: NDArray[np.int64]
    n_lines: int


def parse(source: Source, rules: ColumnRules, choice: Choice, *, first_line: int = 1, partial: bool = False) -> Parsed:
    """The columns of a text that begins at `first_line` of its file; a partial text may hold no position at all."""
    tabs = _core.has_tabs(source.text) if rules.tabs is None else rules.tabs
    starts, lines, ends, columns, n_lines, fault = _core.read_columns(
        source.text, tabs, rules.comments, rules.documents, rules.numbered, rules.absent_from, rules.n_columns
    )
    if fault is not None:
        kind, line, column, expected = fault
        if kind == "columns":
            content = source.text.split(b"\n", line)[line - 1].decode("utf-8", "replace").strip()
            rule = f"a line must have {counted(expected, 'column')}, as the first has"
            source.fail(line + first_line - 1, f"{rule}, but this one has {column}: {content!r:.80}")
        _refuse(source, kind, line + first_line - 1, column)
    if len(lines) == 0 and not partial:
        raise InputError(f"{source.name} must hold at least one position, but it holds {_content(source)}")
    if len(lines) == 0:
        X = Sequences.trusted(starts, ())
        return Parsed(Corpus(X, None, None, Layout(rules.format, (), None, ()), lines), ends, n_lines)
    layout = _layout(source.name, rules, choice, len(columns), "\t" if tabs else " ")
    values = {
        name: (codes, Alphabet.trusted(blob, offsets))
        for name, (codes, blob, offsets) in zip(layout.columns, columns, strict=True)
    }
    lines = lines if first_line == 1 else lines + (first_line - 1)
    y = None if layout.label is None else _labels(source, layout.label, *values[layout.label], starts, lines)
    X = Sequences.trusted(starts, tuple(trusted(CategoricalColumn, name, *values[name]) for name in layout.attributes))
    return Parsed(Corpus(X, y, None, layout, lines), ends, n_lines)


def _labels(
    source: Source,
    name: str,
    codes: NDArray[np.int32],
    alphabet: Alphabet,
    starts: NDArray[np.int64],
    lines: NDArray[np.int64],
) -> list[NDArray[np.str_]]:
    absent = np.flatnonzero(codes < 0)
    if len(absent):
        line = int(lines[absent[0]])
        source.fail(line, f"column {name!r} is the label, but it is empty; label every position, or give label=False")
    flat = np.array(list(alphabet), np.str_)[codes] if len(alphabet) else np.empty(0, np.str_)
    bounds = starts.tolist()
    return [flat[begin:end] for begin, end in pairwise(bounds)]


def _layout(name: str, rules: ColumnRules, choice: Choice, n: int, separator: str) -> Layout:
    if choice.layout is not None:
        return _as_trained(name, choice.layout, n, separator)
    if rules.names:
        return named_layout(name, rules, choice, rules.names, separator)
    names = tuple(f"column{i}" for i in range(n)) if choice.columns is None else check_names(choice.columns)
    if len(names) != n:
        raise InputError(f"{name} has {counted(n, 'column')}, but `columns` names {len(names)}; name each column")
    label = names[-1] if choice.label is None else label_name(name, names, choice.label)
    if label is not None and len(names) == 1:
        raise InputError(
            f"{name} has one column, {names[0]!r}, which is the label by default, and none for X; "
            "give label=False if it has no labels"
        )
    attributes = tuple(column for column in names if column != label)
    return Layout(rules.format, names, label, attributes, separator=separator)


def named_layout(name: str, rules: ColumnRules, choice: Choice, names: tuple[str, ...], separator: str) -> Layout:
    """The layout of a format that names its columns: `columns` chooses those of X."""
    label = rules.label if choice.label is None else label_name(name, names, choice.label)
    attributes = check_names(rules.attributes if choice.columns is None else choice.columns)
    for column in attributes:
        if column not in names:
            raise InputError(f"{name} has no column {column!r} for `columns`; its columns are {', '.join(names)}")
        if column == label:
            raise InputError(f"column {column!r} cannot be the label and in `columns`; leave it out, or choose `label`")
    return Layout(rules.format, names, label, attributes, separator=separator)


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


def check_names(columns: Sequence[object]) -> tuple[str, ...]:
    """The argument `columns`; raises InputError unless it holds distinct names."""
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    texts = [name for name in names if isinstance(name, str) and name]
    if len(texts) < len(names):
        raise InputError(f"`columns` must be names, but got {first_few(list(names))}")
    twice = first_duplicate(texts)
    if twice is not None:
        raise InputError(f"`columns` must be distinct names, but {twice!r} occurs twice; rename one")
    return tuple(texts)


def label_name(name: str, names: Sequence[str], label: str | int | bool | None) -> str | None:
    """The label column that the caller chose by name or number; None for False."""
    if label is False or label is None:
        return None
    if isinstance(label, str):
        if label not in names:
            raise InputError(f"{name} has no column {label!r} for `label`; its columns are {first_few(names)}")
        return label
    if not is_count(label):
        raise InputError(f"label must be a name, a number or False, but got {label!r}")
    if not -len(names) <= int(label) < len(names):
        raise InputError(f"{name} has no column {label} for `label`; it has {counted(len(names), 'column')}")
    return names[int(label)]


def _content(source: Source) -> str:
    if not source.text:
        return "nothing; is it the right file?"
    return "only comments and blank lines" if source.text.strip() else "only blank lines"


def _refuse(source: Source, kind: str, line: int, column: int) -> NoReturn:
    if kind == "encoding":
        source.fail_encoding(line, f" (column {column})")
    if kind == "nul":
        source.fail(line, "text must not hold NUL bytes, but this line does; is it text, and the right `encoding`?")
    source.fail(line, f"column {column} holds a carriage return; end lines with \\n or \\r\\n")
