"""Accuracy by position and by sequence, and the confusion matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import eq

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InputError
from hedgerow.metrics.flat_labels import Flat, Label, LabelSequences, flatten_alike
from hedgerow.metrics.text_table import text_table

_WIDEST = 50  # labels of a table with a column for each label
_MOST_PAIRS = 50  # shown as HTML


def accuracy(y_true: LabelSequences, y_pred: LabelSequences) -> float:
    """Share of positions with the correct label.

    Parameters
    ----------
    y_true, y_pred
        Gold and predicted labels: a list of sequences each, of strings or of integers.

    Returns
    -------
    float
        From 0 to 1; 0.0 if there is no position.

    Raises
    ------
    InputError
        If the two differ in the number of sequences, in their lengths, or in the type of the labels.

    Examples
    --------
    >>> import hedgerow as hr
    >>> hr.metrics.accuracy([["A", "B"], ["A", "A"]], [["A", "B"], ["A", "B"]])
    0.75
    """
    return flat_accuracy(*flatten_alike(y_true=y_true, y_pred=y_pred))


def flat_accuracy(true: Flat, pred: Flat) -> float:
    """`accuracy` of label sequences that are flat already."""
    n_correct: int = sum(map(eq, true.labels, pred.labels))
    return n_correct / max(len(true.labels), 1)


def sequence_accuracy(y_true: LabelSequences, y_pred: LabelSequences) -> float:
    """Share of sequences with the correct label at every position.

    Parameters
    ----------
    y_true, y_pred
        Gold and predicted labels: a list of sequences each, of strings or of integers.

    Returns
    -------
    float
        From 0 to 1; 0.0 if there is no sequence. An empty sequence counts as correct.

    Raises
    ------
    InputError
        If the two differ in the number of sequences, in their lengths, or in the type of the labels.

    Examples
    --------
    >>> import hedgerow as hr
    >>> hr.metrics.sequence_accuracy([["A", "B"], ["A", "A"]], [["A", "B"], ["A", "B"]])
    0.5
    """
    true, pred = flatten_alike(y_true=y_true, y_pred=y_pred)
    n_correct = start = 0
    for length in true.lengths:
        stop = start + length
        n_correct += true.labels[start:stop] == pred.labels[start:stop]
        start = stop
    return n_correct / max(len(true.lengths), 1)


@dataclass(frozen=True)
class Confusion:
    """Confusion matrix; `str()` is a table.

    Attributes
    ----------
    labels
        The labels of the rows and of the columns.
    pairs
        (gold label, predicted label, number of positions) of every pair that occurs, the most frequent first. Pairs
        that are equally frequent are in the order of `labels`.
    """

    labels: tuple[Label, ...]
    pairs: tuple[tuple[Label, Label, int], ...]

    @property
    def counts(self) -> NDArray[np.int64]:
        """`counts[i, j]` is the number of positions with gold label `labels[i]` and predicted label `labels[j]`.

        The matrix is made from `pairs`. Its memory is quadratic in the number of labels.
        """
        code = {label: i for i, label in enumerate(self.labels)}
        counts = np.zeros((len(code), len(code)), np.int64)
        for gold, predicted, count in self.pairs:
            counts[code[gold], code[predicted]] = count
        return counts

    def __str__(self) -> str:
        return text_table(self._rows())

    def _repr_html_(self) -> str:
        from hedgerow.data.html_repr import html_table

        head, *rows = self._rows()
        hidden = len(rows) - _MOST_PAIRS if self._is_list else 0
        if hidden <= 0:
            return f"<div>{html_table(head, rows)}</div>"
        return f"<div>{html_table(head, rows[:_MOST_PAIRS])}<p>… {hidden:,} more</p></div>"

    @property
    def _is_list(self) -> bool:
        """Whether tables have a row for each pair, because there are too many labels for a matrix."""
        return len(self.labels) > _WIDEST

    def _rows(self) -> list[list[str]]:
        """The head and the rows of a table."""
        if self._is_list:
            pairs = [[str(gold), str(predicted), f"{count:,}"] for gold, predicted, count in self.pairs]
            return [["true", "predicted", "positions"], *pairs]
        counts = self.counts
        totals = np.column_stack([np.vstack([counts, counts.sum(axis=0)]), np.append(counts.sum(axis=1), counts.sum())])
        names = [*map(str, self.labels), "all"]
        rows = [[name, *(f"{n:,}" for n in row)] for name, row in zip(names, totals.tolist(), strict=True)]
        return [["true \\ predicted", *names], *rows]


def confusion(y_true: LabelSequences, y_pred: LabelSequences, labels: Sequence[Label] | None = None) -> Confusion:
    """Confusion matrix: how often each label was predicted for each gold label.

    Parameters
    ----------
    y_true, y_pred
        Gold and predicted labels: a list of sequences each, of strings or of integers.
    labels
        The order of rows and columns. The default is all labels that occur, sorted.

    Returns
    -------
    Confusion
        Rows are gold labels, columns are predicted labels; also as a list of the pairs that occur.

    Raises
    ------
    InputError
        If `labels` repeats a label or lacks one that occurs, or if the shapes of `y_true` and `y_pred` differ.

    Examples
    --------
    >>> import hedgerow as hr
    >>> confusion = hr.metrics.confusion([["A", "B"], ["A", "A"]], [["A", "B"], ["A", "B"]])
    >>> confusion.counts.tolist()
    [[2, 1], [0, 1]]
    >>> confusion.pairs
    (('A', 'A', 2), ('A', 'B', 1), ('B', 'B', 1))
    """
    true, pred = flatten_alike(y_true=y_true, y_pred=y_pred)
    occurring = {*true.labels, *pred.labels}
    order = tuple(sorted(occurring)) if labels is None else tuple(labels)
    code = {label: i for i, label in enumerate(order)}
    if len(code) < len(order):
        raise InputError(f"labels has {len(order)} entries but {len(code)} distinct ones; list each label once")
    if unlisted := occurring - code.keys():
        some = ", ".join(sorted(map(repr, unlisted))[:5])
        raise InputError(f"labels lacks {len(unlisted)} labels that occur ({some}); list every label")
    found = Counter(zip(true.labels, pred.labels, strict=True))
    listed = sorted(found.items(), key=lambda item: (-item[1], code[item[0][0]], code[item[0][1]]))
    return Confusion(order, tuple((gold, predicted, count) for (gold, predicted), count in listed))
