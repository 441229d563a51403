"""Confusions: which labels are predicted in place of which."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hedgerow.inspection.report.buttons import Buttons
from hedgerow.inspection.report.markup import (
    BROWSER,
    Cell,
    Section,
    count,
    details,
    figure,
    note,
    paragraph,
    share,
    shown,
    table,
)
from hedgerow.inspection.report.view import View
from hedgerow.inspection.svg_charts import heat_map
from hedgerow.metrics import confusion
from hedgerow.metrics.label_scores import Confusion

MOST_LABELS = 16  # rows and columns of the matrix
MOST_PAIRS = 40
MOST_OPEN = 10  # pairs that are shown at once; the others are folded away


def confusion_section(view: View, buttons: Buttons) -> Section | None:
    """The matrix of the labels that are confused most, and a table of pairs; None without gold labels."""
    if not view.has_gold:
        return None
    found = confusion(view.gold, view.predicted)
    wrong = [pair for pair in found.pairs if pair[0] != pair[1]]
    if not wrong:
        return Section("confusions", "Confusions", paragraph("Every position has its gold label."))
    body = _matrix(found, wrong) + _pairs(wrong, sum(n for _, _, n in found.pairs), buttons)
    return Section("confusions", "Confusions", body)


def _matrix(found: Confusion, wrong: Sequence[tuple[object, object, int]]) -> str:
    """The numbers of confusions, for the labels of the most frequent ones; the diagonal is left out."""
    labels = _most_confused(found, wrong)
    code = {label: i for i, label in enumerate(labels)}
    counts = np.full((len(labels), len(labels)), np.nan)
    for gold, predicted, n in wrong:
        if gold in code and predicted in code:
            counts[code[gold], code[predicted]] = n
    names = [shown(label) for label in labels]
    caption = "Wrong positions by gold label (rows) and predicted label (columns)"
    if not all(gold in code and predicted in code for gold, predicted, _ in wrong):
        caption += "; only the labels of the most frequent confusions"
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


def _most_confused(found: Confusion, wrong: Sequence[tuple[object, object, int]]) -> list[object]:
    """The labels of the most frequent confusions, at most MOST_LABELS, in the order of the labels."""
    chosen: set[object] = set()
    for gold, predicted, _ in wrong:
        if len(chosen | {gold, predicted}) > MOST_LABELS:
            break
        chosen |= {gold, predicted}
    return [label for label in found.labels if label in chosen]


def _pairs(wrong: Sequence[tuple[object, object, int]], n_positions: int, buttons: Buttons) -> str:
    rows: list[list[Cell]] = [
        [
            str(gold),
            str(predicted),
            count(n),
            share(n / n_positions),
            buttons.confusion(gold, predicted),
        ]
        for gold, predicted, n in wrong[:MOST_PAIRS]
    ]
    head = ["gold", "predicted", "#positions", "#share", BROWSER]
    found = table(head, rows[:MOST_OPEN], "Most frequent confusions, share of positions")
    if len(rows) > MOST_OPEN:
        rarer = table(head, rows[MOST_OPEN:], "Rarer confusions")
        more = len(wrong) - len(rows)
        rarer += note(f"{more:,} other pairs are rarer still.") if more > 0 else ""
        found += details(f"{len(rows) - MOST_OPEN} more pairs", rarer)
    return found
