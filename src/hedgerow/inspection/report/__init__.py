"""The HTML report of a model: one file with scores, curves, confusions, errors and a browser of sequences."""

from hedgerow.inspection.report.entry import report

__all__ = ["report"]
