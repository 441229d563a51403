"""About how long a fit takes, from counts alone, so that the plan of a race never depends on the clock.

The constants were measured on one core of a present-day server; they need only be right within a factor of two or so.
"""

from __future__ import annotations

from typing import Any

from hedgerow.encoding.window import Window
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.linear_crf import LinearCRF
from hedgerow.tuning.traits import Traits

LINEAR_FITS = 6
ROUNDS, ITERATIONS, ITERATIONS_L1, EPOCHS = 150, 150, 350, 20
# Microseconds that one attribute of one position adds to one step; trees also multiply by labels.
_ATTRIBUTE = {"linear": 0.02, "online": 0.05, "trees": 0.02}
_PAIR_OF_LABELS, _POSITION = 5e-4, 0.3


def fit_seconds(estimator: Estimator, traits: Traits) -> float:
    """Seconds that a fit on all data takes, roughly."""
    K = traits.n_labels
    steps, learner = _steps(estimator)
    attributes = _attributes(estimator, traits)
    attribute = _ATTRIBUTE[learner] * (K if learner == "trees" else 1)
    if traits.kind == "numbers":  # numeric splits have many thresholds, and quasi-Newton steps converge slowly
        attribute *= 3
    step = _POSITION + attribute * attributes + _PAIR_OF_LABELS * K ** (1 + min(estimator._order, 2))
    seconds = float(1e-6 * traits.n_positions * steps * step)
    if getattr(estimator, "linear", None):  # trees beside a linear part, which is fitted once for each of its folds
        seconds += LINEAR_FITS * fit_seconds(LinearCRF(features=estimator.features), traits)
    return seconds


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
    if "base" in params:  # an output code: many fits of the base
        return 100 * EPOCHS, "online"
    return 1, "linear"


def _count(value: Any, usual: int) -> int:
    return int(value) if isinstance(value, int) else usual


def _attributes(estimator: Estimator, traits: Traits) -> float:
    """How many attributes a position has: values of columns through the window, and those of a template."""
    derived = 0 if estimator.features is None else len(estimator.features.plan(traits.X))
    read = traits.attributes if derived == 0 or traits.kind == "numbers" else 0
    return derived + read * len(Window.of(getattr(estimator, "window", 0)).offsets)
