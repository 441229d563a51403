"""Two models side by side: scores, whether the difference may be chance, and the sequences that changed."""

from __future__ import annotations

from hedgerow.data.html_repr import visible
from hedgerow.inspection.comparison import Comparison
from hedgerow.inspection.report.buttons import NO_BUTTON, Buttons
from hedgerow.inspection.report.change_data import CHANGES
from hedgerow.inspection.report.markup import (
    BROWSER,
    Cell,
    Numeric,
    Prose,
    Section,
    count,
    note,
    paragraph,
    share,
    table,
)
from hedgerow.inspection.report.summary_section import own_settings
from hedgerow.inspection.report.view import View
from hedgerow.metrics.paired_bootstrap import interval_in_points
from hedgerow.utilities import counted


def comparison_section(view: View, buttons: Buttons) -> Section | None:
    """Scores of both models, a test and counts of changes; None without a second model or gold labels."""
    found = view.comparison
    if found is None:
        return None
    body = _models(view) + _scores(found) + paragraph(_in_words(found)) + _changes(found, buttons)
    return Section("comparison", "Comparison", body)


def _models(view: View) -> str:
    models = [("this model", view.estimator)]
    models += [("the other model", view.other.estimator)] if view.other is not None else []
    rows = [[name, type(one).__name__, Prose(visible(own_settings(one)))] for name, one in models]
    return table(["model", "estimator", "settings that are not the default"], rows, "The models")


def _scores(found: Comparison) -> str:
    rows = [
        [
            one.metric.replace("_", " "),
            share(one.b),
            share(one.a),
            Numeric(f"{100 * one.difference:+.2f} points"),
            Numeric(interval_in_points(one)),
        ]
        for one in (found.accuracy, found.span_f1)
        if one is not None
    ]
    head = ["score", "#this model", "#other model", "#difference", "#interval"]
    if found.n_sequences == 1:
        caption = "Both models; an interval needs two sequences or more"
    else:
        caption = f"Both models; intervals at 95 % from {found.accuracy.n_resamples:,} resamples of whole sequences"
    return table(head, rows, caption)


def _in_words(found: Comparison) -> str:
    test = found.mcnemar
    only = (
        f"At {counted(test.n_b_only, 'position')} only this model is right, at {test.n_a_only:,} only the other model"
    )
    return (
        f"{only}. McNemar's test: p = {test.p_value:.2g}. The test takes positions as independent. Errors often come "
        "together in one sequence, so trust the interval where the two disagree."
    )


def _changes(found: Comparison, buttons: Buttons) -> str:
    counts = {name: sum(one.change == kind for one in found.changed) for kind, name in CHANGES.items()}
    rows: list[list[Cell]] = [
        [name, count(n), buttons.change(name, code) if n else NO_BUTTON]
        for code, (name, n) in enumerate(counts.items())
    ]
    same = found.n_sequences - len(found.changed)
    changed = table(["change", "#sequences", BROWSER], rows, "Sequences with another prediction")
    return changed + note(f"{same:,} sequences have the same labels by both models.")
