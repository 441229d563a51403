"""JSON lines: a sequence on each line, as an object of columns or as a list of positions.

``{"word": ["the", "cat"], "labels": ["D", "N"], "weight": 2}`` has a list for every column; what is no list is ignored,
except the weight of the sequence. ``[{"word": "the", "label": "D"}, {"word": "cat", "label": "N"}]`` has an object for
every position, which may leave columns out.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.columns import column_of
from hedgerow.data.ragged import starts_of
from hedgerow.data.read_y import FlatLabels, read_labels, refuse_nul
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError, first_few, type_name
from hedgerow.formats.base import (
    Choice,
    Format,
    Parsed,
    Probabilities,
    chosen_attributes,
    empty,
    label_name,
    refuse_empty,
    split_labels,
)
from hedgerow.formats.content import Content
from hedgerow.formats.corpus import Corpus, Layout
from hedgerow.formats.source import Source

LABELS = "labels"  # the label column of an object of columns
LABEL = "label"  # the label of an object of one position
WEIGHT = "weight"
PREDICTION = "prediction"
PROBABILITY = "probability"


@dataclass
class _Lines:
    """What the lines of a file held."""

    sequences: list[Any] = field(default_factory=list)  # the lists of the columns, or a list of positions
    numbers: list[int] = field(default_factory=list)  # the line of each sequence
    weights: list[float] = field(default_factory=list)
    ids: list[dict[str, Any]] = field(default_factory=list)  # the values of each sequence that are no lists
    names: dict[str, None] = field(default_factory=dict)  # of columns, in the order of their first occurrence
    label: str = LABELS  # the usual name of the label in these lines


class JsonLinesFormat(Format):
    """One sequence on a line; values keep their types."""

    name = "jsonl"

    def parse(self, source: Source, choice: Choice, *, first_line: int = 1, partial: bool = False) -> Parsed:
        lines = _Lines()
        n_lines = 0
        for number, row in _rows(source.text, first_line):
            n_lines += 1
            if row.strip():
                _read_line(source, number, row, lines)
        if not lines.sequences:
            if not partial:
                refuse_empty(source)
            return empty(Layout(self.name, (), None, ()), n_lines)
        layout = self._layout(source.name, choice, lines)
        try:
            X = _by_columns(lines, layout) or _by_positions(lines, layout)
        except InputError as error:
            _refuse_values(source, lines, error)
        layout = replace(layout, numeric=tuple(column.name for column in X.columns if column.kind == "numeric"))
        y = None if layout.label is None else _labels(source, lines, layout.label, X)
        weights = np.array(lines.weights)
        at = np.repeat(np.array(lines.numbers, np.int64), X.lengths)
        names = dict.fromkeys(name for own in lines.ids for name in own)
        ids = {name: [own.get(name) for own in lines.ids] for name in names}
        corpus = Corpus(X, y, None if (weights == 1).all() else weights, layout, at, ids)
        return Parsed(corpus, n_lines, first_line, _exact(lines, layout) if choice.exact else {})

    def _layout(self, name: str, choice: Choice, lines: _Lines) -> Layout:
        names = tuple(lines.names)
        if choice.layout is not None:
            label = choice.layout.label if choice.layout.label in names else None
            attributes: Sequence[str] = [column for column in choice.layout.attributes if column in names]
            if not attributes:
                raise InputError(
                    f"{name} must have the columns of the training file, {first_few(choice.layout.attributes)}, but it "
                    f"has {first_few(names)}; rename them"
                )
        else:
            usual = lines.label if lines.label in names else None
            label = usual if choice.label is None else label_name(name, names, choice.label)
            attributes = [column for column in names if column != label]
        return Layout(self.name, names, label, chosen_attributes(name, choice, names, [label], attributes))

    def end_of_sequences(self, text: NDArray[np.uint8], begin: int) -> int:
        ends = np.flatnonzero(text[begin:] == ord("\n"))
        return int(ends[-1]) + begin + 1 if len(ends) else -1

    def with_labels(
        self, text: bytes, parsed: Parsed, labels: Sequence[Any], probabilities: Probabilities = None
    ) -> bytes:
        """The text with the labels as column "prediction", and the column "probability"."""
        flat = read_labels(labels, parsed.corpus.X)
        answers = iter(split_labels(_array(flat), flat.starts))
        chances = iter(probabilities or ())
        written = []
        for row in text.splitlines(keepends=True):
            if not row.strip():
                written.append(row)
                continue
            value, predicted = json.loads(row), next(answers).tolist()
            new = {PREDICTION: predicted}
            if probabilities is not None:
                new[PROBABILITY] = [round(float(p), 4) for p in next(chances)]
            if isinstance(value, list):
                value = [
                    {**at, **dict(zip(new, own, strict=True))} for at, *own in zip(value, *new.values(), strict=True)
                ]
            else:
                value |= new
            written.append(dumps(value).encode() + b"\n")
        return b"".join(written)

    def encode(self, content: Content) -> Iterator[bytes]:
        """Objects of columns; lists of positions if a sequence has a column at some positions only."""
        columns = {column.name: content.values(column, ...) for column in content.X.columns}
        by_position = any(
            0 < sum(value is ... for value in part) < len(part)
            for listed in columns.values()
            for part in content.sequences(listed)
        )
        labels = content.labels()
        if labels is not None:
            columns[content.label_name(LABEL if by_position else LABELS, columns)] = labels
        if by_position:
            content.refuse_weights("a list of positions, which absent values need,")
            if content.ids:
                raise InputError(
                    f"a list of positions, which absent values need, cannot hold {first_few(list(content.ids))} of a "
                    "sequence; give every position all columns, with null where a value is missing"
                )
        rows = list(zip(*columns.values(), strict=True))
        weights = content.sequence_weights()
        for i, (weight, sequence) in enumerate(zip(weights, content.sequences(rows), strict=True)):
            if by_position:
                value: Any = [{k: v for k, v in zip(columns, row, strict=True) if v is not ...} for row in sequence]
            else:
                value = {name: listed[i] for name, listed in content.ids.items() if listed[i] is not None}
                lists = zip(columns, zip(*sequence, strict=True), strict=True)
                value |= {name: listed for name, listed in lists if listed[0] is not ...}
                value |= {} if weight is None else {WEIGHT: weight}
            yield _encoded(value)


def _encoded(value: Any) -> bytes:
    try:
        return dumps(value).encode() + b"\n"
    except UnicodeEncodeError:
        raise InputError("text must be UTF-8, but a value holds a lone surrogate; replace it") from None


def dumps(value: Any) -> str:
    """The value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)  # ids of Parquet may be dates


