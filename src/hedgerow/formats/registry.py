"""The formats by name, and their detection from the beginning of a file. A format is imported when it is first used."""

from __future__ import annotations

import importlib
import json
import re
from typing import TYPE_CHECKING

from hedgerow.errors import InputError
from hedgerow.formats.item_detection import are_items

if TYPE_CHECKING:
    from hedgerow.formats.base import Format

_HOME = {
    "conll": ("conll", "FORMAT"),
    "conllu": ("conllu", "FORMAT"),
    "crf++": ("crfpp", "FORMAT"),
    "crfsuite": ("crfsuite", "FORMAT"),
    "jsonl": ("json_lines", "FORMAT"),
    "csv": ("delimited", "CSV"),
    "tsv": ("delimited", "TSV"),
    "parquet": ("parquet", "FORMAT"),
}
# Ends of file names: a hint where the content fits several formats.
_EXTENSIONS = {
    "conll": (".conll", ".bio", ".iob", ".iob2"),
    "conllu": (".conllu",),
    "crf++": (".crfpp",),
    "crfsuite": (".crfsuite", ".crfsuite.txt"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "parquet": (".parquet", ".pq"),
}
_ROWS = 50  # lines that are looked at
_PARQUET = b"PAR1"
_CONLLU_COLUMNS = 10
_ID = re.compile(rb"\d+([-.]\d+)?$")


def find_format(name: object) -> Format:
    """The format of this name; raises InputError if there is none."""
    if not isinstance(name, str) or name not in _HOME:
        raise InputError(f"format is {name!r}; choose one of {', '.join(_HOME)}")
    module, attribute = _HOME[name]
    found: Format = getattr(importlib.import_module(f"hedgerow.formats.{module}"), attribute)
    return found


def by_extension(name: str) -> str | None:
    """The format whose files usually have such a name."""
    for file_format, extensions in _EXTENSIONS.items():
        if name.lower().endswith(extensions):
            return file_format
    return None


def detect(head: bytes, name: str) -> str:
    """The format of a file: the first whose rule holds; the end of the name decides only where the content fits."""
    if head.startswith(_PARQUET):
        return "parquet"
    lines = [line.rstrip(b"\r") for line in head.split(b"\n", _ROWS)[:_ROWS]]
    rows = [line for line in lines if line.strip()]
    hint = by_extension(name)
    if rows and _is_json(rows[0]):
        return "jsonl"
    if any(map(_is_word, [row for row in rows if not row.startswith(b"#")][:1])):
        return "conllu"
    if rows and any(mark in rows[0] and (hint == "csv" or _are_cells(lines, mark)) for mark in (b",", b";")):
        return "csv"
    is_cut = len(lines) < _ROWS and bool(lines[-1].strip())
    if rows and are_items(rows[:-1] or rows if is_cut else rows, sure=hint == "crfsuite"):
        return "crfsuite"
    if hint == "tsv" and not any(not line.strip() for line in lines[:-1]):
        return "tsv"
    return "crf++" if hint == "crf++" else "conll"


def _is_json(row: bytes) -> bool:
    if row[:1] not in (b"{", b"["):
        return False
    try:
        return isinstance(json.loads(row), (dict, list))
    except (ValueError, RecursionError):
        return len(row) > 1 << 15  # cut off


def _are_cells(lines: list[bytes], mark: bytes) -> bool:
    """Whether every line, two or more, has the same number of marks, and none is blank or has tabs.

    The first may have one mark less: no name for the names of rows.
    """
    whole = lines[:-1]  # the last one may be cut off
    if len(whole) < 2 or b"\t" in whole[0]:
        return False
    first, *others = (line.count(mark) for line in whole)
    return first > 0 and len(set(others)) == 1 and others[0] - first in (0, 1)


def _is_word(row: bytes) -> bool:
    """Whether a line has the columns of CoNLL-U."""
    fields = row.split(b"\t")
    return len(fields) == _CONLLU_COLUMNS and _ID.match(fields[0]) is not None
