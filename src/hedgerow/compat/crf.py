"""CRF: a drop-in for sklearn_crfsuite.CRF."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow import storage
from hedgerow.compat.algorithms import check_algorithm, train
from hedgerow.compat.crfsuite_models import from_crfsuite, is_crfsuite_file
from hedgerow.compat.items import read_items
from hedgerow.compat.tagger import ModelInfo, Tagger
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError, not_fitted
from hedgerow.estimators.base import load
from hedgerow.estimators.conventions import Conventions, with_parameters
from hedgerow.estimators.linear_estimator import LinearEstimator
from hedgerow.estimators.parameters import AtLeast, MoreThan, ValueType
from hedgerow.estimators.value_types import PATH, VERBOSITY

ANYTHING = ValueType("None", lambda value: True, convert=lambda value: value)
_NO_EFFECT = "Checked, but without effect: it changes how CRFsuite finds the minimum, not where the minimum is."


@with_parameters
class CRF(Conventions):
    """Linear-chain CRF with the parameters, methods and attributes of `sklearn_crfsuite.CRF`.

    Replace `from sklearn_crfsuite import CRF` by `from hedgerow.compat import CRF`; python-crfsuite is not needed.
    Attributes are read and selected as CRFsuite does, and the objective is the same. None stands for CRFsuite's
    default. The fitted estimator of hedgerow is `estimator_`: a `LinearCRF`, or for "ap", "pa" and "arow" a
    `StructuredPerceptron` with the learned weights.

    Examples
    --------
    >>> from hedgerow.compat import CRF
    >>> X = [[{"bias": 1.0, "letter": letter} for letter in word] for word in ("cat", "dog")]
    >>> y = [["-", "a", "-"], ["-", "o", "-"]]
    >>> crf = CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100).fit(X, y)
    >>> crf.predict(X)
    [['-', 'a', '-'], ['-', 'o', '-']]
    """

    _set_by_fit: ClassVar[dict[str, tuple[str, str]]] = {
        "training_log_": ("TrainingLog", "`iterations`, `last_iteration` and times, named as by sklearn-crfsuite."),
    }

    algorithm: Annotated[
        Literal["lbfgs", "l2sgd", "ap", "pa", "arow"] | None,
        '"lbfgs", the default, minimises by quasi-Newton steps; "l2sgd" minimises the same by stochastic gradients; '
        '"ap" is the averaged perceptron, "pa" passive-aggressive learning, and "arow" adaptive regularisation of '
        "weights.",
    ] = None
    min_freq: Annotated[
        float | None,
        "Pairs of attribute and label whose values add up to less than this get no weight, nor do rarer transitions. "
        'The default is 0. Not with "ap".',
    ] = None
    all_possible_states: Annotated[
        bool | None, 'Whether pairs of attribute and label that never occur get weights too; with "ap" they always do.'
    ] = None
    all_possible_transitions: Annotated[
        bool | None, 'Whether labels that never follow each other get weights too; with "ap" they always do.'
    ] = None
    c1: Annotated[float | None, AtLeast(0), "L1 penalty; the default is 0."] = None
    c2: Annotated[float | None, AtLeast(0), "L2 penalty; the default is 1."] = None
    max_iterations: Annotated[
        int | None,
        AtLeast(1),
        'Number of steps, at most. The default is no limit for "lbfgs", 1000 for "l2sgd" and 100 for the others.',
    ] = None
    num_memories: Annotated[
        int | None, AtLeast(1), "Steps from which the inverse Hessian is approximated; the default is 6."
    ] = None
    epsilon: Annotated[
        float | None,
        AtLeast(0),
        'With "lbfgs", training ends when the gradient is at most this times the weights; the default is 1e-5. With '
        '"pa" and "arow" it ends after an epoch whose mean loss is below this; the default is 0. Without effect for '
        '"ap". These three also end after an epoch without a mistake.',
    ] = None
    period: Annotated[int | None, AtLeast(1), "Number of steps over which `delta` is measured; the default is 10."] = (
        None
    )
    delta: Annotated[
        float | None,
        AtLeast(0),
        "Training ends when the last `period` steps lowered the loss by less than this share; the default is 1e-5, and "
        '1e-6 for "l2sgd".',
    ] = None
    linesearch: Annotated[Literal["MoreThuente", "Backtracking", "StrongBacktracking"] | None, _NO_EFFECT] = None
    max_linesearch: Annotated[int | None, AtLeast(1), _NO_EFFECT] = None
    calibration_eta: Annotated[float | None, AtLeast(0), _NO_EFFECT] = None
    calibration_rate: Annotated[float | None, AtLeast(0), _NO_EFFECT] = None
    calibration_samples: Annotated[int | None, AtLeast(1), _NO_EFFECT] = None
    calibration_candidates: Annotated[int | None, AtLeast(1), _NO_EFFECT] = None
    calibration_max_trials: Annotated[int | None, AtLeast(1), _NO_EFFECT] = None
    pa_type: Annotated[
        Literal[0, 1, 2] | None,
        "Length of the steps of passive-aggressive learning: 0 as long as the loss needs, 1 (PA-I, the default) the "
        "same but at most `c`, 2 (PA-II) shorter the smaller `c` is.",
    ] = None
    c: Annotated[
        float | None,
        MoreThan(0),
        "Aggressiveness of PA-I and PA-II; the default is 1. Lower it for noisy labels.",
    ] = None
    error_sensitive: Annotated[
        bool | None,
        "Whether the loss of passive-aggressive learning grows with the square root of the number of wrong labels, "
        "which is the default; otherwise it is 1.",
    ] = None
    averaging: Annotated[
        bool | None, "Whether passive-aggressive learning averages its weights over all steps; the default is True."
    ] = None
    variance: Annotated[
        float | None,
        MoreThan(0),
        "Variance of each weight when AROW begins; the default is 1. Lower it for smaller steps.",
    ] = None
    gamma: Annotated[
        float | None,
        MoreThan(0),
        "Raise it for smaller steps of AROW and variances that shrink less; the default is 1.",
    ] = None
    verbose: Annotated[int, VERBOSITY, "True shows the progress of `fit`."] = False
    model_filename: Annotated[
        str | os.PathLike[str] | None,
        PATH,
        "`fit` saves the model to this file, in hedgerow's format. Before a fit, the model is read from this file: one "
        "that hedgerow saved, or a binary model of CRFsuite.",
    ] = None
    keep_tempfiles: Annotated[bool, "Without effect: there are no temporary files."] = False
    trainer_cls: Annotated[Any, ANYTHING, "Must be None: hedgerow trains without python-crfsuite."] = None

    def __init__(self, *values: Any, **named: Any) -> None:
        names = list(self._parameters)
        if len(values) > len(names):
            raise TypeError(f"CRF has {len(names)} parameters, but got {len(values)} values")
        positional = dict(zip(names, values, strict=False))
        for name in positional.keys() & named.keys():
            raise TypeError(f"CRF got two values for {name!r}")
        super().__init__(**positional, **named)

    def _check_combination(self) -> None:
        check_algorithm(self)

    def fit(self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> Self:
        """Learn from sequences and their labels.

        Parameters
        ----------
        X : list of lists of dicts
            The attributes of each position of each sequence, or lists of strings instead of dicts.
        y : list of lists of str
            The labels of each sequence.
        X_dev, y_dev : optional
            Dev data: scored after each iteration, for `training_log_`; never learned from.

        Returns
        -------
        self
            The fitted CRF.

        Raises
        ------
        InputError
            If the data or a parameter break a rule; before any work is done.

        Examples
        --------
        >>> from hedgerow.compat import CRF
        >>> CRF(c1=0.1, c2=0.01).fit([[["a"], ["b"]]], [["x", "y"]]).classes_
        ['x', 'y']
        """
        self.check_parameters()
        if (X_dev is None) != (y_dev is None):
            raise InputError("X_dev and y_dev must be passed together, but only one was; pass both")
        settings = self._converted()
        self.estimator_: LinearEstimator
        if settings.model_filename is not None:
            storage.check_writable(settings.model_filename)
        dev = (None, None) if X_dev is None else _without_empty(X_dev, y_dev)
        self.estimator_, self.training_log_ = train(settings, *_without_empty(X, y), *dev)
        if settings.model_filename is not None:
            self.estimator_.save(settings.model_filename)
        return self

    def predict(self, X: Any) -> list[list[str]]:
        """Predict the labels of each sequence.

        Parameters
        ----------
        X : list of lists of dicts
            Read as in `fit`. A sequence may be empty.

        Returns
        -------
        list of lists of str
            The most probable label sequences.

        Raises
        ------
        NotFittedError
            If there was no `fit`, and no model in `model_filename`.
        InputError
            If an attribute has a value that cannot be read.

        Examples
        --------
        >>> from hedgerow.compat import CRF
        >>> CRF().fit([[["a"], ["b"]]], [["x", "y"]]).predict([[["b"]], []])
        [['y'], []]
        """
        estimator = self._fitted()
        return _by_sequence(X, lambda items: [labels.tolist() for labels in estimator.predict(items, decode="viterbi")])

    def predict_single(self, xseq: Any) -> list[str]:
        """Predict the labels of one sequence.

        Parameters
        ----------
        xseq : list of dicts
            The attributes of each position.

        Returns
        -------
        list of str
            The most probable label sequence.

        Examples
        --------
        >>> from hedgerow.compat import CRF
        >>> CRF().fit([[["a"], ["b"]]], [["x", "y"]]).predict_single([["b"]])
        ['y']
        """
        return self.predict([xseq])[0]

    def predict_marginals(self, X: Any) -> list[list[dict[str, float]]]:
        """Compute the probability of each label at each position.

        Parameters
        ----------
        X : list of lists of dicts
            Read as in `fit`. A sequence may be empty.

        Returns
        -------
        list of lists of dicts
            For each position of each sequence the probabilities by label.

        Examples
        --------
        >>> from hedgerow.compat import CRF
        >>> sorted(CRF().fit([[["a"], ["b"]]], [["x", "y"]]).predict_marginals([[["b"]]])[0][0])
        ['x', 'y']
        """
        return _by_sequence(X, self._fitted().predict_marginals)

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """Compute the probability of each label at each position of one sequence.

        Parameters
        ----------
        xseq : list of dicts
            The attributes of each position.

        Returns
        -------
        list of dicts
            For each position the probabilities by label.

        Examples
        --------
        >>> from hedgerow.compat import CRF
        >>> len(CRF().fit([[["a"], ["b"]]], [["x", "y"]]).predict_marginals_single([["b"], ["a"]]))
        2
        """
        return self.predict_marginals([xseq])[0]

    def score(self, X: Any, y: Any) -> float:
        """Compute the accuracy: the share of positions with the right label.

        Parameters
        ----------
        X : list of lists of dicts
            Read as in `fit`.
        y : list of lists of str
            The gold labels.

        Returns
        -------
        float
            Between 0 and 1.

        Examples
        --------
        >>> from hedgerow.compat import CRF
        >>> X, y = [[["a"], ["b"]]], [["x", "y"]]
        >>> CRF().fit(X, y).score(X, y)
        1.0
        """
        return self._fitted().score(*_without_empty(X, y))

    @property
    def tagger_(self) -> Tagger:
        """The model with python-crfsuite's methods `tag`, `labels`, `marginal`, `probability`, `set` and `info`."""
        return Tagger(self._fitted())

    @property
    def classes_(self) -> list[str]:
        """The labels, in the order in which they first occur in the training data."""
        return self.tagger_.labels()

    @property
    def size_(self) -> int:
        """Size of the model file in bytes."""
        return int(self._info.header["size"])

    @property
    def num_attributes_(self) -> int:
        """Number of attributes with a weight."""
        return int(self._info.header["num_attrs"])

    @property
    def attributes_(self) -> list[str]:
        """The attributes with a weight, sorted."""
        return list(self._info.attributes)

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """The weight of each attribute for each label: {(attribute, label): weight}."""
        return dict(self._fitted().state_features_)

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """The weight of each pair of labels that follow each other: {(previous label, label): weight}."""
        weights: Any = self._fitted().transition_features_
        return dict(weights)

    @property
    def _info(self) -> ModelInfo:
        return self.tagger_.info()

    def _fitted(self) -> LinearEstimator:
        fitted: LinearEstimator | None = getattr(self, "estimator_", None)
        if fitted is None and self.model_filename is not None and Path(self.model_filename).exists():
            fitted = self.estimator_ = _loaded(self.model_filename)
        if fitted is None:
            raise not_fitted("this CRF is not fitted yet; call fit(X, y), or give model_filename an existing model")
        return fitted

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")


