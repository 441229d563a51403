"""What a fitted model has learned, for people to read."""

from hedgerow.inspection.future_features import FoundFeature, future_features, pattern_probabilities, plot_patterns
from hedgerow.inspection.tree_views import Importance, importances, transition_table, tree_text

__all__ = [
    "FoundFeature",
    "Importance",
    "future_features",
    "importances",
    "pattern_probabilities",
    "plot_patterns",
    "transition_table",
    "tree_text",
]
