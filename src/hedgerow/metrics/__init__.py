"""Quality of predicted labels: by position, by sequence and by span."""

from hedgerow.metrics.label_scores import Confusion, accuracy, confusion, sequence_accuracy
from hedgerow.metrics.span_schemes import spans
from hedgerow.metrics.span_scores import SpanReport, SpanScores, span_f1, span_report

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
