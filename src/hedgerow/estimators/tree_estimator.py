"""What estimators share whose model is a row of boosted trees: how they grow, which tests matter, and each as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.estimators.base import Estimator
from hedgerow.inspection.tree_views import Importance, importances, tree_text

MAX_STEP = 1.0  # of a Newton leaf


class TreeEstimator(Estimator):
    """For estimators of tree potentials."""

    @property
    def feature_importances_(self) -> list[Importance]:
        """Every test of the trees, by column, offset and value: what its splits gained, and how many there are."""
        return importances(self._fitted())

    def tree(self, round: int, label: Any) -> str:  # noqa: A002
        """The tree of a round, the first is 1, for a label: as text."""
        return tree_text(self._fitted(), round, label)

    def _growth(self, **own: Any) -> dict[str, Any]:
        """As _core.GrowthRules has it; `own` are the rules for which not every estimator has a parameter."""
        given = self.get_params()
        return {
            **{name: given[name] for name in ("l2", "newton", "min_leaf", "max_leaves")},
            "max_step": MAX_STEP,
            "trim": 0.0,
            "subsets": False,
            "max_features": 1.0,
            "missing": "weighting" if self._treatment else self._missing,  # nothing is missing after a treatment
            **own,
        }

    @property
    def _seed(self) -> int:
        return int(np.random.SeedSequence(self.random_state).generate_state(1)[0])
