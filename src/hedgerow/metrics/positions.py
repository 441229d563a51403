"""Scores by position and by sequence, and who is taken for whom."""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InputError
from hedgerow.metrics.pairing import Flat, Label, LabelSequences, paired


def accuracy(y_true: LabelSequences, y_pred: LabelSequences) -> float:
    """Share of positions labelled right; 0.0 when there is no position."""
    return share_right(*paired(y_true=y_true, y_pred=y_pred))


def share_right(true: Flat, pred: Flat) -> float:
    """`accuracy` of label sequences that are flat already."""
    right: int = sum(map(eq, true.labels, pred.labels))
    return right / max(len(true.labels), 1)


def sequence_accuracy(y_true: LabelSequences, y_pred: LabelSequences) -> float:
    """Share of sequences with every position right (an empty one is right); 0.0 when there is no sequence."""
    true, pred = paired(y_true=y_true, y_pred=y_pred)
    right = start = 0
    for length in true.lengths:
        stop = start + length
        right += true.labels[start:stop] == pred.labels[start:stop]
        start = stop
    return right / max(len(true.lengths), 1)


class Confusion(NamedTuple):
    """`counts[i, j]` positions are truly `labels[i]` and were labelled `labels[j]`; `str()` is a table."""

    labels: tuple[Label, ...]
    counts: NDArray[np.int64]

    def __str__(self) -> str:
        head = ["true \\ predicted", *map(str, self.labels), "all"]
        rows = [
            [str(label), *map(str, row), str(row.sum())]
            for label, row in zip(self.labels, self.counts, strict=True)
        ]
        foot = ["all", *map(str, self.counts.sum(axis=0)), str(self.counts.sum())]
        return aligned([head, *rows, foot])


def confusion(
    y_true: LabelSequences, y_pred: LabelSequences, labels: Sequence[Label] | None = None
) -> Confusion:
    """Count how often each label was predicted for each true label.

    Rows and columns follow `labels` (by default all labels that occur, sorted). InputError when `labels`
    repeats one or lacks one that occurs.
    """
    true, pred = paired(y_true=y_true, y_pred=y_pred)
    occurring = {*true.labels, *pred.labels}
    order = tuple(sorted(occurring)) if labels is None else tuple(labels)
    code = {label: i for i, label in enumerate(order)}
    if len(code) < len(order):
        raise InputError(
            f"labels has {len(order)} entries but {len(code)} distinct ones; list each label once"
        )
    if absent := occurring - code.keys():
        some = ", ".join(sorted(map(repr, absent))[:5])
        raise InputError(f"labels lacks {len(absent)} labels that occur ({some}); list every label")
    K = len(order)
    cells = [code[t] * K + code[p] for t, p in zip(true.labels, pred.labels, strict=True)]
    counts = np.bincount(np.array(cells, dtype=np.int64), minlength=K * K).reshape(K, K)
    return Confusion(order, counts)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """A text table: the first column flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in rows
    )
