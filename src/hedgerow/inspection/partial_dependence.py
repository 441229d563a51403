"""Partial dependence: the mean probability of each label when a column of numbers has the same value everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import NumericColumn, trusted
from hedgerow.data.html_repr import escape, html_table
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError, warnings_to
from hedgerow.estimators.base import Estimator
from hedgerow.inspection.fitted_model import fitted_model
from hedgerow.inspection.permutation import raw_sequences
from hedgerow.inspection.svg_charts import line_chart
from hedgerow.inspection.view_tables import axes_or_new, check_count, frame_of, label_code, plain_text, top_table
from hedgerow.model import Model
from hedgerow.utilities import is_count

VIEW = "partial_dependence"
GRID = 20
MOST_LABELS = 8  # shown; the object has all
MOST_GRID = 1000

Grid = Sequence[float] | NDArray[Any]


@dataclass(frozen=True, eq=False)
class PartialDependence:
    """Result of `partial_dependence`; `str()` is a table.

    Tables and charts show at most eight labels, those whose probability changes most.

    Attributes
    ----------
    column
        The name of the column.
    grid
        The values that the column was set to, in rising order.
    labels
        The labels of the probabilities.
    probabilities
        Array (values of the grid, labels): mean over all positions of the probability of the label.
    """

    column: str
    grid: NDArray[np.float64]
    labels: tuple[Any, ...]
    probabilities: NDArray[np.float64]

    def to_frame(self) -> Any:
        """Return the probabilities as a data frame, with a row for each value of the grid and label.

        Returns
        -------
        DataFrame
            Of pandas, or of polars if pandas is not installed; columns value, label and probability.

        Examples
        --------
        >>> import hedgerow as hr, numpy as np
        >>> X, y = [np.array([[1.0], [5.0]])], [["low", "high"]]
        >>> found = hr.inspection.partial_dependence(hr.HMM().fit(X, y), X, "x0", grid=3)
        >>> list(found.to_frame().columns)
        ['value', 'label', 'probability']
        """
        pairs = [(i, k) for i in range(len(self.grid)) for k in range(len(self.labels))]
        rows = [(float(self.grid[i]), self.labels[k], float(self.probabilities[i, k])) for i, k in pairs]
        return frame_of(["value", "label", "probability"], rows)

    def to_svg(self) -> str:
        """Return a line chart, with one line for a label.

        Returns
        -------
        str
            An SVG document.

        Examples
        --------
        >>> import hedgerow as hr, numpy as np
        >>> X, y = [np.array([[1.0], [5.0]])], [["low", "high"]]
        >>> hr.inspection.partial_dependence(hr.HMM().fit(X, y), X, "x0", grid=3).to_svg()[:4]
        '<svg'
        """
        points = {
            str(self.labels[k]): list(zip(self.grid.tolist(), self.probabilities[:, k].tolist(), strict=True))
            for k in self._shown
        }
        described = f"Mean probability of {len(points)} labels at {len(self.grid)} values of {self.column}."
        return line_chart(
            points,
            title=f"Partial dependence on {self.column}",
            description=described,
            x_name=self.column,
            y_name="probability",
            y_range=_axis([y for line in points.values() for _, y in line]),
        )

    def plot(self, axes: Any = None) -> Any:
        """Plot a line for each label.

        Parameters
        ----------
        axes : matplotlib axes, optional
            A new figure by default.

        Returns
        -------
        matplotlib axes
            matplotlib is installed by the extra `plot`.

        Examples
        --------
        >>> import hedgerow as hr, matplotlib, numpy as np
        >>> matplotlib.use("Agg")
        >>> X, y = [np.array([[1.0], [5.0]])], [["low", "high"]]
        >>> hr.inspection.partial_dependence(hr.HMM().fit(X, y), X, "x0").plot().get_xlabel()
        'x0'
        """
        axes = axes_or_new(axes)
        for k in self._shown:
            axes.plot(self.grid, self.probabilities[:, k], label=plain_text(self.labels[k]))
        axes.set_xlabel(plain_text(self.column))
        axes.set_ylabel("probability")
        axes.legend()
        return axes

    @property
    def _shown(self) -> list[int]:
        """The labels whose probability changes most, in their order."""
        change = self.probabilities.max(axis=0) - self.probabilities.min(axis=0)
        return sorted(np.argsort(-change, kind="stable")[:MOST_LABELS].tolist())

    def _rows(self) -> tuple[list[str], list[list[object]]]:
        shown = self._shown
        header = [self.column, *(str(self.labels[k]) for k in shown)]
        return header, [[float(v), *map(float, p[shown])] for v, p in zip(self.grid, self.probabilities, strict=True)]

    def __str__(self) -> str:
        header, rows = self._rows()
        return top_table(header, rows, most=len(rows))

    def _repr_html_(self) -> str:
        table = f"<details><summary>Numbers</summary>{html_table(*self._rows())}</details>"
        return f"<div><p>Mean probability by {escape(self.column)}</p>{self.to_svg()}{table}</div>"


def _axis(probabilities: list[float]) -> tuple[float, float]:
    """The ends of the axis: from 0, unless the curves are far above it; rounding errors of flat curves stay small."""
    low, high = min(probabilities), max(probabilities)
    if low <= 2 * (high - low):
        return 0.0, high or 1.0
    room = max(0.0, 0.05 * high - (high - low)) / 2
    return low - room, min(high + room, 1.0)


def partial_dependence(
    model: Estimator, X: Any, column: str, *, label: Any = None, grid: int | Grid | None = None
) -> PartialDependence:
    """Compute how the probabilities of labels depend on a column of numbers, on average over all positions.

    For each value of the grid, the column is set to this value at all positions of X, and the probabilities of
    `predict_proba` are averaged. A window, or `features` of the model, reads the new value at neighbouring positions
    too. The cost is that of one `predict_proba` for each value.

    Parameters
    ----------
    model : estimator
        Any fitted estimator.
    X : list of sequences
        Read as in `fit`. Encoded sequences have no raw columns and are refused.
    column : str
        A numeric column of X.
    label : optional
        A label, or a list of labels; all labels by default.
    grid : int or list of numbers, optional
        The number of values, or the values. By default 20 quantiles of the distinct values of the column in X, or all
        of them if there are fewer. A larger number than 1,000 means 1,000.

    Returns
    -------
    PartialDependence
        The grid, and the mean probability of each label at each value.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    InputError
        If the column is absent or not numeric, a label is not one of the model's, or the grid breaks its rule.

    Examples
    --------
    >>> import hedgerow as hr, numpy as np
    >>> X, y = [np.array([[1.0], [5.0]]), np.array([[2.0], [6.0]])], [["low", "high"]] * 2
    >>> found = hr.inspection.partial_dependence(hr.HMM(order=0).fit(X, y), X, "x0", grid=[1.0, 6.0])
    >>> found.labels, found.probabilities.round(2).tolist()
    (('high', 'low'), [[0.0, 1.0], [1.0, 0.0]])
    """
    estimator, frozen = fitted_model(model, VIEW)
    classes = frozen.labels.classes.tolist()
    chosen = _label_codes(frozen, label)
    sequences = raw_sequences(X, VIEW)
    numbers = _numeric_column(sequences, column, {spec.name for spec in frozen.encoder.raw_columns})
    values = _grid(numbers, grid)
    estimator._encode(sequences)  # warnings about X itself
    with warnings_to(lambda message, category: None):
        versions = (_with_value(sequences, numbers, value) for value in values.tolist())
        rows = [_mean_probabilities(estimator, version)[chosen] for version in versions]
    return PartialDependence(column, values, tuple(classes[k] for k in chosen), np.array(rows))


def _label_codes(model: Model, label: Any) -> list[int]:
    if label is None:
        return list(range(len(model.labels)))
    labels = list(label) if isinstance(label, (list, tuple, np.ndarray)) else [label]
    if not labels:
        raise InputError(f"{VIEW}: label must be a label or a list of labels, but the list is empty")
    return [label_code(model, one, f"{VIEW}: label") for one in labels]


def _numeric_column(sequences: Sequences, name: str, known: set[str]) -> NumericColumn:
    names = [column.name for column in sequences.columns]
    if name not in names:
        raise InputError(f"{VIEW}: column must be a column of X, {names}; it is {name!r}")
    column = sequences.column(name)
    if not isinstance(column, NumericColumn):
        if column.missing().all():
            raise InputError(f"{VIEW}: column {name!r} has no value in X that is not missing; give it at least one")
        raise InputError(
            f"{VIEW}: the column must be numeric, but {name!r} is {column.kind}; use permutation_importance for it, or "
            "compare predict_proba for two versions of X"
        )
    if name not in known:
        raise InputError(f"{VIEW}: the model reads no column {name!r}, which training did not have; choose another")
    return column


def _grid(column: NumericColumn, grid: int | Grid | None) -> NDArray[np.float64]:
    """Rising values; raises InputError unless there are some, all finite as 32-bit floats."""
    if grid is None or is_count(grid):
        n = GRID if grid is None else check_count(VIEW, "grid", grid)
        there = column.values[~column.missing()].astype(np.float64)
        if not len(there):
            raise InputError(f"{VIEW}: every value of column {column.name!r} is missing; pass the values of the grid")
        # Of the distinct values: where most positions have the same one, such as 0, quantiles of positions coincide.
        return np.unique(np.quantile(np.unique(there), np.linspace(0, 1, min(n, MOST_GRID)), method="nearest"))
    try:
        values = np.unique(np.asarray(grid, np.float64))
        with np.errstate(over="ignore"):
            usable = values.size > 0 and bool(np.isfinite(values.astype(np.float32)).all())
    except (TypeError, ValueError, OverflowError):
        usable = False
    if not usable:
        raise InputError(f"{VIEW}: grid must be an integer of at least 1 or a list of finite numbers; it is {grid!r}")
    return values


def _with_value(sequences: Sequences, column: NumericColumn, value: float) -> Sequences:
    """The sequences with one value of the column at all positions."""
    constant = trusted(type(column), column.name, np.full(len(column), value, np.float32))
    columns = tuple(constant if one.name == column.name else one for one in sequences.columns)
    return Sequences.trusted(sequences.starts, columns, None, sequences.optional_columns)


def _mean_probabilities(estimator: Estimator, sequences: Sequences) -> NDArray[np.float64]:
    encoded = estimator._encode(sequences)
    sums = estimator._ask(encoded, lambda answers: answers.marginals()[1].sum(axis=0, dtype=np.float64))
    total: NDArray[np.float64] = np.sum(list(sums), axis=0)
    return total / encoded.n_positions
