"""SVG elements as text: escaped, accessible, readable on light and dark pages, without scripts.

Lines and texts have the colour of the page's text, `currentColor`. Areas have colours that a page can replace: the CSS
variables --hr-series-1 to --hr-series-8 for series, --hr-positive and --hr-negative for signs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from hedgerow.data.html_repr import escape, visible, without_middle

__all__ = [
    "NEGATIVE",
    "POSITIVE",
    "circle",
    "clipped",
    "document",
    "element",
    "escape",
    "group",
    "line",
    "number",
    "path",
    "rect",
    "series_colour",
    "text",
    "text_width",
]

FONT_SIZE = 12
CHARACTER_WIDTH = 0.62  # of a character of a sans-serif font, as a share of the font size; a generous mean
CAPITAL_WIDTH = 0.75  # of a capital letter
WIDEST_WIDTH = 1.0  # of the widest letters
_WIDEST = frozenset("mwMW@%")

POSITIVE = "var(--hr-positive,#4477aa)"
NEGATIVE = "var(--hr-negative,#cc6644)"
_SERIES = ("#4477aa", "#cc6644", "#228833", "#aa3377", "#999933", "#33a0b5", "#775599", "#888888")


def series_colour(i: int) -> str:
    """The colour of series i; after eight series the colours repeat."""
    i %= len(_SERIES)
    return f"var(--hr-series-{i + 1},{_SERIES[i]})"


def number(value: float) -> str:
    """A coordinate with at most two decimals."""
    shown = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


def element(name: str, content: str = "", /, **attributes: object) -> str:
    """An element; `content` is markup, attribute values are escaped. `stroke_width` is the attribute stroke-width."""
    parts = [name]
    for key, value in attributes.items():
        if value is None:
            continue
        shown = number(value) if isinstance(value, float) else escape(value)
        parts.append(f'{key.rstrip("_").replace("_", "-")}="{shown}"')
    return f"<{' '.join(parts)}>{content}</{name}>" if content else f"<{' '.join(parts)}/>"


def text(
    x: float, y: float, content: object, *, anchor: str = "start", size: float = FONT_SIZE, **attributes: object
) -> str:
    """A line of text; `anchor` is "start", "middle" or "end"."""
    attributes.setdefault("fill", "currentColor")
    shown = escape(content) or "\u00a0"
    return element("text", shown, x=float(x), y=float(y), text_anchor=anchor, font_size=float(size), **attributes)


def line(x1: float, y1: float, x2: float, y2: float, **attributes: object) -> str:
    """A straight line."""
    attributes.setdefault("stroke", "currentColor")
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), **attributes)


def rect(
    x: float, y: float, width: float, height: float, *, colour: str = POSITIVE, title: str = "", **attributes: object
) -> str:
    """A filled rectangle; its title is shown when the mouse is over it."""
    return element(
        "rect", _title(title), x=float(x), y=float(y), width=float(width), height=float(height),
        style=f"fill:{colour}", **attributes,
    )  # fmt: skip


def path(commands: str, *, colour: str = "currentColor", title: str = "", **attributes: object) -> str:
    """An open path, drawn as a line."""
    attributes.setdefault("fill", "none")
    return element("path", _title(title), d=commands, style=f"stroke:{colour}", **attributes)


def circle(x: float, y: float, radius: float, *, colour: str = POSITIVE, title: str = "", **attributes: object) -> str:
    """A filled circle."""
    return element(
        "circle", _title(title), cx=float(x), cy=float(y), r=float(radius), style=f"fill:{colour}", **attributes
    )


def group(parts: Iterable[str], *, title: str = "", **attributes: object) -> str:
    """Several elements in one."""
    return element("g", _title(title) + "".join(parts), **attributes)


def document(
    width: float, height: float, parts: Iterable[str], *, title: str, description: str, shrinks: bool = True
) -> str:
    """An SVG document that also stands inside HTML. Screen readers read the title and the description.

    It shrinks with the page, unless `shrinks` is False.
    """
    least = "max-width:100%" if shrinks else f"min-width:{number(width)}px"
    body = f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{''.join(parts)}"
    return element(
        "svg", body, xmlns="http://www.w3.org/2000/svg", role="img", aria_label=title,
        viewBox=f"0 0 {number(width)} {number(height)}", width=float(width), height=float(height),
        style=f"{least};height:auto;font-family:sans-serif",
    )  # fmt: skip


def text_width(content: object, size: float = FONT_SIZE) -> float:
    """An estimate of the width of a text, hardly ever too small."""
    return sum(map(_character_width, visible(content))) * size


def _character_width(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 2 * CHARACTER_WIDTH
    if character in _WIDEST:
        return WIDEST_WIDTH
    return CAPITAL_WIDTH if character.isupper() else CHARACTER_WIDTH


def clipped(content: object, longest: int = 32) -> str:
    """A text in one line, with "…" in its middle if it is too long for a drawing."""
    return without_middle(visible(content), longest)


def _title(title: str) -> str:
    return f"<title>{escape(title)}</title>" if title else ""
