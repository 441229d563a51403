"""Metrics and scorers give the numbers of sklearn-crfsuite."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score

from hedgerow.compat import CRF, metrics, scorers, utils

theirs = pytest.importorskip("sklearn_crfsuite.metrics")
their_scorers = pytest.importorskip("sklearn_crfsuite.scorers")
TRUE = [["B", "I", "O"], ["O", "B"], ["O"]]
PRED = [["B", "I", "B"], ["I", "B"], ["O"]]
X = [[[f"w{i % 5}"] for i in range(j, j + 4)] for j in range(12)]
Y = [["a" if item[0] in ("w1", "w3") else "b" for item in x] for x in X]


@pytest.mark.parametrize("name", metrics.__all__)
def test_numbers_are_those_of_sklearn_crfsuite(name: str) -> None:
    ours, other = getattr(metrics, name), getattr(theirs, name)
    options: dict[str, Any] = {"average": "weighted"} if "kwargs" in inspect.signature(ours).parameters else {}
    if name == "flat_classification_report":
        options = {"labels": ["I", "B"], "digits": 3}
    if name == "flat_fbeta_score":
        options["beta"] = 2.0
    found, expected = ours(TRUE, PRED, **options), other(TRUE, PRED, **options)
    assert found == expected if isinstance(found, str) else found == pytest.approx(expected)


def test_flatten() -> None:
    assert metrics.flatten(TRUE) == utils.flatten(TRUE) == theirs.flatten(TRUE)


def test_the_names_are_those_of_sklearn_crfsuite() -> None:
    assert {name for name in dir(theirs) if name.endswith(("score", "report"))} == set(metrics.__all__)
    assert {name for name in dir(their_scorers) if name.endswith("accuracy")} == set(scorers.__all__)


def test_scorers_work_in_scikit_learn() -> None:
    crf = CRF(max_iterations=10)
    own = cross_val_score(crf, X, Y, cv=2, scoring=scorers.flat_accuracy)
    assert own.tolist() == cross_val_score(crf, X, Y, cv=2, scoring=make_scorer(metrics.flat_accuracy_score)).tolist()
    assert cross_val_score(crf, X, Y, cv=2, scoring=scorers.sequence_accuracy).max() <= 1
