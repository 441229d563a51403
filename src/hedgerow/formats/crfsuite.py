"""CRFsuite's items: a label and attributes between tabs, weights behind a colon, and @weight lines for sequences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import BAG, BagColumn, Column, NumericColumn, trusted
from hedgerow.data.read_y import read_labels
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError
from hedgerow.formats.base import Choice, Format, Parsed, Probabilities, empty, refuse, refuse_empty, text_labels
from hedgerow.formats.content import Content, check_texts
from hedgerow.formats.corpus import Corpus, Layout
from hedgerow.formats.label_text import printable
from hedgerow.formats.source import Source

LABEL = "label"
WEIGHT = "@weight"


class CrfsuiteFormat(Format):
    """The text format of the program crfsuite; X has one column, the bag of attributes."""

    name = "crfsuite"

    def parse(self, source: Source, choice: Choice, *, first_line: int = 1, partial: bool = False) -> Parsed:
        labelled = _is_labelled(choice)
        starts, lines, labels, bags, weights, n_lines, fault = _core.read_items(source.text, labelled)
        if fault is not None:
            kind, line, column, _ = fault
            refuse(source, kind, line + first_line - 1, column)
        columns = (LABEL, BAG) if labelled else (BAG,)
        layout = Layout(self.name, columns, LABEL if labelled else None, (BAG,), separator="\t")
        if len(lines) == 0:
            if not partial:
                refuse_empty(source)
            return empty(layout, n_lines, first_line)
        *arrays, blob, offsets = bags
        bag = trusted(BagColumn, BAG, *arrays, Alphabet.trusted(blob, offsets))
        if choice.layout is not None and first_line == 1 and len(bag.alphabet) == 0:
            _refuse_labels_alone(source, int(lines[0]))
        codes, blob, offsets = labels
        y = text_labels(codes, Alphabet.trusted(blob, offsets), starts) if labelled else None
        lines = lines if first_line == 1 else lines + (first_line - 1)
        sample_weight = None if (weights == 1).all() else weights
        corpus = Corpus(Sequences.trusted(starts, (bag,)), y, sample_weight, layout, lines)
        return Parsed(corpus, n_lines, first_line)

    def end_of_sequences(self, text: NDArray[np.uint8], begin: int) -> int:
        return _core.end_of_sequences(text, begin)

    def with_labels(
        self, text: bytes, parsed: Parsed, labels: Sequence[Any], probabilities: Probabilities = None
    ) -> bytes:
        """The text with the labels in front of the attributes, instead of those that were there."""
        if probabilities is not None:
            raise InputError("crfsuite items cannot hold probabilities; write JSON instead")
        rows, corpus = text.split(b"\n"), parsed.corpus
        numbers = (corpus.lines - parsed.places).tolist()
        for row, label in zip(numbers, read_labels(labels, corpus.X).tolist(), strict=True):
            name = escape(printable(str(label))).encode()
            attributes = rows[row].lstrip(b"\t").partition(b"\t")[1:] if corpus.y is not None else (b"\t", rows[row])
            rows[row] = name + b"".join(attributes)
        return b"\n".join(rows)

    def encode(self, content: Content) -> Iterator[bytes]:
        """A column of text gives attributes `name=value`, a number `name` with a weight, a bag its members."""
        items = _items(content)
        weights = content.sequence_weights()
        for weight, sequence in zip(weights, content.sequences(items), strict=True):
            head = "" if weight is None else f"@weight:{weight!r}\n"
            yield (head + "\n".join(sequence) + "\n\n").encode()


def _items(content: Content) -> list[str]:
    """The line of each position."""
    labels = content.labels()
    fields = [[] if labels is None else [escape(str(label))] for label in labels or [None] * content.X.n_positions]
    if labels is not None:
        check_texts(set(map(str, labels)), "a label of crfsuite", lambda text: text != WEIGHT, f"must not be {WEIGHT}")
    for column in content.X.columns:
        for item, value in zip(fields, content.values(column, None), strict=True):
            item.extend(_attributes(column, value))
    distinct = {field for item in fields for field in item}
    check_texts(distinct, "crfsuite", _is_field, "needs names that are not empty, without tab, line break or NUL")
    for at, item in enumerate(fields):
        if not item or not "".join(item).strip(" "):
            raise content.fail(at, "an item without label and attributes is the end of a sequence in a file")
    return ["\t".join(item) for item in fields]


def _attributes(column: Column, value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return [f"{escape(column.name)}={escape(value)}"]
    if isinstance(column, NumericColumn):
        return [f"{escape(column.name)}:{value!r}"]
    if isinstance(value, dict):
        return [f"{escape(name)}:{weight!r}" for name, weight in value.items()]
    return [escape(name) for name in value]


def _refuse_labels_alone(source: Source, line: int) -> NoReturn:
    content = source.line(line).decode("utf-8", "replace").strip()
    source.fail(
        line,
        "crfsuite items are a label and attributes between tabs, but no line has an attribute, such as "
        f"{content!r:.80}; this is not a crfsuite file: give `format`",
    )


def _is_field(text: str) -> bool:
    return bool(text) and not text.startswith(":") and not re.search("[\t\n\r\0]", text)


def _is_labelled(choice: Choice) -> bool:
    if choice.columns is not None or choice.label not in (None, False, LABEL, 0):
        raise InputError(
            "the crfsuite format has one label and one bag: `label` can only be False, `columns` not given; "
            "give format='conll' for a file of columns"
        )
    if choice.label is False:
        return False
    return choice.layout is None or choice.layout.label is not None


def escape(name: str) -> str:
    """The name of an attribute or label as CRFsuite reads it."""
    return name.replace("\\", "\\\\").replace(":", "\\:")


FORMAT = CrfsuiteFormat()
