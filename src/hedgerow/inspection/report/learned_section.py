"""What the model learned: importances of tests, the strongest weights, and transitions."""

from __future__ import annotations

from dataclasses import replace

from hedgerow.errors import AbsentPartError
from hedgerow.inspection.importances import ANY_VALUE, Importance
from hedgerow.inspection.report.markup import LONGEST, Numeric, Section, count, details, figure, shown, table
from hedgerow.inspection.report.view import View
from hedgerow.inspection.svg_charts import bar_chart
from hedgerow.inspection.transition_graph import TransitionGraph, transition_graph
from hedgerow.inspection.tree_views import importances, in_words
from hedgerow.inspection.weights import standardisation_note, strongest_features

MOST_BARS = 20
MOST_ROWS = 60  # of the table of importances
MOST_WEIGHTS = 30
MOST_EDGES = 40
MOST_READ = 2_000  # transitions among which those of both signs are chosen

_DERIVED = (
    " log P(label | column) says how probable a label is given the value in other training sequences, and "
    "linear log P(label) how probable the linear model finds it. For the importance of the columns of X call "
    "hr.inspection.permutation_importance."
)


def learned_section(view: View) -> Section | None:
    """Importances, weights and transitions, where the model has them; None if it has none of them."""
    body = _importances(view) + _weights(view) + _transitions(view)
    return Section("learned", "What the model learned", body) if body else None


def _importances(view: View) -> str:
    try:
        found = list(importances(view.estimator.model_))
    except AbsentPartError:  # it has no trees
        return ""
    total = sum(one.gain for one in found)
    if not total:
        return ""
    bars = [(_test(one), 100 * one.gain / total) for one in found[:MOST_BARS]]
    drawing = bar_chart(bars, title="Importances", description="Share of the gain of each test, in percent.")
    words = (
        f"The most important of {len(found):,} tests of the trees" if len(found) > MOST_BARS else "Tests of the trees"
    )
    derived = _DERIVED if any("log P(" in name for name, _ in bars) else ""
    rows = [[_test(one), Numeric(f"{one.gain / total:.1%}"), count(one.splits)] for one in found[:MOST_ROWS]]
    numbers = table(["test", "#share of gain", "#splits"], rows, "The most important tests")
    return figure(drawing, f"{words}: share of the gain in percent.{derived}") + details("Tests as a table", numbers)


def _test(one: Importance) -> str:
    return shown(in_words(one.column, one.offset, one.value).removesuffix(f", {ANY_VALUE}"))


def _weights(view: View) -> str:
    try:
        found = strongest_features(view.estimator.model_, MOST_WEIGHTS)
    except AbsentPartError:  # it has no weights
        return ""
    if not found:
        return ""
    rows = [[name, str(label), Numeric(f"{weight:+.3f}")] for (name, label), weight in found.items()]
    words = standardisation_note(view.estimator.model_)
    caption = f"The {len(rows)} strongest weights" + ("" if words is None else f"; {words}")
    weights = table(["attribute", "label", "#weight"], rows, caption)
    return details("The strongest weights", weights, is_open=len(rows) <= MOST_BARS)


def _transitions(view: View) -> str:
    try:
        found = _strongest_of_both_signs(transition_graph(view.estimator, n=MOST_READ))
    except AbsentPartError:  # it has no transition scores
        return ""
    if not found.edges:
        return ""
    signs = "; orange arrows have negative scores" if any(edge.score < 0 for edge in found.edges) else ""
    caption = (
        f"Which label follows which: the strongest {len(found.edges):,} of {found.n_transitions:,} transitions by "
        f"{found.meaning}{signs}. Wide arrows are strong."
    )
    return figure(_short_names(found).to_svg(), caption) + details("Transitions as a table", _edges(found))


def _strongest_of_both_signs(found: TransitionGraph) -> TransitionGraph:
    """As many positive as negative transitions: the many pairs that never occur would hide the frequent ones."""
    negative = [edge for edge in found.edges if edge.score < 0]
    positive = [edge for edge in found.edges if edge.score >= 0]
    n_negative = min(len(negative), max(MOST_EDGES // 2, MOST_EDGES - len(positive)))
    kept = {*positive[: MOST_EDGES - n_negative], *negative[:n_negative]}
    edges = tuple(edge for edge in found.edges if edge in kept)
    used = {label for edge in edges for label in edge[:2]}
    return replace(found, nodes=tuple(label for label in found.nodes if label in used), edges=edges)


def _short_names(found: TransitionGraph) -> TransitionGraph:
    """The graph with the first characters of long labels, and a number that tells them apart."""
    short = {
        label: label if len(str(label)) <= LONGEST else f"{shown(label)} ({i})" for i, label in enumerate(found.nodes)
    }
    edges = tuple(edge._replace(before=short.get(edge.before), after=short.get(edge.after)) for edge in found.edges)
    return replace(found, nodes=tuple(short.values()), edges=edges)


def _edges(found: TransitionGraph) -> str:
    rows = [
        ["(start)" if a is None else str(a), "(end)" if b is None else str(b), Numeric(f"{score:.3g}")]
        for a, b, score in found.edges
    ]
    return table(["before", "after", f"#{found.meaning}"], rows, "The strongest transitions")
