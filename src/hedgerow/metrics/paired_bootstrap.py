"""Confidence interval of the difference between two labellings, by resampling whole sequences."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from operator import eq
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.ragged import starts_of
from hedgerow.errors import InputError
from hedgerow.metrics.flat_labels import Flat, LabelSequences, flatten_alike
from hedgerow.metrics.scheme_names import check_scheme
from hedgerow.metrics.span_schemes import SpanArrays, find_spans
from hedgerow.utilities import is_count

_BLOCK = 1 << 20  # drawn sequences that are in memory at a time
MOST_RESAMPLES = 10_000_000

Counts = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Bootstrap:
    """Result of `bootstrap`; `str()` is one line, with a star if the interval excludes 0.

    Attributes
    ----------
    metric
        "accuracy" or "span_f1".
    a, b
        The metric of A and of B on all sequences.
    difference
        b - a: above 0 if B is better.
    low, high
        The interval of the difference; NaN for a single sequence, which shows no variation.
    confidence, n_resamples
        The confidence level of the interval, and the number of resamples.
    """

    metric: str
    a: float
    b: float
    difference: float
    low: float
    high: float
    confidence: float
    n_resamples: int

    def __str__(self) -> str:
        scores = f"{self.metric} A {self.a:.2%}, B {self.b:.2%}; B - A {100 * self.difference:+.2f} points"
        if isnan(self.low):
            return f"{scores}; an interval needs two sequences or more"
        star = "*" if self.low > 0 or self.high < 0 else ""
        return f"{scores}, {self.confidence:.0%} interval {interval_in_points(self)}{star}"


def interval_in_points(found: Bootstrap) -> str:
    """The interval in percentage points; "none" if there is none."""
    return "none" if isnan(found.low) else f"{100 * found.low:+.2f} to {100 * found.high:+.2f}"


def bootstrap(
    y_true: LabelSequences,
    y_a: LabelSequences,
    y_b: LabelSequences,
    *,
    metric: Literal["accuracy", "span_f1"] = "accuracy",
    scheme: str = "IOB2",
    n_resamples: int = 2000,
    confidence: float = 0.95,
    random_state: int = 0,
) -> Bootstrap:
    """Confidence interval of the difference between two labellings A and B (paired percentile bootstrap).

    A resample draws as many sequences as there are, with replacement, and scores A and B on the same drawn sequences.
    Positions of one sequence stay together, so the interval allows for mistakes that come together. It says nothing
    about other training data.

    Parameters
    ----------
    y_true, y_a, y_b
        The gold labels, and the labels of A and of B: a list of sequences each.
    metric
        "accuracy", the share of correct positions, or "span_f1", F1 over all spans.
    scheme
        How labels mark spans, for "span_f1": "IOB1", "IOB2", "IOE1", "IOE2", "IOBES" or "BILOU".
    n_resamples
        Number of resamples. More make the ends of the interval more precise.
    confidence
        Between 0 and 1. A greater value makes the interval wider.
    random_state
        Seed, an integer of at least 0. The same seed gives the same interval.

    Returns
    -------
    Bootstrap
        The metric of both, the difference B - A and its interval.

    Raises
    ------
    InputError
        If the three differ in the number of sequences, in their lengths or in the type of the labels, if there is no
        sequence, or if a parameter is not valid.

    Examples
    --------
    >>> import hedgerow as hr
    >>> gold = [["X", "Y"], ["Y", "X"]] * 20
    >>> print(hr.significance.bootstrap(gold, [["X", "X"], ["Y", "X"]] * 20, gold))
    accuracy A 75.00%, B 100.00%; B - A +25.00 points, 95% interval +17.50 to +32.50*
    """
    if metric not in ("accuracy", "span_f1"):
        raise InputError(f'metric is {metric!r}; choose "accuracy" or "span_f1"')
    check_resampling(n_resamples, random_state)
    if not isinstance(confidence, (int, float, np.floating)) or not 0 < confidence < 1:
        raise InputError(
            f"confidence must be a number between 0 and 1, but it is {confidence!r}; give 0.95, for example"
        )
    if metric == "span_f1":
        check_scheme(scheme)
    true, a, b = flatten_alike(y_true=y_true, y_a=y_a, y_b=y_b)
    if not true.lengths:
        raise InputError("y_true must hold at least one sequence, but it is empty")
    if metric == "accuracy":
        counts = accuracy_counts(true, a), accuracy_counts(true, b)
    else:
        names: dict[str, int] = {}
        spans, spans_a, spans_b = (
            find_spans(flat, scheme, names, name) for flat, name in ((true, "y_true"), (a, "y_a"), (b, "y_b"))
        )
        starts = starts_of(true.lengths)
        counts = f1_counts(spans, spans_a, starts), f1_counts(spans, spans_b, starts)
    return resampled(metric, *counts, n_resamples=n_resamples, confidence=confidence, random_state=random_state)


def check_resampling(n_resamples: object, random_state: object) -> None:
    """Raise InputError unless the number of resamples and the seed are valid."""
    if not is_count(n_resamples) or n_resamples < 1:  # type: ignore[operator]
        raise InputError(f"n_resamples must be an integer of at least 1, but it is {n_resamples!r}; give 2000")
    if n_resamples > MOST_RESAMPLES:  # type: ignore[operator]
        raise InputError(f"n_resamples must be at most {MOST_RESAMPLES:,}, but it is {n_resamples:,}; give 2000")
    if not is_count(random_state) or random_state < 0:  # type: ignore[operator]
        raise InputError(f"random_state must be an integer of at least 0, but it is {random_state!r}; give a seed")


class SequenceCounts(NamedTuple):
    """For each sequence the terms of a metric, which is sum(numerators) / sum(denominators); 0 / 0 is 0."""

    numerators: Counts
    denominators: Counts


def accuracy_counts(true: Flat, predicted: Flat) -> SequenceCounts:
    """Correct positions and all positions of each sequence."""
    starts = starts_of(true.lengths)
    right = np.fromiter(map(eq, true.labels, predicted.labels), np.bool_, len(true.labels))
    return SequenceCounts(np.diff(starts_of(right)[starts]), np.diff(starts))


def f1_counts(true: SpanArrays, predicted: SpanArrays, starts: NDArray[np.int64]) -> SequenceCounts:
    """Twice the correct spans, and gold spans plus predicted spans, of each sequence."""
    # Spans of one labelling do not overlap, so at most one has a given start.
    _, i, j = np.intersect1d(true.starts, predicted.starts, assume_unique=True, return_indices=True)
    right = true.starts[i[(true.ends[i] == predicted.ends[j]) & (true.types[i] == predicted.types[j])]]

    def by_sequence(firsts: NDArray[np.intp]) -> Counts:
        return np.bincount(np.searchsorted(starts, firsts, side="right") - 1, minlength=len(starts) - 1)

    return SequenceCounts(2 * by_sequence(right), by_sequence(true.starts) + by_sequence(predicted.starts))


def resampled(
    metric: str,
    a: SequenceCounts,
    b: SequenceCounts,
    *,
    n_resamples: int,
    random_state: int,
    confidence: float = 0.95,
) -> Bootstrap:
    """The interval of the difference between two metrics of the same sequences."""
    n, rng = len(a.numerators), np.random.default_rng(int(random_state))
    differences = np.empty(int(n_resamples))
    size = max(_BLOCK // n, 1)
    for first in range(0, len(differences), size):
        drawn = rng.integers(n, size=(min(size, len(differences) - first), n))
        own_a, own_b = (
            _ratio(counts.numerators[drawn].sum(axis=1), counts.denominators[drawn].sum(axis=1)) for counts in (a, b)
        )
        differences[first : first + size] = own_b - own_a
    if n == 1:  # every resample is the same
        differences[:] = np.nan
    low, high = np.quantile(differences, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist()
    total_a, total_b = (float(_ratio(counts.numerators.sum(), counts.denominators.sum())) for counts in (a, b))
    return Bootstrap(
        metric=metric,
        a=total_a,
        b=total_b,
        difference=total_b - total_a,
        low=low,
        high=high,
        confidence=float(confidence),
        n_resamples=int(n_resamples),
    )


def _ratio(numerators: Counts | np.int64, denominators: Counts | np.int64) -> NDArray[np.float64]:
    ratio: NDArray[np.float64] = np.divide(numerators, np.maximum(denominators, 1))
    return ratio
