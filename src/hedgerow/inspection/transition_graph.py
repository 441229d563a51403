"""The transitions of a model as a graph: labels are nodes, scores of one label after another are edges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from hedgerow.data.html_repr import html_table, visible
from hedgerow.errors import InputError
from hedgerow.estimators.base import Estimator
from hedgerow.inspection.fitted_model import fitted_model
from hedgerow.inspection.graph_drawing import draw_graph
from hedgerow.inspection.transition_scores import OUTSIDE, Meaning, strongest, transition_scores
from hedgerow.inspection.tree_views import START
from hedgerow.inspection.view_tables import check_count, frame_of, top_table

VIEW = "transition_graph"
END = "end"


class TransitionEdge(NamedTuple):
    """A label that follows another.

    Attributes
    ----------
    before, after
        The two labels; None stands for the place outside of the sequence, before its first or after its last label.
    score
        A probability, a weight or a score: see `TransitionGraph.meaning`.
    """

    before: Any
    after: Any
    score: float


@dataclass(frozen=True)
class TransitionGraph:
    """Result of `transition_graph`; `str()` is a table of the edges.

    Attributes
    ----------
    nodes
        The labels that have an edge, in the order of `classes_`.
    edges
        The strongest first.
    meaning
        What the scores are: "probability" of an HMM, "weight" of linear models, "score" of a transition table.
    n_transitions
        The number of edges that the model has; `edges` are the strongest of them.
    """

    nodes: tuple[Any, ...]
    edges: tuple[TransitionEdge, ...]
    meaning: Meaning
    n_transitions: int

    def to_frame(self) -> Any:
        """Return the edges as a data frame.

        Returns
        -------
        DataFrame
            Of pandas, or of polars if pandas is not installed. None stands for the place outside of the sequence.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> list(hr.inspection.transition_graph(model).to_frame().columns)
        ['before', 'after', 'score']
        """
        return frame_of(TransitionEdge._fields, self.edges)

    def to_dot(self) -> str:
        """Return the graph in the language of Graphviz.

        Returns
        -------
        str
            A digraph, which `dot -Tsvg` draws.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> print(hr.inspection.transition_graph(model, n=1).to_dot())
        digraph transitions {
          n1 [label="-"];
          start [label="start", shape=plaintext];
          start -> n1 [label="0.954"];
        }
        """
        ids = {label: f"n{i + 1}" for i, label in enumerate(self.nodes)}
        lines = [f"  {ids[label]} [label={_quoted(label)}];" for label in self.nodes]
        if any(edge.before is None for edge in self.edges):
            lines.append(f'  {START} [label="{START}", shape=plaintext];')
        if any(edge.after is None for edge in self.edges):
            lines.append(f'  {END} [label="{END}", shape=plaintext];')
        for before, after, score in self.edges:
            ends = START if before is None else ids[before], END if after is None else ids[after]
            lines.append(f'  {ends[0]} -> {ends[1]} [label="{score:.3g}"];')
        return "\n".join(["digraph transitions {", *lines, "}"])

    def to_svg(self) -> str:
        """Return a drawing: the labels on a circle, edges as arrows whose width is the size of the score.

        Returns
        -------
        str
            An SVG document.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> hr.inspection.transition_graph(model).to_svg()[:4]
        '<svg'
        """
        number = {label: i for i, label in enumerate(self.nodes)}
        names, start, end = [str(label) for label in self.nodes], -1, -1
        if any(edge.before is None for edge in self.edges):
            start = len(names)
            names.append(f"({START})")
        if any(edge.after is None for edge in self.edges):
            end = len(names)
            names.append(f"({END})")
        edges = [
            (start if before is None else number[before], end if after is None else number[after], score)
            for before, after, score in self.edges
        ]
        described = f"{len(self.edges):,} of {self.n_transitions:,} transitions between {len(self.nodes):,} labels."
        return draw_graph(names, edges, title="Transitions between labels", description=described)

    def __str__(self) -> str:
        hidden = self.n_transitions - len(self.edges)
        if not self.edges:
            return f"no transition is that strong; there are {hidden:,}"
        table = top_table(["before", "after", self.meaning], self._rows(), most=len(self.edges))
        return f"{table}\n… {hidden:,} more" if hidden else table

    def _repr_html_(self) -> str:
        table = html_table(["before", "after", self.meaning], self._rows())
        hidden = self.n_transitions - len(self.edges)
        table += f"<p>… {hidden:,} more</p>" if hidden else ""
        return f"<div>{self.to_svg()}<details><summary>Transitions</summary>{table}</details></div>"

    def _rows(self) -> list[tuple[str, str, float]]:
        return [
            (f"({START})" if a is None else str(a), f"({END})" if b is None else str(b), score)
            for a, b, score in self.edges
        ]


def transition_graph(model: Estimator, *, min_weight: float = 0.0, n: int = 50) -> TransitionGraph:
    """Return which labels follow which, as a graph of the strongest transitions.

    An HMM has the probabilities of a label after another, linear models have weights of pairs of labels, a TreeCRF and
    an OutputCode with a lattice have a table of scores. If the trees of a TreeCRF test previous labels, its scores are
    means over the training positions. Above order 1, tables are averaged over the older labels.

    Parameters
    ----------
    model : estimator
        A fitted estimator that has transition scores.
    min_weight : float >= 0, default=0.0
        Leave out transitions whose score is closer to 0.
    n : int >= 1, default=50
        The most transitions to return.

    Returns
    -------
    TransitionGraph
        The strongest transitions, those with the scores farthest from 0.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    InputError
        If the model has no transition scores: order 0, votes, trees of a MEMM, output codes without a lattice.

    Examples
    --------
    >>> import hedgerow as hr
    >>> model = hr.HMM(smoothing=0.0).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
    >>> print(hr.inspection.transition_graph(model, min_weight=0.1))
    before   after  probability
    (start)      -            1
    a            -            1
    o            -            1
    -            a          0.5
    -            o          0.5
    … 7 more
    """
    _, frozen = fitted_model(model, VIEW)
    n = check_count(VIEW, "n", n)
    is_number = isinstance(min_weight, (int, float)) and not isinstance(min_weight, bool)
    if not is_number or not 0 <= min_weight < math.inf:
        raise InputError(f"{VIEW}: min_weight must be a number of at least 0; it is {min_weight!r}")
    found = transition_scores(frozen)
    kept = strongest(found.scores, n, float(min_weight))
    classes = frozen.labels.classes.tolist()

    def label(code: int) -> Any:
        return None if code == OUTSIDE else classes[code]

    pairs = list(zip(found.before[kept].tolist(), found.after[kept].tolist(), strict=True))
    edges = (
        TransitionEdge(label(a), label(b), s) for (a, b), s in zip(pairs, found.scores[kept].tolist(), strict=True)
    )
    codes = sorted({code for pair in pairs for code in pair} - {OUTSIDE})
    return TransitionGraph(tuple(map(label, codes)), tuple(edges), found.meaning, len(found.scores))


def _quoted(label: object) -> str:
    shown = visible(label).replace("\\", r"\\").replace('"', r"\"")
    return f'"{shown}"'
