"""HTML for notebooks: escaped text, tables, and the first positions of sequences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
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

# Control characters, marks that change the direction of text, and what no file or XML can hold.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]")

_CAPTION = "text-align:left;white-space:nowrap;padding:.6em 0 .3em"
_NUMBER = re.compile(r"[-+]?(\d[\d,]*(\.\d+)?(e[-+]?\d+)?%?|inf|nan)")


def visible(text: object) -> str:
    r"""The text in one line: control characters as escapes, such as \x1b."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), str(text))


def escape(text: object) -> str:
    """The text as content or attribute value of HTML, SVG and XML: no markup, no controls."""
    return escape_markup(visible(text), quote=True)


def shortened(text: str, longest: int = LONGEST_TEXT) -> str:
    """The text, or its beginning and "…" if it is longer."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def without_middle(text: str, longest: int = LONGEST_TEXT) -> str:
    """The text, or its beginning, "…" and its end if it is longer: an offset at the end of a name stays."""
    n_last = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[: longest - 1 - n_last]}…{text[len(text) - n_last :]}"


def html_table(header: Sequence[object], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table whose cells are escaped; columns of numbers are flush right with their heads, others flush left."""
    shown = [list(map(_shown, row)) for row in rows]
    numeric = [all(_NUMBER.fullmatch(cell) for cell in column if cell) for column in zip(*shown, strict=True)]
    sides = ["right" if is_number else "left" for is_number in numeric] or ["left"] * len(header)
    head = "".join(
        f'<th style="text-align:{side}">{escape(cell)}</th>' for cell, side in zip(header, sides, strict=True)
    )
    body = "".join(f"<tr>{_cells(row, sides)}</tr>" for row in shown)
    named = f'<caption style="{_CAPTION}">{escape(caption)}</caption>' if caption else ""
    return f"<table>{named}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def with_note(table: str, note: str | None) -> str:
    """A table with a note below it, if there is one."""
    return f"<div>{table}{'' if note is None else f'<p>Note: {escape(note)}.</p>'}</div>"


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)


def _cells(row: Sequence[str], sides: Sequence[str]) -> str:
    return "".join(f'<td style="text-align:{side}">{escape(cell)}</td>' for cell, side in zip(row, sides, strict=True))


def sequences_html(sequences: Sequences) -> str:
    """What `repr` says, and a table of the first positions of the first sequences; for notebooks."""
    columns = _Columns(sequences)
    table = _positions_table(sequences.lengths.tolist(), columns.names, columns.values)
    return f"<div><p>{escape(repr(sequences))}</p>{table}</div>"


def predictions_html(predictions: Sequence[Any], sequences: Sequences | None) -> str | None:
    """A table of the first labels of the first sequences, with the values of the columns if `sequences` are known.

    None, which makes notebooks show the text, if these are no labels of sequences.
    """
    if not all(isinstance(one, np.ndarray) and one.ndim == 1 for one in predictions):
        return None
    columns = None if sequences is None or len(sequences) != len(predictions) else _Columns(sequences)

    def values(i: int, at: int) -> list[object]:
        return [*(columns.values(i, at) if columns else ()), shortened(str(predictions[i][at]))]

    names = [*(columns.names if columns else ()), "label"]
    table = _positions_table([len(one) for one in predictions], names, values)
    return f"<div><p>predictions for {counted(len(predictions), 'sequence')}</p>{table}</div>"


class _Columns:
    """The columns of sequences that fit into a table."""

    def __init__(self, sequences: Sequences) -> None:
        self._starts, self._columns = sequences.starts, sequences.columns[:MOST_COLUMNS]
        self._more = ["…"] if len(sequences.columns) > MOST_COLUMNS else []
        self.names = [*(column.name for column in self._columns), *self._more]

    def values(self, i: int, at: int) -> list[object]:
        t = int(self._starts[i]) + at
        return [*(_value(column, t) for column in self._columns), *self._more]


def _positions_table(lengths: Sequence[int], names: Sequence[str], values: Callable[[int, int], list[object]]) -> str:
    """A row for each of the first positions of the first sequences; `values(sequence, position)` are its cells."""
    rows: list[list[object]] = []
    for i, length in enumerate(lengths[:MOST_SEQUENCES]):
        rows += [[i, at, *values(i, at)] for at in range(min(length, MOST_POSITIONS))]
        if length > MOST_POSITIONS:
            rows.append([i, f"… {length - MOST_POSITIONS:,} more", *("" for _ in names)])
    others = len(lengths) - MOST_SEQUENCES
    note = f"<p>… {counted(others, 'more sequence')}</p>" if others > 0 else ""
    return html_table(["sequence", "position", *names], rows) + note


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
