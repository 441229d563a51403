"""Errors: kinds of wrong spans, error rates of groups of positions, and the worst sequences."""

from __future__ import annotations

from hedgerow.inspection.error_analysis import ErrorAnalysis
from hedgerow.inspection.error_groups import ErrorTable
from hedgerow.inspection.report.buttons import NO_BUTTON, Buttons
from hedgerow.inspection.report.markup import (
    BROWSER,
    Cell,
    Numeric,
    Section,
    count,
    details,
    note,
    share,
    shown,
    side_by_side,
    table,
)
from hedgerow.inspection.report.view import View
from hedgerow.inspection.span_errors import SpanErrors

MOST_ROWS = 20
MOST_COLUMNS = 6  # columns with a table of frequencies
MOST_WORST = 10

_KINDS = {
    "right": "same start, end and type",
    "boundary": "overlap, same type",
    "type": "same start and end, another type",
    "both": "overlap, another type",
    "missed": "a gold span without a predicted one",
    "spurious": "a predicted span without a gold one",
}

_INDEPENDENT = (
    "The intervals take positions as independent. Errors often come together in one sequence, so the true intervals "
    "are wider, above all with few sequences."
)


def error_section(view: View, buttons: Buttons) -> Section | None:
    """Tables of errors; None without gold labels or errors."""
    found = view.errors
    if found is None or not found.wrong.any():
        return None
    spans = "" if found.spans is None else _span_kinds(found.spans, found.kinds, buttons)
    groups = [_group(found.by_label, "By gold label"), _group(found.by_length, "By length of the sequence")]
    groups += [_group(found.by_unknown, "By columns with a value that training never saw")]
    groups += [_group(found.by_missing, "By columns with a missing value")]
    frequencies = [
        _group(one, f"By how often the value of {shown(name)} occurs in these sequences")
        for name, one in list(found.by_frequency.items())[:MOST_COLUMNS]
    ]
    tables = [part for part in [*groups, *frequencies] if part]
    rates = "Error rates of groups of positions, with intervals at 95 %"
    groups_of_positions = details(rates, note(_INDEPENDENT) + side_by_side(tables), is_open=True) if tables else ""
    return Section("errors", "Errors", spans + _worst(found, buttons) + groups_of_positions)


def _span_kinds(found: SpanErrors, kinds: tuple[str, ...], buttons: Buttons) -> str:
    rows: list[list[Cell]] = []
    for name, meaning in _KINDS.items():
        gold, predicted = found.gold.get(name), found.predicted.get(name)
        some = name != "right" and (gold or predicted)
        button = buttons.kind(name, kinds.index(name)) if some else NO_BUTTON
        cells = [Numeric("") if n is None else count(n) for n in (gold, predicted)]
        rows.append([name, *cells, meaning, button])
    caption = "Gold and predicted spans by kind of error"
    return table(["kind", "#gold", "#predicted", "meaning", BROWSER], rows, caption)


def _worst(found: ErrorAnalysis, buttons: Buttons) -> str:
    rows: list[list[Cell]] = [
        [
            f"sequence {one.sequence:,}",
            count(one.length),
            count(len(one.wrong)),
            buttons.sequence(one.sequence),
        ]
        for one in found.worst(MOST_WORST)
    ]
    return details(
        "The sequences with most errors", table(["sequence", "#positions", "#wrong", BROWSER], rows, "Worst")
    )


def _group(found: ErrorTable | None, caption: str) -> str:
    if found is None or len(found) < 2:
        return ""
    rows: list[list[Cell]] = [
        [
            row.group,
            count(row.positions),
            count(row.wrong),
            share(row.rate),
            Numeric(f"{row.low:.2%} to {row.high:.2%}"),
        ]
        for row in found.rows[:MOST_ROWS]
    ]
    more = len(found) - MOST_ROWS
    hidden = note(f"{more:,} other groups are not listed.") if more > 0 else ""
    return table([found.by, "#positions", "#wrong", "#rate", "#interval"], rows, caption) + hidden
