"""The strongest weights of a linear model for each label, by the names of the attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.data.html_repr import escape, html_table
from hedgerow.estimators.base import Estimator
from hedgerow.inspection.fitted_model import fitted_model
from hedgerow.inspection.view_tables import cell, check_count, frame_of, top_table
from hedgerow.inspection.weights import named_weights, standardisation_note, standardised_weights
from hedgerow.utilities import counted

VIEW = "weights_by_label"
MOST_LABELS = 20  # shown as text and HTML; the object has all

Weights = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class LabelWeights:
    """Result of `weights_by_label`; `str()` is a list by label.

    Attributes
    ----------
    labels
        The labels of the model.
    top
        For each label the attributes with the greatest weights above 0, as (attribute, weight), the greatest first.
    bottom
        For each label the attributes with the lowest weights below 0, the lowest first.
    note
        What the weights of numbers mean; None if the model standardises no numbers.
    """

    labels: tuple[Any, ...]
    top: dict[Any, Weights]
    bottom: dict[Any, Weights]
    note: str | None = None

    def to_frame(self) -> Any:
        """Return all weights as a data frame.

        Returns
        -------
        DataFrame
            Of pandas, or of polars if pandas is not installed; columns label, attribute and weight.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.LinearCRF().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> list(hr.inspection.weights_by_label(model).to_frame().columns)
        ['label', 'attribute', 'weight']
        """
        rows = [(label, *row) for label in self.labels for row in (*self.top[label], *self.bottom[label][::-1])]
        return frame_of(["label", "attribute", "weight"], rows)

    def __str__(self) -> str:
        blocks = []
        for label in self.labels[:MOST_LABELS]:
            rows = [*self.top[label], *self.bottom[label][::-1]]
            table = top_table([cell(label), "weight"], rows, most=max(len(rows), 1))
            blocks.append(table if rows else f"{cell(label)}  (no weights)")
        return "\n\n".join([*blocks, *self._more()])

    def _repr_html_(self) -> str:
        tables = [
            html_table(["attribute", "weight"], [*self.top[label], *self.bottom[label][::-1]], caption=str(label))
            for label in self.labels[:MOST_LABELS]
        ]
        return f"<div>{''.join(tables)}{''.join(f'<p>{escape(line)}</p>' for line in self._more())}</div>"

    def _more(self) -> list[str]:
        hidden = len(self.labels) - MOST_LABELS
        more = [f"… {counted(hidden, 'more label')}"] if hidden > 0 else []
        return more if self.note is None else [*more, f"note: {self.note}"]


def weights_by_label(model: Estimator, n: int = 10) -> LabelWeights:
    """Return the attributes that count most for and against each label.

    The weights are as the model uses them, so that those of all columns can be compared: the weight of a number is for
    one standard deviation of its column. `state_features_` has the weights of numbers in the units of the data.

    Parameters
    ----------
    model : estimator
        A fitted LinearCRF, StructuredPerceptron, StructuredSVM, SearchTagger, or MEMM(learner="linear").
    n : int >= 1, default=10
        The most attributes for, and the most against, each label.

    Returns
    -------
    LabelWeights
        The attributes and their weights by label.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    InputError
        If the model has no weights.

    Examples
    --------
    >>> import hedgerow as hr
    >>> model = hr.LinearCRF().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
    >>> found = hr.inspection.weights_by_label(model, n=1)
    >>> found.top["a"][0][0], found.top["o"][0][0]
    ('symbol:a', 'symbol:o')
    """
    _, frozen = fitted_model(model, VIEW)
    n = check_count(VIEW, "n", n)
    attributes, by_code = standardised_weights(frozen)
    labels = frozen.labels.classes.tolist()
    ids, codes = np.array(list(by_code), np.int64).reshape(-1, 2).T
    weights = np.array(list(by_code.values()), np.float64)
    order = np.lexsort((ids, -weights, codes))  # by label, then the greatest weight first
    starts = np.searchsorted(codes[order], np.arange(len(labels) + 1))
    chosen: dict[tuple[int, int], float] = {}
    for k in range(len(labels)):
        own = order[starts[k] : starts[k + 1]]
        for i in (*own[:n][weights[own[:n]] > 0], *own[::-1][:n][weights[own[::-1][:n]] < 0]):
            chosen[int(ids[i]), k] = float(weights[i])
    names = named_weights(attributes, chosen)
    top: dict[Any, list[tuple[str, float]]] = {label: [] for label in labels}
    bottom: dict[Any, list[tuple[str, float]]] = {label: [] for label in labels}
    for (i, k), weight in chosen.items():
        (top if weight > 0 else bottom)[labels[k]].append((names[i], weight))
    sides = [{label: tuple(rows) for label, rows in side.items()} for side in (top, bottom)]
    return LabelWeights(tuple(labels), sides[0], sides[1], standardisation_note(frozen))
