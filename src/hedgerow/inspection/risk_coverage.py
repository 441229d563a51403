"""Risk and coverage: how often predictions are right if only the surest sequences are predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.html_repr import html_table
from hedgerow.errors import InputError
from hedgerow.inspection.fitted_model import fitted_model
from hedgerow.inspection.labelling import Labelling
from hedgerow.inspection.view_tables import axes_or_new, frame_of
from hedgerow.metrics.text_table import text_table

if TYPE_CHECKING:
    from hedgerow.estimators.base import Estimator
    from hedgerow.typing import LabelsLike, SequencesLike

Confidence = Literal["path", "least"]
DIGITS = 6  # of confidences: what differs only by rounding is equally sure
SHOWN = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)  # coverages of the table


class Covered(NamedTuple):
    """What is right among the surest sequences.

    Attributes
    ----------
    coverage : float
        The share of the sequences.
    accuracy : float
        The share of their positions with the right label.
    sequence_accuracy : float
        The share of these sequences that are entirely right.
    """

    coverage: float
    accuracy: float
    sequence_accuracy: float


@dataclass(frozen=True, eq=False, kw_only=True)
class RiskCoverage:
    """Accuracy among the surest sequences, for every number of sequences; `str()` is a table.

    The order of equally sure sequences does not matter: the counts are those expected if it is random. The risk is
    1 minus the accuracy.

    Attributes
    ----------
    by : {"path", "least"}
        What makes a sequence sure.
    positions, right, right_sequences : 1-D array
        Number of positions, of right positions and of entirely right sequences among the k surest sequences, for k from
        0 to the number of sequences.
    """

    by: Confidence
    positions: NDArray[np.float64]
    right: NDArray[np.float64]
    right_sequences: NDArray[np.float64]

    @property
    def coverage(self) -> NDArray[np.float64]:
        """The share of the sequences, for 1, 2, ... sequences."""
        n = len(self.positions) - 1
        shares: NDArray[np.float64] = np.arange(1, n + 1) / n
        return shares

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """The share of right positions at each coverage."""
        shares: NDArray[np.float64] = self.right[1:] / self.positions[1:]
        return shares

    @property
    def sequence_accuracy(self) -> NDArray[np.float64]:
        """The share of entirely right sequences at each coverage."""
        shares: NDArray[np.float64] = self.right_sequences[1:] / np.arange(1, len(self.positions))
        return shares

    @property
    def area(self) -> float:
        """Area under the curve of accuracy: its mean over all coverages. The risk has the area 1 - `area`."""
        return float(self.accuracy.mean())

    @property
    def sequence_area(self) -> float:
        """Area under the curve of sequence accuracy."""
        return float(self.sequence_accuracy.mean())

    def at(self, coverage: float) -> Covered:
        """Compute what is right among a share of the sequences, the surest ones.

        Parameters
        ----------
        coverage : float
            The share, above 0 and at most 1. If it is not a whole number of sequences, counts are interpolated.

        Returns
        -------
        Covered
            The coverage, the accuracy and the sequence accuracy.

        Raises
        ------
        InputError
            If the coverage is out of range.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
        >>> hr.inspection.risk_coverage(hr.HMM().fit(X, y), X, y).at(0.5)
        Covered(coverage=0.5, accuracy=1.0, sequence_accuracy=1.0)
        """
        if isinstance(coverage, bool) or not isinstance(coverage, (int, float, np.number)) or not 0 < coverage <= 1:
            raise InputError(f"the coverage must be a number above 0 and at most 1; it is {coverage!r}")
        n = len(self.positions) - 1
        k, every = float(coverage) * n, np.arange(n + 1)
        positions, right, whole = (
            float(np.interp(k, every, counts)) for counts in (self.positions, self.right, self.right_sequences)
        )
        return Covered(float(coverage), right / positions, whole / k)

    def _rows(self) -> list[list[str]]:
        return [[f"{share:.0%}", f"{self.at(share)[1]:.2%}", f"{self.at(share)[2]:.2%}"] for share in SHOWN]

    def __str__(self) -> str:
        rows = [_HEADER, *self._rows(), ["area", f"{self.area:.4f}", f"{self.sequence_area:.4f}"]]
        return f"{text_table(rows)}\n(surest sequences first, {_CONFIDENCE[self.by]})"

    def _repr_html_(self) -> str:
        rows = [*self._rows(), ["area", f"{self.area:.4f}", f"{self.sequence_area:.4f}"]]
        return f"<div>{html_table(_HEADER, rows, f'Surest sequences first, {_CONFIDENCE[self.by]}')}</div>"

    def to_frame(self) -> Any:
        """Return the curves as a data frame, with a row for 1, 2, ... sequences.

        Returns
        -------
        DataFrame
            Of pandas, or of polars if pandas is not installed; a column for each field of what `at` returns.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
        >>> list(hr.inspection.risk_coverage(hr.HMM().fit(X, y), X, y).to_frame().columns)
        ['coverage', 'accuracy', 'sequence_accuracy']
        """
        columns = self.coverage, self.accuracy, self.sequence_accuracy
        return frame_of(Covered._fields, list(zip(*(column.tolist() for column in columns), strict=True)))

    def plot(self, axes: Any = None) -> Any:
        """Draw accuracy and sequence accuracy over the coverage.

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
        >>> hr.inspection.risk_coverage(hr.HMM().fit(X, y), X, y).plot().get_ylabel()
        'share that is right'
        """
        axes = axes_or_new(axes)
        axes.plot(self.coverage, self.accuracy, label="positions")
        axes.plot(self.coverage, self.sequence_accuracy, label="whole sequences")
        axes.set_xlabel("coverage: share of sequences")
        axes.set_ylabel("share that is right")
        axes.set_xlim(0, 1)
        axes.set_ylim(top=1.02)
        axes.legend(loc="lower left")
        return axes


_HEADER = ["coverage", "accuracy", "sequence accuracy"]
_CONFIDENCE = {
    "path": "by the probability of all labels together",
    "least": "by the probability of the least certain label",
}


def risk_coverage(model: Estimator, X: SequencesLike, y: LabelsLike, *, by: Confidence = "path") -> RiskCoverage:
    """Compute how often predictions are right if only the surest sequences are predicted.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    X : list of sequences
        Read as in `fit`, and with the same columns.
    y : list of lists of labels
        The gold labels. Labels that training never saw count as wrong.
    by : {"path", "least"}, default="path"
        What makes a sequence sure: "path" the probability of all its predicted labels together, which is lower for
        longer sequences; "least" the probability of its least certain label.

    Returns
    -------
    RiskCoverage
        Accuracy and sequence accuracy at every coverage, and the areas under these curves.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    InputError
        If X or y break a rule, there is no sequence, or `by` is unknown.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog", "cot"], [["-", "a", "-"], ["-", "o", "-"], ["-", "o", "-"]]
    >>> found = hr.inspection.risk_coverage(hr.HMM().fit(X, y), ["cat", "xyz"], [["-", "a", "-"], ["-", "-", "-"]])
    >>> found.at(0.5).sequence_accuracy, found.at(1.0).sequence_accuracy
    (1.0, 0.5)
    """
    _check_by(by)
    fitted_model(model, "risk_coverage")
    return risk_coverage_of(Labelling.of(model, X, y).non_empty("risk_coverage"), by=by)


def risk_coverage_of(labelling: Labelling, *, by: Confidence = "path") -> RiskCoverage:
    """Risk and coverage of predictions that are computed already; see `risk_coverage`."""
    _check_by(by)
    n, starts = len(labelling.starts) - 1, labelling.starts
    right = labelling.right.astype(np.int64)
    confidence = labelling.path_log_probability
    if by == "least":
        confidence = np.minimum.reduceat(labelling.probability, starts[:-1]).astype(np.float64)
    confidence = np.round(confidence, DIGITS)
    surest = np.argsort(-confidence, kind="stable")
    lengths, rights = np.diff(starts), np.add.reduceat(right, starts[:-1])
    ends = np.append(np.flatnonzero(np.diff(confidence[surest])) + 1, n)  # of groups of equally sure sequences

    def counts(values: NDArray[np.int64]) -> NDArray[np.float64]:
        """Sums over the k surest sequences. Within a group the sum rises evenly: the mean over all orders."""
        sums = np.concatenate([[0], np.cumsum(values[surest])])
        even: NDArray[np.float64] = np.interp(np.arange(n + 1), np.append(0, ends), np.append(0, sums[ends]))
        return even

    return RiskCoverage(
        by=by,
        positions=counts(lengths),
        right=counts(rights),
        right_sequences=counts((rights == lengths).astype(np.int64)),
    )


def _check_by(by: object) -> None:
    if by not in get_args(Confidence):
        raise InputError(f'by must be "path" or "least"; it is {by!r}')
