"""What a fitted model has learned, for people to read."""

from hedgerow.inspection.trees import Importance, importances, transition_table, tree_text

__all__ = ["Importance", "importances", "transition_table", "tree_text"]
