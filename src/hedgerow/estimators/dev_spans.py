"""Labels that mark spans; spans of predicted label codes against gold labels: counts for each sequence, and F1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_LETTERS = "BIELSUO"  # of all schemes; L is E and U is S in BILOU


class _Spans(NamedTuple):
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]
    types: NDArray[np.int64]


Counts = NDArray[np.int64]


def marks_spans(classes: Sequence[Any]) -> bool:
    """Whether the labels mark spans: each fits a scheme, such as "O" and "B-NP", and some have a type."""
    return fit_a_scheme(classes) and any(len(name) > 2 for name in classes)


def fit_a_scheme(names: Sequence[Any]) -> bool:
    """Whether each label is a letter of a scheme, alone or with a dash and a type."""
    return all(isinstance(name, str) and name[:1] in _LETTERS and name[1:2] in ("", "-") for name in names)


def span_f1_function(
    classes: Sequence[Any], gold: Sequence[Any], starts: NDArray[np.int64]
) -> Callable[[NDArray[np.int32]], float] | None:
    """A function of label codes that returns their span F1 against gold labels; None if the labels mark no spans.

    `starts` are the first positions of the sequences. The rules are those of `hedgerow.metrics.span_f1`.
    """
    counts = span_counts_function(classes, gold, starts)
    if counts is None:
        return None

    def span_f1(codes: NDArray[np.int32]) -> float:
        n_correct, n_spans = map(np.sum, counts(codes))
        return float(2 * n_correct / n_spans) if n_spans else 0.0

    return span_f1


def span_counts_function(
    classes: Sequence[Any], gold: Sequence[Any], starts: NDArray[np.int64]
) -> Callable[[NDArray[np.int32]], tuple[Counts, Counts]] | None:
    """A function of label codes that counts, for each sequence, correct spans, and predicted plus gold spans.

    None if the labels mark no spans.
    """
    names = list(dict.fromkeys([*classes, *gold]))
    if not (marks_spans(classes) and fit_a_scheme(names)):
        return None
    types = {name: i for i, name in enumerate(dict.fromkeys(name[2:] for name in names))}
    type_of = np.array([types[name[2:]] for name in names])
    can_go_on, goes_on, outside = (np.array([name[0] in letters for name in names]) for letters in ("BI", "IEL", "O"))
    is_first = np.zeros(int(starts[-1]), np.bool_)
    is_first[starts[:-1]] = True

    def spans(codes: NDArray[Any]) -> _Spans:
        kinds = type_of[codes]
        joined = np.zeros(len(codes) + 1, np.bool_)
        joined[1:-1] = can_go_on[codes[:-1]] & goes_on[codes[1:]] & (kinds[:-1] == kinds[1:]) & ~is_first[1:]
        inside = ~outside[codes]
        first, last = np.flatnonzero(inside & ~joined[:-1]), np.flatnonzero(inside & ~joined[1:])
        return _Spans(first, last, kinds[first])

    code_of = {name: i for i, name in enumerate(names)}
    gold_spans = spans(np.array([code_of[label] for label in gold]))
    end_at, type_at = np.full(len(gold), -1), np.full(len(gold), -1)
    end_at[gold_spans.starts], type_at[gold_spans.starts] = gold_spans.ends, gold_spans.types

    def by_sequence(positions: NDArray[np.intp]) -> Counts:
        return np.bincount(np.searchsorted(starts, positions, side="right") - 1, minlength=len(starts) - 1)

    n_gold = by_sequence(gold_spans.starts)

    def counts(codes: NDArray[np.int32]) -> tuple[Counts, Counts]:
        predicted = spans(codes)
        first = predicted.starts
        correct = (end_at[first] == predicted.ends) & (type_at[first] == predicted.types)
        return by_sequence(first[correct]), by_sequence(first) + n_gold

    return counts
