"""Precision, recall and F1 of spans: a predicted span is right when start, end and type all agree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

import numpy as np

from hedgerow.metrics.chunks import check_scheme, chunks
from hedgerow.metrics.pairing import LabelSequences, paired
from hedgerow.metrics.positions import aligned, share_right


@dataclass(frozen=True)
class SpanScores:
    """Precision, recall and F1 in [0, 1], and the spans counted: true (`support`), predicted, both."""

    precision: float
    recall: float
    f1: float
    support: int
    found: int
    right: int


@dataclass(frozen=True)
class SpanReport:
    """Scores of each type (sorted by name), over all spans, and as plain means over the types.

    `str()` is a table in percent; `as_dict()` is ready for JSON.
    """

    accuracy: float
    positions: int
    micro: SpanScores
    macro: SpanScores
    by_type: dict[str, SpanScores]

    def as_dict(self) -> dict[str, Any]:
        """The report as plain dicts and numbers."""
        return asdict(self)

    def __str__(self) -> str:
        total = self.micro
        summary = (
            f"{self.positions} positions, accuracy {self.accuracy:.2%}; "
            f"{total.support} spans, {total.found} found, {total.right} right"
        )
        head = ["type", "precision", "recall", "F1", "spans", "found", "right"]
        named = [(name or "(no type)", scores) for name, scores in self.by_type.items()]
        rows = [_row(name, scores) for name, scores in [*named, ("micro", total), ("macro", self.macro)]]
        return f"{summary}\n{aligned([head, *rows])}"


def span_f1(y_true: LabelSequences, y_pred: LabelSequences, *, scheme: str = "IOB2") -> float:
    """F1 over all spans (micro), as conlleval's FB1 / 100; 0.0 when there is no span in either."""
    return span_report(y_true, y_pred, scheme=scheme).micro.f1


def span_report(y_true: LabelSequences, y_pred: LabelSequences, *, scheme: str = "IOB2") -> SpanReport:
    """Span scores equal to conlleval's; `hedgerow.metrics.chunks` tells how ill-formed labels are read.

    0/0 is 0.0: precision of a type never predicted, recall of a type that is never true. The macro means run
    over the types in either. InputError for lengths that differ, an unknown scheme or a label it cannot read.
    """
    check_scheme(scheme)
    flat_true, flat_pred = paired(y_true=y_true, y_pred=y_pred)
    names: dict[str, int] = {}
    true = chunks(flat_true, scheme, names, "y_true")
    pred = chunks(flat_pred, scheme, names, "y_pred")
    # Spans do not overlap, so the start alone finds the partner.
    _, i, j = np.intersect1d(true.starts, pred.starts, assume_unique=True, return_indices=True)
    right = i[(true.ends[i] == pred.ends[j]) & (true.types[i] == pred.types[j])]
    counts = np.stack(
        [np.bincount(t, minlength=len(names)) for t in (true.types, pred.types, true.types[right])]
    )
    by_type = {name: _scores(counts[:, names[name]]) for name in sorted(names)}
    micro = _scores(counts.sum(axis=1))
    return SpanReport(
        accuracy=share_right(flat_true, flat_pred),
        positions=len(flat_true.labels),
        micro=micro,
        macro=_macro(list(by_type.values()), micro),
        by_type=by_type,
    )


def _scores(counts: Iterable[int]) -> SpanScores:
    support, found, right = map(int, counts)
    return SpanScores(
        precision=right / max(found, 1),
        recall=right / max(support, 1),
        f1=2 * right / max(support + found, 1),
        support=support,
        found=found,
        right=right,
    )


def _macro(scores: list[SpanScores], micro: SpanScores) -> SpanScores:
    if not scores:
        return micro
    return SpanScores(
        precision=fmean(s.precision for s in scores),
        recall=fmean(s.recall for s in scores),
        f1=fmean(s.f1 for s in scores),
        support=micro.support,
        found=micro.found,
        right=micro.right,
    )


def _row(name: str, scores: SpanScores) -> list[str]:
    shares = [f"{share:.2%}" for share in (scores.precision, scores.recall, scores.f1)]
    return [name, *shares, str(scores.support), str(scores.found), str(scores.right)]
