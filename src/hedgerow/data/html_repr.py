"""HTML for notebooks: escaped text, tables, and the first positions of sequences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape as escape_markup
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.data.columns import ABSENT, MISSING, BagColumn, CategoricalColumn, Column
from hedgerow.utilities import counted

if TYPE_CHECKING:
    from hedgerow.data.sequences import Sequences

MOST_SEQUENCES = 2
MOST_POSITIONS = 6
MOST_COLUMNS = 8
MOST_IN_BAG = 5
LONGEST_TEXT = 60

# What XML cannot contain, not even as a character reference, and the controls of C1.
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


def visible(text: object) -> str:
    """The text in one line: controls become their pictures, such as ␊, and what has no picture becomes �."""
    return _FORBIDDEN.sub(_picture, str(text))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def escape(text: object) -> str:
    """The text as content or attribute value of HTML, SVG and XML: no markup, no controls."""
    return escape_markup(visible(text), quote=True)


def shortened(text: str, longest: int = LONGEST_TEXT) -> str:
    """The text, or its beginning and "…" if it is longer."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def html_table(header: Sequence[object], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table whose cells are escaped; numbers are flush right, texts flush left."""
    head = "".join(f'<th style="text-align:left">{escape(cell)}</th>' for cell in header)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    named = f'<caption style="text-align:left">{escape(caption)}</caption>' if caption else ""
    return f"<table>{named}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    shown = f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
    return f'<td style="text-align:{"right" if is_number else "left"}">{escape(shown)}</td>'


def sequences_html(sequences: Sequences) -> str:
    """What `repr` says, and a table of the first positions of the first sequences; for notebooks."""
    columns = sequences.columns[:MOST_COLUMNS]
    hidden = len(sequences.columns) - len(columns)
    header = ["sequence", "position", *(column.name for column in columns), *(["…"] if hidden else [])]
    rows: list[list[object]] = []
    for i in range(min(len(sequences), MOST_SEQUENCES)):
        first, end = int(sequences.starts[i]), int(sequences.starts[i + 1])
        shown = range(first, min(end, first + MOST_POSITIONS))
        more = ["…"] if hidden else []
        rows += [[i, t - first, *(_value(column, t) for column in columns), *more] for t in shown]
        if end > shown.stop:
            rows.append([i, f"… {end - shown.stop} more", *("" for _ in columns), *("" for _ in more)])
    others = len(sequences) - MOST_SEQUENCES
    note = f"<p>… {counted(others, 'more sequence')}</p>" if others > 0 else ""
    return f"<div><p>{escape(repr(sequences))}</p>{html_table(header, rows)}{note}</div>"


def _value(column: Column, t: int) -> object:
    """The value at a position, for people: "missing" and "absent" are words."""
    if isinstance(column, BagColumn):
        return _bag(column, t)
    if isinstance(column, CategoricalColumn):
        code = int(column.codes[t])
        return {MISSING: "(missing)", ABSENT: "(absent)"}.get(code) or shortened(str(column.alphabet[code]))
    return "(missing)" if np.isnan(column.values[t]) else float(column.values[t])


def _bag(column: BagColumn, t: int) -> str:
    ids = column.ids[column.starts[t] : column.starts[t + 1]].tolist()
    if ids == [MISSING]:
        return "(missing)"
    names: list[Any] = [column.alphabet[i] for i in ids[:MOST_IN_BAG]]
    if column.weights is not None:
        weights = column.weights[column.starts[t] : column.starts[t + 1]].tolist()
        names = [f"{name}: {weight:.4g}" for name, weight in zip(names, weights, strict=False)]
    more = ", …" if len(ids) > MOST_IN_BAG else ""
    return f"{{{shortened(', '.join(names))}{more}}}"