def _rows(text: bytes, first_line: int) -> Iterator[tuple[int, bytes]]:
    rows = text.split(b"\n")
    if rows[-1] == b"":
        rows.pop()
    return enumerate(rows, start=first_line)


def _read_line(source: Source, number: int, row: bytes, lines: _Lines) -> None:
    value = _load(source, number, row)
    if isinstance(value, list):
        lines.label = LABEL
        if not value or not all(isinstance(position, dict) for position in value):
            source.fail(number, "a list must hold an object for each position, but it does not")
        lines.sequences.append(value)
    elif isinstance(value, dict):
        lines.sequences.append(_columns(source, number, value))
    else:
        source.fail(number, f"a line must be an object of columns or a list of positions, but it is {type_name(value)}")
    for position in value if isinstance(value, list) else [lines.sequences[-1]]:
        lines.names |= dict.fromkeys(position)
    lines.numbers.append(number)
    others = value.items() if isinstance(value, dict) else ()
    lines.ids.append({name: one for name, one in others if not isinstance(one, list) and name != WEIGHT})
    weight = value.get(WEIGHT, 1) if isinstance(value, dict) and not isinstance(value.get(WEIGHT), list) else 1
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight < math.inf:
        source.fail(number, f"the weight of a sequence must be a number from 0, but it is {weight!r:.40}")
    lines.weights.append(float(weight))


