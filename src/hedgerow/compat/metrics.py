"""The metrics of sklearn_crfsuite.metrics: scikit-learn's, over the labels of all positions.

Only `sequence_accuracy_score` and `flat_accuracy_score` work without scikit-learn.
"""

from __future__ import annotations

from typing import Any

from hedgerow.compat.utils import flatten
from hedgerow.metrics import accuracy, sequence_accuracy

__all__ = [
    "flat_accuracy_score",
    "flat_classification_report",
    "flat_f1_score",
    "flat_fbeta_score",
    "flat_precision_score",
    "flat_recall_score",
    "sequence_accuracy_score",
]


def _score(name: str, y_true: Any, y_pred: Any, **options: Any) -> Any:
    from sklearn import metrics

    return getattr(metrics, name)(flatten(y_true), flatten(y_pred), **options)


def flat_accuracy_score(y_true: Any, y_pred: Any) -> float:
    """Compute the share of positions with the right label.

    Parameters
    ----------
    y_true, y_pred : list of lists of labels
        Gold labels, and predicted labels.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from hedgerow.compat import metrics
    >>> metrics.flat_accuracy_score([["x", "y"], ["x", "y"]], [["x", "y"], ["y", "y"]])
    0.75
    """
    return accuracy(y_true, y_pred)


def flat_precision_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """Compute the precision of the labels of positions.

    Parameters
    ----------
    y_true, y_pred : list of lists of labels
        Gold labels, and predicted labels.
    **kwargs
        Passed on to `sklearn.metrics.precision_score`, such as `average` and `labels`.

    Returns
    -------
    float or array
        As scikit-learn returns it.

    Examples
    --------
    >>> from hedgerow.compat import metrics
    >>> y_true, y_pred = [["x", "y"], ["x", "y"]], [["x", "y"], ["y", "y"]]
    >>> round(float(metrics.flat_precision_score(y_true, y_pred, pos_label="y")), 2)
    0.67
    """
    return _score("precision_score", y_true, y_pred, **kwargs)


def flat_recall_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """Compute the recall of the labels of positions.

    Parameters
    ----------
    y_true, y_pred : list of lists of labels
        Gold labels, and predicted labels.
    **kwargs
        Passed on to `sklearn.metrics.recall_score`, such as `average` and `labels`.

    Returns
    -------
    float or array
        As scikit-learn returns it.

    Examples
    --------
    >>> from hedgerow.compat import metrics
    >>> y_true, y_pred = [["x", "y"], ["x", "y"]], [["x", "y"], ["y", "y"]]
    >>> round(float(metrics.flat_recall_score(y_true, y_pred, pos_label="y")), 2)
    1.0
    """
    return _score("recall_score", y_true, y_pred, **kwargs)


def flat_f1_score(y_true: Any, y_pred: Any, **kwargs: Any) -> Any:
    """Compute the F1 of the labels of positions.

    Parameters
    ----------
    y_true, y_pred : list of lists of labels
        Gold labels, and predicted labels.
    **kwargs
        Passed on to `sklearn.metrics.f1_score`, such as `average` and `labels`.

    Returns
    -------
    float or array
        As scikit-learn returns it.

    Examples
    --------
    >>> from hedgerow.compat import metrics
    >>> y_true, y_pred = [["x", "y"], ["x", "y"]], [["x", "y"], ["y", "y"]]
    >>> round(float(metrics.flat_f1_score(y_true, y_pred, pos_label="y")), 2)
    0.8
    """
    return _score("f1_score", y_true, y_pred, **kwargs)


def flat_fbeta_score(y_true: Any, y_pred: Any, beta: float, **kwargs: Any) -> Any:
    """Compute the F-beta of the labels of positions.

    Parameters
    ----------
    y_true, y_pred : list of lists of labels
        Gold labels, and predicted labels.
    beta : float
        Weight of recall.
    **kwargs
        Passed on to `sklearn.metrics.fbeta_score`, such as `average` and `labels`.

    Returns
    -------
    float or array
        As scikit-learn returns it.

    Examples
    --------
    >>> from hedgerow.compat import metrics
    >>> y_true, y_pred = [["x", "y"], ["x", "y"]], [["x", "y"], ["y", "y"]]
    >>> float(metrics.flat_fbeta_score(y_true, y_pred, beta=1.0, pos_label="y"))
    0.8
    """
    return _score("fbeta_score", y_true, y_pred, beta=beta, **kwargs)


def flat_classification_report(y_true: Any, y_pred: Any, labels: Any = None, **kwargs: Any) -> Any:
    """Describe the labels of positions in a table.

    Parameters
    ----------
    y_true, y_pred : list of lists of labels
        Gold labels, and predicted labels.
    labels : list, optional
        The labels to show, in this order.
    **kwargs
        Passed on to `sklearn.metrics.classification_report`, such as `average` and `labels`.

    Returns
    -------
    str or dict
        As scikit-learn returns it.

    Examples
    --------
    >>> from hedgerow.compat import metrics
    >>> y_true, y_pred = [["x", "y"], ["x", "y"]], [["x", "y"], ["y", "y"]]
    >>> metrics.flat_classification_report(y_true, y_pred, output_dict=True)["accuracy"]
    0.75
    """
    return _score("classification_report", y_true, y_pred, labels=labels, **kwargs)


def sequence_accuracy_score(y_true: Any, y_pred: Any) -> float:
    """Compute the share of sequences without a mistake.

    Parameters
    ----------
    y_true, y_pred : list of lists of labels
        Gold labels, and predicted labels.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from hedgerow.compat import metrics
    >>> metrics.sequence_accuracy_score([["x", "y"], ["x", "y"]], [["x", "y"], ["y", "y"]])
    0.5
    """
    return sequence_accuracy(y_true, y_pred)
