"""Two models side by side: scores, whether the difference may be chance, and the sequences that changed."""

from __future__ import annotations

import numpy as np

from hedgerow.inspection.report.changes import NAMES
from hedgerow.inspection.report.markup import Numeric, Section, count, note, paragraph, safe, scrolling, share, table
from hedgerow.inspection.report.view import View
from hedgerow.metrics import accuracy, sequence_accuracy, span_report
from hedgerow.significance import McNemar, mcnemar


def comparison_section(view: View) -> Section | None:
    """Scores of both models, McNemar's test and counts of changes; None without a second model or gold labels."""
    if view.changes is None or view.other is None:
        return None
    found = mcnemar(view.gold, view.predicted, view.other_predicted)
    body = _scores(view) + paragraph(_in_words(found)) + _changes(view)
    return Section("comparison", "Comparison", body)


def _scores(view: View) -> str:
    assert view.other is not None
    names = [type(one.estimator).__name__ for one in (view.labelling, view.other)]
    sides = (view.predicted, view.other_predicted)
    scores = {
        "accuracy": [accuracy(view.gold, side) for side in sides],
        "sequences all right": [sequence_accuracy(view.gold, side) for side in sides],
    }
    if view.scheme is not None:
        scores["F1 of spans"] = [span_report(view.gold, side, scheme=view.scheme).micro.f1 for side in sides]
    shown = [
        [name, share(own), share(other), Numeric(f"{100 * (own - other):+.2f}")]
        for name, (own, other) in scores.items()
    ]
    return table(
        ["score", f"#this model: {names[0]}", f"#other model: {names[1]}", "#difference"], shown, "Both models"
    )


def _in_words(found: McNemar) -> str:
    only = f"{found.n_a_only:,} positions are right only here, {found.n_b_only:,} only in the other model"
    verdict = "the difference may be chance" if found.p_value >= 0.05 else "the difference is hardly chance"
    return f"{only}. McNemar's test: p = {found.p_value:.2g}; {verdict}, if positions are independent."


def _changes(view: View) -> str:
    assert view.changes is not None
    counts = [int(np.count_nonzero(view.changes.by_sequence == code)) for code in range(len(NAMES))]
    rows = "".join(
        f'<tr><th scope="row">{safe(name)}</th><td class="number">{count(n)}</td><td>'
        f'<button type="button" class="pair" data-kind="change-{code}" aria-label="Show sequences: {safe(name)}">show'
        "</button></td></tr>"
        for code, (name, n) in enumerate(zip(NAMES, counts, strict=True))
    )
    head = '<th scope="col">change</th><th scope="col" class="number">sequences</th><th scope="col">browser</th>'
    caption = "Sequences with another prediction"
    markup = f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    same = len(view.changes.by_sequence) - sum(counts)
    return scrolling(markup, caption) + note(f"{same:,} sequences have the same labels by both models.")
