"""Estimators as HTML for notebooks."""

from __future__ import annotations

from typing import Any

import pytest

import hedgerow as hr
from oracles.markup import NASTY, check_html


@pytest.mark.parametrize("estimator", [hr.TreeCRF(), hr.OutputCode(base=hr.HMM()), hr.LinearCRF()], ids=str)
def test_labels_and_parameters_are_escaped(estimator: Any) -> None:
    check_html(estimator._repr_html_())
    model = hr.HMM(constraints=[(None, NASTY), (None, "b"), (NASTY, "b"), ("b", NASTY)])
    check_html(model._repr_html_())
    model.fit(["ab", "ba"], [[NASTY, "b"], ["b", NASTY]])
    check_html(model._repr_html_())
    assert "fitted: 2 labels" in model._repr_html_()
    assert "&lt;script&gt;" in model._repr_html_()


def test_what_is_long_is_cut() -> None:
    labels = [f"label{i}" for i in range(1000)]
    pairs = [(None, label) for label in labels] + [(label, label) for label in labels]
    assert len(hr.HMM(constraints=pairs)._repr_html_()) < 10_000
    many = hr.HMM().fit([labels], [labels])
    assert "1,000 labels" in many._repr_html_() or "1000 labels" in many._repr_html_()
    assert "label999" not in many._repr_html_()


def test_a_calibrated_model_says_so() -> None:
    X, y = ["cat", "dog", "cot"], [["-", "a", "-"], ["-", "o", "-"], ["-", "o", "-"]]
    model = hr.HMM().fit(X, y)
    assert "calibrated" not in model._repr_html_()
    calibrated = hr.calibrate(model, ["tac", "dot"], [["-", "a", "-"], ["o", "o", "-"]])
    assert f"calibrated: scores divided by {calibrated.model_.temperature:.4g}" in calibrated._repr_html_()
