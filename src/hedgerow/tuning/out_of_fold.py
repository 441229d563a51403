"""`cross_val_predict`: predictions for every sequence by a model that did not learn from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hedgerow.data.sequences import with_sequences
from hedgerow.errors import InputError, type_name
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.threads import n_threads
from hedgerow.tuning.budget import Stop
from hedgerow.tuning.candidates import with_parameters_of
from hedgerow.tuning.checks import check_training_parts, checked_jobs, checked_seed
from hedgerow.tuning.cross_validation import Fold, make_folds
from hedgerow.tuning.data import RaceData
from hedgerow.tuning.workers import ordered_map
from hedgerow.utilities import Floats

if TYPE_CHECKING:
    from hedgerow.typing import LabelsLike, SequencesLike

METHODS = ("predict", "predict_proba")


def cross_val_predict(
    estimator: Estimator,
    X: SequencesLike,
    y: LabelsLike,
    *,
    cv: Any = None,
    groups: Iterable[Any] | None = None,
    method: Literal["predict", "predict_proba"] = "predict",
    n_jobs: int | None = -1,
    random_state: Any = None,
) -> list[Any]:
    """Predict every sequence with a model that was fitted on the other folds.

    Parameters
    ----------
    estimator : Estimator
        Copies of it are fitted; it stays as it is.
    X : list of sequences
        Read as in `fit`.
    y : list of lists of labels
        The labels of each sequence.
    cv : int, splitter or list of (train, test), default=None
        Number of folds, a splitter of scikit-learn, or pairs of indices of sequences. None is 5, or the number of
        sequences if there are fewer. Every sequence must be in exactly one test part.
    groups : list, optional
        One value for each sequence; sequences of the same value are never separated.
    method : {"predict", "predict_proba"}, default="predict"
        What is predicted: labels, or probabilities of labels.
    n_jobs : int or None, default=-1
        Number of fits at the same time; -1 or None for all processors. Results do not depend on it.
    random_state : int, numpy generator or None, default=None
        Seed of the folds, and of the estimator if it has no seed of its own.

    Returns
    -------
    list of arrays
        In the order of X: the labels of each sequence, or arrays of shape (positions, labels). Their columns are all
        labels of y, sorted; a label that a fold did not learn has probability 0.

    Raises
    ------
    InputError
        If an argument breaks a rule.

    Examples
    --------
    >>> import hedgerow as hr
    >>> X, y = ["cat", "dog", "cot", "dag"] * 5, [["-", "v", "-"]] * 20
    >>> predicted = hr.cross_val_predict(hr.HMM(), X, y, random_state=0)
    >>> hr.metrics.accuracy(y, predicted)
    1.0
    """
    if not isinstance(estimator, Estimator):
        cure = ""
        if isinstance(estimator, type):
            cure = f"; pass {estimator.__name__}()"
        elif hasattr(estimator, "fit"):
            cure = "; use cross_val_predict of sklearn.model_selection for it, or pass hr.LinearCRF() or the like"
        raise InputError(f"estimator must be an estimator of hedgerow, but got {type_name(estimator)}{cure}")
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(map(repr, METHODS))}; it is {method!r}")
    n_workers, seed = n_threads(checked_jobs(n_jobs)), checked_seed(random_state)
    data = RaceData.read(X, y, groups)
    folds = make_folds(cv, data.groups, data.X.lengths, seed, has_groups=groups is not None)
    check_training_parts(data, folds)
    tested = np.bincount(np.concatenate([fold.test for fold in folds]), minlength=len(data.X))
    if (tested != 1).any():
        i = int(np.flatnonzero(tested != 1)[0])
        raise InputError(
            f"cv must have every sequence in exactly one test part, but sequence {i} is in {tested[i]}; use a number"
        )
    own = {} if estimator.random_state is not None else {"random_state": seed}
    copy = with_parameters_of(estimator, {**own, "n_jobs": max(1, n_workers // len(folds))})
    copy.check_parameters()
    stop = Stop(np.inf)

    def predict(fold: Fold) -> list[Any]:
        train = data.part(np.sort(fold.train))
        model = with_parameters_of(copy, {}).fit(train.X, train.y, callbacks=[lambda record: stop.is_due()])
        test = data.X[fold.test]
        if method == "predict":
            return model.predict(test)
        columns = np.searchsorted(data.labels.classes, model.classes_)
        return [_spread(p, columns, len(data.labels)) for p in model.predict_proba(test)]

    found: list[Any] = [None] * len(data.X)
    for fold, predictions in zip(folds, ordered_map(predict, folds, n_workers, stop), strict=True):
        if predictions is None:
            raise KeyboardInterrupt
        for i, prediction in zip(fold.test, predictions, strict=True):
            found[i] = prediction
    return with_sequences(found, X)


def _spread(probabilities: Floats, columns: Any, n_labels: int) -> Floats:
    """The probabilities as columns of all labels."""
    spread = np.zeros((len(probabilities), n_labels), probabilities.dtype)
    spread[:, columns] = probabilities
    return spread
