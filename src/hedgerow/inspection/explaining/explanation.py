"""Explanations: why a model prefers one label to another, as records, text, rich tables and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from hedgerow.data.html_repr import html_table, shortened, visible, with_note
from hedgerow.inspection.explaining.attributions import Part
from hedgerow.inspection.explaining.shown_values import NoValue, Unknown, Weighted
from hedgerow.inspection.view_tables import frame_of
from hedgerow.utilities import counted

LEFT, INSIDE, RIGHT = "left context", "labels inside", "right context"
CONTEXTS = (LEFT, INSIDE, RIGHT)
BIAS = "bias"
LONGEST_JOINED = 120  # characters of the names of columns that are one contribution together, and of their values
HEADER = ("position", "value", "label", "probability", "against", "log-odds", "largest contribution")
SHOWN = 12  # contributions in text and tables, the largest first


class Contribution(NamedTuple):
    """What one value adds to the log-odds of a label.

    Attributes
    ----------
    column : str
        The column, or several joined with " & "; "left context", "right context" and, for a span, "labels inside";
        "bias", which is the same at every position. `TreeCRF(linear=True)` has "linear model: ..." and `OutputCode`
        "bit ..." for what belongs to no single column.
    offset : int
        Where the value was read, relative to the position.
    value : str, float, tuple or None
        The value; a tuple for several columns together. None where there is no value, for contexts and for the bias.
    contribution : float
        What the value adds; negative if it speaks against the label.
    position : int
        The position that the contribution belongs to, in its sequence.
    text : str or None
        The value as it is shown, where `value` does not say all: "(outside)" of the sequence, "(missing)", "(absent)",
        or "zebra (unknown)" for a value that training never saw; "red × 2.5" for a member of a bag with its weight.
        "(absent or unknown)" is absent, or a value that training never saw, in a sequence that was encoded before.
    """

    column: str
    offset: int
    value: Any
    contribution: float
    position: int
    text: str | None = None

    def __str__(self) -> str:
        place = shortened(visible(self.column), LONGEST_JOINED) + (f"[{self.offset:+d}]" if self.offset else "")
        if self.value is None:
            return place if self.text is None else f"{place} {self.text}"
        return f"{place} = {shown_value(self.value) if self.text is None else self.text}"


def contribution_of(part: Part, position: int) -> Contribution:
    """The contribution of a part of the score of a position."""
    column, offset, value, amount = part
    return Contribution(column, offset, _plain(value), amount, position, _text(value))


def _plain(value: Any) -> Any:
    """The value as users have it."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return None if isinstance(value, NoValue) else str(value) if isinstance(value, (Unknown, Weighted)) else value


def _text(value: Any) -> str | None:
    """The value as text, if the plain value does not say all."""
    if isinstance(value, tuple):
        texts = [_text(one) for one in value]
        if not any(texts):
            return None
        joined = ", ".join(shown_value(one) if text is None else text for one, text in zip(value, texts, strict=True))
        return shortened(joined, LONGEST_JOINED)
    if isinstance(value, Unknown):
        return f"{shown_value(value)} (unknown)"
    if isinstance(value, Weighted):
        return f"{shown_value(value)} × {value.weight:g}"
    return str(value) if isinstance(value, NoValue) else None


