"""How good are predicted labels: by position, by sequence, by span."""

from hedgerow.metrics.chunks import spans
from hedgerow.metrics.positions import Confusion, accuracy, confusion, sequence_accuracy
from hedgerow.metrics.report import SpanReport, SpanScores, span_f1, span_report

__all__ = [
    "Confusion",
    "SpanReport",
    "SpanScores",
    "accuracy",
    "confusion",
    "sequence_accuracy",
    "span_f1",
    "span_report",
    "spans",
]
