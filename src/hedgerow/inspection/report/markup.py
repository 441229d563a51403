"""Markup of the report: escaped text, tables, notes and sections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from hedgerow.data.html_repr import visible

LONGEST = 120  # characters of a word or value; the rest is cut off
BROWSER = "browser"  # the head of a column of buttons that show sequences


class Section(NamedTuple):
    """A part of the page with a heading; `key` is its anchor."""

    key: str
    title: str
    body: str


class Numeric(str):
    """A cell of a table that is flush right."""

    __slots__ = ()


class Prose(str):
    """A cell of a table whose text is never cut off."""

    __slots__ = ()


class Markup(str):
    """A cell of a table that is escaped already."""

    __slots__ = ()


Cell = str | Numeric | Prose | Markup


def shown(value: object, longest: int = LONGEST) -> str:
    r"""A text in one line: control characters as escapes such as \x1b, the end of long texts cut off."""
    text = str(value)
    cut = text[:longest]
    return f"{visible(cut)}…" if len(text) > longest else visible(cut)


def shown_value(value: object) -> str:
    """The shown text of a value of X; an empty or blank one has quotes, so that it can be seen."""
    text = shown(value)
    return text if text.strip() else f'"{text}"'


def safe(value: object, longest: int = LONGEST) -> str:
    """The shown text, as content or attribute value of HTML."""
    return escape(shown(value, longest), quote=True)


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def note(text: str) -> str:
    """A paragraph that explains, in smaller type."""
    return paragraph(text, "note")


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]], caption: str) -> str:
    """A table with a caption, which scrolls sideways where it is too wide; the first cell of a row names the row."""
    body = "".join(f"<tr>{_row(row)}</tr>" for row in rows)
    heads = "".join(map(_head, head))
    return scrolling(
        f"<table><caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>",
        caption,
    )


def _head(name: str) -> str:
    """The head of a column; "#" before a name marks numbers."""
    kind = ' class="number"' if name.startswith("#") else ' class="action"' if name == BROWSER else ""
    return f'<th scope="col"{kind}>{escape(name.removeprefix("#"))}</th>'


def _row(cells: Sequence[Cell]) -> str:
    first, *others = cells
    return f'<th scope="row"><bdi>{safe(first)}</bdi></th>{"".join(map(_cell, others))}'


def _cell(cell: Cell) -> str:
    if isinstance(cell, Markup):
        return f'<td class="action">{cell}</td>'
    if isinstance(cell, Prose):
        return f"<td>{escape(cell)}</td>"
    return f'<td class="number">{safe(cell)}</td>' if isinstance(cell, Numeric) else f"<td><bdi>{safe(cell)}</bdi></td>"


def scrolling(content: str, name: str) -> str:
    """Markup in a region that can be scrolled sideways, also with the keyboard."""
    return f'<div class="scroll" role="group" tabindex="0" aria-label="{safe(name)}">{content}</div>'


def side_by_side(tables: Iterable[str]) -> str:
    """Tables, each with its notes, in columns where the page is wide enough."""
    return f'<div class="tables">{"".join(f"<div>{one}</div>" for one in tables)}</div>'


def figure(drawing: str, caption: str) -> str:
    """A drawing with a caption."""
    return f"<figure>{scrolling(drawing, caption)}<figcaption>{escape(caption)}</figcaption></figure>"


def details(summary: str, content: str, *, is_open: bool = False) -> str:
    """Markup that is folded away until it is opened."""
    start = "<details open>" if is_open else "<details>"
    return f"{start}<summary>{escape(summary)}</summary>{content}</details>"


def count(n: int) -> Numeric:
    """A whole number with separators, as a cell."""
    return Numeric(f"{n:,}")


def share(value: float) -> Numeric:
    """A share in percent, as a cell."""
    return Numeric(f"{value:.2%}")
