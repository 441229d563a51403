"""Where a model fails: kinds of errors, error rates of groups of positions, and the worst sequences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.html_repr import escape
from hedgerow.data.lazy import is_lazy
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.encoded import Encoded
from hedgerow.inspection.error_columns import known_columns, missing_by_column, unknown_by_column, value_codes
from hedgerow.inspection.error_groups import (
    ErrorTable,
    errors_by_column,
    errors_by_frequency,
    errors_by_label,
    errors_by_length,
)
from hedgerow.inspection.fitted_model import fitted_model
from hedgerow.inspection.labelling import Labelling
from hedgerow.inspection.span_errors import (
    KINDS,
    MISSED,
    SPURIOUS,
    SpanErrors,
    counted_kinds,
    kinds_of_positions,
    kinds_of_spans,
    type_confusion,
)
from hedgerow.inspection.view_tables import check_count
from hedgerow.metrics.label_scores import Confusion, confusion
from hedgerow.utilities import counted

if TYPE_CHECKING:
    from hedgerow.estimators.base import Estimator
    from hedgerow.typing import LabelsLike, SequencesLike


class SequenceErrors(NamedTuple):
    """The wrong positions of a sequence.

    Attributes
    ----------
    sequence : int
        The number of the sequence in X.
    length : int
        Its number of positions.
    wrong : tuple of int
        The positions in the sequence whose label is wrong.
    """

    sequence: int
    length: int
    wrong: tuple[int, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class ErrorAnalysis:
    """Where a model fails; `str()` is a summary.

    Attributes
    ----------
    accuracy : float
        Share of positions with the gold label; 0.0 if there is no position.
    confusion : Confusion
        Gold label against predicted label.
    spans : SpanErrors or None
        Gold spans and predicted spans by kind of error; None if the labels mark no spans.
    span_confusion : Confusion or None
        Gold type against predicted type of the spans with the same start and end. The counts are spans.
    by_label, by_length : ErrorTable
        Error rates by gold label, and by the length of the sequence in groups of about equally many sequences.
    by_unknown : ErrorTable or None
        Error rates where X has a value that training never saw, by categorical column or bag, those with the most
        wrong positions first. None if X was encoded before, because such values are then no longer known.
    by_missing : ErrorTable or None
        Error rates where a value is missing, by column. None if X was encoded before and missing values were replaced.
    by_frequency : dict of str to ErrorTable
        For each categorical column, error rates by how often the value of the position occurs in X. Models do not store
        how often a value occurs in training.
    kinds : tuple of str
        Names of the numbers in `kinds_by_position`.
    kinds_by_position : 1-D array of uint8
        What is wrong at each position, sequence after sequence: the kind of its gold span if that is not right,
        otherwise the kind of its predicted span. "label" is a wrong label in spans that are right, or outside of spans.
    starts : 1-D array of int64
        The first position of each sequence in `kinds_by_position`, and the number of positions at the end.
    wrong : 1-D array of bool
        Whether the label of each position is wrong.
    """

    accuracy: float
    confusion: Confusion
    spans: SpanErrors | None
    span_confusion: Confusion | None
    by_label: ErrorTable
    by_length: ErrorTable
    by_unknown: ErrorTable | None
    by_missing: ErrorTable | None
    by_frequency: Mapping[str, ErrorTable]
    kinds_by_position: NDArray[np.uint8]
    starts: NDArray[np.int64]
    wrong: NDArray[np.bool_]
    kinds: tuple[str, ...] = KINDS

    def worst(self, n: int = 10) -> list[SequenceErrors]:
        """List the sequences with the most wrong positions.

        Parameters
        ----------
        n : int, default=10
            The most sequences to list.

        Returns
        -------
        list of SequenceErrors
            Number, length and wrong positions; the most wrong positions first, then by number. Sequences that are
            entirely right are not listed.

        Raises
        ------
        InputError
            If n is not an integer of at least 0.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
        >>> model = hr.HMM().fit(X, y)
        >>> hr.inspection.errors(model, X, [["-", "a", "-"], ["-", "-", "-"]]).worst()
        [SequenceErrors(sequence=1, length=3, wrong=(1,))]
        """
        at = np.flatnonzero(self.wrong)
        own = np.searchsorted(self.starts, at, side="right") - 1
        counts = np.bincount(own, minlength=len(self.starts) - 1)
        order = np.argsort(-counts, kind="stable")[: check_count("worst", "n", n, 0)]
        ends = np.searchsorted(own, order, side="right")
        return [
            SequenceErrors(
                i,
                int(self.starts[i + 1] - self.starts[i]),
                tuple((at[end - counts[i] : end] - self.starts[i]).tolist()),
            )
            for i, end in zip(order.tolist(), ends.tolist(), strict=True)
            if counts[i]
        ]

    @property
    def _summary(self) -> str:
        n_wrong = int(np.count_nonzero(self.wrong))
        sequences = counted(len(self.starts) - 1, "sequence")
        return f"{sequences}, {counted(len(self.wrong), 'position')}: {n_wrong:,} wrong, accuracy {self.accuracy:.2%}"

    def _parts(self) -> list[SpanErrors | ErrorTable]:
        tables = [self.by_label, self.by_length, self.by_unknown, self.by_missing]
        shown: list[SpanErrors | ErrorTable] = [table for table in tables if table is not None and len(table)]
        return shown if self.spans is None else [self.spans, *shown]

    def __str__(self) -> str:
        return "\n\n".join([self._summary, *map(str, self._parts())])

    def _repr_html_(self) -> str:
        return f"<div><p>{escape(self._summary)}</p>{''.join(part._repr_html_() for part in self._parts())}</div>"


def errors(model: Estimator, X: SequencesLike, y: LabelsLike) -> ErrorAnalysis:
    """Find out where a model fails: kinds of errors, error rates of groups of positions, the worst sequences.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    X : list of sequences
        Read as in `fit`, and with the same columns. Use sequences that the model was not fitted on.
    y : list of lists of labels
        The gold labels. Labels that training never saw count as wrong.

    Returns
    -------
    ErrorAnalysis
        Accuracy, confusion, span errors, tables of error rates, and `worst(n)`.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    InputError
        If X or y break a rule, or X is empty.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = [["the", "cat"], ["it"]], [["B-NP", "I-NP"], ["B-NP"]]
    >>> found = hr.inspection.errors(hr.HMM().fit(X, y), [["the", "dog"]], [["B-NP", "B-NP"]])
    >>> found.accuracy, [(row.group, row.positions, row.wrong) for row in found.by_label.rows]
    (0.5, [('B-NP', 2, 1)])
    >>> [(row.group, row.positions, row.wrong) for row in found.by_unknown.rows]
    [('(no column)', 1, 0), ('symbol', 1, 1)]
    """
    fitted_model(model, "errors")
    raw = raw_if_known(X)
    return errors_of(Labelling.of(model, X if raw is None else raw, y).non_empty("errors"), raw)


def raw_if_known(X: object) -> Sequences | None:
    """X as raw columns, read once because it may be an iterator; None if it is encoded, or a Dask collection."""
    return None if isinstance(X, Encoded) or is_lazy(X) else Sequences(X, allow_empty=True)


def errors_of(labelling: Labelling, raw: Sequences | None = None) -> ErrorAnalysis:
    """The errors of predictions that are computed already; `raw` are the sequences before encoding, see `errors`."""
    wrong, gold_labels = ~labelling.right, labelling.gold_labels or []
    predicted = np.split(labelling.classes[labelling.predicted], labelling.starts[1:-1]) if gold_labels else []
    spans = span_confusion = gold_side = predicted_side = None
    if labelling.spans is not None:
        gold, found = labelling.gold_spans(), labelling.spans.coded
        gold_side = gold, kinds_of_spans(gold, found, MISSED)
        predicted_side = found, kinds_of_spans(found, gold, SPURIOUS)
        spans = counted_kinds(gold_side[1], predicted_side[1])
        span_confusion = type_confusion(labelling, gold, found)
    columns = known_columns(labelling, raw)
    missing, unknown = missing_by_column(labelling, columns, raw), unknown_by_column(labelling, columns, raw)
    return ErrorAnalysis(
        accuracy=float(np.count_nonzero(~wrong) / max(len(wrong), 1)),
        confusion=confusion(gold_labels, predicted),
        spans=spans,
        span_confusion=span_confusion,
        by_label=errors_by_label(*_gold_groups(labelling), wrong),
        by_length=errors_by_length(labelling.starts, wrong),
        by_unknown=None if unknown is None else errors_by_column("unknown value", unknown, wrong),
        by_missing=None if missing is None else errors_by_column("missing value", missing, wrong),
        by_frequency={name: errors_by_frequency(*codes, wrong) for name, codes in value_codes(columns).items()},
        kinds_by_position=kinds_of_positions(~wrong, gold_side, predicted_side),
        starts=labelling.starts,
        wrong=wrong,
    )


def _gold_groups(labelling: Labelling) -> tuple[list[Any], NDArray[np.int64]]:
    """(labels, the index of each gold label among them): those of the model, then those that training never saw."""
    assert labelling.gold is not None
    labels, groups = labelling.classes.tolist(), labelling.gold.astype(np.int64)
    unseen = groups < 0
    if unseen.any() and labelling.gold_labels:
        new, places = np.unique(np.concatenate(labelling.gold_labels)[unseen], return_inverse=True)
        groups[unseen] = len(labels) + places.ravel()
        labels += new.tolist()
    return labels, groups
