"""What estimators share whose model is a row of weights: those weights by name, and a temperature."""

from __future__ import annotations

from typing import Any

from hedgerow.estimators.base import Estimator
from hedgerow.inspection.weights import intercept, state_features, transition_features
from hedgerow.potentials.linear import LinearPotential
from hedgerow.search.potential import SearchPotential


class LinearEstimator(Estimator):
    """For estimators of linear potentials."""

    @property
    def state_features_(self) -> dict[tuple[str, Any], float]:
        """The weight of each attribute for each label; numeric columns in their own units."""
        return state_features(self._fitted())

    @property
    def transition_features_(self) -> dict[tuple[Any, ...], float]:
        """The weight of labels that follow each other: (previous, label), or more of them with a higher order."""
        return transition_features(self._fitted())

    @property
    def intercept_(self) -> dict[Any, float]:
        """What each label scores anywhere; 0 unless there are numeric columns."""
        return intercept(self._fitted())


class MarginEstimator(LinearEstimator):
    """For those that learn from best paths, whose scores are no logarithms of probabilities."""

    @property
    def temperature_(self) -> float:
        """What scores are divided by where probabilities are asked for: fitted on the dev data, 1 without any."""
        potential = self._fitted().potential
        return potential.temperature if isinstance(potential, (LinearPotential, SearchPotential)) else 1.0
