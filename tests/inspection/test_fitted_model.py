"""What views say if their model is no fitted estimator."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import hedgerow as hr
from hedgerow.compat import CRF
from hedgerow.errors import InputError, NotFittedError
from hedgerow.inspection.fitted_model import fitted_model

X, Y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
MODEL = hr.HMM().fit(X, Y)
PIPELINE = SimpleNamespace(steps=[("model", MODEL)])


def test_a_fitted_estimator_is_returned_with_its_model() -> None:
    assert fitted_model(MODEL, "view") == (MODEL, MODEL.model_)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (hr.HMM, r"got the class HMM; pass what HMM\(\.\.\.\)\.fit\(X, y\) returns"),
        (MODEL.model_, "got Model; pass the estimator itself, not its model_"),
        (PIPELINE, r"got SimpleNamespace; pass its last step, model\[-1\], and what the steps before it make of X"),
        (CRF(), "got CRF; pass its estimator_"),
        (None, "got None; fit one of hedgerow's"),
    ],
    ids=["class", "model", "pipeline", "compat", "none"],
)
def test_other_models_are_refused_with_a_cure(model: Any, message: str) -> None:
    views = {
        "errors": lambda: hr.inspection.errors(model, X, Y),
        "reliability": lambda: hr.inspection.reliability(model, X, Y),
        "risk_coverage": lambda: hr.inspection.risk_coverage(model, X, Y),
        "calibrate": lambda: hr.calibrate(model, X, Y),
        "rank_for_annotation": lambda: hr.rank_for_annotation(model, X, 1),
        "learning_curve": lambda: hr.inspection.learning_curve(model),
    }
    for name, view in views.items():
        with pytest.raises(InputError, match=f"{name}: the model must be a fitted estimator, but {message}"):
            view()
    with pytest.raises(InputError, match=f"report: compare must be a fitted estimator, but {message}"):
        hr.report(MODEL, X, Y, compare=model) if model is not None else fitted_model(model, "report", "compare")


def test_an_estimator_that_is_not_fitted_is_refused() -> None:
    with pytest.raises(NotFittedError):
        hr.inspection.reliability(hr.HMM(), X, Y)
