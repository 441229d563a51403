"""Charts as SVG: horizontal bars, lines with axes, heat maps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.inspection.svg import (
    NEGATIVE,
    POSITIVE,
    circle,
    clipped,
    document,
    group,
    line,
    number,
    path,
    rect,
    series_colour,
    text,
    text_width,
)

BAR_HEIGHT = 18.0
BAR_AREA = 250.0
WIDEST_BESIDE = 150.0  # names of bars that are wider stand above their bars, so that both fit on a phone
LONGEST_NAME = 60  # characters of the name of a bar
CELL = 26.0
DARKEST = 0.5  # opacity of the greatest cell of a heat map: numbers on it stay readable on light and dark pages
MOST_MARKED = 60  # points of a line that has a mark at each
LINE_SIZE = (380.0, 220.0)  # the area between the axes


def bar_chart(
    bars: Sequence[tuple[str, float]], *, title: str, description: str, deviations: Sequence[float] | None = None
) -> str:
    """Horizontal bars, one below the other, with their numbers; values below 0 go left and have another colour.

    Short names stand beside the bars, long ones above them.
    """
    values = [value if math.isfinite(value) else 0.0 for _, value in bars]
    spread = [0.0] * len(bars) if deviations is None else [d if math.isfinite(d) else 0.0 for d in deviations]
    low = min([0.0, *(v - d for v, d in zip(values, spread, strict=True))])
    high = max([0.0, *(v + d for v, d in zip(values, spread, strict=True))])
    names = [clipped(name, LONGEST_NAME) for name, _ in bars]
    widest = max([40.0, *map(text_width, names)])
    above = widest > WIDEST_BESIDE
    left, step = (4.0, BAR_HEIGHT + 22) if above else (widest + 8, BAR_HEIGHT + 4)
    scale = BAR_AREA / (high - low or 1.0)
    zero = left - low * scale
    parts = []
    for i, ((full, value), shown, d) in enumerate(zip(bars, values, spread, strict=True)):
        y = 8 + i * step + (18 if above else 0)
        begin, end = sorted((zero, zero + shown * scale))
        colour = POSITIVE if shown >= 0 else NEGATIVE
        if above:
            parts.append(text(left + 3, y - 5, names[i]))
        else:
            parts.append(text(left - 6, y + BAR_HEIGHT - 5, names[i], anchor="end"))
        parts.append(rect(begin, y, end - begin, BAR_HEIGHT, colour=colour, title=f"{full}: {value:.4g}"))
        if d:
            middle = y + BAR_HEIGHT / 2
            parts.append(line(zero + (shown - d) * scale, middle, zero + (shown + d) * scale, middle))
        parts.append(text(left + BAR_AREA + 8, y + BAR_HEIGHT - 5, f"{value:.3g}"))
    bottom = 8 + len(bars) * step
    parts.append(line(zero, 4, zero, bottom, stroke_opacity=0.5))
    numbers = max([20.0, *(text_width(f"{value:.3g}") for _, value in bars)])
    width = max(left + BAR_AREA + 12 + numbers, widest + 12 if above else 0.0)
    return document(width, bottom + 6, parts, title=title, description=description)


class Panel(NamedTuple):
    """A chart that is a part of a document."""

    width: float
    height: float
    parts: list[str]


def stacked(panels: Sequence[Panel], *, title: str, description: str) -> str:
    """Charts one below the other, in one document."""
    parts, height = [], 0.0
    for panel in panels:
        parts.append(group(panel.parts, transform=f"translate(0 {number(height)})"))
        height += panel.height
    width = max([1.0, *(panel.width for panel in panels)])
    return document(width, max(height, 1.0), parts, title=title, description=description)


def line_chart(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    title: str,
    description: str,
    x_name: str = "",
    y_name: str = "",
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
) -> str:
    """Lines over common axes, with a legend below; points that are not finite interrupt a line."""
    panel = line_panel(series, x_name=x_name, y_name=y_name, x_range=x_range, y_range=y_range)
    return document(*panel, title=title, description=description)


def line_panel(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    x_name: str = "",
    y_name: str = "",
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
) -> Panel:
    """The chart of `line_chart`, to be drawn together with others."""
    points = [point for line_ in series.values() for point in line_ if all(map(math.isfinite, point))]
    x_low, x_high = x_range or _range([x for x, _ in points])
    y_low, y_high = y_range or _range([y for _, y in points])
    width, height = LINE_SIZE
    is_count = x_range is None and all(float(x).is_integer() for x, _ in points)  # such as the number of a round
    y_ticks, x_ticks = ticks(y_low, y_high), ticks(x_low, x_high, least_step=1.0 if is_count else 0.0)
    left = max([20.0, *(text_width(f"{tick:g}") for tick in y_ticks)]) + (30 if y_name else 12)
    top, bottom = 10.0, 10.0 + height

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (x - x_low) / (x_high - x_low) * width, bottom - (y - y_low) / (y_high - y_low) * height

    parts = [line(left, top, left, bottom), line(left, bottom, left + width, bottom)]
    for tick in y_ticks:
        at = place(x_low, tick)[1]
        parts.append(line(left, at, left + width, at, stroke_opacity=0.15))
        parts.append(text(left - 6, at + 4, f"{tick:g}", anchor="end"))
    for tick in x_ticks:
        at = place(tick, y_low)[0]
        parts.append(line(at, bottom, at, bottom + 4))
        parts.append(text(at, bottom + 18, f"{tick:g}", anchor="middle"))
    parts.append(text(left + width / 2, bottom + 36, clipped(x_name, 48), anchor="middle"))
    if y_name:
        middle = number(bottom - height / 2)
        parts.append(text(12, bottom - height / 2, y_name, anchor="middle", transform=f"rotate(-90 12 {middle})"))
    for i, (name, values) in enumerate(series.items()):
        parts += _series([place(x, y) for x, y in values], name, series_colour(i))
    legend, end = _legend(list(series), left, left + width, bottom + (56 if x_name else 40))
    return Panel(left + width + 16, end, [*parts, *legend])


def _series(points: list[tuple[float, float]], name: str, colour: str) -> list[str]:
    commands, pen_down = [], False
    there = [point for point in points if all(map(math.isfinite, point))]
    for x, y in points:
        if not (math.isfinite(x) and math.isfinite(y)):
            pen_down = False
            continue
        commands.append(f"{'L' if pen_down else 'M'}{number(x)} {number(y)}")
        pen_down = True
    drawn = [path("".join(commands), colour=colour, title=name, stroke_width=2)] if commands else []
    marks = [circle(x, y, 2.5, colour=colour) for x, y in there] if len(there) <= MOST_MARKED else []
    return drawn + marks


def _legend(names: list[str], left: float, right: float, y: float) -> tuple[list[str], float]:
    """(the elements, their lower end): a line and a name for each series, as many in a row as fit."""
    parts, x = [], left
    for i, name in enumerate(names):
        width = 36 + text_width(clipped(name))
        if x > left and x + width > right:
            x, y = left, y + 18
        parts.append(rect(x, y - 6, 14, 4, colour=series_colour(i)))
        parts.append(text(x + 20, y, clipped(name)))
        x += width
    return parts, y + 10


def heat_map(
    values: NDArray[Any],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    description: str,
    row_name: str = "",
    column_name: str = "",
    numbers: bool = True,
) -> str:
    """Cells whose opacity is the size of their number, relative to the greatest; NaN is left blank.

    Numbers below 0 have another colour.
    """
    row_names, column_names = [clipped(name, 24) for name in rows], [clipped(name, 24) for name in columns]
    greatest = float(np.nanmax(np.abs(values), initial=0.0, where=np.isfinite(values))) or 1.0
    left = max([30.0, *map(text_width, row_names)]) + (30 if row_name else 10)
    top = max([30.0, *map(text_width, column_names)]) + (28 if column_name else 10)
    side = max(CELL, 44.0 if numbers else CELL)
    parts = [text(left, 14, column_name)] if column_name else []
    if row_name:
        middle = top + CELL * len(rows) / 2
        parts.append(text(14, middle, row_name, anchor="middle", transform=f"rotate(-90 14 {number(middle)})"))
    for j, name in enumerate(column_names):
        x = left + side * (j + 0.5) + 4
        parts.append(text(x, top - 6, name, transform=f"rotate(-90 {number(x)} {number(top - 6)})"))
    for i, name in enumerate(row_names):
        y = top + CELL * i
        parts.append(text(left - 6, y + CELL / 2 + 4, name, anchor="end"))
        for j, full in enumerate(columns):
            value = float(values[i, j])
            if not math.isfinite(value):
                continue
            parts.append(
                rect(
                    left + side * j,
                    y,
                    side - 1,
                    CELL - 1,
                    colour=POSITIVE if value >= 0 else NEGATIVE,
                    title=f"{rows[i]}, {full}: {value:.4g}",
                    fill_opacity=abs(value) / greatest * DARKEST,
                )
            )
            if numbers:
                parts.append(text(left + side * (j + 0.5), y + CELL / 2 + 4, f"{value:.3g}", anchor="middle", size=11))
    return document(
        left + side * len(columns) + 10, top + CELL * len(rows) + 10, parts, title=title, description=description
    )


def ticks(low: float, high: float, most: int = 6, least_step: float = 0.0) -> list[float]:
    """Round numbers from low to high: multiples of 1, 2 or 5 times a power of ten."""
    raw = max((high - low) / most, least_step)
    if not (math.isfinite(raw) and raw > 0):
        return [low]
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def _range(values: list[float]) -> tuple[float, float]:
    """The lowest and greatest value, never equal."""
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    room = abs(low) * 0.05 or 0.5
    return (low, high) if high > low else (low - room, high + room)
