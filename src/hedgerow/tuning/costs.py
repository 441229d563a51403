"""About how long a fit takes, from counts alone, so that the plan of a race never depends on the clock.

The constants were measured on one core of a present-day server; they need only be right within a factor of two or so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hedgerow.codes.code_words import checked_length, most_bits
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.window import Window
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.opinion_pool import OpinionPool
from hedgerow.estimators.output_code import BIT_ROUNDS, OutputCode
from hedgerow.estimators.svm import StructuredSVM
from hedgerow.tuning.traits import Traits
from hedgerow.utilities import is_count

LINEAR_FITS = 6  # of the linear part of a TreeCRF: one for each fold, and one on all data
ROUNDS, ITERATIONS, ITERATIONS_L1, EPOCHS = 150, 100, 250, 20
# Microseconds that one attribute of one position adds to one step; for trees, and for each label, by kind of columns:
# splits of words and numbers have many values to choose from.
_ATTRIBUTE = {"linear": 0.02, "online": 0.05}
_TREE_ATTRIBUTE = {"letters": 0.01, "columns": 0.02, "words": 0.04, "bags": 0.04, "numbers": 0.04}
# Of trees that read words through label statistics: rounds, microseconds for a score, scores of a position at most.
_SCORE_ROUNDS, _SCORE, _MOST_SCORES = 100, 0.007, 400
_SLOW_CONVERGENCE = 4  # of quasi-Newton steps on numbers
_PAIR_OF_LABELS, _POSITION = 5e-4, 0.3
# Of an output code: bits are learned again after a choice on dev data, "cross" also learns them on two thirds of the
# data three times, and there are so many rounds that what each costs whatever the data are counts: seconds a round.
_CHOICE, _CROSS, _BIT_ROUND = 2, 3, 5e-4


def fit_seconds(estimator: Estimator, traits: Traits) -> float:
    """Seconds that a fit on all data takes, roughly."""
    if isinstance(estimator, OutputCode):
        return _fits_of_a_bit(estimator, traits) * _bit_seconds(estimator, traits)
    if isinstance(estimator, OpinionPool):
        own = {"features": estimator.features}
        base = type(estimator._base)(**estimator._base.get_params(deep=False) | own)
        return estimator._n_models * fit_seconds(base, traits)
    K = traits.n_labels
    steps, learner = _steps(estimator)
    attributes = _attributes(estimator, traits)
    attribute = K * _TREE_ATTRIBUTE[traits.kind] if learner == "trees" else _ATTRIBUTE[learner]
    if getattr(estimator, "label_statistics", False) and traits.kind in ("words", "bags"):
        attribute, attributes = _SCORE, min(16 * K, _MOST_SCORES)
        steps = min(steps, _SCORE_ROUNDS)
    if learner == "linear" and traits.kind == "numbers":
        steps *= _SLOW_CONVERGENCE
    step = _POSITION + attribute * attributes + _PAIR_OF_LABELS * K ** (1 + min(estimator._order, 2))
    seconds = float(1e-6 * traits.n_positions * steps * step)
    if getattr(estimator, "linear", None):  # trees beside a linear part, which is fitted once for each of its folds
        seconds += LINEAR_FITS * fit_seconds(StructuredSVM(features=estimator.features, epochs=EPOCHS // 2), traits)
    return seconds


def _fits_of_a_bit(code: OutputCode, traits: Traits) -> float:
    """How many fits of a bit an output code takes."""
    fits = float(_n_bits(code, traits.n_labels))
    if (isinstance(code.code, str) and code.code == "grow") or code.cascade == "auto":
        fits *= _CHOICE
    return fits * _CROSS if code.cascade_predictions == "cross" and code.cascade else fits


def _n_bits(code: OutputCode, n_labels: int) -> int:
    if code.n_bits is not None:
        return int(code.n_bits)
    if not isinstance(code.code, str):
        return int(np.asarray(code.code).shape[-1])
    lengths = {"one-vs-rest": n_labels, "exhaustive": most_bits(min(n_labels, 40))}
    return lengths.get(code.code) or checked_length(None, n_labels)


def _bit_seconds(code: OutputCode, traits: Traits) -> float:
    """Seconds of a fit of the base to two labels."""
    own: dict[str, Any] = {"features": code.features}
    if getattr(code._base, "n_rounds", None) == "auto":
        own["n_rounds"] = BIT_ROUNDS
    base = type(code._base)(**code._base.get_params(deep=False) | own)
    steps, learner = _steps(base)
    return fit_seconds(base, replace(traits, n_labels=2)) + (_BIT_ROUND * steps if learner == "trees" else 0.0)


def _steps(estimator: Estimator) -> tuple[float, str]:
    """(number of steps, what a step does)."""
    params = estimator.get_params(deep=False)
    if "n_rounds" in params and params.get("learner", "trees") == "trees":
        return _count(params["n_rounds"], ROUNDS), "trees"
    if "max_iter" in params:
        usual = ITERATIONS_L1 if params.get("l1") else ITERATIONS
        return min(_count(params["max_iter"], usual), usual), "linear"
    if "epochs" in params:
        return _count(params["epochs"], EPOCHS), "online"
    return 1, "linear"


def _count(value: Any, usual: int) -> int:
    return int(value) if is_count(value) else usual


def _attributes(estimator: Estimator, traits: Traits) -> float:
    """How many attributes a position has: values of columns through the window, and those of a template."""
    raw = traits.X if isinstance(traits.X, Sequences) else None
    derived = 0 if estimator.features is None or raw is None else len(estimator.features.plan(raw))
    read = traits.attributes if derived == 0 or traits.kind == "numbers" else 0
    return derived + read * len(Window.of(getattr(estimator, "window", 0)).offsets)
