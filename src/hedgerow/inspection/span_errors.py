"""Kinds of span errors: every gold span and every predicted span has exactly one kind on its side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.html_repr import html_table
from hedgerow.data.ragged import ranges
from hedgerow.inference.spans import CodedSpans
from hedgerow.inspection.labelling import Labelling
from hedgerow.inspection.view_tables import frame_of
from hedgerow.metrics.label_scores import Confusion
from hedgerow.metrics.text_table import text_table

KINDS = ("right", "label", "boundary", "type", "both", "missed", "spurious")
RIGHT, LABEL, BOUNDARY, TYPE, BOTH, MISSED, SPURIOUS = range(len(KINDS))
OF_SPANS = (RIGHT, BOUNDARY, TYPE, BOTH, MISSED, SPURIOUS)
_HEADER = ["kind", "gold spans", "predicted spans"]

Codes = NDArray[np.uint8]


@dataclass(frozen=True)
class SpanErrors:
    """How many gold spans and predicted spans are of each kind; `str()` is a table.

    A span is compared with the spans of the other side, those of the prediction for a gold span:

    - "right": one has the same start, end and type;
    - "type": one has the same start and end, but another type;
    - "boundary": one of the same type overlaps it;
    - "both": others overlap it, but none of its type;
    - "missed" (gold) or "spurious" (predicted): none overlaps it.

    Attributes
    ----------
    gold, predicted : dict
        The number of spans by kind. The numbers of each side add up to all its spans.
    """

    gold: dict[str, int]
    predicted: dict[str, int]

    def _shown(self) -> list[list[str]]:
        return [[name, f"{a:,}", f"{b:,}"] for name, a, b in self._rows()]

    def _rows(self) -> list[list[Any]]:
        names = [KINDS[kind] for kind in OF_SPANS]
        rows = [[name, self.gold.get(name, 0), self.predicted.get(name, 0)] for name in names]
        return [*rows, ["all", sum(self.gold.values()), sum(self.predicted.values())]]

    def to_frame(self) -> Any:
        """Return the table as a data frame.

        Returns
        -------
        DataFrame
            Of pandas, or of polars if pandas is not installed.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, y = [["the", "cat"], ["it"]], [["B-NP", "I-NP"], ["O"]]
        >>> list(hr.inspection.errors(hr.HMM().fit(X, y), X, y).spans.to_frame().columns)
        ['kind', 'gold spans', 'predicted spans']
        """
        return frame_of(_HEADER, self._rows())

    def __str__(self) -> str:
        return text_table([_HEADER, *self._shown()])

    def _repr_html_(self) -> str:
        return f"<div>{html_table(_HEADER, self._shown(), 'Spans by kind of error')}</div>"


def kinds_of_spans(own: CodedSpans, others: CodedSpans, alone: int) -> Codes:
    """The kind of each span, compared with the spans of the other side; `alone` if none overlaps it."""
    # Spans of one side do not overlap, so those that overlap a span are neighbours in the order of positions.
    first = np.searchsorted(others.ends, own.firsts, side="right")
    count = np.searchsorted(others.firsts, own.ends, side="left") - first
    span, other = np.repeat(np.arange(len(count)), count), ranges(first.astype(np.int64), count.astype(np.int64))
    same_type = own.types[span] == others.types[other]
    same_ends = (own.firsts[span] == others.firsts[other]) & (own.ends[span] == others.ends[other])
    kinds = np.where(count > 0, BOTH, alone).astype(np.uint8)
    kinds[span[same_type]] = BOUNDARY
    kinds[span[same_ends]] = TYPE
    kinds[span[same_ends & same_type]] = RIGHT
    return kinds


def counted_kinds(gold: Codes, predicted: Codes) -> SpanErrors:
    """Count the kinds of the spans of both sides."""
    sides = []
    for kinds, foreign in ((gold, SPURIOUS), (predicted, MISSED)):
        counts = np.bincount(kinds, minlength=len(KINDS)).tolist()
        sides.append({KINDS[kind]: counts[kind] for kind in OF_SPANS if kind != foreign})
    return SpanErrors(*sides)


def kinds_of_positions(
    right: NDArray[np.bool_], gold: tuple[CodedSpans, Codes] | None, predicted: tuple[CodedSpans, Codes] | None
) -> Codes:
    """The kind of each position: of its gold span if that is not right, otherwise of its predicted span, of its label.

    `gold` and `predicted` are spans with their kinds; None if the labels mark no spans.
    """
    kinds = np.where(right, RIGHT, LABEL).astype(np.uint8)
    for side in (predicted, gold):
        if side is not None:
            own = kinds_of_one_side(len(right), *side)
            kinds[own != RIGHT] = own[own != RIGHT]
    return kinds


def kinds_of_one_side(n_positions: int, spans: CodedSpans, kinds: Codes) -> Codes:
    """The kind of the span of each position, for spans of one side; RIGHT outside of spans."""
    found = np.full(n_positions, RIGHT, np.uint8)
    lengths = spans.ends - spans.firsts
    found[ranges(spans.firsts, lengths)] = np.repeat(kinds, lengths)
    return found


def type_confusion(labelling: Labelling, gold: CodedSpans, predicted: CodedSpans) -> Confusion:
    """Gold type against predicted type of the spans with the same start and end; the counts are spans."""
    _, i, j = np.intersect1d(gold.firsts, predicted.firsts, assume_unique=True, return_indices=True)
    same = gold.ends[i] == predicted.ends[j]
    names = type_names(labelling, gold)
    found = Counter(zip(gold.types[i[same]].tolist(), predicted.types[j[same]].tolist(), strict=True))
    occurring = {*gold.types.tolist(), *predicted.types.tolist()}
    pairs = [(names[one], names[other], count) for (one, other), count in found.items()]
    return Confusion(
        tuple(sorted(names[kind] for kind in occurring)), tuple(sorted(pairs, key=lambda p: (-p[2], *p[:2])))
    )


def type_names(labelling: Labelling, gold: CodedSpans) -> dict[int, str]:
    """The names of the types of the model, and of those that only gold labels have."""
    assert labelling.spans is not None
    names = dict(enumerate(labelling.spans.rules.names))
    new = np.flatnonzero(gold.types >= len(names))
    if len(new):
        assert labelling.gold_labels is not None
        labels = np.concatenate(labelling.gold_labels)
        for kind, first in zip(gold.types[new].tolist(), gold.firsts[new].tolist(), strict=True):
            names.setdefault(kind, str(labels[first]).partition("-")[2])
    return names
