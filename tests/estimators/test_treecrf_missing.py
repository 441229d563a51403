"""TreeCRF on data with missing values: weighting, surrogates and learned directions, through the estimator."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from builders.missing import NEW, TRAIN, Y, assert_same
from hedgerow.potentials.trees import NODE

METHODS = ("weighting", "published-weighting", "surrogate", "published-surrogate", "learned")
MAKES = {
    "published": hr.TreeCRF.published(n_rounds=4, window=1),
    "modern": hr.TreeCRF(n_rounds=4, window=1),
    "table": hr.TreeCRF(n_rounds=4, transitions="table", window=1),
    "sets": hr.TreeCRF(n_rounds=4, category_splits="subset"),
    "some": hr.TreeCRF(n_rounds=4, max_features=0.5, subsample=0.7, influence_trim=0.1, random_state=0),
    "long": hr.TreeCRF(n_rounds=3, order=2, line_search=True),
}


@pytest.fixture(params=METHODS)
def missing(request):
    return request.param


@pytest.fixture(params=MAKES)
def make(request, missing):
    def make(**changed):
        return hr.TreeCRF(**{**MAKES[request.param].get_params(), "missing": missing, **changed})

    return make


def test_a_saved_model_says_the_same(make, tmp_path):
    model = make().fit(TRAIN, Y)
    model.save(tmp_path / "m.hedgerow")
    again = hr.load(tmp_path / "m.hedgerow")
    assert_same(model, again, NEW, NEW)
    for a, b in zip(model.predict_proba(NEW), again.predict_proba(NEW), strict=True):
        np.testing.assert_array_equal(a, b)


def test_threads_and_single_sequences_change_nothing(make):
    one, two = make(n_jobs=1).fit(TRAIN, Y), make(n_jobs=2).fit(TRAIN, Y)
    assert_same(one, two, NEW, NEW)
    for x, together in zip(NEW, one.predict(NEW), strict=True):
        np.testing.assert_array_equal(one.predict_single(x), together)


def test_weights_and_dev_data_with_missing_values(make):
    weights = np.r_[np.zeros(10), np.ones(30)]
    model = make(early_stopping="loss").fit(TRAIN, Y, X_dev=TRAIN[:5], y_dev=Y[:5], sample_weight=weights)
    assert all(np.isfinite(record["dev_loss"]) for record in model.training_log_)


def test_the_objective_rises(make):
    objectives = [-record["loss"] for record in make(n_rounds=8).fit(TRAIN, Y).training_log_]
    assert objectives[-1] > objectives[0]
    assert np.isfinite(objectives).all()


def whole(X):
    return [[{name: v for name, v in position.items() if v is not None} for position in x] for x in X]


@pytest.mark.parametrize("name", [name for name in MAKES if name != "some"])
def test_without_missing_values_the_method_makes_no_difference(name):
    X = whole(TRAIN)
    models = [hr.TreeCRF(**{**MAKES[name].get_params(), "missing": method}).fit(X, Y) for method in METHODS]
    for other in models[1:]:
        first, second = models[0].model_.potential.trees, other.model_.potential.trees
        for name in set(NODE.names) - {"true_fraction", "n_surrogates", "first_surrogate"}:
            np.testing.assert_array_equal(first.nodes[name], second.nodes[name])
        np.testing.assert_array_equal(first.values, second.values)
        for a, b in zip(models[0].predict_proba(whole(NEW)), other.predict_proba(whole(NEW)), strict=True):
            np.testing.assert_array_equal(a, b)


def test_values_missing_in_prediction_alone(make):
    """A position of which nothing is known, between weights that make a mean of what the trees say."""
    model = make().fit(whole(TRAIN), Y)
    for p in model.predict_proba(NEW):
        assert np.isfinite(p).all()
    unknown = [[{"word": None, "size": None, "has": None}]]
    assert np.isfinite(model.predict_proba(unknown)[0]).all()


def test_a_missing_value_is_not_an_absent_one():
    X = [[{"v": "a", "w": 1}, {"w": 1}, {"v": "b", "w": 1}, {"v": "b", "w": 1}]] * 20
    y = [["A", "N", "B", "B"]] * 20
    model = hr.TreeCRF(n_rounds=30, order=0).fit(X, y)
    assert model.predict([[{"w": 1}]])[0].tolist() == ["N"]
    assert model.predict([[{"v": None, "w": 1}]])[0].tolist() == ["B"]  # what most positions are that have a value


def test_a_surrogate_takes_the_place_of_what_is_missing():
    rng = np.random.default_rng(0)
    letters = [rng.choice(list("abcd"), size=10).tolist() for _ in range(30)]
    X = [[{"v": v, "copy": v.upper()} for v in x] for x in letters]
    y = [[v in "ab" for v in x] for x in letters]
    model = hr.TreeCRF(n_rounds=10, missing="surrogate").fit(X, y)
    hidden = [[{"v": None, "copy": v.upper()} for v in x] for x in letters]
    assert model.score(hidden, y) == 1.0
    other = hr.TreeCRF(n_rounds=10, missing="weighting").fit(X, y)
    assert other.score(hidden, y) < 0.9


def test_what_is_missing_may_tell_the_label():
    rng = np.random.default_rng(1)
    gone = [rng.random(10) < 0.3 for _ in range(30)]
    X = [[{"n": None if g else float(rng.normal())} for g in x] for x in gone]
    y = [["gone" if g else "there" for g in x] for x in gone]
    assert hr.TreeCRF(n_rounds=10, missing="learned").fit(X, y).score(X, y) == 1.0
    assert hr.TreeCRF(n_rounds=10, missing="indicator").fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("name", ["modern", "published"])
def test_published_indicators_are_zeros_with_marks(name):
    """As the user would fill in and mark the data: no value of the column, and an indicator."""
    zeros = {"word": None, "size": 0.0, "has": []}

    def by_hand(position):
        filled = {n: zeros[n] if value is None else value for n, value in position.items()}
        marks = {f"{n} missing": "missing" for n, value in position.items() if value is None}
        return {n: value for n, value in filled.items() if value is not None} | marks

    def filled(X):
        return [[by_hand(position) for position in x] for x in X]

    def make(missing):
        return hr.TreeCRF(**{**MAKES[name].get_params(), "missing": missing})

    model = make("published-indicator").fit(TRAIN, Y)
    assert_same(model, make("impute").fit(filled(TRAIN), Y), NEW, filled(NEW))
    assert model.training_log_[0]["missing"]["method"] == "published-indicator"


def test_published_means_the_printed_rules():
    for method in ("weighting", "surrogate", "indicator"):
        assert hr.TreeCRF.published(missing=method).missing == f"published-{method}"
        assert hr.TreeCRF.published(missing=f"published-{method}").missing == f"published-{method}"
    assert hr.TreeCRF.published().missing == "published-weighting"
    for method in ("learned", "impute"):
        assert hr.TreeCRF.published(missing=method).missing == method


def test_published_surrogates_are_one_for_each_other_column_and_offset():
    model = hr.TreeCRF.published(n_rounds=2, window=1, missing="surrogate").fit(TRAIN, Y)
    nodes = model.model_.potential.trees.nodes
    tests = nodes["attribute"] >= 0
    assert tests.any()
    assert nodes["n_surrogates"][tests].max() == 3 * 3 - 1
    assert nodes["n_surrogates"][tests].min() > 5  # fewer where a column has no value at all in the node
    assert not nodes["n_surrogates"][~tests].any()


def test_the_report_names_method_and_rates(missing):
    report = hr.TreeCRF(n_rounds=2, missing=missing).fit(TRAIN, Y).training_log_[0]["missing"]
    assert report["method"] == missing
    assert set(report["rates"]) == {"word", "size", "has"}


def test_a_tree_says_where_missing_values_go():
    X = [[{"v": v, "copy": v.upper() if v else None} for v in x] for x in (["a", "b", None, "b"],) * 20]
    X[0][0]["v"] = X[1][1]["v"] = None
    y = [["A", "B", "B", "B"]] * 20
    make = {"n_rounds": 1, "order": 0, "max_leaves": 2}
    text = {method: hr.TreeCRF(**make, missing=method).fit(X, y).tree(1, "A") for method in METHODS}
    assert "positions; missing: 33% yes)" in text["weighting"]
    assert "copy is A?" in text["surrogate"]
    assert "; missing: v is a, else no)" in text["surrogate"]
    assert "; missing: no)" in text["learned"]
    assert "positions; missing: 33% yes)" in text["published-weighting"]
    assert "; missing: v is a, else no)" in text["published-surrogate"]
    assert "missing" not in hr.TreeCRF(**make, missing="impute").fit(X, y).tree(1, "A")
    assert "missing" not in hr.TreeCRF(**make).fit(whole(X), y).tree(1, "A")
