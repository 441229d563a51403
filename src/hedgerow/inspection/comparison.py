"""Two models on the same sequences: scores, whether their difference may be chance, and what changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.html_repr import escape, html_table
from hedgerow.data.ragged import starts_of
from hedgerow.errors import InputError
from hedgerow.inspection.error_analysis import raw_if_known
from hedgerow.inspection.fitted_model import fitted_model
from hedgerow.inspection.labelling import Labelling, has_letters, scheme_of_labels, span_scheme
from hedgerow.inspection.view_tables import frame_of, top_html_table, top_table
from hedgerow.metrics.paired_bootstrap import Bootstrap, bootstrap, check_resampling, interval_in_points
from hedgerow.metrics.text_table import text_table
from hedgerow.significance import McNemar, mcnemar

if TYPE_CHECKING:
    from hedgerow.estimators.base import Estimator
    from hedgerow.typing import LabelsLike, SequencesLike

Change = Literal["better", "worse", "neither"]
_HEADER = ["metric", "A", "B", "B - A", "interval"]
_CHANGED = ["sequence", "change", "gained", "lost"]
MOST_CHANGED = 10  # shown; the object has all


class ChangedSequence(NamedTuple):
    """A sequence for which two models predict different labels.

    Attributes
    ----------
    sequence : int
        The number of the sequence in X.
    change : {"better", "worse", "neither"}
        Whether B has more right positions than A, fewer, or as many.
    positions : tuple of int
        The positions in the sequence with different predictions.
    gained, lost : int
        How many positions only B has right, and how many only A.
    """

    sequence: int
    change: Change
    positions: tuple[int, ...]
    gained: int
    lost: int


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two models A and B on the same sequences; `str()` is a summary.

    Attributes
    ----------
    names : tuple of str
        The classes of the two estimators.
    accuracy : Bootstrap
        Accuracy of A and of B, their difference B - A and its interval.
    span_f1 : Bootstrap or None
        The same for span F1; None if the labels mark no spans.
    mcnemar : McNemar
        Whether A and B have the same accuracy. The test takes positions as independent, which the intervals do not.
    changed : tuple of ChangedSequence
        The sequences with different predictions, in the order of X.
    n_sequences : int
        Number of all sequences.
    """

    names: tuple[str, str]
    accuracy: Bootstrap
    span_f1: Bootstrap | None
    mcnemar: McNemar
    changed: tuple[ChangedSequence, ...]
    n_sequences: int

    def count(self, change: Change) -> int:
        """Count the sequences with a kind of change.

        Parameters
        ----------
        change : {"better", "worse", "neither"}
            The kind.

        Returns
        -------
        int
            Number of sequences in `changed`.

        Raises
        ------
        InputError
            If there is no such kind.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
        >>> model = hr.HMM().fit(X, y)
        >>> hr.inspection.compare(model, model, X, y).count("worse")
        0
        """
        if change not in ("better", "worse", "neither"):
            raise InputError(f'change must be "better", "worse" or "neither"; it is {change!r}')
        return sum(one.change == change for one in self.changed)

    def to_frame(self) -> Any:
        """Return the changed sequences as a data frame.

        Returns
        -------
        DataFrame
            Of pandas, or of polars if pandas is not installed.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
        >>> model = hr.HMM().fit(X, y)
        >>> list(hr.inspection.compare(model, model, X, y).to_frame().columns)
        ['sequence', 'change', 'positions', 'gained', 'lost']
        """
        return frame_of(ChangedSequence._fields, [(*one[:2], list(one.positions), *one[3:]) for one in self.changed])

    def _rows(self) -> list[list[str]]:
        found = [self.accuracy] if self.span_f1 is None else [self.accuracy, self.span_f1]
        return [
            [
                one.metric,
                f"{one.a:.2%}",
                f"{one.b:.2%}",
                f"{100 * one.difference:+.2f}",
                interval_in_points(one),
            ]
            for one in found
        ]

    @property
    def _title(self) -> str:
        return f"A: {self.names[0]}, B: {self.names[1]}; intervals at 95% from {self.accuracy.n_resamples:,} resamples"

    @property
    def _changes(self) -> str:
        counts = ", ".join(f"{self.count(kind):,} {name}" for kind, name in _CHANGES.items())
        return f"{len(self.changed):,} of {self.n_sequences:,} sequences changed from A to B: {counts}"

    def __str__(self) -> str:
        parts = [self._title, text_table([_HEADER, *self._rows()]), str(self.mcnemar), self._changes]
        if self.changed:
            parts.append(top_table(_CHANGED, [_shown(one) for one in self.changed], MOST_CHANGED))
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        tests = f"<p>{escape(self.mcnemar)}</p><p>{escape(self._changes)}</p>"
        rows = [_shown(one) for one in self.changed]
        changed = top_html_table(_CHANGED, rows, MOST_CHANGED) if rows else ""
        return f"<div>{html_table(_HEADER, self._rows(), self._title)}{tests}{changed}</div>"


_CHANGES: dict[Change, str] = {"better": "better", "worse": "worse", "neither": "with as many right labels"}


