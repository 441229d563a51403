"""Reliability: how often predictions are right, by the probability that the model gave them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.html_repr import escape, html_table
from hedgerow.errors import InputError
from hedgerow.inspection.calibration import uncalibrated
from hedgerow.inspection.fitted_model import fitted_model
from hedgerow.inspection.labelling import Labelling
from hedgerow.inspection.view_tables import axes_or_new, frame_of
from hedgerow.metrics.text_table import text_table
from hedgerow.utilities import is_count

if TYPE_CHECKING:
    from hedgerow.estimators.base import Estimator
    from hedgerow.typing import LabelsLike, SequencesLike

Predicted = Literal["label", "span"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Reliability:
    """Predictions in bins of their probability; `str()` is a table.

    Attributes
    ----------
    of : {"label", "span"}
        What was predicted.
    edges : 1-D array
        The ends of the bins, one more than there are bins. A bin holds its lower end; the last bin also holds 1.
    counts : 1-D array
        Number of predictions in each bin.
    mean_probabilities, shares_right : 1-D array
        Mean probability of the predictions in each bin, and the share that is right; NaN for an empty bin.
    note : str or None
        Why the probabilities of the model cannot be trusted; None if they were trained by likelihood or calibrated.
    """

    of: Predicted
    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    mean_probabilities: NDArray[np.float64]
    shares_right: NDArray[np.float64]
    note: str | None = None

    @property
    def expected_calibration_error(self) -> float:
        """Mean over predictions of how far the share that is right is from the mean probability of their bin.

        NaN if there are no predictions.
        """
        some = self.counts > 0
        if not some.any():
            return math.nan
        gaps = np.abs(self.mean_probabilities[some] - self.shares_right[some])
        return float((gaps * self.counts[some]).sum() / self.counts.sum())

    def _rows(self) -> list[list[str]]:
        return [
            [f"{low:.2f} to {high:.2f}", f"{count:,}", f"{mean:.1%}", f"{share:.1%}"]
            for low, high, count, mean, share in zip(
                self.edges[:-1],
                self.edges[1:],
                self.counts,
                self.mean_probabilities,
                self.shares_right,
                strict=True,
            )
            if count
        ]

    @property
    def _header(self) -> list[str]:
        return ["probability", "positions" if self.of == "label" else "spans", "mean", "right"]

    @property
    def _error(self) -> str:
        return f"expected calibration error {self.expected_calibration_error:.4f}"

    def __str__(self) -> str:
        note = "" if self.note is None else f"\nnote: {self.note}"
        return f"{text_table([self._header, *self._rows()])}\n{self._error}{note}"

    def _repr_html_(self) -> str:
        note = "" if self.note is None else f"<p>{escape(self.note)}</p>"
        caption = f"Probability of the predicted {self.of}, and how often it is right: {self._error}"
        return f"<div>{html_table(self._header, self._rows(), caption)}{note}</div>"

    def to_frame(self) -> Any:
        """Return the bins as a data frame.

        Returns
        -------
        DataFrame
            Of pandas, or of polars if pandas is not installed; columns low, high, count, mean_probability and
            share_right. The last two are NaN for an empty bin.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
        >>> list(hr.inspection.reliability(hr.HMM().fit(X, y), X, y).to_frame().columns)
        ['low', 'high', 'count', 'mean_probability', 'share_right']
        """
        columns = self.edges[:-1], self.edges[1:], self.counts, self.mean_probabilities, self.shares_right
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        return frame_of(["low", "high", "count", "mean_probability", "share_right"], rows)

    def plot(self, axes: Any = None) -> Any:
        """Draw the share that is right over the mean probability, with the diagonal of perfect probabilities.

        Parameters
        ----------
        axes : matplotlib axes, optional
            Where to draw; None makes a figure.

        Returns
        -------
        matplotlib axes
            With the drawing. matplotlib is installed by the extra `plot`.

        Examples
        --------
        >>> import hedgerow as hr, matplotlib
        >>> matplotlib.use("Agg")
        >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
        >>> hr.inspection.reliability(hr.HMM().fit(X, y), X, y).plot().get_ylabel()
        'share that is right'
        """
        axes = axes_or_new(axes)
        some = self.counts > 0
        axes.plot([0, 1], [0, 1], color="0.7", linestyle="--", label="perfectly calibrated")
        axes.plot(self.mean_probabilities[some], self.shares_right[some], marker="o", label="model")
        axes.set_xlabel(f"mean probability of the predicted {self.of}")
        axes.set_ylabel("share that is right")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.02)
        axes.legend(loc="upper left")
        return axes


def reliability(
    model: Estimator, X: SequencesLike, y: LabelsLike, *, spans: bool = False, n_bins: int = 10
) -> Reliability:
    """Compare the probabilities of predictions with how often they are right.

    Of the predictions to which a model gives a probability of about 0.8, four of five should be right.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    X : list of sequences
        Read as in `fit`, and with the same columns.
    y : list of lists of labels
        The gold labels. Labels that training never saw count as wrong.
    spans : bool, default=False
        Look at the predicted spans instead of the label of each position. A span is right if it is exactly a gold span
        with its type.
    n_bins : int >= 1, default=10
        Number of bins of equal width.

    Returns
    -------
    Reliability
        Count, mean probability and share that is right for each bin, and `expected_calibration_error`.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    InputError
        If X or y break a rule, X is empty, or `spans` is True and the labels mark no spans.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog", "cot"], [["-", "a", "-"], ["-", "o", "-"], ["-", "o", "-"]]
    >>> found = hr.inspection.reliability(hr.HMM().fit(X, y), X, y, n_bins=2)
    >>> found.counts.tolist(), found.shares_right.tolist()
    ([0, 9], [nan, 1.0])
    """
    check_bins(n_bins)
    fitted_model(model, "reliability")
    return reliability_of(Labelling.of(model, X, y).non_empty("reliability"), spans=spans, n_bins=n_bins)


def reliability_of(labelling: Labelling, *, spans: bool = False, n_bins: int = 10) -> Reliability:
    """The reliability of predictions that are computed already; see `reliability`."""
    check_bins(n_bins)
    n_bins = int(n_bins)
    edges, note = np.arange(n_bins + 1) / n_bins, uncalibrated(labelling.estimator)
    if not spans:
        return binned(labelling.probability, labelling.right, edges, "label", note)
    right = labelling.right_spans
    assert labelling.spans is not None
    return binned(labelling.spans.probability, right, edges, "span", note)


def binned(
    probability: NDArray[Any],
    right: NDArray[np.bool_],
    edges: NDArray[np.float64],
    of: Predicted = "label",
    note: str | None = None,
) -> Reliability:
    """The predictions in bins; sums do not depend on the order of the predictions."""
    rising = np.argsort(probability, kind="stable")
    chances, right = probability[rising].astype(np.float64), right[rising]
    ends = np.searchsorted(chances, edges[1:-1], side="left")
    counts, means, shares = [], [], []
    for some, correct in zip(np.split(chances, ends), np.split(right, ends), strict=True):
        counts.append(len(some))
        means.append(math.fsum(some) / len(some) if len(some) else math.nan)
        shares.append(int(correct.sum()) / len(some) if len(some) else math.nan)
    return Reliability(
        of=of,
        edges=edges,
        counts=np.array(counts, np.int64),
        mean_probabilities=np.array(means),
        shares_right=np.array(shares),
        note=note,
    )


def check_bins(n_bins: object) -> None:
    """Raise InputError unless this is a number of bins."""
    if not is_count(n_bins) or n_bins < 1:  # type: ignore[operator]
        raise InputError(f"n_bins must be an integer of at least 1; it is {n_bins!r}")
