"""Precision, recall and F1 of spans: a predicted span is correct if start, end and type all agree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

import numpy as np

from hedgerow.metrics.flat_labels import LabelSequences, flatten_alike
from hedgerow.metrics.label_scores import flat_accuracy
from hedgerow.metrics.scheme_names import check_scheme
from hedgerow.metrics.span_schemes import find_spans
from hedgerow.metrics.text_table import text_table


@dataclass(frozen=True)
class SpanScores:
    """Scores of the spans of one type, or of all spans.

    Attributes
    ----------
    precision, recall, f1
        From 0 to 1.
    support, found, right
        Number of gold spans, of predicted spans, and of predicted spans that are correct.
    """

    precision: float
    recall: float
    f1: float
    support: int
    found: int
    right: int


@dataclass(frozen=True)
class SpanReport:
    """Result of `span_report`; `str()` is a table in percent.

    Attributes
    ----------
    accuracy, positions
        Share of positions with the correct label, and the number of positions.
    micro
        Scores over all spans.
    macro
        Unweighted means of the scores of the types; the counts are those of `micro`.
    by_type
        Scores of each type, sorted by name.
    """

    accuracy: float
    positions: int
    micro: SpanScores
    macro: SpanScores
    by_type: dict[str, SpanScores]

    def as_dict(self) -> dict[str, Any]:
        """Return the report as nested dicts of numbers, ready for JSON.

        Returns
        -------
        dict
            The attributes by name; scores are dicts as well.

        Examples
        --------
        >>> import hedgerow as hr
        >>> hr.metrics.span_report([["B-NP", "O"]], [["B-NP", "O"]]).as_dict()["micro"]["f1"]
        1.0
        """
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
        return f"{summary}\n{text_table([head, *rows])}"


def span_f1(y_true: LabelSequences, y_pred: LabelSequences, *, scheme: str = "IOB2", strict: bool = False) -> float:
    """F1 over all spans (micro average), equal to FB1 / 100 of conlleval.

    Parameters
    ----------
    y_true, y_pred
        Gold and predicted labels: a list of sequences of strings each, such as `B-NP`, `I-NP`, `O`.
    scheme
        The scheme of the labels: "IOB1", "IOB2", "IOE1", "IOE2", "IOBES" or "BILOU".
    strict
        Whether only spans count that are written correctly in the scheme, as in seqeval's strict mode. By default
        ill-formed labels are read as conlleval reads them.

    Returns
    -------
    float
        From 0 to 1; 0.0 if neither has a span.

    Raises
    ------
    InputError
        If the shapes differ, the scheme is unknown, or a label does not belong to the scheme.

    Examples
    --------
    >>> import hedgerow as hr
    >>> hr.metrics.span_f1([["B-NP", "I-NP", "O"]], [["B-NP", "I-NP", "B-NP"]])
    0.6666666666666666
    """
    return span_report(y_true, y_pred, scheme=scheme, strict=strict).micro.f1


def span_report(
    y_true: LabelSequences, y_pred: LabelSequences, *, scheme: str = "IOB2", strict: bool = False
) -> SpanReport:
    """Precision, recall and F1 of spans for each type and overall, equal to those of conlleval.

    0 / 0 counts as 0.0: the precision of a type that is never predicted, the recall of a type without gold spans.
    The macro means are over the types that occur in `y_true` or `y_pred`. Ill-formed label sequences are read as
    `hedgerow.metrics.spans` reads them.

    Parameters
    ----------
    y_true, y_pred
        Gold and predicted labels: a list of sequences of strings each, such as `B-NP`, `I-NP`, `O`.
    scheme
        The scheme of the labels: "IOB1", "IOB2", "IOE1", "IOE2", "IOBES" or "BILOU".
    strict
        Whether only spans count that are written correctly in the scheme, as in seqeval's strict mode. By default
        ill-formed labels are read as conlleval reads them.

    Returns
    -------
    SpanReport
        Print it for a table, or use `as_dict()` for JSON.

    Raises
    ------
    InputError
        If the shapes differ, the scheme is unknown, or a label does not belong to the scheme.

    Examples
    --------
    >>> import hedgerow as hr
    >>> report = hr.metrics.span_report([["B-NP", "I-NP", "O"]], [["B-NP", "I-NP", "B-NP"]])
    >>> report.micro.recall, report.by_type["NP"].precision
    (1.0, 0.5)
    """
    check_scheme(scheme)
    flat_true, flat_pred = flatten_alike(y_true=y_true, y_pred=y_pred)
    names: dict[str, int] = {}
    true = find_spans(flat_true, scheme, names, "y_true", strict=strict)
    pred = find_spans(flat_pred, scheme, names, "y_pred", strict=strict)
    # Spans of one labelling do not overlap, so at most one has a given start.
    _, i, j = np.intersect1d(true.starts, pred.starts, assume_unique=True, return_indices=True)
    right = i[(true.ends[i] == pred.ends[j]) & (true.types[i] == pred.types[j])]
    counts = np.stack([np.bincount(t, minlength=len(names)) for t in (true.types, pred.types, true.types[right])])
    occurring = [name for name in sorted(names) if counts[:2, names[name]].any()]
    by_type = {name: _scores(counts[:, names[name]]) for name in occurring}
    micro = _scores(counts.sum(axis=1))
    return SpanReport(
        accuracy=flat_accuracy(flat_true, flat_pred),
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