@dataclass(frozen=True, eq=False, kw_only=True)
class Explanation:
    """Why a model prefers labels to others; `str()` is a text, notebooks and rich show a table.

    Attributes
    ----------
    start, end : int
        The positions: from `start` to before `end`.
    labels, against : tuple
        The labels of the positions, and the labels that they are compared with.
    log_odds : float
        log P(labels) / P(against) given the sequence; infinite if `against` is impossible.
    contributions : tuple of Contribution
        They add up to `log_odds`; the largest come first.
    probability : float
        P(label); for several positions, the smallest of their probabilities. With a beam, among the label sequences
        that it keeps and the predicted one.
    values : tuple
        The value of each position in the first categorical column of X, such as its word; None where it has none or it
        is not known. Empty without such a column.
    note : str or None
        What to know about the numbers of this model.
    """

    start: int
    end: int
    labels: tuple[Any, ...]
    against: tuple[Any, ...]
    log_odds: float
    contributions: tuple[Contribution, ...]
    probability: float
    values: tuple[str | None, ...] = ()
    note: str | None = None

    @property
    def label(self) -> Any:
        """The label of a single position; the tuple of labels of a span."""
        return self.labels[0] if len(self.labels) == 1 else self.labels

    def to_frame(self) -> Any:
        """Return the contributions as a data frame.

        Returns
        -------
        DataFrame
            Of pandas, or of polars if pandas is not installed; a row for each contribution, the largest first.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> list(model.explain("cat", 1).to_frame().columns)
        ['column', 'offset', 'value', 'contribution', 'position', 'text']
        """
        return frame_of(Contribution._fields, self.contributions)

    def __str__(self) -> str:
        notes = [] if self.note is None else [f"  note: {self.note}"]
        return "\n".join([self.headline, *(f"  {amount}  {text}" for amount, text in self._rows()), *notes])

    @property
    def headline(self) -> str:
        """The position with its value, the labels and their log-odds in one line; of one position the probability."""
        single = self.end == self.start + 1
        place = f"position {self.start}" if single else f"positions {self.start} to {self.end - 1}"
        if self._words:
            place += f" ({self._words})"
        labels, against = (" ".join(map(shown_value, each)) for each in (self.labels, self.against))
        if single:
            labels += f" (probability {self.probability:.3f})"
        return f"{place}: {labels} rather than {against}, log-odds {self.log_odds:+.3f}"

    @property
    def _words(self) -> str:
        return shortened(" ".join(shown_value(value) for value in self.values if value is not None))

    def _rows(self, n: int = SHOWN) -> Iterator[tuple[str, str]]:
        """(amount, value) of the n largest contributions as text, and the sum of the others."""
        several = self.end > self.start + 1
        for one in self.contributions[:n]:
            place = f"position {one.position}: " if several and one.column not in CONTEXTS else ""
            yield _signed(one.contribution), place + str(one)
        others = self.contributions[n:]
        if others:
            yield _signed(sum(one.contribution for one in others)), counted(len(others), "other contribution")

    def __repr__(self) -> str:
        return f"<Explanation: {self.headline}>"

    def __rich__(self) -> Any:
        from rich.table import Table
        from rich.text import Text

        table = Table(
            "log-odds",
            "from",
            title=Text(self.headline),
            title_justify="left",
            caption=self.note,
            caption_justify="left",
        )
        for amount, text in self._rows():
            table.add_row(Text(amount, style="green" if amount.startswith("+") else "red"), Text(text))
        return table

    def _repr_html_(self) -> str:
        return with_note(html_table(("log-odds", "from"), self._rows(), self.headline), self.note)


class Explanations(tuple[Explanation, ...]):
    """The explanations of all positions of a sequence: a tuple whose `str()` and tables have a line for each."""

    __slots__ = ()

    def __str__(self) -> str:
        notes = [] if self._note is None else [f"note: {self._note}"]
        return "\n".join([*(f"{one.headline}; {_first(one)}" for one in self), *notes])

    @property
    def _note(self) -> str | None:
        """What to know about the numbers of the model."""
        return self[0].note if self else None

    def _table(self) -> list[tuple[object, ...]]:
        """The header and the rows; with the values of the positions if there are any."""
        rows: list[tuple[object, ...]] = [HEADER]
        for one in self:
            labels = shown_value(one.label), f"{one.probability:.3f}", shown_value(one.against[0])
            rows.append((one.start, one._words, *labels, f"{one.log_odds:+.3f}", _first(one)))
        return rows if any(one._words for one in self) else [(row[0], *row[2:]) for row in rows]

    def __rich__(self) -> Any:
        from rich.table import Table
        from rich.text import Text

        header, *rows = self._table()
        table = Table(*map(str, header), caption=self._note, caption_justify="left")
        for row in rows:
            table.add_row(*(Text(str(cell)) for cell in row))
        return table

    def _repr_html_(self) -> str:
        header, *rows = self._table()
        return with_note(html_table(header, rows), self._note)


def _first(one: Explanation) -> str:
    return " ".join(next(one._rows(1), ("", "")))


def _signed(amount: float) -> str:
    """Three digits with a sign; "+0.000" for what rounds to 0."""
    text = f"{amount:+.3f}"
    return "+0.000" if text == "-0.000" else text


def shown_value(value: Any) -> str:
    """A value as text on one line: numbers in short, control characters escaped, long texts cut."""
    if isinstance(value, tuple):
        return shortened(", ".join(map(shown_value, value)), LONGEST_JOINED)
    return shortened(f"{value:g}" if isinstance(value, float) else visible(value))
