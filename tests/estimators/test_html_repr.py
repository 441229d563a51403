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


def test_the_rounds_are_those_of_the_model() -> None:
    X = ["abcd", "badc", "cdab", "dcba"] * 6
    y = [["V" if c in "ab" else "C" for c in x] for x in X]
    searched = hr.TreeCRF(random_state=0, n_jobs=1).fit(X, y)
    assert f"; {searched.training_log_[-1]['n_rounds']} rounds; 1 column" in searched._repr_html_()
    stopped: Any = hr.TreeCRF(n_rounds=20, early_stopping="loss", patience=2, learning_rate=1.0, n_jobs=1)
    stopped.fit(X, y, X[:3], [["C", "V", "C", "V"]] * 3)
    best = len(stopped.model_.potential.trees) // 2
    assert best < len(stopped.training_log_)
    assert f"; {best} round" in stopped._repr_html_()


def test_a_calibrated_model_says_so() -> None:
    X, y = ["cat", "dog", "cot"], [["-", "a", "-"], ["-", "o", "-"], ["-", "o", "-"]]
    model = hr.HMM().fit(X, y)
    assert "calibrated" not in model._repr_html_()
    calibrated = hr.calibrate(model, ["tac", "dot"], [["-", "a", "-"], ["o", "o", "-"]])
    assert f"calibrated: scores divided by {calibrated.model_.temperature:.4g}" in calibrated._repr_html_()
