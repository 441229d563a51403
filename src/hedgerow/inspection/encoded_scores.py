"""Scores of encoded sequences against fixed gold labels, for views that change X many times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.read_y import read_labels
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.dev_spans import span_f1_function
from hedgerow.estimators.label_codes import label_codes
from hedgerow.inference.answers import Answers
from hedgerow.inference.decoding import log_likelihood

Metric: TypeAlias = Literal["accuracy", "span_f1", "log_likelihood"]
Score: TypeAlias = Callable[[Encoded], float]


def score_function(estimator: Estimator, y: Any, encoded: Encoded, metric: Metric, view: str) -> Score:
    """The score of encoded sequences with these gold labels; raises InputError if the labels do not allow it."""
    labels = estimator._fitted().labels
    flat = read_labels(y, encoded)
    gold = label_codes(labels, flat, encoded)
    classes = labels.classes.tolist()
    decode = estimator._decoding(classes, estimator._value("decode"))
    if metric == "accuracy":
        return lambda some: float(np.mean(estimator._best_labels(some, decode) == gold))
    if metric == "span_f1":
        f1 = span_f1_function(classes, flat.tolist(), encoded.starts)
        if f1 is None:
            raise InputError(
                f'{view}: metric="span_f1" needs labels that mark spans, such as B-NP, I-NP and O, but the labels are '
                f'{classes[:5]}; use metric="accuracy"'
            )
        return lambda some: float(f1(estimator._best_labels(some, decode)))
    possible = np.isfinite(_log_likelihoods(estimator, encoded, gold))
    if not possible.any():
        raise InputError(f"{view}: the model gives the gold labels of every sequence the probability 0; use accuracy")
    n_positions = int(np.diff(encoded.starts)[possible].sum())
    return lambda some: float(_log_likelihoods(estimator, some, gold)[possible].sum() / n_positions)


def _log_likelihoods(estimator: Estimator, encoded: Encoded, gold: NDArray[np.int32]) -> NDArray[np.float64]:
    """log P(gold labels | sequence) by sequence."""
    first = 0

    def of_block(answers: Answers) -> NDArray[np.float64]:
        nonlocal first
        own = gold[first : first + int(answers.starts[-1])]
        first += len(own)
        return log_likelihood(answers, own)

    return np.concatenate(list(estimator._ask(encoded, of_block)))
