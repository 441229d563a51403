"""Counterfactual: what `counterfactual` returns, as text, a rich table and HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hedgerow.data.columns import Kind
from hedgerow.data.html_repr import html_table, with_note
from hedgerow.inspection.explaining.explanation import shown_value


@dataclass(frozen=True, kw_only=True)
class Counterfactual:
    """Result of `counterfactual`: one value, and the label that its change gives to a position.

    `str()` is a sentence; notebooks and rich show a table.

    Attributes
    ----------
    position : int
        The position whose label flips.
    label, new_label : label
        Its predicted label before and after the change.
    column : str
        The column of the changed value.
    kind : {"categorical", "numeric", "bag"}
        The kind of the column.
    offset : int
        Where the value is, relative to the position.
    value, new_value : str, int, float or None
        The value before and after. None before the change is a missing value or an absent key (of a number, an absent
        key is 0), and None after it a missing value. A bag gains the member `new_value`, and `value` is None; or it
        loses the member `value`, and `new_value` is None.
    probability : float
        P(label) before the change.
    new_probability : float
        P(new_label) after the change.
    note : str or None
        What to know about the probabilities of this model.
    """

    position: int
    label: Any
    new_label: Any
    column: str
    kind: Kind
    offset: int
    value: str | float | None
    new_value: str | float | None
    probability: float
    new_probability: float
    note: str | None = None

    def __str__(self) -> str:
        before = f"{shown_value(self.label)} (probability {self.probability:.3f})"
        after = f"{shown_value(self.new_label)} (probability {self.new_probability:.3f})"
        note = "" if self.note is None else f"\n  note: {self.note}"
        return f"position {self.position}: {before} becomes {after} if {self._place} {self._change}{note}"

    @property
    def _place(self) -> str:
        return shown_value(self.column) + (f"[{self.offset:+d}]" if self.offset else "")

    @property
    def _change(self) -> str:
        if self.kind == "bag":
            return f"loses {_text(self.value)}" if self.new_value is None else f"gains {_text(self.new_value)}"
        return f"changes from {_text(self.value)} to {_text(self.new_value)}"

    def _table(self) -> list[tuple[str, str, str]]:
        """The header and the rows."""
        return [
            (f"position {self.position}", "before", "after"),
            ("label", shown_value(self.label), shown_value(self.new_label)),
            ("probability", f"{self.probability:.3f}", f"{self.new_probability:.3f}"),
            (self._place, _text(self.value), _text(self.new_value)),
        ]

    def __rich__(self) -> Any:
        from rich.table import Table
        from rich.text import Text

        header, *rows = self._table()
        table = Table(*header, caption=self.note, caption_justify="left")
        for row in rows:
            table.add_row(*map(Text, row))
        return table

    def _repr_html_(self) -> str:
        header, *rows = self._table()
        return with_note(html_table(header, rows), self.note)


def _text(value: str | float | None) -> str:
    """A value as text, a word in quotes; numbers have all digits, because a threshold may be near a rounder number."""
    return "(no value)" if value is None else f'"{shown_value(value)}"' if isinstance(value, str) else str(value)