def _load(source: Source, number: int, row: bytes) -> Any:
    def constant(name: str) -> NoReturn:
        source.fail(number, f"{name} is not JSON; use null where a value is missing")

    try:
        return json.loads(row.decode(), parse_constant=constant)
    except UnicodeDecodeError:
        source.fail_encoding(number)
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        source.fail(number, f"a line must be JSON, but this one is not ({error}); is it format='jsonl'?")


def _columns(source: Source, number: int, value: dict[str, Any]) -> dict[str, list[Any]]:
    columns = {name: values for name, values in value.items() if isinstance(values, list)}
    if not columns:
        source.fail(number, 'an object must have a list for each column, as in {"word": [...], "labels": [...]}')
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        source.fail(number, f"the lists of a line must have the same length, but they have {lengths}"[:200])
    if 0 in lengths.values():
        source.fail(number, "a sequence must have at least one position, but its lists are empty")
    return columns


def _by_columns(lines: _Lines, layout: Layout) -> Sequences | None:
    """The sequences, column by column; None if a line does not have all columns, or one holds weighted bags."""
    if not all(
        isinstance(sequence, dict) and sequence.keys() >= set(layout.attributes) for sequence in lines.sequences
    ):
        return None
    starts = starts_of([len(next(iter(sequence.values()))) for sequence in lines.sequences])
    flat = {name: [v for sequence in lines.sequences for v in sequence[name]] for name in layout.attributes}
    if any(isinstance(value, dict) for values in flat.values() for value in values):
        return None
    columns = tuple(column_of(_core.ingest_values([values], starts, name)) for name, values in flat.items())
    return Sequences.trusted(starts, columns)


def _by_positions(lines: _Lines, layout: Layout) -> Sequences:
    chosen = set(layout.attributes)
    return Sequences([[{k: v for k, v in at.items() if k in chosen} for at in _positions(s)] for s in lines.sequences])


def _positions(sequence: Any) -> list[dict[str, Any]]:
    if isinstance(sequence, list):
        return sequence
    return [dict(zip(sequence, values, strict=True)) for values in zip(*sequence.values(), strict=True)]


def _exact(lines: _Lines, layout: Layout) -> dict[str, list[Any]]:
    """The numbers of each numeric column by position, `...` where one is absent."""
    positions = [at for sequence in lines.sequences for at in _positions(sequence)]
    return {name: [at.get(name, ...) for at in positions] for name in layout.numeric}


def _refuse_values(source: Source, lines: _Lines, error: InputError) -> NoReturn:
    found = re.match(r"sequence (\d+)", str(error))
    if found is None:
        raise InputError(f"{source.name}: {error}") from None
    raise InputError(f"{source.name}, line {lines.numbers[int(found[1])]}: {error}") from None


def _labels(source: Source, lines: _Lines, label: str, X: Sequences) -> list[NDArray[Any]]:
    y = []
    for number, sequence in zip(lines.numbers, lines.sequences, strict=True):
        if isinstance(sequence, dict):
            y.append(sequence.get(label))
        else:
            y.append([position[label] for position in sequence] if all(label in at for at in sequence) else None)
        if y[-1] is None:
            source.fail(number, f"there are positions without {label!r}; label all of them, or give label=False")
    try:
        flat = read_labels(y, X)
    except InputError as error:
        _refuse_values(source, lines, error)
    return split_labels(_array(flat), flat.starts)


def _array(flat: FlatLabels) -> NDArray[Any]:
    """The labels of all positions as an array."""
    if flat.alphabet is None:
        return flat.values
    refuse_nul(flat.alphabet)
    labels: NDArray[np.str_] = np.array(list(flat.alphabet), np.str_)[flat.values]
    return labels


FORMAT = JsonLinesFormat()
