"""CRF: a drop-in for sklearn_crfsuite.CRF."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from hedgerow import storage
from hedgerow.compat.algorithms import ALGORITHM, check_algorithm, train
from hedgerow.compat.crfsuite_models import from_crfsuite, is_crfsuite_file
from hedgerow.compat.empty_sequences import by_sequence, without_empty
from hedgerow.compat.tagger import ModelInfo, Tagger
from hedgerow.compat.training_log import TrainingLog
from hedgerow.errors import InputError, not_fitted, type_name
from hedgerow.estimators.base import load
from hedgerow.estimators.conventions import Conventions, with_parameters
from hedgerow.estimators.linear_estimator import LinearEstimator
from hedgerow.estimators.parameters import AtLeast, MoreThan, ValueType
from hedgerow.estimators.value_types import PATH, VERBOSITY

ANYTHING = ValueType("None", lambda value: True, convert=lambda value: value)
_NO_EFFECT = "Checked, but without effect: it changes how CRFsuite finds the minimum, not where the minimum is."


T = TypeVar("T")


def _none_before_fit(get: Callable[[CRF], T]) -> Callable[[CRF], T]:
    """The getter of an attribute that is None before a fit, as in sklearn-crfsuite; its type is that after a fit."""

    @functools.wraps(get)
    def value(crf: CRF) -> T:
        return get(crf) if crf._has_model else cast(T, None)

    return value


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
    >>> crf.predict(X).tolist()
    [['-', 'a', '-'], ['-', 'o', '-']]
    """

    algorithm: Annotated[
        str | None,
        ALGORITHM,
        '"lbfgs", the default, minimises by quasi-Newton steps; "l2sgd" minimises the same by stochastic gradients; '
        '"ap" is the averaged perceptron, "pa" passive-aggressive learning, and "arow" adaptive regularisation of '
        'weights. Long names and capitals work too: "averaged-perceptron", "LBFGS".',
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

    def __init__(self, *values: Any, **named: Any) -> None:  # sklearn-crfsuite takes its parameters by place too
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
        self._training_log: TrainingLog
        if settings.model_filename is not None:
            storage.check_writable(settings.model_filename)
        dev = (None, None) if X_dev is None else without_empty(X_dev, y_dev)
        self.estimator_, self._training_log = train(settings, *without_empty(X, y), *dev)
        if settings.model_filename is not None:
            self.estimator_.save(settings.model_filename)
        return self

    def predict(self, X: Any) -> NDArray[np.object_]:
        """Predict the labels of each sequence.

        Parameters
        ----------
        X : list of lists of dicts
            Read as in `fit`. A sequence may be empty.

        Returns
        -------
        array of lists of str
            The most probable label sequences: one element for each sequence.

        Raises
        ------
        NotFittedError
            If there was no `fit`, and no model in `model_filename`.
        InputError
            If an attribute has a value that cannot be read.

        Examples
        --------
        >>> from hedgerow.compat import CRF
        >>> CRF().fit([[["a"], ["b"]]], [["x", "y"]]).predict([[["b"]], []]).tolist()
        [['y'], []]
        """
        estimator = self._fitted()
        return by_sequence(X, lambda items: [labels.tolist() for labels in estimator.predict(items, decode="viterbi")])

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
        labels: list[str] = self.predict([_one_sequence(xseq)])[0]
        return labels

    def predict_marginals(self, X: Any) -> NDArray[np.object_]:
        """Compute the probability of each label at each position.

        Parameters
        ----------
        X : list of lists of dicts
            Read as in `fit`. A sequence may be empty.

        Returns
        -------
        array of lists of dicts
            One element for each sequence: for each position the probabilities by label.

        Examples
        --------
        >>> from hedgerow.compat import CRF
        >>> sorted(CRF().fit([[["a"], ["b"]]], [["x", "y"]]).predict_marginals([[["b"]]])[0][0])
        ['x', 'y']
        """
        return by_sequence(X, self._fitted().predict_marginals)

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
        marginals: list[dict[str, float]] = self.predict_marginals([_one_sequence(xseq)])[0]
        return marginals

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
        return self._fitted().score(*without_empty(X, y))

    @property
    def training_log_(self) -> TrainingLog:
        """`iterations`, `last_iteration` and times, named as by sklearn-crfsuite; None without a fit."""
        return cast(TrainingLog, getattr(self, "_training_log", None))

    @property
    @_none_before_fit
    def tagger_(self) -> Tagger:
        """The model with python-crfsuite's methods `tag`, `labels`, `marginal`, `probability`, `set` and `info`."""
        return Tagger(self._fitted())

    @property
    @_none_before_fit
    def classes_(self) -> list[str]:
        """The labels, in the order in which they first occur in the training data."""
        return self.tagger_.labels()

    @property
    @_none_before_fit
    def size_(self) -> int:
        """Size of the model file in bytes."""
        return int(self._info.header["size"])

    @property
    @_none_before_fit
    def num_attributes_(self) -> int:
        """Number of attributes with a weight."""
        return int(self._info.header["num_attrs"])

    @property
    @_none_before_fit
    def attributes_(self) -> list[str]:
        """The attributes with a weight, sorted."""
        return list(self._info.attributes)

    @property
    @_none_before_fit
    def state_features_(self) -> dict[tuple[str, str], float]:
        """The weight of each attribute for each label: {(attribute, label): weight}."""
        return dict(self._fitted().state_features_)

    @property
    @_none_before_fit
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """The weight of each pair of labels that follow each other: {(previous label, label): weight}."""
        weights: Any = self._fitted().transition_features_
        return dict(weights)

    @property
    def _info(self) -> ModelInfo:
        return self.tagger_.info()

    def _fitted(self) -> LinearEstimator:
        if not self._has_model:
            raise not_fitted("this CRF is not fitted yet; call fit(X, y), or give model_filename an existing model")
        if not hasattr(self, "estimator_"):
            assert self.model_filename is not None
            self.estimator_ = _loaded(self.model_filename)
        return self.estimator_

    @property
    def _has_model(self) -> bool:
        path = self.model_filename
        return hasattr(self, "estimator_") or (path is not None and Path(path).exists())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")


CRF.__signature__ = inspect.Signature(
    [p.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) for p in CRF.__signature__.parameters.values()]
)


def _loaded(path: str | os.PathLike[str]) -> LinearEstimator:
    estimator = from_crfsuite(path) if is_crfsuite_file(path) else load(path)
    if not isinstance(estimator, LinearEstimator):
        raise InputError(f"model_filename must hold a linear model, but {path} holds a {type(estimator).__name__}")
    return estimator


def _one_sequence(x: Any) -> Any:
    if isinstance(x, Mapping):
        raise InputError(
            f"predict_single takes a list of positions, but xseq is a {type_name(x)}, which is one position; pass "
            "[xseq] if the sequence has only this position"
        )
    return x
