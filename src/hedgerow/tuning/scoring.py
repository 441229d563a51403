"""What a race maximises: accuracy, span F1, log-likelihood, or a function of gold and predicted labels."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hedgerow.errors import InputError
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.dev_spans import span_counts_function
from hedgerow.tuning.data import Part, RaceData
from hedgerow.tuning.evidence import Evidence
from hedgerow.utilities import Floats64

NAMES = ("accuracy", "span_f1", "log_likelihood")
# The least log-probability that a position adds: a model that calls the gold labels impossible is not infinitely bad.
LEAST = math.log(1e-10)

Scoring = Callable[[Estimator, Part], Evidence]


def scoring_of(scoring: Any, data: RaceData) -> tuple[str, Scoring]:
    """(name, function that scores a fitted estimator on a part).

    Raises InputError for an unknown name, for spans where labels mark none, and for a scorer of scikit-learn.
    """
    if callable(scoring):
        _check_arguments(scoring)
        name = f"{getattr(scoring, '__module__', '')}.{getattr(scoring, '__qualname__', type(scoring).__qualname__)}"
        return name, partial(_by_function, scoring, data)
    classes = data.labels.classes.tolist()
    marks_spans = span_counts_function(classes, classes, np.array([0, len(classes)])) is not None
    if scoring is None:
        scoring = "span_f1" if marks_spans else "accuracy"
    if scoring not in NAMES:
        known = ", ".join(f'"{name}"' for name in NAMES)
        raise InputError(f"scoring must be {known}, a function of (y_true, y_pred), or None; it is {scoring!r}")
    if scoring == "span_f1" and not marks_spans:
        raise InputError(
            'scoring="span_f1" needs labels that mark spans, such as B-NP, I-NP and O; use scoring="accuracy"'
        )
    by_name = {"accuracy": _accuracy, "span_f1": _span_f1, "log_likelihood": _log_likelihood}
    function = by_name[scoring]
    return scoring, partial(function, data)


def _check_arguments(function: Callable[..., Any]) -> None:
    """Raise InputError unless the function can be called with gold and predicted labels."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # of a compiled function
        return
    try:
        signature.bind([], [])
    except TypeError:
        name, arguments = getattr(function, "__name__", function), ", ".join(signature.parameters)
        raise InputError(
            f"scoring must be a function of (y_true, y_pred), but {name!s} is one of ({arguments}); pass a metric such "
            'as hr.metrics.accuracy instead of a scorer, or a name such as "accuracy"'
        ) from None


def _accuracy(data: RaceData, model: Estimator, part: Part) -> Evidence:
    predicted = data.labels.codes(model.predict(part.X), part.X)
    correct = np.add.reduceat((predicted == part.codes).astype(np.int64), part.X.starts[:-1])
    return _by_group(part, correct, part.X.lengths)


def _span_f1(data: RaceData, model: Estimator, part: Part) -> Evidence:
    classes = data.labels.classes.tolist()
    gold = [classes[code] for code in part.codes.tolist()]
    counts = span_counts_function(classes, gold, part.X.starts)
    assert counts is not None
    n_correct, n_spans = counts(data.labels.codes(model.predict(part.X), part.X))
    return _by_group(part, 2 * n_correct, n_spans)


def _log_likelihood(data: RaceData, model: Estimator, part: Part) -> Evidence:
    """The mean log-probability of a sequence; sequences with labels that training never saw are left out."""
    seen = np.isin(data.labels.classes, model.classes_)[part.codes]
    known = np.logical_and.reduceat(seen, part.X.starts[:-1])
    log_p = np.maximum(model.log_likelihood(part.X, part.y), LEAST * part.X.lengths)
    return _by_group(part, np.where(known, log_p, 0.0), known)


def _by_function(function: Callable[[Any, Any], Any], data: RaceData, model: Estimator, part: Part) -> Evidence:
    value = function(data.decoded(part), model.predict(part.X))
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"scoring must return a finite number, but it returned {value!r}; mend the function")
    return Evidence(np.array([number]), np.ones(1))


def _by_group(part: Part, gains: Any, sizes: Any) -> Evidence:
    """Sums over the sequences of each group, which are not independent of each other."""
    _, unit = np.unique(part.groups, return_inverse=True)

    def sums(values: Any) -> Floats64:
        return np.bincount(unit, weights=values).astype(np.float64)

    return Evidence(sums(gains), sums(sizes))
