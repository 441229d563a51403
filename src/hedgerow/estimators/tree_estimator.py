"""What estimators share whose model is a row of boosted trees: how they grow, which tests matter, and each as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow import _core
from hedgerow.estimators.base import Estimator
from hedgerow.inspection.tree_views import Importance, importances, tree_text


class TreeEstimator(Estimator):
    """For estimators of tree potentials."""

    @property
    def feature_importances_(self) -> list[Importance]:
        """Every test of the trees, by column, offset and value: what its splits gained, and how many there are."""
        return importances(self._fitted())

    def tree(self, round: int, label: Any) -> str:  # noqa: A002
        """The tree of a round, the first is 1, for a label: as text."""
        return tree_text(self._fitted(), round, label)

    def _growth(self, **own: Any) -> _core.GrowthRules:
        """The growth rules of the parameters that all tree estimators have; `own` are further rules or other values."""
        given = self.get_params()
        shared = {name: given[name] for name in ("l2", "newton", "min_leaf", "max_leaves")}
        missing = "weighting" if self._treatment else self._missing  # nothing is missing after a treatment
        return _core.GrowthRules(**{**shared, "missing": missing, **own})

    @property
    def _seed(self) -> int:
        return int(np.random.SeedSequence(self.random_state).generate_state(1)[0])
