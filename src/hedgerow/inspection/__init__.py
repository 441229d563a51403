"""Readable views of a fitted model: importances, trees, transitions, weights, learning curves, future features.

`importances`, `transition_table`, `tree_text`, `future_features`, `pattern_probabilities` and `plot_patterns` take the
frozen model of a fitted estimator (`estimator.model_`) or of a training step (`record.model()` in a callback). The
other functions take a fitted estimator. Estimators offer some views as attributes and methods, such as
`feature_importances_` and `tree`.
"""

from hedgerow.inspection.comparison import ChangedSequence, Comparison, compare
from hedgerow.inspection.counterfactuals.entry import counterfactual
from hedgerow.inspection.counterfactuals.result import Counterfactual
from hedgerow.inspection.error_analysis import ErrorAnalysis, SequenceErrors, errors
from hedgerow.inspection.error_groups import ErrorGroup, ErrorTable
from hedgerow.inspection.explaining.explanation import Contribution, Explanation, Explanations
from hedgerow.inspection.future_features import (
    FutureFeatureSummary,
    future_features,
    pattern_probabilities,
    plot_patterns,
)
from hedgerow.inspection.importances import ColumnImportance, Importance, Importances
from hedgerow.inspection.label_weights import LabelWeights, weights_by_label
from hedgerow.inspection.learning_curve import LearningCurve, learning_curve
from hedgerow.inspection.partial_dependence import PartialDependence, partial_dependence
from hedgerow.inspection.permutation import PermutationImportance, PermutationImportances, permutation_importance
from hedgerow.inspection.reliability import Reliability, reliability
from hedgerow.inspection.risk_coverage import RiskCoverage, risk_coverage
from hedgerow.inspection.span_errors import SpanErrors
from hedgerow.inspection.transition_graph import TransitionEdge, TransitionGraph, transition_graph
from hedgerow.inspection.tree_drawing import TreeDrawing, TreeNode, draw_tree
from hedgerow.inspection.tree_views import importances, transition_table, tree_text

__all__ = [
    "ChangedSequence",
    "ColumnImportance",
    "Comparison",
    "Contribution",
    "Counterfactual",
    "ErrorAnalysis",
    "ErrorGroup",
    "ErrorTable",
    "Explanation",
    "Explanations",
    "FutureFeatureSummary",
    "Importance",
    "Importances",
    "LabelWeights",
    "LearningCurve",
    "PartialDependence",
    "PermutationImportance",
    "PermutationImportances",
    "Reliability",
    "RiskCoverage",
    "SequenceErrors",
    "SpanErrors",
    "TransitionEdge",
    "TransitionGraph",
    "TreeDrawing",
    "TreeNode",
    "compare",
    "counterfactual",
    "draw_tree",
    "errors",
    "future_features",
    "importances",
    "learning_curve",
    "partial_dependence",
    "pattern_probabilities",
    "permutation_importance",
    "plot_patterns",
    "reliability",
    "risk_coverage",
    "transition_graph",
    "transition_table",
    "tree_text",
    "weights_by_label",
]
