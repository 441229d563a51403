"""Learning curves: how loss and scores changed during training."""

from __future__ import annotations

from hedgerow.inspection.learning_curve import LOSSES, SCORES, SEARCH, LearningCurve, Points, learning_curve
from hedgerow.inspection.report.markup import Section, figure
from hedgerow.inspection.report.view import View
from hedgerow.inspection.svg_charts import line_chart
from hedgerow.inspection.training_summary import LEARNED_APART

MOST_POINTS = 500  # of a curve

_LOSS = "The loss, divided by the number of sequences. It should fall."
_LOSSES_APART = "The loss of each {0}, divided by the number of sequences. Each {0} is learned apart from the others."


def training_section(view: View) -> Section | None:
    """Curves of the training log; None if it has fewer than two records."""
    curve = learning_curve(view.estimator)
    figures = [
        _curves(curve, LOSSES, "Loss", _LOSSES_APART.format(curve.unit) if curve.unit in LEARNED_APART else _LOSS),
        _curves(curve, SCORES, "Score", "Scores on dev data."),
    ]
    body = "".join(figures)
    return Section("training", "Training", f'<div class="figures">{body}</div>') if body else None


def _curves(curve: LearningCurve, names: tuple[str, ...], title: str, caption: str) -> str:
    series = {
        name.replace("_", " "): _thinned(points)
        for name, points in curve.series.items()
        if name.split(" (")[0] in names and len(points) > 1
    }
    if not series:
        return ""
    last = ", ".join(f"{name} {points[-1][1]:.4g}" for name, points in series.items())
    if any(name.endswith(SEARCH) for name in series):
        caption += f" Curves with{SEARCH} are of the fit that found the number of rounds on held-out sequences."
    drawing = line_chart(
        series,
        title=f"{title} by {curve.unit}",
        description=f"At the end: {last}.",
        x_name=curve.unit,
        y_name=title.lower(),
    )
    return figure(drawing, f"{caption} At the end: {last}.")


def _thinned(points: Points) -> Points:
    """Some of the points at about equal distances; always the first and the last one."""
    if len(points) <= MOST_POINTS:
        return points
    return tuple(points[i * (len(points) - 1) // (MOST_POINTS - 1)] for i in range(MOST_POINTS))
