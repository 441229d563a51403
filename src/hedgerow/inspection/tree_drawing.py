"""A tree of a model as a drawing: the root on the left, a column for each level, the tests in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from hedgerow.data.html_repr import escape
from hedgerow.estimators.base import Estimator
from hedgerow.inspection.fitted_model import fitted_model
from hedgerow.inspection.svg import NEGATIVE, POSITIVE, clipped, document, group, number, path, rect, text, text_width
from hedgerow.inspection.tree_views import Names, find_tree, in_words, text_of
from hedgerow.utilities import counted

ROW = 30.0
BOX = 22.0
GAP = 44.0  # between two levels, where "yes" and "no" are written
LONGEST_TEST = 40


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
    """

    round: int
    label: Any
    nodes: tuple[TreeNode, ...]
    text: str

    def to_svg(self) -> str:
        """Return the drawing.

        Returns
        -------
        str
            An SVG document, as high as the tree has leaves.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.TreeCRF(n_rounds=2, n_jobs=1).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> hr.inspection.draw_tree(model, 1, "a").to_svg()[:4]
        '<svg'
        """
        depths, rows = _layout(self.nodes)
        shown = [clipped(node.words, LONGEST_TEST) for node in self.nodes]
        widths = [0.0] * (max(depths) + 1)
        for depth, words in zip(depths, shown, strict=True):
            widths[depth] = max(widths[depth], text_width(words) + 16)
        lefts = [8.0]
        for width in widths:
            lefts.append(lefts[-1] + width + GAP)
        greatest = max((abs(node.value) for node in self.nodes if node.value is not None), default=0.0) or 1.0
        parts = []
        for i, node in enumerate(self.nodes):
            x, y = lefts[depths[i]], 8 + rows[i] * ROW
            end = x + text_width(shown[i]) + 16
            for child, answer in zip(node.children, ("yes", "no"), strict=False):
                parts.append(_branch(end, y + BOX / 2, lefts[depths[child]], 8 + rows[child] * ROW + BOX / 2, answer))
            parts.append(_box(node, shown[i], x, y, greatest))
        n_leaves = sum(not node.children for node in self.nodes)
        described = f"Tree of {counted(n_leaves, 'leaf').replace('leafs', 'leaves')}: {self.nodes[0].words}"
        height = 16 + n_leaves * ROW
        return document(
            lefts[-1], height, parts, title=f"Tree of round {self.round} for {self.label}", description=described
        )

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        caption = escape(f"Round {self.round}, label {self.label}")
        return f'<div style="overflow-x:auto"><p>{caption}</p>{self.to_svg()}</div>'


def draw_tree(model: Estimator, round: int, label: Any) -> TreeDrawing:  # noqa: A002
    """Return one tree of a model, as a drawing and as text.

    Parameters
    ----------
    model : estimator
        A fitted estimator with trees: TreeCRF, MEMM or FutureMEMM.
    round : int
        Boosting round, counted from 1.
    label : str, int or bool
        The label whose tree it is.

    Returns
    -------
    TreeDrawing
        `to_svg()` is the drawing; notebooks show it.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    InputError
        If the model has no trees, or if there is no such round or label.

    Examples
    --------
    >>> import hedgerow as hr
    >>> model = hr.TreeCRF(n_rounds=2, n_jobs=1).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
    >>> hr.inspection.draw_tree(model, 1, "a").nodes[0].words
    'symbol is a?'
    """
    _, frozen = fitted_model(model, "draw_tree")
    names = Names.of(frozen)
    number, column = find_tree(names, round, label)
    return TreeDrawing(int(round), label, _nodes(names, number, column), text_of(names, number, column))


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
    depths, rows = [0] * len(nodes), [0.0] * len(nodes)
    order, stack, n_leaves = [], [0], 0
    while stack:  # "yes" first
        i = stack.pop()
        order.append(i)
        if not nodes[i].children:
            rows[i] = float(n_leaves)
            n_leaves += 1
        for child in reversed(nodes[i].children):
            depths[child] = depths[i] + 1
            stack.append(child)
    for i in reversed(order):
        if nodes[i].children:
            rows[i] = sum(rows[child] for child in nodes[i].children) / len(nodes[i].children)
    return depths, rows


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
