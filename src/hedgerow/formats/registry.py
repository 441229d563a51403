"""The formats by name, and their detection from the beginning of a file."""

from __future__ import annotations

import json
import re

from hedgerow.errors import InputError
from hedgerow.formats import conll, conllu, crfpp, crfsuite, delimited, json_lines, parquet
from hedgerow.formats.base import Format

FORMATS: dict[str, Format] = {
    file_format.name: file_format
    for file_format in (
        conll.FORMAT,
        conllu.FORMAT,
        crfpp.FORMAT,
        crfsuite.FORMAT,
        json_lines.FORMAT,
        delimited.CSV,
        delimited.TSV,
        parquet.FORMAT,
    )
}
_ROWS = 50  # lines that are looked at
_ATTRIBUTE = re.compile(rb".+[=:]|__[BE]OS__$")


def find_format(name: object) -> Format:
    """The format of this name; raises InputError if there is none."""
    if not isinstance(name, str) or name not in FORMATS:
        raise InputError(f"format is {name!r}; choose one of {', '.join(FORMATS)}")
    return FORMATS[name]


def by_extension(name: str) -> Format | None:
    """The format whose files usually have such a name."""
    for file_format in FORMATS.values():
        if name.lower().endswith(file_format.extensions):
            return file_format
    return None


def detect(head: bytes, name: str) -> Format:
    """The format of a file: the first whose rule holds; the end of the name decides only where the content fits."""
    if head.startswith(parquet.MAGIC):
        return parquet.FORMAT
    lines = [line.rstrip(b"\r") for line in head.split(b"\n")][:_ROWS]
    rows = [line for line in lines if line.strip()]
    hint = by_extension(name)
    if rows and _is_json(rows[0]):
        return json_lines.FORMAT
    positions = [line for line in rows if not line.startswith(b"#")]
    if positions and conllu.looks_like(positions[0].split(b"\t")):
        return conllu.FORMAT
    if hint is delimited.CSV and rows and b"," in rows[0]:
        return delimited.CSV
    if rows and _are_items(rows, sure=hint is crfsuite.FORMAT):
        return crfsuite.FORMAT
    if hint is delimited.TSV and not any(not line.strip() for line in lines[:-1]):
        return delimited.TSV
    return crfpp.FORMAT if hint is crfpp.FORMAT else conll.FORMAT


def _is_json(row: bytes) -> bool:
    if row[:1] not in (b"{", b"["):
        return False
    try:
        return isinstance(json.loads(row), (dict, list))
    except (ValueError, RecursionError):
        return len(row) > 1 << 15  # cut off


def _are_items(rows: list[bytes], *, sure: bool) -> bool:
    """Whether what follows the labels looks like attributes of CRFsuite: `w=the` or `w:2` behind each tab."""
    fields = [field for row in rows[:-1] or rows for field in row.strip(b"\t").split(b"\t")[1:]]
    return bool(fields) and (sure or all(map(_ATTRIBUTE.match, fields)))
