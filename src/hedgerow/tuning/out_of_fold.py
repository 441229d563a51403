"""`cross_val_predict`: predictions for every sequence by a model that did not learn from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hedgerow.data.sequences import with_sequences
from hedgerow.distributed.tasks import WorkerTasks
from hedgerow.errors import InputError, type_name
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.threads import n_threads
from hedgerow.tuning.budget import Stop
from hedgerow.tuning.candidates import with_parameters_of
from hedgerow.tuning.checks import check_training_parts, checked_jobs, checked_seed
from hedgerow.tuning.cross_validation import Fold, make_folds
from hedgerow.tuning.data import RaceData
from hedgerow.tuning.workers import map_on_workers, ordered_map
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
    client: Any = None,
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
    client : distributed.Client, optional
        Fits the folds on the workers of this Dask cluster, instead of threads of this process. The data are sent to
        every worker once. Results are the same.

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
    n_each = 1 if client is not None else max(1, n_workers // len(folds))  # a worker fits a fold in each of its threads
    own = {} if estimator.random_state is not None else {"random_state": seed}
    copy = with_parameters_of(estimator, {**own, "n_jobs": n_each})
    copy.check_parameters()
    stop, work = Stop(np.inf), FoldPredictions(data, copy, method)
    if client is None:
        found_by_fold = ordered_map(lambda fold: work.of(fold, stop.is_due), folds, n_workers, stop)
    else:
        found_by_fold = map_on_workers(WorkerTasks(client, work), predictions_on_worker, folds, stop)
    found: list[Any] = [None] * len(data.X)
    for fold, predictions in zip(folds, found_by_fold, strict=True):
        if predictions is None:
            raise KeyboardInterrupt
        for i, prediction in zip(fold.test, predictions, strict=True):
            found[i] = prediction
    return with_sequences(found, X)


@dataclass(frozen=True, eq=False)
class FoldPredictions:
    """What all folds share."""

    data: RaceData
    estimator: Estimator
    method: str

    def of(self, fold: Fold, is_due: Callable[[], bool]) -> list[Any]:
        """The predictions for the test part of a fold, by a model of its training part."""
        train = self.data.part(np.sort(fold.train))
        model = with_parameters_of(self.estimator, {}).fit(train.X, train.y, callbacks=[lambda record: is_due()])
        test = self.data.X[fold.test]
        if self.method == "predict":
            return model.predict(test)
        columns = np.searchsorted(self.data.labels.classes, model.classes_)
        return [_spread(p, columns, len(self.data.labels)) for p in model.predict_proba(test)]


def predictions_on_worker(work: FoldPredictions, fold: Fold, is_due: Callable[[], bool]) -> list[Any]:
    """`FoldPredictions.of` for the workers of a cluster."""
    return list(work.of(fold, is_due))


def _spread(probabilities: Floats, columns: Any, n_labels: int) -> Floats:
    """The probabilities as columns of all labels."""
    spread = np.zeros((len(probabilities), n_labels), probabilities.dtype)
    spread[:, columns] = probabilities
    return spread
