"""Estimators as HTML, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hedgerow.data.html_repr import escape, shortened
from hedgerow.estimators.parameters import parameters
from hedgerow.inspection.training_summary import calibration_in_words, training_facts
from hedgerow.utilities import counted

if TYPE_CHECKING:
    from hedgerow.estimators.base import Estimator

_MOST_CLASSES = 10
_LONGEST_VALUE = 200


def html_repr(estimator: Estimator) -> str:
    """A heading with what was learned, and a table of the parameters; those that differ from the default are bold."""
    rows = []
    for name, parameter in parameters(type(estimator)).items():
        value = getattr(estimator, name)
        shown = escape(shortened(repr(value), _LONGEST_VALUE))
        is_default = value is parameter.default or repr(value) == repr(parameter.default)
        cell = shown if is_default else f"<b>{shown}</b>"
        rows.append(
            f'<tr><td>{escape(name)}</td><td>{cell}</td><td style="text-align:left">{escape(parameter.help)}</td></tr>'
        )
    return (
        f"<div><b>{escape(type(estimator).__name__)}</b> ({_state(estimator)})"
        "<details><summary>Parameters</summary><table>"
        f"<tr><th>name</th><th>value</th><th>meaning</th></tr>{''.join(rows)}</table></details></div>"
    )


def _state(estimator: Estimator) -> str:
    if not estimator.__sklearn_is_fitted__():
        return "not fitted"
    classes = estimator.classes_.tolist()
    named = ", ".join(escape(shortened(repr(label))) for label in classes[:_MOST_CLASSES])
    more = ", ..." if len(classes) > _MOST_CLASSES else ""
    labels = counted(len(classes), "label")
    steps, columns = _steps(estimator), counted(estimator.n_features_in_, "column")
    calibrated = calibration_in_words(estimator._fitted().temperature)
    return f"fitted: {labels} {named}{more}; {steps}{columns}{calibrated and f'; calibrated: {calibrated}'}"


def _steps(estimator: Estimator) -> str:
    """The steps that the model is made of: without those after the best one, or of a search for their number."""
    training = training_facts(estimator.training_log_)
    return "" if training is None else f"{counted(training['best_step'] or training['steps'], training['unit'])}; "
