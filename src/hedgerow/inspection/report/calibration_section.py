"""Calibration: whether probabilities can be trusted, and how much is right among the surest sequences."""

from __future__ import annotations

import numpy as np

from hedgerow.inspection.reliability import Reliability, reliability_of
from hedgerow.inspection.report.markup import Section, count, details, figure, note, paragraph, share, table
from hedgerow.inspection.report.view import View
from hedgerow.inspection.risk_coverage import SHOWN, RiskCoverage, risk_coverage_of
from hedgerow.inspection.svg_charts import line_chart

MOST_POINTS = 120  # of a curve over the coverage

_RELIABILITY = (
    "Predictions in bins of their probability: the share of right ones over the mean probability. Points below the "
    "diagonal are predictions that the model is too sure of."
)
_COVERAGE = (
    "The share that is right if only the surest sequences are predicted, by the probability of all labels of a "
    "sequence together."
)


def calibration_section(view: View) -> Section | None:
    """The reliability diagram, and risk over coverage; None without gold labels."""
    if not view.has_gold:
        return None
    found = [reliability_of(view.labelling)]
    if view.labelling.spans is not None and len(view.labelling.spans.probability):
        found.append(reliability_of(view.labelling, spans=True))
    errors = [f"{one.expected_calibration_error:.4f} for {_things(one)}" for one in found]
    parts = [paragraph(f"Expected calibration error: {' and '.join(errors)}; 0 is perfect.")]
    if view.doubt is not None:
        parts.append(note(f"Note: {view.doubt}."))
    figures, numbers = _reliability_figure(found), "".join(map(_bins, found))
    if len(view.store) > 1:
        coverage = risk_coverage_of(view.labelling)
        figures += _coverage_figure(coverage)
        numbers += _coverages(coverage)
    parts.append(f'<div class="figures">{figures}</div>{details("The numbers of the charts", numbers)}')
    return Section("calibration", "Calibration", "".join(parts))


def _things(one: Reliability) -> str:
    return "labels" if one.of == "label" else "spans"


def _reliability_figure(found: list[Reliability]) -> str:
    series = {}
    for one in found:
        some = one.counts > 0
        pairs = zip(one.mean_probabilities[some].tolist(), one.shares_right[some].tolist(), strict=True)
        series[_things(one)] = list(pairs)
    series["perfect"] = [(0.0, 0.0), (1.0, 1.0)]
    drawing = line_chart(
        series,
        title="Reliability diagram",
        description="The table below has the same numbers.",
        x_name="mean probability",
        y_name="share that is right",
        x_range=(0.0, 1.0),
        y_range=(0.0, 1.0),
    )
    return figure(drawing, _RELIABILITY)


def _coverage_figure(found: RiskCoverage) -> str:
    chosen = np.unique(np.linspace(0, len(found.coverage) - 1, MOST_POINTS).round().astype(np.int64))
    coverage = found.coverage[chosen].tolist()
    series = {
        "positions": list(zip(coverage, found.accuracy[chosen].tolist(), strict=True)),
        "sequences": list(zip(coverage, found.sequence_accuracy[chosen].tolist(), strict=True)),
    }
    drawing = line_chart(
        series,
        title="Accuracy over coverage",
        description="The table below has some of the numbers.",
        x_name="coverage: share of sequences",
        y_name="share that is right",
        x_range=(0.0, 1.0),
    )
    return figure(drawing, _COVERAGE)


def _bins(found: Reliability) -> str:
    ends = found.edges.tolist()
    rows = [
        [
            f"{ends[i]:.2f} to {ends[i + 1]:.2f}",
            count(int(found.counts[i])),
            share(float(found.mean_probabilities[i])),
            share(float(found.shares_right[i])),
        ]
        for i in np.flatnonzero(found.counts).tolist()
    ]
    things = "positions" if found.of == "label" else "spans"
    return table(["probability", f"#{things}", "#mean", "#right"], rows, f"Probability of predicted {_things(found)}")


def _coverages(found: RiskCoverage) -> str:
    chosen = [found.at(one) for one in SHOWN]
    rows = [[f"{one.coverage:.0%}", share(one.accuracy), share(one.sequence_accuracy)] for one in chosen]
    return table(["coverage", "#positions right", "#sequences all right"], rows, "Surest sequences first")
