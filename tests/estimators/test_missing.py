"""Missing values in every estimator: imputed, marked, summed out or refused; never read as absent."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import hedgerow as hr
from builders.missing import NEW, TRAIN, Y, assert_same
from hedgerow import storage
from hedgerow.errors import InputError, MissingColumnWarning
from oracles.encoding import GONE, cells_of_dicts, fill_cell

MAKES = {
    "LinearCRF": hr.LinearCRF(max_iter=30),
    "sgd": hr.LinearCRF(solver="sgd", epochs=5, random_state=0),
    "induced": hr.LinearCRF(induce="mccallum", max_iter=20, random_state=0, window=1),
    "SearchTagger": hr.SearchTagger(epochs=3, random_state=0),
    "StructuredPerceptron": hr.StructuredPerceptron(epochs=3, random_state=0),
    "votes": hr.StructuredPerceptron(epochs=3, averaging="vote", random_state=0),
    "StructuredSVM": hr.StructuredSVM(epochs=3, random_state=0, window=1),
    "trees": hr.TreeCRF(n_rounds=4, window=1),
    "table": hr.TreeCRF(n_rounds=4, transitions="table", category_splits="subset"),
    "shared": hr.TreeCRF(n_rounds=4, trees="shared"),
    "published": hr.TreeCRF.published(n_rounds=4),
    "MEMM": hr.MEMM(n_rounds=4, window=1, order=2),
    "linear MEMM": hr.MEMM(learner="linear", max_iter=30, order=2),
    "FutureMEMM": hr.FutureMEMM(n_rounds=20, window=1, order=2, bag=2, random_state=0),
}


def by_hand(X, marked=False):
    """X with the fill values of TRAIN, as its user would compute them."""
    values = {name: fill(*cells) for name, cells in cells_of_dicts(TRAIN).items()}
    return [[by_hand_position(position, values, marked) for position in x] for x in X]


def fill(kind, cells):
    value = fill_cell(kind, cells)
    return list(value) if kind == "bag" else value


def by_hand_position(position, values, marked):
    filled = {name: values[name] if value is None else value for name, value in position.items()}
    marks = {f"{name} missing": "missing" for name, value in position.items() if value is None and marked}
    return {name: value for name, value in filled.items() if value is not GONE} | marks


def made(name, **change):
    template = MAKES[name]
    return type(template)(**template.get_params() | change)


@pytest.mark.parametrize("name", MAKES)
@pytest.mark.parametrize("missing", ["impute", "indicator"])
def test_a_treatment_does_what_its_user_would_do_by_hand(name, missing):
    marked = missing == "indicator"
    model = made(name, missing=missing).fit(TRAIN, Y, X_dev=NEW, y_dev=[["True"] * len(x) for x in NEW])
    other = made(name, missing="impute").fit(
        by_hand(TRAIN, marked), Y, X_dev=by_hand(NEW, marked), y_dev=[["True"] * len(x) for x in NEW]
    )
    assert_same(model, other, NEW, by_hand(NEW, marked))
    assert model.training_log_[-1]["dev_accuracy"] == other.training_log_[-1]["dev_accuracy"]


@pytest.mark.parametrize("name", MAKES)
@pytest.mark.parametrize("missing", ["impute", "indicator"])
def test_a_file_and_threads_change_nothing(name, missing, tmp_path):
    model = made(name, missing=missing, n_jobs=1).fit(TRAIN, Y)
    model.save(tmp_path / "m")
    again = hr.load(tmp_path / "m")
    assert again.missing == missing
    assert again.model_.encoder == model.model_.encoder
    assert_same(model, again, NEW, NEW)
    assert_same(model, made(name, missing=missing, n_jobs=2).fit(TRAIN, Y), NEW, NEW)


def test_marks_can_be_learned_from():
    rng = np.random.default_rng(0)
    X = [[{"n": None if rng.random() < 0.5 else float(rng.normal())} for _ in range(6)] for _ in range(40)]
    y = [["lost" if p["n"] is None else "there" for p in x] for x in X]
    for make in (hr.LinearCRF, hr.SearchTagger, hr.StructuredPerceptron, hr.StructuredSVM):
        assert make(random_state=0).fit(X, y).score(X, y) > 0.95
    assert hr.TreeCRF(missing="indicator", n_rounds=10).fit(X, y).score(X, y) == 1.0
    assert hr.LinearCRF(missing="impute").fit(X, y).score(X, y) < 0.9
    assert ("n missing:missing", "lost") in hr.LinearCRF().fit(X, y).state_features_


nan = float("nan")
FORMS = {
    "lists": ([["a", None, "b"], ["b", "b"]], [None, "b"]),
    "bags": ([[["x"], None, ["x", "y"]], [[], ["y"]]], [None, ["x"]]),
    "dicts": ([[{"a": "x", "b": 1}, {"a": None, "b": nan}, {"a": "y"}], [{"b": 2}, {}]], [{"a": None, "b": None}]),
    "arrays": ([np.array([[1, 2], [nan, nan], [3, 4]]), np.array([[0, 1], [nan, 3]])], np.array([[nan, 1]])),
    "objects": ([np.array([["a"], [None], ["b"]], object), np.array([["a"], ["b"]], object)], np.array([[None]])),
    "masked": (
        [np.ma.masked_array([[1.0], [2.0], [3.0]], mask=[[0], [1], [0]]), np.array([[2.0], [4.0]])],
        np.ma.masked_array([[1.0]], mask=[[1]]),
    ),
    "pandas": (
        [
            pd.DataFrame({"c": pd.Categorical(["p", None, "q"]), "s": ["u", nan, "v"], "n": [1.0, nan, 2.0]}),
            pd.DataFrame({"c": pd.Categorical(["p", "q"]), "s": ["u", None], "n": [1.0, nan]}),
        ],
        pd.DataFrame({"c": pd.Categorical([None]), "s": [None], "n": [nan]}),
    ),
    "polars": (
        [
            pl.DataFrame({"s": ["u", None, "v"], "n": [1, None, 2], "b": [["x"], None, ["y"]]}),
            pl.DataFrame({"s": ["u", None], "n": [1, 4], "b": [["x"], []]}),
        ],
        pl.DataFrame({"s": [None], "n": [None], "b": [None]}),
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["LinearCRF", "SearchTagger", "StructuredPerceptron", "StructuredSVM", "trees", "HMM",
                                  "MEMM", "linear MEMM", "FutureMEMM"])  # fmt: skip
def test_every_form_of_input(form, name):
    X, new = FORMS[form]
    y = [["A", "B", "A"], ["B", "A"]]
    model = hr.HMM() if name == "HMM" else made(name, missing="indicator")
    model.fit(X, y)
    assert model.training_log_[0]["missing"]["rates"] == pytest.approx(
        {column.name: column.missing().mean() for column in hr.Sequences(X).columns if column.missing().any()}
    )
    assert len(model.predict([new])[0]) == len(new)
    assert np.isfinite(model.log_likelihood(X, y)).all()


def test_a_long_frame():
    df = pd.DataFrame({"id": [1, 1, 2, 2], "n": [1.0, nan, 2.0, 4.0], "w": ["a", None, "b", "b"], "y": list("ABAB")})
    X, y = hr.from_frame(df, sequence="id", label="y")
    model = hr.LinearCRF().fit(X, y)
    treated = model.model_.encode(X)
    assert [column.name for column in treated.columns] == ["n", "w", "n missing", "w missing"]
    assert treated.column("n").values.tolist() == [1.0, 2.0, 2.0, 4.0]


def test_the_history_tells_rates_and_method():
    X = [[{"w": "a", "n": 1.0}, {"w": None, "n": 2.0}], [{"w": "b", "n": None}, {"w": None, "n": 0.0}]]
    y = [["A", "B"], ["B", "A"]]
    seen = []
    for model, method in (
        (hr.HMM(), "summed out"),
        (hr.LinearCRF(), "indicator"),
        (hr.TreeCRF(missing="impute", n_rounds=3), "impute"),
    ):
        model.fit(X, y, callbacks=[seen.append])
        assert model.training_log_[0]["missing"] == {"method": method, "rates": {"w": 0.5, "n": 0.25}}
        assert not any("missing" in record for record in model.training_log_[1:])
    assert "missing" in seen[0]
    assert "missing" not in hr.LinearCRF().fit([[{"w": "a"}, {"w": "b"}]], [["A", "B"]]).training_log_[0]


EMPTY = [[{"w": "a", "gone": None, "part": None}, {"w": "b", "gone": None}], [{"w": "a", "gone": None}]]


@pytest.mark.parametrize(
    "model",
    [hr.HMM(), hr.LinearCRF(), hr.LinearCRF(missing="impute"), hr.StructuredPerceptron(random_state=0),
     hr.SearchTagger(random_state=0), hr.StructuredSVM(random_state=0),
     hr.TreeCRF(n_rounds=2, missing="impute"), hr.TreeCRF(n_rounds=2, missing="indicator"), hr.TreeCRF(n_rounds=2),
     hr.TreeCRF(n_rounds=2, missing="surrogate"), hr.TreeCRF(n_rounds=2, missing="learned"),
     hr.MEMM(n_rounds=2), hr.MEMM(learner="linear"), hr.FutureMEMM(n_rounds=4, random_state=0)],
    ids=repr,
)  # fmt: skip
def test_columns_without_any_value_are_warned_of_once(model):
    y = [["A", "B"], ["A"]]
    with pytest.warns(MissingColumnWarning, match="only missing values in training: 'gone', 'part'") as said:
        model.fit(EMPTY, y)
    assert len(said) == 1
    assert said[0].filename == __file__
    assert [labels.tolist() for labels in model.predict(EMPTY)] == y
    assert len(model.predict([[{"w": "a", "gone": 3.0, "part": "new"}]])[0]) == 1
    numbers = [np.array([[nan, 1.0], [nan, 2.0]]), np.array([[nan, 1.0]])]
    with pytest.warns(MissingColumnWarning, match="'x0'"):
        model.fit(numbers, y)
    assert len(model.predict(numbers)) == 2


def test_columns_that_hold_nothing_are_not_warned_of_if_nothing_is_missing():
    hr.LinearCRF().fit([[{"w": "a", "b": []}, {"w": "b", "b": []}]], [["A", "B"]])


@pytest.mark.parametrize("missing", ["weighting", "surrogate", "learned"])
def test_what_nobody_treats_is_refused_at_its_place(missing):
    bad = [[{"v": "a"}, {"v": "b"}], [{"v": "b"}, {"v": "a"}, {"v": None}]]
    rule = (
        "X has 1 missing value in column 'v', the first in sequence 1, position 2, but a TreeCRF with "
        f'trees="shared" and missing=\'{missing}\' accepts none; fit with missing="impute" or "indicator", or fill'
    )
    model = hr.TreeCRF(missing=missing, trees="shared", n_rounds=2)
    with pytest.raises(InputError, match=rule):
        model.fit(bad, [["A", "B"], ["A", "B", "B"]])
    assert not hasattr(model, "model_")
    assert len(model.fit([[{"v": "a"}, {"v": "b"}]], [["A", "B"]]).predict(bad)) == 2  # which it can say something of


def test_linear_models_of_before_take_no_missing_values(tmp_path):
    """Their files have neither the parameter nor anything to fill in; all else they answer as they did."""
    model = hr.LinearCRF().fit(["ab", "ba"], [["A", "B"], ["B", "A"]])
    model.save(tmp_path / "m")
    arrays, metadata = storage.read(tmp_path / "m")
    del metadata["parameters"]["missing"], metadata["encoder"]["columns"][0]["fill_value"]
    storage.write(tmp_path / "old", arrays, metadata)
    old = hr.load(tmp_path / "old")
    assert_same(model, old, ["aab", "x"], ["aab", "x"])
    with pytest.raises(InputError, match="but this LinearCRF accepts none; fit with missing="):
        old.predict([["a", None]])


def test_warm_start_fills_in_as_the_first_fit_did():
    X, y = [[{"n": 1.0}, {"n": None}, {"n": 3.0}]] * 5, [["A", "B", "A"]] * 5
    model = hr.TreeCRF(n_rounds=2, warm_start=True, missing="indicator").fit(X, y)
    first = model.model_.encoder
    model.set_params(n_rounds=4).fit([[{"n": 50.0}, {"n": None}]], [["B", "A"]])
    assert model.model_.encoder is first
    assert len(model.training_log_) == 4
    assert model.training_log_[0]["missing"]["rates"] == {"n": pytest.approx(1 / 3)}
    with pytest.raises(InputError, match=r"missing must not change .* it was indicator and is impute now"):
        model.set_params(missing="impute").fit(X, y)


@pytest.mark.parametrize("subsample", [1.0, 0.6])
@pytest.mark.parametrize("missing", ["weighting", "surrogate", "learned", "impute", "indicator"])
def test_a_checkpoint_resumes_with_missing_values(tmp_path, missing, subsample):
    def stop(record):
        if record["step"] == 13:
            raise KeyboardInterrupt

    rules = {"n_rounds": 20, "missing": missing, "subsample": subsample, "random_state": 0, "window": 1}
    whole = hr.TreeCRF(**rules).fit(TRAIN, Y)
    resumed = hr.TreeCRF(**rules, checkpoint=str(tmp_path / "c"))
    with pytest.raises(KeyboardInterrupt):
        resumed.fit(TRAIN, Y, callbacks=[stop])
    assert_same(resumed.fit(TRAIN, Y), whole, NEW, NEW)
    assert [record["loss"] for record in resumed.training_log_] == [record["loss"] for record in whole.training_log_]
    assert resumed.training_log_[0]["missing"] == whole.training_log_[0]["missing"]


def test_parameters_are_checked():
    with pytest.raises(InputError, match="missing must be one of 'impute', 'indicator'; it is 'weighting'"):
        hr.LinearCRF(missing="weighting").fit(TRAIN, Y)
    with pytest.raises(InputError, match="missing must be one of 'weighting', 'surrogate', 'learned', 'impute', 'ind"):
        hr.TreeCRF(missing=None).fit(TRAIN, Y)
    with pytest.raises(TypeError):
        hr.HMM(missing="impute")
    assert hr.TreeCRF.published(missing="impute").missing == "impute"


@pytest.mark.parametrize(
    "y",
    [
        [["A", "B"], ["A", None]],
        [["A", "B"], ["A", nan]],
        [[1, 2], [1, nan]],
        [[1.0, 2.0], [1.0, nan]],
        [[True, False], [True, None]],
        [["A", "B"], ["A", np.float32("nan")]],
        [["A", "B"], ["A", pd.NA]],
        [np.array([1, 2]), np.array([1.0, nan])],
        [np.array(["A", "B"]), np.array(["A", None])],
        [np.array(["A", "B"]), np.array(["A", nan], object)],
        [pd.Series(["A", "B"]), pd.Series(["A", None])],
        [pd.Series([1, 2]), pd.Series([1, None])],
        [pd.Series([1, 2]), pd.Series([1, None], dtype="Int64")],
        [pl.Series(["A", "B"]), pl.Series(["A", None])],
    ],
    ids=lambda y: type(y[1]).__name__ + str(y[1][1]),
)
def test_partial_labels_are_not_supported_yet(y):
    X = ["ab", "ba"]
    rule = "sequence 1, position 1 has no label .*; partial labels are not supported yet: label every position"
    with pytest.raises(InputError, match=rule):
        hr.LinearCRF().fit(X, y)
    model = hr.LinearCRF().fit(X, [["A", "B"], ["B", "A"]])
    with pytest.raises(InputError, match=rule):
        model.score(X, y)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("labels", [["A", None], [1.0, nan], [1, None]], ids=str)
def test_partial_labels_of_a_frame(library, labels):
    with pytest.raises(InputError, match="column 'y' must not hold nulls, but it holds 1; partial labels"):
        hr.from_frame(library({"id": [1, 1], "x": [1, 2], "y": labels}), sequence="id", label="y")
