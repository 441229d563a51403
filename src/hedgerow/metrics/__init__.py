"""Quality of predicted labels: by position, by sequence and by span."""

from hedgerow.metrics.label_scores import Confusion, accuracy, confusion, sequence_accuracy
from hedgerow.metrics.scorers import (
    accuracy_scorer,
    log_likelihood_scorer,
    sequence_accuracy_scorer,
    span_f1_scorer,
)
from hedgerow.metrics.span_schemes import spans
from hedgerow.metrics.span_scores import SpanReport, SpanScores, span_f1, span_report

__all__ = [
    "Confusion",
    "SpanReport",
    "SpanScores",
    "accuracy",
    "accuracy_scorer",
    "confusion",
    "log_likelihood_scorer",
    "sequence_accuracy",
    "sequence_accuracy_scorer",
    "span_f1",
    "span_f1_scorer",
    "span_report",
    "spans",
]
