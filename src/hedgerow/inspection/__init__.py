"""Readable views of a fitted model: importances, trees as text, transition scores, weights, future features.

The functions take the frozen model of a fitted estimator (`estimator.model_`) or of a training step (`record.model()`
in a callback). Estimators offer the same views as attributes and methods, such as `feature_importances_` and `tree`.
"""

from hedgerow.inspection.future_features import (
    FutureFeatureSummary,
    future_features,
    pattern_probabilities,
    plot_patterns,
)
from hedgerow.inspection.importances import Importance, Importances
from hedgerow.inspection.partial_dependence import PartialDependence, partial_dependence
from hedgerow.inspection.permutation import PermutationImportance, PermutationImportances, permutation_importance
from hedgerow.inspection.tree_views import importances, transition_table, tree_text

__all__ = [
    "FutureFeatureSummary",
    "Importance",
    "Importances",
    "PartialDependence",
    "PermutationImportance",
    "PermutationImportances",
    "future_features",
    "importances",
    "partial_dependence",
    "pattern_probabilities",
    "permutation_importance",
    "plot_patterns",
    "transition_table",
    "tree_text",
]