def _loaded(path: str | os.PathLike[str]) -> LinearEstimator:
    estimator = from_crfsuite(path) if is_crfsuite_file(path) else load(path)
    if not isinstance(estimator, LinearEstimator):
        raise InputError(f"model_filename must hold a linear model, but {path} holds a {type(estimator).__name__}")
    return estimator


def _without_empty(X: Any, y: Any) -> tuple[Sequences, list[Any]]:
    """(items, labels) of the sequences that are not empty; raises InputError if X and y do not have one length."""
    if isinstance(X, Sequences):
        return X, y
    X, y = list(X), list(y)
    if len(X) != len(y):
        raise InputError(f"X and y must have one length, but there are {len(X)} sequences and {len(y)} label sequences")
    kept = [i for i in range(len(X)) if len(X[i]) or len(y[i])]
    if not kept:
        raise InputError("X must hold at least one sequence that is not empty, but it holds none")
    return read_items([X[i] for i in kept]), [y[i] for i in kept]


class _Answers(list[Any]):
    """A list that becomes an array with one element for each sequence, so that scikit-learn can join folds."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.object_]:
        array = np.empty(len(self), object)
        for i, answer in enumerate(self):
            array[i] = answer
        return array


def _by_sequence(X: Any, answer: Any) -> list[Any]:
    """The answers for all sequences; an empty list for an empty sequence."""
    if isinstance(X, Sequences):
        return _Answers(answer(X))
    X = list(X)
    kept = [i for i in range(len(X)) if len(X[i])]
    answers: list[Any] = _Answers([] for _ in X)
    for i, one in zip(kept, answer(read_items([X[i] for i in kept])) if kept else (), strict=True):
        answers[i] = one
    return answers
