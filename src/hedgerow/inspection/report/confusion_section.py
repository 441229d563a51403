"""Confusions: which labels are predicted in place of which."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hedgerow.inspection.report.markup import Section, count, figure, note, paragraph, safe, scrolling, share
from hedgerow.inspection.report.view import View
from hedgerow.inspection.svg_charts import heat_map
from hedgerow.metrics import confusion
from hedgerow.metrics.label_scores import Confusion

MOST_LABELS = 16  # rows and columns of the matrix
MOST_PAIRS = 40


def confusion_section(view: View) -> Section | None:
    """The matrix of the labels that are confused most, and a table of pairs; None without gold labels."""
    if not view.has_gold:
        return None
    found = confusion(view.gold, view.predicted)
    wrong = [pair for pair in found.pairs if pair[0] != pair[1]]
    if not wrong:
        return Section("confusions", "Confusions", paragraph("Every position has its gold label."))
    body = _matrix(found, wrong) + _pairs(wrong, sum(n for _, _, n in found.pairs))
    return Section("confusions", "Confusions", body)


def _matrix(found: Confusion, wrong: Sequence[tuple[object, object, int]]) -> str:
    """The shares of predicted labels, for the labels with most errors; the diagonal is left out."""
    errors: dict[object, int] = {}
    for gold, predicted, n in wrong:
        errors[gold] = errors.get(gold, 0) + n
        errors[predicted] = errors.get(predicted, 0) + n
    worst = sorted(errors, key=lambda label: (-errors[label], str(label)))[:MOST_LABELS]
    labels = [label for label in found.labels if label in set(worst)]
    code = {label: i for i, label in enumerate(labels)}
    counts = np.full((len(labels), len(labels)), np.nan)
    for gold, predicted, n in wrong:
        if gold in code and predicted in code:
            counts[code[gold], code[predicted]] = n
    names = [str(label) for label in labels]
    caption = "Wrong positions by gold label (rows) and predicted label (columns)"
    if len(errors) > MOST_LABELS:
        caption += f"; the {MOST_LABELS} labels with most errors"
    drawing = heat_map(
        counts,
        names,
        names,
        title="Confusions",
        description="The table below has the same numbers.",
        row_name="gold",
        column_name="predicted",
    )
    return figure(drawing, caption)


def _pairs(wrong: Sequence[tuple[object, object, int]], n_positions: int) -> str:
    rows = "".join(
        f'<tr><th scope="row"><bdi>{safe(gold)}</bdi></th><td><bdi>{safe(predicted)}</bdi></td>'
        f'<td class="number">{count(n)}</td><td class="number">{share(n / n_positions)}</td>'
        f'<td><button type="button" class="pair" data-gold="{safe(gold)}" data-predicted="{safe(predicted)}" '
        f'aria-label="Show sequences with gold {safe(gold)} and predicted {safe(predicted)}">show</button></td></tr>'
        for gold, predicted, n in wrong[:MOST_PAIRS]
    )
    head = (
        '<th scope="col">gold</th><th scope="col">predicted</th><th scope="col" class="number">positions</th>'
        '<th scope="col" class="number">share</th><th scope="col">sequences</th>'
    )
    caption = "The most frequent confusions"
    markup = f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    more = len(wrong) - MOST_PAIRS
    return scrolling(markup, caption) + (note(f"{more:,} other pairs are rarer.") if more > 0 else "")
