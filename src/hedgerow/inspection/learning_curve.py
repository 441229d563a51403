"""Learning curves: loss and dev scores by step of training, from the training log."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow.data.html_repr import html_table
from hedgerow.estimators.base import Estimator
from hedgerow.inspection.fitted_model import fitted_model
from hedgerow.inspection.svg_charts import Panel, line_panel, stacked
from hedgerow.inspection.view_tables import axes_or_new, frame_of, plain_text, top_table
from hedgerow.utilities import counted

LOSSES = ("loss", "dev_loss")
SCORES = ("dev_accuracy", "dev_span_f1")
MOST_STEPS = 20
LEGEND_WIDTH = 60  # of a plot, in characters
SEARCH = " (search)"  # after the names of series of a search for the number of rounds

Points = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class LearningCurve:
    """Result of `learning_curve`; `str()` is a table.

    Attributes
    ----------
    unit
        What a step is: "round", "iteration", "epoch" or "bit".
    series
        (step, value) pairs by name: "loss", and with dev data "dev_loss", "dev_accuracy" and "dev_span_f1". If a
        TreeCRF searched for its number of rounds, the names of the search end in " (search)".
    """

    unit: str
    series: dict[str, Points]

    def to_frame(self) -> Any:
        """Return the values as a data frame, with a row for each series and step.

        Returns
        -------
        DataFrame
            Of pandas, or of polars if pandas is not installed; columns series, step and value.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.TreeCRF(n_rounds=3, n_jobs=1).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> hr.inspection.learning_curve(model).to_frame().shape
        (3, 3)
        """
        rows = [(name, step, value) for name, points in self.series.items() for step, value in points]
        return frame_of(["series", "step", "value"], rows)

    def to_svg(self) -> str:
        """Return a chart of the losses and, with dev data, a chart of the dev scores below it.

        Returns
        -------
        str
            An SVG document.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.TreeCRF(n_rounds=3, n_jobs=1).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> hr.inspection.learning_curve(model).to_svg()[:4]
        '<svg'
        """
        panels = [self._panel(names, y_name) for names, y_name in ((LOSSES, "loss"), (SCORES, "dev score"))]
        n_steps = max((step for points in self.series.values() for step, _ in points), default=0)
        described = f"{', '.join(self.series) or 'No series'} over {counted(n_steps, self.unit)}."
        return stacked([p for p in panels if p is not None], title="Learning curve", description=described)

    def _panel(self, names: tuple[str, ...], y_name: str) -> Panel | None:
        chosen = {name: points for name, points in self.series.items() if name.split(" (")[0] in names}
        return line_panel(chosen, x_name=self.unit, y_name=y_name) if chosen else None

    def plot(self, axes: Any = None) -> Any:
        """Plot the losses, and dev scores on a second vertical axis.

        Parameters
        ----------
        axes : matplotlib axes, optional
            A new figure by default.

        Returns
        -------
        matplotlib axes
            The axes of the losses. matplotlib is installed by the extra `plot`.

        Examples
        --------
        >>> import hedgerow as hr, matplotlib
        >>> matplotlib.use("Agg")
        >>> model = hr.TreeCRF(n_rounds=3, n_jobs=1).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> hr.inspection.learning_curve(model).plot().get_xlabel()
        'round'
        """
        axes = axes_or_new(axes)
        has_scores = any(name.startswith(SCORES) for name in self.series)
        right = axes.twinx() if has_scores else axes
        for i, (name, points) in enumerate(self.series.items()):
            on = right if name.startswith(SCORES) else axes
            on.plot(*zip(*points, strict=True), color=f"C{i}", label=plain_text(name))
        axes.set_xlabel(self.unit)
        axes.set_ylabel("loss")
        if has_scores:
            right.set_ylabel("dev score")
        longest = max(map(len, self.series), default=0)
        axes.figure.legend(loc="outside upper center", ncols=max(1, LEGEND_WIDTH // (longest + 6)))
        return axes

    def _rows(self) -> tuple[list[str], list[list[object]]]:
        """A row for each step; empty where a series has no value."""
        values = {name: dict(points) for name, points in self.series.items()}
        steps = sorted({step for points in values.values() for step in points})
        return [self.unit, *values], [[step, *(points.get(step, "") for points in values.values())] for step in steps]

    def __str__(self) -> str:
        header, rows = self._rows()
        return top_table(header, _some(rows), most=max(len(rows), 1))

    def _repr_html_(self) -> str:
        header, rows = self._rows()
        return (
            f"<div>{self.to_svg()}<details><summary>Numbers</summary>{html_table(header, _some(rows))}</details></div>"
        )


def learning_curve(model: Estimator) -> LearningCurve:
    """Return how loss and dev scores changed in training.

    Parameters
    ----------
    model : estimator
        Any fitted estimator. Dev scores are there if `fit` had dev data.

    Returns
    -------
    LearningCurve
        The series of `training_log_`.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    InputError
        If the model is no estimator.

    Examples
    --------
    >>> import hedgerow as hr
    >>> model = hr.TreeCRF(n_rounds=2, n_jobs=1).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
    >>> curve = hr.inspection.learning_curve(model)
    >>> curve.unit, [step for step, _ in curve.series["loss"]]
    ('round', [1, 2])
    """
    _, frozen = fitted_model(model, "learning_curve")
    return curve_of_log(frozen.training_log)


def curve_of_log(log: Sequence[Mapping[str, Any]]) -> LearningCurve:
    """The learning curve of the records of a training log; values that are no finite numbers are left out."""
    series: dict[str, list[tuple[int, float]]] = {}
    for key in (*LOSSES, *SCORES):
        for record in log:
            value = record.get(key)
            if isinstance(value, (int, float)) and math.isfinite(value):
                series.setdefault(f"{key}{_phase(record)}", []).append((int(record["step"]), float(value)))
    unit = str(log[-1]["unit"]) if log else "step"
    return LearningCurve(unit, {name: tuple(points) for name, points in series.items()})


def _phase(record: Mapping[str, Any]) -> str:
    """Steps are counted again from 1 when a search for the number of rounds is followed by a fit to all sequences."""
    return SEARCH if record.get("fit") == "search" else ""


def _some(rows: list[list[object]]) -> list[list[object]]:
    """About MOST_STEPS rows at equal distances; the first and the last are among them."""
    if len(rows) <= MOST_STEPS:
        return rows
    return [rows[round(i * (len(rows) - 1) / (MOST_STEPS - 1))] for i in range(MOST_STEPS)]