def compare(
    model_a: Estimator,
    model_b: Estimator,
    X: SequencesLike,
    y: LabelsLike,
    *,
    n_resamples: int = 2000,
    random_state: int = 0,
) -> Comparison:
    """Compare two models on the same sequences.

    Parameters
    ----------
    model_a, model_b : estimator
        Fitted estimators of any classes. Their labels may differ, but must be of the same type.
    X : list of sequences
        Read as in `fit`, and with the columns of both models. Use sequences that neither model was fitted on.
    y : list of lists of labels
        The gold labels. For each model, labels that its training never saw count as wrong.
    n_resamples : int >= 1, default=2000
        Number of resamples of whole sequences for the intervals. More make their ends more precise.
    random_state : int >= 0, default=0
        Seed of the resamples. The same seed gives the same intervals.

    Returns
    -------
    Comparison
        Accuracy and span F1 of both with intervals of the differences, McNemar's test, and the changed sequences.

    Raises
    ------
    NotFittedError
        If a model is not fitted.
    InputError
        If X or y break a rule, X is empty, the labels of the models are of different types, X is
        encoded and the models have different encoders, or a parameter is not valid.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog", "cot"], [["-", "a", "-"], ["-", "o", "-"], ["-", "o", "-"]]
    >>> small, large = hr.HMM().fit(X[:1], y[:1]), hr.HMM().fit(X, y)
    >>> found = hr.inspection.compare(small, large, X[:1] * 4, y[:1] * 4)
    >>> found.accuracy.difference, found.changed
    (0.0, ())
    """
    check_resampling(n_resamples, random_state)
    for model in (model_a, model_b):
        fitted_model(model, "compare")
    refuse_other_labels("compare", model_a=model_a, model_b=model_b)
    if y is None:
        raise InputError("compare needs gold labels, but y is None; pass y")
    raw = raw_if_known(X)
    own = X if raw is None else raw
    labels = y if hasattr(y, "__len__") else list(y)  # both models read y
    a, b = (
        Labelling.of(model, own, labels, name=f"compare: {name}").non_empty("compare")
        for name, model in (("model_a", model_a), ("model_b", model_b))
    )
    return comparison_of(a, b, n_resamples=n_resamples, random_state=random_state)


_KINDS = {"U": "strings", "i": "integers", "b": "bools"}  # of labels, by the kind of their array


def refuse_other_labels(view: str, **models: Estimator) -> None:
    """Raise InputError if the labels of two models are of different types."""
    kinds = {name: _KINDS[model._fitted().labels.classes.dtype.kind] for name, model in models.items()}
    if len(set(kinds.values())) > 1:
        (one, kind), (other, other_kind) = kinds.items()
        raise InputError(
            f"{view}: the labels of {one} are {kind}, but those of {other} are {other_kind}; fit both models on labels "
            "of one type"
        )


def comparison_of(a: Labelling, b: Labelling, *, n_resamples: int = 2000, random_state: int = 0) -> Comparison:
    """Compare predictions that are computed already, for the same sequences and gold labels; see `compare`."""
    check_resampling(n_resamples, random_state)
    right_a, right_b = a.right, b.right
    values_a, values_b = (one.classes[one.predicted] for one in (a, b))
    gold, by_a, by_b = a.gold_labels or [], *(np.split(values, a.starts[1:-1]) for values in (values_a, values_b))
    scheme = _common_scheme(a, b)
    return Comparison(
        names=(type(a.estimator).__name__, type(b.estimator).__name__),
        accuracy=bootstrap(gold, by_a, by_b, n_resamples=n_resamples, random_state=random_state),
        span_f1=None
        if scheme is None
        else bootstrap(
            gold, by_a, by_b, metric="span_f1", scheme=scheme, n_resamples=n_resamples, random_state=random_state
        ),
        mcnemar=mcnemar(gold, by_a, by_b),
        changed=changed_sequences(a.starts, values_a != values_b, right_a, right_b),
        n_sequences=len(a.starts) - 1,
    )


def _common_scheme(a: Labelling, b: Labelling) -> str | None:
    """The scheme in which to read the spans of both models and of the gold labels; None if one marks no spans."""
    known = [one.classes.tolist() for one in (a, b)]
    names = [*known[0], *known[1], *np.unique(np.concatenate(a.gold_labels or known)).tolist()]
    scheme, other = span_scheme(a.estimator), span_scheme(b.estimator)
    if scheme is None or other is None:
        return None
    return scheme if scheme == other and has_letters(scheme, names) else scheme_of_labels(names)


def changed_sequences(
    starts: NDArray[np.int64], differs: NDArray[np.bool_], right_a: NDArray[np.bool_], right_b: NDArray[np.bool_]
) -> tuple[ChangedSequence, ...]:
    """The sequences with different predictions; all arrays have a row for each position."""
    gained, lost = (np.diff(starts_of(mask)[starts]) for mask in (right_b & ~right_a, right_a & ~right_b))
    ends = starts_of(differs)[starts]
    at = np.flatnonzero(differs)
    changed = []
    for i in np.flatnonzero(np.diff(ends)).tolist():
        gain = int(gained[i]) - int(lost[i])
        kind: Change = "better" if gain > 0 else "worse" if gain < 0 else "neither"
        positions = tuple((at[ends[i] : ends[i + 1]] - starts[i]).tolist())
        changed.append(ChangedSequence(i, kind, positions, int(gained[i]), int(lost[i])))
    return tuple(changed)


def _shown(one: ChangedSequence) -> list[object]:
    return [one.sequence, one.change, one.gained, one.lost]
