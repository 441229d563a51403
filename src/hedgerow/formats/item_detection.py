"""Whether lines look like CRFsuite's items: a label, then attributes between tabs."""

from __future__ import annotations

import re

_ATTRIBUTE = re.compile(rb".+[=:]|__[BE]OS__$")
_SPAN_LABEL = re.compile(rb"(O|[BIELSU]-\S+)$")


def are_items(rows: list[bytes], *, sure: bool) -> bool:
    """Whether lines are items; `sure` if the name of the file says so.

    One of these holds: a line is a weight of CRFsuite; the first fields are labels of spans; the other fields look
    like `w=the` or `w:2`. Of these, some may be plain, such as `bias`: at most half if lines differ in the number of
    fields, which lines of columns do not; otherwise those that are the same on every line.
    """
    items = [row.strip(b"\t").split(b"\t") for row in rows]
    fields = [field for item in items for field in item[1:]]
    if any(item[0].startswith(b"@weight:") for item in items):
        return True
    if not fields or sure:
        return bool(fields)
    if all(_SPAN_LABEL.match(item[0]) for item in items) and any(b"-" in item[0] for item in items):
        return not all(_SPAN_LABEL.match(item[-1]) for item in items)
    if len({len(item) for item in items}) > 1:
        return 2 * sum(map(bool, map(_ATTRIBUTE.match, fields))) >= len(fields)
    columns = list(zip(*items, strict=True))[1:]
    plain = [column for column in columns if not all(map(_ATTRIBUTE.match, column))]
    return len(plain) < len(columns) and all(len(items) > 1 and len(set(column)) == 1 for column in plain)
