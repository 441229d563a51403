"""The scorers of sklearn_crfsuite.scorers, for `scoring=` of scikit-learn's tools."""

from __future__ import annotations

from typing import Any

from hedgerow.compat.metrics import flat_accuracy_score, sequence_accuracy_score

__all__ = ["flat_accuracy", "sequence_accuracy"]


def flat_accuracy(estimator: Any, X: Any, y: Any) -> float:
    """Compute the share of positions to which an estimator gives the right label.

    Parameters
    ----------
    estimator : estimator
        A fitted one.
    X, y : list
        Sequences, and their gold labels.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from hedgerow.compat import CRF, scorers
    >>> scorers.flat_accuracy(CRF().fit([[["a"], ["b"]]], [["x", "y"]]), [[["b"]]], [["y"]])
    1.0
    """
    return flat_accuracy_score(y, estimator.predict(X))


def sequence_accuracy(estimator: Any, X: Any, y: Any) -> float:
    """Compute the share of sequences that an estimator labels without a mistake.

    Parameters
    ----------
    estimator : estimator
        A fitted one.
    X, y : list
        Sequences, and their gold labels.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from hedgerow.compat import CRF, scorers
    >>> scorers.sequence_accuracy(CRF().fit([[["a"], ["b"]]], [["x", "y"]]), [[["b"]]], [["y"]])
    1.0
    """
    return sequence_accuracy_score(y, estimator.predict(X))
