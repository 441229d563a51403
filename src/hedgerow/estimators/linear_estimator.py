"""Base classes of the linear estimators: weights by name, and the temperature of margin-based models."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from hedgerow.estimators.base import Estimator
from hedgerow.estimators.conventions import with_parameters
from hedgerow.estimators.shared_parameters import (
    AttributeMinFreq,
    EarlyStopping,
    Imputed,
    Patience,
    Scale,
    ValidationFraction,
    WindowSize,
)


class LinearEstimator(Estimator):
    """An estimator whose model is a vector of weights."""

    @property
    def state_features_(self) -> dict[tuple[str, Any], float]:
        """The weight of each attribute for each label; numeric columns in their own units.

        Computed once after each `fit`: copy the dict before you change it.
        """
        from hedgerow.inspection.weights import state_features

        return state_features(self._fitted())

    @property
    def transition_features_(self) -> dict[tuple[Any, ...], float]:
        """The weight of labels that follow each other, by (previous label, label); longer tuples for higher orders.

        Computed once after each `fit`: copy the dict before you change it.
        """
        from hedgerow.inspection.weights import transition_features

        return transition_features(self._fitted())

    @property
    def intercept_(self) -> dict[Any, float]:
        """The bias of each label; 0 unless there are numeric columns.

        Computed once after each `fit`: copy the dict before you change it.
        """
        from hedgerow.inspection.weights import intercept

        return intercept(self._fitted())


@with_parameters
class MarginEstimator(LinearEstimator):
    """An estimator that learns from best paths: its scores are not logarithms of probabilities."""

    window: WindowSize = 0
    degree: Annotated[
        Literal[1, 2],
        "2 also gives weights to pairs of attributes of the window, as a polynomial kernel of degree 2 does. More "
        "accurate where attributes must be combined, such as letters; time and memory grow with the square of the "
        "number of attributes at a position.",
    ] = 1
    min_freq: AttributeMinFreq = 1
    scale: Scale = True
    missing: Imputed = "indicator"
    early_stopping: EarlyStopping = None
    patience: Patience = 5
    validation_fraction: ValidationFraction = 0.1

    @property
    def _learns_paths(self) -> bool:
        return True

    @property
    def temperature_(self) -> float:
        """Divisor of the scores when probabilities are computed: fitted on the dev data; 1 without dev data."""
        model = self._fitted()
        return float(getattr(model.potential, "temperature", 1.0)) * model.temperature
