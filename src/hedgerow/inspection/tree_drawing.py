"""A tree of a model as a drawing: the root on the left, a column for each level, the tests in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from hedgerow.data.html_repr import escape, visible
from hedgerow.estimators.base import Estimator
from hedgerow.inspection.fitted_model import fitted_model
from hedgerow.inspection.svg import NEGATIVE, POSITIVE, clipped, document, group, number, path, rect, text, text_width
from hedgerow.inspection.tree_views import Names, find_tree, in_words, text_of
from hedgerow.inspection.view_tables import check_count
from hedgerow.utilities import counted

VIEW = "draw_tree"
ROW = 30.0
BOX = 22.0
GAP = 44.0  # between two levels, where "yes" and "no" are written
LONGEST_TEST = 56
SHRINKS = 600.0  # wider drawings keep their size, so that their texts can be read: the page scrolls


class TreeNode(NamedTuple):
    """A node of a drawn tree.

    Attributes
    ----------
    words
        The test of an inner node, or the value of a leaf.
    value
        The value of a leaf; None for an inner node.
    positions
        The number of training positions that reached the node.
    gain
        By how much the split lowered the squared error; 0 for a leaf.
    children
        Numbers of the nodes for "yes" and "no"; empty for a leaf.
    """

    words: str
    value: float | None
    positions: int
    gain: float
    children: tuple[int, ...]


@dataclass(frozen=True)
class TreeDrawing:
    """Result of `draw_tree`; `str()` is the tree as text.

    Attributes
    ----------
    round, label
        Which tree it is.
    nodes
        The nodes; the root comes first.
    text
        What `model.tree(round, label)` returns.
    max_depth
        The most levels of tests that are drawn; None for all. `nodes` and `text` have all.
    """

    round: int
    label: Any
    nodes: tuple[TreeNode, ...]
    text: str
    max_depth: int | None = None

    def to_svg(self) -> str:
        """Return the drawing.

        Returns
        -------
        str
            An SVG document, as high as the drawn tree has leaves. It shrinks with the page unless it is wide.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.TreeCRF(n_rounds=2, n_jobs=1).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> hr.inspection.draw_tree(model, 1, "a").to_svg()[:4]
        '<svg'
        """
        nodes = _first_levels(self.nodes, self.max_depth)
        depths, rows = _layout(nodes)
        shown = [_shown(node.words) for node in nodes]
        widths = [0.0] * (max(depths) + 1)
        for depth, words in zip(depths, shown, strict=True):
            widths[depth] = max(widths[depth], text_width(words) + 16)
        lefts = [8.0]
        for width in widths:
            lefts.append(lefts[-1] + width + GAP)
        greatest = max((abs(node.value) for node in nodes if node.value is not None), default=0.0) or 1.0
        parts = []
        for i, node in enumerate(nodes):
            x, y = lefts[depths[i]], 8 + rows[i] * ROW
            end = x + text_width(shown[i]) + 16
            for child, answer in zip(node.children, ("yes", "no"), strict=False):
                parts.append(_branch(end, y + BOX / 2, lefts[depths[child]], 8 + rows[child] * ROW + BOX / 2, answer))
            parts.append(_box(node, shown[i], x, y, greatest))
        described = f"Tree of {_leaves(sum(not node.children for node in self.nodes))}: {self.nodes[0].words}"
        return document(
            lefts[-1],
            16 + sum(not node.children for node in nodes) * ROW,
            parts,
            title=f"Tree of round {self.round} for {self.label}",
            description=described,
            shrinks=lefts[-1] <= SHRINKS,
        )

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        caption = escape(f"Round {self.round}, label {self.label}")
        return f'<div style="overflow-x:auto"><p>{caption}</p>{self.to_svg()}</div>'


def draw_tree(
    model: Estimator,
    round: int,  # noqa: A002
    label: Any,
    *,
    max_depth: int | None = None,
) -> TreeDrawing:
    """Return one tree of a model, as a drawing and as text.

    Parameters
    ----------
    model : estimator
        A fitted estimator with trees: TreeCRF, MEMM or FutureMEMM.
    round : int
        Boosting round, counted from 1.
    label : str, int or bool
        The label whose tree it is.
    max_depth : int >= 1, optional
        The most levels of tests to draw. A deeper subtree is one box with the number of its leaves. All by default.

    Returns
    -------
    TreeDrawing
        `to_svg()` is the drawing; notebooks show it.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    InputError
        If the model has no trees, there is no such round or label, or max_depth is no integer of at least 1.

    Examples
    --------
    >>> import hedgerow as hr
    >>> model = hr.TreeCRF(n_rounds=2, n_jobs=1).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
    >>> hr.inspection.draw_tree(model, 1, "a").nodes[0].words
    'symbol is a?'
    """
    _, frozen = fitted_model(model, VIEW)
    if max_depth is not None:
        max_depth = check_count(VIEW, "max_depth", max_depth)
    names = Names.of(frozen)
    number, column = find_tree(names, round, label)
    return TreeDrawing(int(round), label, _nodes(names, number, column), text_of(names, number, column), max_depth)


def _nodes(names: Names, tree: int, column: int) -> tuple[TreeNode, ...]:
    trees = names.trees
    found = []
    for i in range(int(trees.starts[tree]), int(trees.starts[tree + 1])):
        node, positions = trees.nodes[i], int(trees.nodes[i]["count"])
        if node["attribute"] < 0 and node["lag"] < 0:
            value = float(trees.values[i, column])
            found.append(TreeNode(f"{value:+.4f}", value, positions, 0.0, ()))
        else:
            children = int(node["if_true"]), int(node["if_false"])
            found.append(TreeNode(f"{in_words(*names.test(node))}?", None, positions, float(node["gain"]), children))
    return tuple(found)


def _layout(nodes: tuple[TreeNode, ...]) -> tuple[list[int], list[float]]:
    """(depth, row) of each node: leaves are in rows of their own, an inner node is in the middle of its children."""
    depths, rows = _depths(nodes), [0.0] * len(nodes)
    for row, i in enumerate(i for i in depths if not nodes[i].children):
        rows[i] = float(row)
    for i in reversed(depths):
        if nodes[i].children:
            rows[i] = sum(rows[child] for child in nodes[i].children) / len(nodes[i].children)
    return [depths[i] for i in range(len(nodes))], rows


def _depths(nodes: tuple[TreeNode, ...]) -> dict[int, int]:
    """The depth of each node; nodes come before their children, "yes" first."""
    depths, stack = {}, [(0, 0)]  # a tree may be deeper than Python's recursion limit
    while stack:
        i, depth = stack.pop()
        depths[i] = depth
        stack += [(child, depth + 1) for child in reversed(nodes[i].children)]
    return depths


def _first_levels(nodes: tuple[TreeNode, ...], max_depth: int | None) -> tuple[TreeNode, ...]:
    """The nodes with a node for each deeper subtree, which has the number of its leaves."""
    if max_depth is None:
        return nodes
    depths, n_leaves = _depths(nodes), [1] * len(nodes)
    for i in reversed(depths):
        if nodes[i].children:
            n_leaves[i] = sum(n_leaves[child] for child in nodes[i].children)
    number = {i: new for new, i in enumerate(i for i in depths if depths[i] <= max_depth)}
    return tuple(
        TreeNode(f"… {_leaves(n_leaves[i], 'more ')}", None, nodes[i].positions, 0.0, ())
        if nodes[i].children and depths[i] == max_depth
        else nodes[i]._replace(children=tuple(number[child] for child in nodes[i].children))
        for i in number
    )


def _leaves(n: int, more: str = "") -> str:
    return f"1 {more}leaf" if n == 1 else f"{n:,} {more}leaves"


def _shown(words: str) -> str:
    """The words with "…" in the middle if they are too long; the threshold of a number stays."""
    column, sign, threshold = visible(words).rpartition(" < ")
    kept = sign + threshold
    if not sign or len(kept) > LONGEST_TEST // 2:  # a value with this sign
        return clipped(words, LONGEST_TEST)
    return clipped(column, LONGEST_TEST - len(kept)) + kept


def _branch(x1: float, y1: float, x2: float, y2: float, answer: str) -> str:
    middle = (x1 + x2) / 2
    begin, first, second, end = (
        f"{number(x)} {number(y)}" for x, y in ((x1, y1), (middle, y1), (middle, y2), (x2, y2))
    )
    curve = f"M{begin}C{first} {second} {end}"
    name = text(x2 - 4, y2 - 4, answer, anchor="end", size=10, fill_opacity=0.75)
    return path(curve, stroke_opacity=0.5) + name


def _box(node: TreeNode, shown: str, x: float, y: float, greatest: float) -> str:
    """A box with the words of a node; the colour of a leaf is the sign of its value, its opacity the size."""
    hint = f"{node.words} ({counted(node.positions, 'position')}"
    hint += f", gain {node.gain:.3g})" if node.children else ")"
    width = text_width(shown) + 16
    colour, opacity = "currentColor", 0.06
    if node.value is not None:
        colour, opacity = POSITIVE if node.value >= 0 else NEGATIVE, 0.15 + 0.45 * abs(node.value) / greatest
    box = rect(x, y, width, BOX, colour=colour, fill_opacity=opacity, stroke="currentColor", stroke_opacity=0.4, rx=4)
    return group([box, text(x + 8, y + BOX - 7, shown)], title=hint)
