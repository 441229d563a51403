"""A directed graph as SVG: nodes on a circle, edges as curved arrows, the weight as width and colour."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hedgerow.inspection.svg import (
    FONT_SIZE,
    NEGATIVE,
    POSITIVE,
    circle,
    clipped,
    document,
    element,
    number,
    path,
    text,
    text_width,
)

NODE_RADIUS = 7.0
ARROW = 7.0
LOOP = 15.0
NEAR = 8.0  # between a node without a loop and its name
SHORT = 20.0  # names of this width stay level, because a single letter on its side is another letter
WIDEST = 5.0
FAINTEST = 0.6  # opacity of the weakest edge, so that it can be seen on light and dark pages


def draw_graph(names: Sequence[str], edges: Sequence[tuple[int, int, float]], *, title: str, description: str) -> str:
    """The graph of nodes with these names; an edge is (from node, to node, score)."""
    shown = [clipped(name, 24) for name in names]
    radius = max(90.0, len(names) * 26 / (2 * math.pi))
    margin = max([40.0, *map(text_width, shown)]) + LOOP * 2 + 16
    loops, beyond_loops = {a for a, b, _ in edges if a == b}, radius + NODE_RADIUS + LOOP * 2 + 4
    near = [beyond_loops if i in loops else radius + NODE_RADIUS + NEAR for i in range(len(names))]
    height = radius + LOOP * 2 + 30
    angles = [2 * math.pi * i / max(len(names), 1) - math.pi / 2 for i in range(len(names))]
    far = [beyond_loops] * len(names)
    level = next((each for each in (near, far) if not _overlap(list(map(_box, shown, each, angles)))), None)
    distances, turns = level or near, level is None
    middle = radius + margin, radius + margin if turns else height
    places = [(middle[0] + radius * math.cos(a), middle[1] + radius * math.sin(a)) for a in angles]
    greatest = max((abs(score) for _, _, score in edges), default=0.0) or 1.0
    parts = []
    for a, b, score in reversed(edges):  # the strongest are drawn last, above the others
        caption = f"{names[a]} → {names[b]}: {score:.4g}"
        curve, tip, direction = _loop(places[a], angles[a]) if a == b else _curve(places[a], places[b])
        colour, share = POSITIVE if score >= 0 else NEGATIVE, abs(score) / greatest
        opacity, width = FAINTEST + (0.9 - FAINTEST) * share, 1.2 + WIDEST * share
        parts.append(path(curve, colour=colour, title=caption, stroke_width=width, stroke_opacity=opacity))
        parts.append(_arrow(tip, direction, colour, opacity, width))
    for name, full, place, angle, distance in zip(shown, names, places, angles, distances, strict=True):
        parts.append(circle(*place, NODE_RADIUS, colour="currentColor", title=full))
        x, y = middle[0] + distance * math.cos(angle), middle[1] + distance * math.sin(angle)
        is_radial = turns and text_width(name) > SHORT
        parts.append(_radial_name(name, x, y, angle) if is_radial else text(x, y + 4, name, anchor=_anchor(angle)))
    return document(2 * middle[0], 2 * middle[1], parts, title=title, description=description)


def _anchor(angle: float) -> str:
    """Where a name outside of the circle is anchored, so that it does not reach into the circle."""
    side = math.cos(angle)
    return "middle" if abs(side) < 0.2 else "start" if side > 0 else "end"


def _radial_name(name: str, x: float, y: float, angle: float) -> str:
    """A name that is turned away from the middle of the circle, and never upside down."""
    is_left = math.cos(angle) < -1e-9
    degrees = math.degrees(angle) + (180 if is_left else 0)
    turn = f"rotate({number(degrees)} {number(x)} {number(y)})"
    return text(x, y, name, anchor="end" if is_left else "start", transform=turn, dominant_baseline="middle")


Box = tuple[float, float, float, float]  # left, top, right, bottom


def _box(name: str, radius: float, angle: float) -> Box:
    """Where a level name is, around the middle of the circle."""
    x, y, width = radius * math.cos(angle), radius * math.sin(angle), text_width(name)
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[_anchor(angle)]
    return left, y - FONT_SIZE / 2, left + width, y + FONT_SIZE / 2


def _overlap(boxes: Sequence[Box]) -> bool:
    """Whether two neighbours overlap."""
    pairs = zip(boxes, [*boxes[1:], *boxes[:1]], strict=True) if len(boxes) > 1 else ()
    return any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for a, b in pairs)


Drawn = tuple[str, tuple[float, float], tuple[float, float]]


def _curve(begin: tuple[float, float], end: tuple[float, float]) -> Drawn:
    """(path, tip, direction) of an edge; it bends to one side, so that the edge in the other direction is beside it."""
    dx, dy = end[0] - begin[0], end[1] - begin[1]
    bend = (begin[0] + end[0]) / 2 + dy * 0.15, (begin[1] + end[1]) / 2 - dx * 0.15
    tip = _towards(end, bend, NODE_RADIUS + 1)
    foot = _towards(tip, bend, ARROW)
    commands = f"M{_point(_towards(begin, bend, NODE_RADIUS))}Q{_point(bend)} {_point(foot)}"
    return commands, tip, (tip[0] - foot[0], tip[1] - foot[1])


def _loop(place: tuple[float, float], angle: float) -> Drawn:
    """(path, tip, direction) of an edge from a node to itself, outside of the circle."""
    out, across = (math.cos(angle), math.sin(angle)), (-math.sin(angle), math.cos(angle))

    def at(along: float, aside: float) -> tuple[float, float]:
        return place[0] + out[0] * along + across[0] * aside, place[1] + out[1] * along + across[1] * aside

    tip, foot = at(NODE_RADIUS + 1, 4), at(NODE_RADIUS + 1 + ARROW, 6)
    commands = (
        f"M{_point(at(NODE_RADIUS, -4))}C{_point(at(LOOP * 2.4, -14))} {_point(at(LOOP * 2.4, 14))} {_point(foot)}"
    )
    return commands, tip, (tip[0] - foot[0], tip[1] - foot[1])


def _arrow(
    tip: tuple[float, float], direction: tuple[float, float], colour: str, opacity: float, line_width: float
) -> str:
    """The head of an arrow, wider than its line."""
    length = math.hypot(*direction) or 1.0
    x, y = direction[0] / length, direction[1] / length
    back = tip[0] - x * ARROW, tip[1] - y * ARROW
    half = 2.5 + 0.7 * line_width
    corners = [tip, (back[0] - y * half, back[1] + x * half), (back[0] + y * half, back[1] - x * half)]
    return element(
        "polygon", points=" ".join(map(_point, corners)), style=f"fill:{colour}", fill_opacity=float(opacity)
    )


def _towards(begin: tuple[float, float], end: tuple[float, float], distance: float) -> tuple[float, float]:
    """The point at a distance from `begin` in the direction of `end`."""
    length = math.hypot(end[0] - begin[0], end[1] - begin[1]) or 1.0
    share = distance / length
    return begin[0] + (end[0] - begin[0]) * share, begin[1] + (end[1] - begin[1]) * share


def _point(point: tuple[float, float]) -> str:
    return f"{number(point[0])} {number(point[1])}"
