"""Every estimator takes `features`: raw tokens suffice for fit and predict, in memory and from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import hedgerow as hr
from hedgerow.errors import InputError
from hedgerow.inspection import importances

X = [["The", "cat", "sat"], ["A", "dog", "barked", "."], ["Dogs", "ran"], ["The", "cats", "walked", "."]] * 3
Y = [["D", "N", "V"], ["D", "N", "V", "P"], ["N", "V"], ["D", "N", "V", "P"]] * 3
NEW = [["The", "rats", "talked", "."], ["Cows"], ["A", "cat", "jumped"]]
WORDS = hr.templates.words()
ESTIMATORS = [
    hr.TreeCRF(n_rounds=5),
    hr.TreeCRF(n_rounds=5, missing="indicator"),
    hr.LinearCRF(),
    hr.LinearCRF(induce="mccallum", max_iter=20),
    hr.MEMM(),
    hr.MEMM(learner="linear"),
    hr.FutureMEMM(),
    hr.HMM(),
    hr.StructuredPerceptron(),
    hr.StructuredPerceptron(averaging="vote"),
    hr.StructuredSVM(),
    hr.SearchTagger(),
    hr.OutputCode(base=hr.LinearCRF(), code="one-vs-rest", cascade=1),
    hr.OpinionPool(base=hr.LinearCRF(), random_state=0),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_every_estimator_reads_raw_words(estimator: Any, tmp_path: Path) -> None:
    model = clone(estimator).set_params(features=WORDS, random_state=0, n_jobs=1).fit(X, Y)
    assert model.score(X, Y) > 0.8
    predicted = [labels.tolist() for labels in model.predict(NEW)]
    assert list(map(len, predicted)) == [4, 1, 3]
    assert [model.predict_single(x).tolist() for x in NEW] == predicted
    assert model.feature_names_in_.tolist() == ["symbol"]
    model.save(tmp_path / "m.hedgerow")
    loaded = hr.load(tmp_path / "m.hedgerow")
    assert loaded.features == WORDS
    for one, other in zip(model.predict_proba(NEW), loaded.predict_proba(NEW), strict=True):
        np.testing.assert_array_equal(one, other)


# Bags of weights, joins of what is no column, and a bias: the columns that only template files of CRF++ derive.
CRFPP = "U:%x[-1,0]\nU:%x[0,0]\nU:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nU2:\nB\n"


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_every_estimator_reads_a_template_of_crfpp(estimator: Any, tmp_path: Path) -> None:
    (tmp_path / "template").write_text(CRFPP)
    template = hr.templates.read(tmp_path / "template", columns=["symbol"])
    model = clone(estimator).set_params(features=template, random_state=0, n_jobs=1).fit(X, Y)
    assert model.score(X, Y) > 0.8
    model.save(tmp_path / "m.hedgerow")
    loaded = hr.load(tmp_path / "m.hedgerow")
    assert loaded.features == template
    for one, other in zip(model.predict_proba(NEW), loaded.predict_proba(NEW), strict=True):
        np.testing.assert_array_equal(one, other)


def test_inspection_shows_derived_names() -> None:
    model = hr.LinearCRF(features=WORDS).fit(X, Y)
    names = {name for name, _ in model.state_features_}
    assert {"suffix2:ed", "word[-1]:<outside>", "word[-1]|word:The|cat", "lower:the"} <= names
    trees = hr.TreeCRF(features=WORDS, n_rounds=3, window=2).fit(X, Y)
    tested = {one.column for one in importances(trees.model_)} - {"previous label"}
    assert tested
    assert tested <= {spec.name for spec in trees.model_.encoder.columns}


def test_the_window_reads_columns_that_are_not_derived() -> None:
    with_numbers = [[{"word": word, "size": len(word)} for word in x] for x in X]
    model = hr.LinearCRF(features=WORDS, window=1).fit(with_numbers, Y)
    names = {name for name, _ in model.state_features_}
    assert {"size[-1]", "size", "size[+1]", "size[+1] outside"} <= names
    assert not any(name.startswith(("suffix3[", "word[-1][")) for name in names)


def test_features_can_be_searched() -> None:
    search = GridSearchCV(hr.StructuredSVM(random_state=0), {"features": [None, WORDS]}, cv=2).fit(X, Y)
    assert search.best_params_["features"] in (None, WORDS)
    assert clone(hr.HMM(features=WORDS)).features == WORDS
    assert repr(hr.HMM(features=WORDS)) == "HMM(features=words())"


@pytest.mark.parametrize("features", ["words", hr.templates.words, 3, {"template": "words"}])
def test_features_must_be_a_template(features: Any) -> None:
    with pytest.raises(InputError, match=r"HMM: features must be a template such as hedgerow.templates.words\(\), or"):
        hr.HMM(features=features).fit(X, Y)


def test_parts_of_a_composite_have_no_features_of_their_own() -> None:
    with pytest.raises(InputError, match=r"OutputCode: base must not have features=words\(\); .* pass features to Out"):
        hr.OutputCode(base=hr.HMM(features=WORDS)).fit(X, Y)
    with pytest.raises(InputError, match=r"SearchTagger: future must not have features=words\(\); .* to SearchTagger"):
        hr.SearchTagger(future=hr.FutureMEMM(features=WORDS)).fit(X, Y)


def test_a_warm_start_keeps_its_features() -> None:
    model = hr.TreeCRF(features=WORDS, n_rounds=2, warm_start=True).fit(X, Y)
    more = model.set_params(n_rounds=4).fit(X, Y)
    assert len(more.training_log_) == 4
    with pytest.raises(InputError, match="features must not change when a fit continues"):
        more.set_params(features=None, n_rounds=5).fit(X, Y)


def test_a_checkpoint_belongs_to_its_features(tmp_path: Path) -> None:
    settings = {"n_rounds": 10, "checkpoint": tmp_path / "c.hedgerow", "random_state": 0}
    hr.TreeCRF(features=WORDS, **settings).fit(X, Y)
    with pytest.raises(InputError, match="belongs to a fit with other data or parameters"):
        hr.TreeCRF(features=hr.templates.words("symbol"), **settings).fit(X, Y)


@pytest.mark.parametrize("missing", ["impute", "indicator"])
def test_missing_words(missing: str) -> None:
    holes = [[None, *x[1:]] for x in X]
    model = hr.LinearCRF(features=WORDS, missing=missing).fit(holes, Y)
    assert model.score(holes, Y) > 0.8
    assert model.training_log_[0]["missing"]["rates"].keys() == {"symbol"}
