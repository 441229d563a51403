"""What the model learned: importances of tests, the strongest weights, and transitions."""

from __future__ import annotations

from hedgerow.errors import InputError
from hedgerow.inspection.report.markup import Numeric, Section, details, figure, table
from hedgerow.inspection.report.view import View
from hedgerow.inspection.svg_charts import bar_chart
from hedgerow.inspection.transition_graph import TransitionGraph, transition_graph
from hedgerow.inspection.tree_views import importances, in_words
from hedgerow.inspection.weights import strongest_features

MOST_BARS = 20
MOST_WEIGHTS = 30
MOST_EDGES = 40


def learned_section(view: View) -> Section | None:
    """Importances, weights and transitions, where the model has them; None if it has none of them."""
    body = _importances(view) + _weights(view) + _transitions(view)
    return Section("learned", "What the model learned", body) if body else None


def _importances(view: View) -> str:
    try:
        found = list(importances(view.estimator.model_))
    except InputError:  # it has no trees
        return ""
    total = sum(one.gain for one in found)
    if not total:
        return ""
    bars = [(in_words(one.column, one.offset, one.value), 100 * one.gain / total) for one in found[:MOST_BARS]]
    drawing = bar_chart(bars, title="Importances", description="Share of the gain of each test, in percent.")
    words = (
        f"The most important of {len(found):,} tests of the trees" if len(found) > MOST_BARS else "Tests of the trees"
    )
    return figure(drawing, f"{words}: share of the gain in percent.")


def _weights(view: View) -> str:
    try:
        found = strongest_features(view.estimator.model_, MOST_WEIGHTS)
    except InputError:  # it has no weights
        return ""
    if not found:
        return ""
    rows = [[name, str(label), Numeric(f"{weight:+.3f}")] for (name, label), weight in found.items()]
    weights = table(["attribute", "label", "#weight"], rows, f"The {len(rows)} strongest weights")
    return details("The strongest weights", weights, is_open=len(rows) <= MOST_BARS)


def _transitions(view: View) -> str:
    try:
        found = transition_graph(view.estimator, n=MOST_EDGES)
    except InputError:  # it has no transition scores
        return ""
    if not found.edges:
        return ""
    caption = (
        f"Which label follows which: the strongest {len(found.edges):,} of {found.n_transitions:,} transitions by "
        f"{found.meaning}. Wide arrows are strong; a second colour marks negative numbers."
    )
    return figure(found.to_svg(), caption) + details("Transitions as a table", _edges(found))


def _edges(found: TransitionGraph) -> str:
    rows = [
        ["(start)" if a is None else str(a), "(end)" if b is None else str(b), Numeric(f"{score:.3g}")]
        for a, b, score in found.edges
    ]
    return table(["before", "after", f"#{found.meaning}"], rows, "The strongest transitions")
