"""Probabilities of the labels that a model predicted, and whether they can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hedgerow.data.sequences import Sequences
    from hedgerow.estimators import Estimator


def label_probabilities(
    model: Estimator, X: Sequences, labels: list[NDArray[Any]], **keywords: Any
) -> list[NDArray[np.floating[Any]]]:
    """The probability of each label that the model predicted for X; `keywords` are those of the prediction."""
    import numpy as np

    codes = model.model_.labels.codes(labels, X)
    table = np.concatenate(model.predict_proba(X, **keywords))
    return np.split(table[np.arange(len(codes)), codes], X.starts[1:-1])


def uncalibrated(model: Estimator) -> str | None:
    """Why the probabilities of a model cannot be trusted; None if they were trained by likelihood or calibrated."""
    from hedgerow.inspection.calibration import uncalibrated

    doubt = uncalibrated(model)
    return None if doubt is None else doubt.replace("without dev data", "without --dev")
