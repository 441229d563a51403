"""Buttons in the tables of the page, which show sequences in the browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hedgerow.inspection.report.kind_data import kinds_on_page
from hedgerow.inspection.report.markup import Markup, safe, shown
from hedgerow.inspection.report.sequence_data import LabelNames

LEFT_OUT, NO_BUTTON = Markup("left out"), Markup("")


class Buttons:
    """Cells with a button; where the page has no such sequence, the cell says that it is left out."""

    def __init__(self, data: Mapping[str, Any], labels: LabelNames) -> None:
        self._sequences = set(data["sequences"])
        self._kinds = kinds_on_page(data)
        self._changes = set(data["changes"]["at"]) if data.get("changes") else set()
        self._pairs = {(gold, data["predicted"][place]) for place, gold in data["gold"] or []}
        self._labels = labels

    def sequence(self, number: int) -> Markup:
        """A button that shows a sequence by its number in X."""
        there = number in self._sequences
        return show_button(f"sequence {number}", search=f"#{number}") if there else LEFT_OUT

    def kind(self, name: str, code: int) -> Markup:
        """A button that shows the sequences with a kind of error."""
        there = code in self._kinds
        return show_button(f"sequences with errors: {name}", kind=f"kind-{code}") if there else LEFT_OUT

    def change(self, name: str, code: int) -> Markup:
        """A button that shows the sequences with a kind of change between two models."""
        there = code in self._changes
        return show_button(f"sequences that are {name}", kind=f"change-{code}") if there else LEFT_OUT

    def confusion(self, gold: object, predicted: object) -> Markup:
        """A button that shows the sequences with a label in place of another."""
        codes = self._labels.known(gold), self._labels.known(predicted)
        if codes not in self._pairs:
            return LEFT_OUT
        what = f"sequences with gold {shown(gold)}, predicted {shown(predicted)}"
        return show_button(what, gold=codes[0], predicted=codes[1])


def show_button(what: str, **filters: object) -> Markup:
    """A cell with a button that shows sequences in the browser; `filters` are values of its controls."""
    data = "".join(f' data-{name}="{safe(value)}"' for name, value in filters.items())
    return Markup(f'<button type="button" class="show"{data} aria-label="Show {safe(what, 300)}">show</button>')
