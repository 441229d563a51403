"""Scorers: functions of (estimator, X, y), as `scoring=` of scikit-learn's searches takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.metrics.flat_labels import flatten
from hedgerow.metrics.label_scores import accuracy, sequence_accuracy
from hedgerow.metrics.span_scores import span_f1

if TYPE_CHECKING:
    from hedgerow.typing import LabelsLike, SequencesLike


def accuracy_scorer(estimator: Any, X: SequencesLike, y: LabelsLike) -> float:
    """Share of positions that a fitted estimator labels correctly.

    Parameters
    ----------
    estimator
        A fitted estimator, or a pipeline that ends in one.
    X, y
        Sequences and their gold labels.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
    >>> hr.metrics.accuracy_scorer(hr.HMM().fit(X, y), X, y)
    1.0
    """
    return accuracy(y, estimator.predict(X))


def sequence_accuracy_scorer(estimator: Any, X: SequencesLike, y: LabelsLike) -> float:
    """Share of sequences that a fitted estimator labels without any mistake.

    Parameters
    ----------
    estimator
        A fitted estimator, or a pipeline that ends in one.
    X, y
        Sequences and their gold labels.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
    >>> hr.metrics.sequence_accuracy_scorer(hr.HMM().fit(X, y), X, y)
    1.0
    """
    return sequence_accuracy(y, estimator.predict(X))


def span_f1_scorer(estimator: Any, X: SequencesLike, y: LabelsLike) -> float:
    """F1 of the spans that a fitted estimator finds, over all types.

    The scheme is read off the letters of the labels: BILOU if there is an `L` or a `U`, IOBES if there is an `S`,
    otherwise IOB2, which gives the same spans as IOB1, IOE1 and IOE2.

    Parameters
    ----------
    estimator
        A fitted estimator, or a pipeline that ends in one.
    X, y
        Sequences and their gold labels, such as `B-NP`, `I-NP`, `O`.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = [["Ann", "Lee", "left"], ["to", "York"]], [["B-PER", "I-PER", "O"], ["O", "B-LOC"]]
    >>> hr.metrics.span_f1_scorer(hr.HMM().fit(X, y), X, y)
    1.0
    """
    gold, predicted = [list(labels) for labels in y], estimator.predict(X)
    letters = {str(label)[:1] for label in (*flatten(gold, "y").labels, *flatten(predicted, "y_pred").labels)}
    scheme = "BILOU" if letters & {"L", "U"} else "IOBES" if "S" in letters else "IOB2"
    return span_f1(gold, predicted, scheme=scheme)


def log_likelihood_scorer(estimator: Any, X: SequencesLike, y: LabelsLike) -> float:
    """Mean log-probability that a fitted estimator gives the gold labels of a sequence.

    Parameters
    ----------
    estimator
        A fitted estimator, or a pipeline that ends in one.
    X, y
        Sequences and their gold labels.

    Returns
    -------
    float
        At most 0; -inf if `y` has a label that training never saw.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
    >>> hr.metrics.log_likelihood_scorer(hr.HMM().fit(X, y), X, y) < 0
    True
    """
    return float(np.mean(estimator.log_likelihood(X, y)))
