"""What estimators share whose model is a row of boosted trees: which tests matter, and each tree as text."""

from __future__ import annotations

from typing import Any

from hedgerow.estimators.base import Estimator
from hedgerow.inspection.trees import Importance, importances, tree_text


class TreeEstimator(Estimator):
    """For estimators of tree potentials."""

    @property
    def feature_importances_(self) -> list[Importance]:
        """Every test of the trees, by column, offset and value: what its splits gained, and how many there are."""
        return importances(self._fitted())

    def tree(self, round: int, label: Any) -> str:  # noqa: A002
        """The tree of a round, the first is 1, for a label: as text."""
        return tree_text(self._fitted(), round, label)
