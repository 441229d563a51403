"""The algorithms of CRFsuite: which parameters each has, and the learner that stands for it."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.compat.crfsuite_models import with_layout
from hedgerow.compat.training_log import EndRules, LabelledData, LogWriter, TrainingLog
from hedgerow.data.sequences import Sequences
from hedgerow.encoding import Labels
from hedgerow.errors import ConvergenceWarning, InputError
from hedgerow.estimators import LinearCRF, StructuredPerceptron
from hedgerow.estimators.label_codes import label_codes
from hedgerow.estimators.parameters import ValueType

if TYPE_CHECKING:
    from hedgerow.callbacks import Callback
    from hedgerow.compat.crf import CRF
    from hedgerow.learning.base import Learner, TrainingData
    from hedgerow.learning.path_steps import StepRules

UNLIMITED = 2**31 - 1  # iterations of CRFsuite's L-BFGS by default
NO_TOLERANCE = 1e-15  # EndRules end the fit instead
_CALIBRATION = ("eta", "rate", "samples", "candidates", "max_trials")
#: The parameters of each algorithm, besides those that all have.
PARAMETERS: dict[str, Sequence[str]] = {
    "lbfgs": ("c1", "c2", "num_memories", "epsilon", "period", "delta", "linesearch", "max_linesearch"),
    "l2sgd": ("c2", "period", "delta", *(f"calibration_{name}" for name in _CALIBRATION)),
    "ap": ("epsilon",),
    "pa": ("pa_type", "c", "error_sensitive", "averaging", "epsilon"),
    "arow": ("variance", "gamma", "epsilon"),
}
ONLINE = ("ap", "pa", "arow")  # learn from best paths, one sequence at a time


_LONG_NAMES = {"averaged-perceptron": "ap", "passive-aggressive": "pa"}


def _short_name(algorithm: str | None) -> str | None:
    """The name in `PARAMETERS`, for capitals and for the long names that CRFsuite has too."""
    if algorithm is None:
        return None
    name = algorithm.lower()
    return _LONG_NAMES.get(name, name)


ALGORITHM = ValueType(
    f"one of {', '.join(map(repr, PARAMETERS))} or None",
    holds=lambda value: value is None or (isinstance(value, str) and _short_name(value) in PARAMETERS),
    convert=_short_name,
)


def check_algorithm(crf: CRF) -> None:
    """Raise InputError for a parameter of another algorithm, and for one without a meaning here."""
    algorithm = _short_name(crf.algorithm) or "lbfgs"
    for other, names in PARAMETERS.items():
        for name in names:
            if getattr(crf, name) is not None and name not in PARAMETERS[algorithm]:
                raise InputError(
                    f"CRF: {name} is a parameter of algorithm={other!r}, but the algorithm is {algorithm!r}; leave "
                    f"{name} out"
                )
    if crf.trainer_cls is not None:
        raise InputError(
            f"CRF: trainer_cls must be None, because hedgerow trains without python-crfsuite; it is {crf.trainer_cls!r}"
        )
    if algorithm == "ap" and crf.min_freq:
        raise InputError(f"CRF: algorithm='ap' has no min_freq here, but it is {crf.min_freq}; leave it out")


def train(
    crf: CRF, X: Sequences, y: Any, X_dev: Sequences | None, y_dev: Any
) -> tuple[LinearCRF | StructuredPerceptron, TrainingLog]:
    """Fit the estimator that stands for the algorithm; `crf` has checked and converted parameters."""
    from hedgerow.estimators.fitting import Frame, checked_callbacks, prepare, run_learner

    began = time.perf_counter()
    estimator = _estimator(crf)
    settings = estimator._converted()
    training, report = prepare(settings, X, y, None, None, None, None, None)
    training = _in_order_of_occurrence(training)
    learner, n_features = _learner(crf, settings, training)
    dev = None
    if X_dev is not None:
        encoded = training.encoder.transform(X_dev)
        dev = LabelledData(encoded, label_codes(training.labels, y_dev, encoded, "y_dev"), training.labels)
    log = TrainingLog(featgen_num_features=n_features, featgen_seconds=time.perf_counter() - began)
    writer = LogWriter(log, len(X), _end_rules(crf), dev)
    with warnings.catch_warnings():
        if crf.max_iterations is not None:  # the user has asked for no more
            warnings.simplefilter("ignore", ConvergenceWarning)
        # The writer comes first, because it adds the dev score that progress shows.
        callbacks: list[Callback] = [writer, *checked_callbacks([], settings.verbose)]
        run_learner(learner, settings, Frame.of(training), None, callbacks, began, report, estimator._set_model)
    with_layout(estimator)
    return estimator, log


def _in_order_of_occurrence(training: TrainingData) -> TrainingData:
    """The data with labels numbered as CRFsuite numbers them, so that ties go to the same labels."""
    order = np.array(list(dict.fromkeys(training.codes.tolist())))
    return replace(
        training,
        labels=Labels(training.labels.classes[order]),
        codes=np.argsort(order).astype(np.int32)[training.codes],
    )


def _value(value: Any, default: Any) -> Any:
    return default if value is None else value


def _estimator(crf: CRF) -> LinearCRF | StructuredPerceptron:
    """The estimator with the parameters of `crf`, as the model file will name them."""
    common: dict[str, Any] = {"decode": "viterbi", "scale": False, "verbose": int(crf.verbose)}
    if crf.algorithm in ONLINE:
        averages = crf.algorithm == "ap" or (crf.algorithm == "pa" and _value(crf.averaging, True))
        return StructuredPerceptron(
            averaging="average" if averages else "none",
            epochs=_value(crf.max_iterations, 100),
            random_state=0,
            **common,
        )
    common |= {
        "l2": float(_value(crf.c2, 1.0)),
        "tol": float(_value(crf.delta, 1e-5)) or NO_TOLERANCE,
        "min_freq": max(1, math.ceil(_value(crf.min_freq, 0))),
        "observed_only": not crf.all_possible_states,
        "all_transitions": bool(crf.all_possible_transitions),
    }
    if crf.algorithm == "l2sgd":
        return LinearCRF(solver="sgd", epochs=_value(crf.max_iterations, 1000), random_state=0, **common)
    return LinearCRF(l1=float(_value(crf.c1, 0.0)), max_iter=_value(crf.max_iterations, UNLIMITED), **common)


def _learner(crf: CRF, settings: Any, training: TrainingData) -> tuple[Learner, int]:
    """(learner, number of its weights). The features are CRFsuite's, except those of "ap"."""
    from hedgerow.compat.feature_rule import crfsuite_space
    from hedgerow.learning.margin import MarginLearner
    from hedgerow.learning.path_steps import PathStepLearner, PathStepRules
    from hedgerow.learning.quasi_newton import Penalty, QuasiNewtonLearner, QuasiNewtonRules
    from hedgerow.learning.stochastic_gradient import StochasticGradientLearner, StochasticRules

    if crf.algorithm == "ap":
        k, columns = len(training.labels), training.encoder.columns
        learner = MarginLearner(training, replace(settings._rules(training), batch=1))
        return learner, k * (k + sum(len(column.alphabet or ()) for column in columns))
    space = crfsuite_space(
        training,
        min_freq=_value(crf.min_freq, 0.0),
        all_possible_states=bool(crf.all_possible_states),
        all_possible_transitions=bool(crf.all_possible_transitions),
    )
    if crf.algorithm in ("pa", "arow"):
        path_steps = PathStepRules(
            steps=_steps(crf),
            epochs=settings.epochs,
            averaging=settings.averaging == "average",
            random_state=settings.random_state,
            tol=_value(crf.epsilon, 0.0),
        )
        return PathStepLearner(training, space, path_steps), space.n_weights
    if crf.algorithm == "l2sgd":
        stochastic = StochasticRules(epochs=settings.epochs, tol=NO_TOLERANCE, random_state=settings.random_state)
        return StochasticGradientLearner(training, space, settings.l2, stochastic), space.n_weights
    rules = QuasiNewtonRules(
        penalty=Penalty(settings.l1, settings.l2),
        max_iter=settings.max_iter,
        tol=NO_TOLERANCE,
        # On 1,000 Dutch sentences, losses agree with CRFsuite's to 1e-7 for 69 iterations, and to 1e-4 after 100. In
        # single precision they agree to 2e-6 for 30 iterations, and differ by 3e-3 before the 40th.
        double=True,
        memory=_value(crf.num_memories, 6),
        max_weight_step=sys.float_info.max,  # CRFsuite has no such limit: its steps are followed
    )
    return QuasiNewtonLearner(training, space, rules), space.n_weights


def _steps(crf: CRF) -> StepRules:
    from hedgerow.learning.path_steps import StepRules

    if crf.algorithm == "arow":
        return StepRules.arow(_value(crf.variance, 1.0), _value(crf.gamma, 1.0))
    error_sensitive = _value(crf.error_sensitive, True)
    return StepRules.passive_aggressive(_value(crf.pa_type, 1), _value(crf.c, 1.0), error_sensitive=error_sensitive)


def _end_rules(crf: CRF) -> EndRules | None:
    period = _value(crf.period, 10)
    if crf.algorithm in ONLINE:
        return None  # their learners end by themselves
    if crf.algorithm == "l2sgd":
        return EndRules(period, _value(crf.delta, 1e-6))
    return EndRules(period, _value(crf.delta, 1e-5), _value(crf.epsilon, 1e-5))
