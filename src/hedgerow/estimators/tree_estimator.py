"""What estimators of boosted trees share: growth rules, importances of tests, and trees as text."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from hedgerow import _core
from hedgerow.estimators.base import Estimator

if TYPE_CHECKING:
    from hedgerow.inspection.importances import Importance, Importances


class TreeEstimator(Estimator):
    """An estimator whose model is a sum of regression trees."""

    @property
    def feature_importances_(self) -> Importances[Importance]:
        """The tests of the trees, the greatest gain first: column, offset, value, total gain and number of splits.

        A column of numbers has one test for each offset, whose value is "any value". Label statistics and linear
        scores are columns of numbers too. There are no rows if no tree has a split. `by_column()` has one row
        for each column, `sort("splits")` sorts by the number of splits, and `plot()` draws bars.
        """
        from hedgerow.inspection.tree_views import importances

        return importances(self._fitted())

    def tree(self, round: int, label: Any) -> str:  # noqa: A002
        """Show one tree as text.

        Parameters
        ----------
        round : int
            Boosting round, counted from 1.
        label : str, int or bool
            The label whose tree it is.

        Returns
        -------
        str
            The tests and leaf values, one a line.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        InputError
            If there is no such round or label.

        Examples
        --------
        >>> import hedgerow as hr
        >>> model = hr.TreeCRF(n_rounds=2, n_jobs=1).fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
        >>> print(model.tree(1, "a").splitlines()[0])
        symbol is a?  (gain 1.25, 6 positions)
        """
        from hedgerow.inspection.tree_views import tree_text

        return tree_text(self._fitted(), round, label)

    def _growth(self, **own: Any) -> _core.GrowthRules:
        """The growth rules of the parameters that all tree estimators have; `own` are further rules or other values."""
        values = self.get_params()
        shared = {name: values[name] for name in ("l2", "newton", "min_leaf", "max_leaves")}
        missing = "weighting" if self._treatment else self._missing  # the encoder has filled in everything
        return _core.GrowthRules(**{**shared, "missing": missing, **own})

    @cached_property
    def _seed(self) -> int:
        """One seed for the whole fit, also where random_state is None; `fit` works with a copy of the estimator."""
        from hedgerow.learning.seeds import fit_seeds

        return fit_seeds(self.random_state)[0]
