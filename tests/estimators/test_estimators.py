"""The battery every estimator passes: bad input, unseen things, scikit-learn's tools, files, threads."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.errors import InputError, ModelFileError, NotFittedError, UnseenLabelWarning
from hedgerow.estimators.registry import REGISTRY

# two labels are enough for most of these tests, and output codes say that they are few
pytestmark = pytest.mark.filterwarnings("ignore::hedgerow.errors.CodeWarning")

ESTIMATORS = sorted(REGISTRY)
X = ["cat", "dog", "cog", "at", "dot", "tact"] * 4
Y = [[c if c in "ao" else "-" for c in x] for x in X]


@pytest.fixture(params=ESTIMATORS)
def make(request):
    return REGISTRY[request.param]


def test_the_whole_surface(make):
    model = make().fit(X, Y)
    assert model.predict(["cat"])[0].tolist() == ["-", "a", "-"]
    assert model.predict_single("dog").tolist() == ["-", "o", "-"]
    assert model.classes_.tolist() == ["-", "a", "o"]
    proba = model.predict_proba(["cat", "at"])
    assert [p.shape for p in proba] == [(3, 3), (2, 3)]
    for p in proba:
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
    marginals = model.predict_marginals(["cat"])[0]
    assert marginals[1] == pytest.approx(dict(zip(["-", "a", "o"], proba[0][1], strict=True)))
    ranked = model.predict_nbest(["cat"], n=4)[0]
    assert len({tuple(labels) for _, labels in ranked}) == 4
    assert [p for p, _ in ranked] == sorted((p for p, _ in ranked), reverse=True)
    assert ranked[0][1].tolist() == model.predict_single("cat").tolist()
    assert ranked[0][0] == pytest.approx(model.log_likelihood(["cat"], [ranked[0][1]])[0], abs=1e-6)
    assert sum(math.exp(p) for p, _ in model.predict_nbest(["cat"], n=27)[0]) == pytest.approx(1, abs=1e-5)
    assert model.score(X, Y) == 1.0
    assert model.training_log_[-1]["seconds"] > 0
    json.dumps(model.training_log_)


def test_fewer_paths_than_asked_for(make):
    assert len(make().fit(X, Y).predict_nbest(["a"], n=10)[0]) == 3


@pytest.mark.parametrize("labels", [[[1, 0, 1], [0, 5]], [[True, False, True], [False, True]]], ids=["ints", "bools"])
def test_labels_come_back_as_given(make, labels):
    model = make().fit(["cat", "at"], labels)
    predicted = model.predict(["cat"])[0]
    assert predicted.dtype.kind == np.array(labels[0]).dtype.kind
    assert set(predicted.tolist()) <= {value for row in labels for value in row}


def test_marginal_decoding_can_be_asked_for(make):
    model = make(decode="marginal").fit(X, Y)
    assert model.predict(["cat"])[0].tolist() == model.predict(["cat"], decode="marginal")[0].tolist()
    with pytest.raises(InputError, match="decode must be one of 'auto', 'viterbi', 'marginal'; it is 'best'"):
        model.predict(["cat"], decode="best")


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (["cat", "at"], [["a", "b", "a"]], "2"),
        (["cat", "at"], [["a", "b", "a"], ["a"]], "sequence 1 has 2 positions but 1 label"),
        ([], [], "empty"),
        (["cat", ""], [["a", "b", "a"], []], "sequence 1"),
        (["cat"], ["aba"], "sequence 0"),
        ("cat", [["a", "b", "a"]], "X"),
        ([[object()]], [["a"]], "sequence 0"),
        ([np.array([[np.inf], [1.0]])], [["a", "b"]], "inf"),
        (["cat"], [["a", "a", "a"]], "2 distinct labels"),
        (["cat"], [["a", None, "b"]], "artial labels"),
        (["cat"], [["a", 1, "b"]], "str"),
    ],
)
def test_bad_data_is_refused(make, x, y, message):
    model = make()
    with pytest.raises(InputError, match=message):
        model.fit(x, y)
    assert not hasattr(model, "model_")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"order": -1}, "order must be an integer of at least 0( or None)?; it is -1"),
        ({"order": 1.5}, "order must be an integer"),
        ({"order": True}, "order must be an integer"),
        ({"decode": "x"}, "decode must be one of"),
        ({"n_jobs": 0}, "n_jobs must be an integer of at least 1, or -1 or None for all processors; it is 0"),
        ({"random_state": -1}, "random_state must be an integer of at least 0"),
        ({"verbose": "yes"}, "verbose must be"),
    ],
)
def test_bad_parameters_are_refused_when_fitting(make, change, message):
    with pytest.raises(InputError, match=message):
        make(**change).fit(X, Y)


def test_an_order_too_high_is_refused(make):
    searches = isinstance(make(), hr.SearchTagger)  # which has no lattice, so only the numbers of n-grams are a limit
    message = "has more n-grams than 64-bit numbers" if searches else r"needs 3\^41 numbers for each position"
    with pytest.raises(InputError, match=f"order 40 with 3 labels {message}"):
        make(order=40).fit(X, Y)


def test_unknown_parameters_are_refused(make):
    with pytest.raises(TypeError):
        make(nonsense=1)
    with pytest.raises(InputError, match=r"no parameter 'nonsense'; it has"):
        make().set_params(nonsense=1)


@pytest.mark.parametrize("weight", [[1.0], [np.nan] * 24, [-1.0] * 24, [0.0] * 24, np.ones((24, 2))])
def test_bad_weights_are_refused(make, weight):
    with pytest.raises(InputError, match="sample_weight"):
        make().fit(X, Y, sample_weight=weight)


def test_asking_before_fitting(make, tmp_path):
    model = make()
    for ask in (lambda: model.predict(X), lambda: model.score(X, Y), lambda: model.save(tmp_path / "m")):
        with pytest.raises(NotFittedError, match=r"not fitted yet; call fit"):
            ask()


def test_unseen_attributes_are_ignored_and_counted(make):
    model = make().fit(X, Y)
    encoded = model.model_.encode(["czt", "qqa"])
    assert dict(encoded.unseen) == {"symbol": 3}
    assert len(model.predict(["zzz"])[0]) == 3


def test_unseen_labels_count_as_wrong_and_are_said_once(make):
    model = make().fit(X, Y)
    with pytest.warns(UnseenLabelWarning, match="1 distinct label of y never occurred in training") as said:
        assert model.score(["cat", "dog"], [["-", "new", "-"], ["-", "o", "-"]]) == pytest.approx(5 / 6)
    assert len(said) == 1
    with pytest.warns(UnseenLabelWarning):
        likelihood = model.log_likelihood(["cat", "dog"], [["-", "new", "-"], ["-", "o", "-"]])
    assert likelihood[0] == -np.inf
    assert likelihood[1] > -np.inf


def test_dev_data_is_scored_and_unseen_labels_left_out(make):
    few = {"n_rounds": 100} if make is hr.TreeCRF else {}
    with pytest.warns(UnseenLabelWarning):
        model = make(**few).fit(X, Y, X_dev=["cat", "dog"], y_dev=[["-", "new", "-"], ["-", "o", "-"]])
    record = model.training_log_[-1]
    assert record["dev_accuracy"] == pytest.approx(5 / 6)
    assert -record["dev_loss"] == pytest.approx(model.log_likelihood(["dog"], [["-", "o", "-"]])[0])
    with pytest.raises(InputError, match="only X_dev was; pass y_dev as well"):
        make().fit(X, Y, X_dev=X)
    with pytest.raises(InputError, match="sequence 0"):
        make().fit(X, Y, X_dev=["cat"], y_dev=[["-"]])


def test_callbacks_get_the_records(make):
    seen = []
    model = make().fit(X, Y, callbacks=[seen.append])
    assert seen == model.training_log_


def test_save_and_load_give_the_same_answers(make, tmp_path):
    model = make(order=2).fit(X, Y)
    model.save(tmp_path / "m.hedgerow")
    loaded = hr.load(tmp_path / "m.hedgerow")
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert loaded.training_log_ == model.training_log_
    for a, b in zip(model.predict_proba(X), loaded.predict_proba(X), strict=True):
        np.testing.assert_array_equal(a, b)
    loaded.save(tmp_path / "again.hedgerow")
    assert (tmp_path / "again.hedgerow").read_bytes() == (tmp_path / "m.hedgerow").read_bytes()


@pytest.mark.parametrize("labels", [[0, 1], [False, True], ["é", "日本"]], ids=str)
def test_every_kind_of_label_survives_a_file(make, tmp_path, labels):
    model = make().fit(["ab", "ba"], [labels, labels[::-1]])
    model.save(tmp_path / "m.hedgerow")
    assert hr.load(tmp_path / "m.hedgerow").predict(["ab"])[0].tolist() == labels


def test_a_file_whose_parts_do_not_fit_is_refused(make, tmp_path):
    from hedgerow import storage

    path = tmp_path / "m.hedgerow"
    make().fit(X, Y).save(path)
    arrays, metadata = storage.read(path)
    damages = [
        ({}, metadata),
        (arrays, {}),
        (arrays, metadata | {"order": 2}),
        (arrays, metadata | {"order": "1"}),
        (arrays, metadata | {"order": -1}),
        (arrays, metadata | {"estimator": "Oracle"}),
        (arrays, metadata | {"labels": {"kind": "U", "values": ["-", "a"]}}),
        (arrays, metadata | {"labels": {"kind": "U", "values": ["-", "a", 3]}}),
        (arrays, metadata | {"labels": {"kind": "f", "values": [1.0, 2.0, 3.0]}}),
        (arrays, metadata | {"parameters": {"nonsense": 1}}),
        (arrays, metadata | {"parameters": {"order": -3}}),
        (arrays, metadata | {"potential": {"kind": "magic"}}),
        (arrays, metadata | {"encoder": {"columns": []}}),
    ]
    for damaged_arrays, damaged_metadata in damages:
        storage.write(path, damaged_arrays, damaged_metadata)
        with pytest.raises(ModelFileError):
            hr.load(path)
    for name, array in arrays.items():
        for wrong in (array[:-1], array.astype(np.float32), array[::-1].copy(), np.full_like(array, 200)):
            storage.write(path, arrays | {name: wrong}, metadata)
            try:
                loaded = hr.load(path)
            except ModelFileError:
                continue
            for x, labels, p in zip(X, loaded.predict(X), loaded.predict_proba(X), strict=True):
                assert set(labels.tolist()) <= set(loaded.classes_.tolist())
                assert p.shape == (len(x), 3)
                assert np.isfinite(p).all()


def test_fits_are_repeatable_and_threads_change_nothing(make):
    rng = np.random.default_rng(0)
    x = ["".join(rng.choice(list("abcdefg"), size=n)) for n in rng.integers(1, 40, size=200)]
    y = [[str(ord(c) % 3) for c in s[1:] + s[0]] for s in x]
    one = make(n_jobs=1, random_state=7).fit(x, y).predict_proba(x)
    two = make(n_jobs=3, random_state=7).fit(x, y).predict_proba(x)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_permutation_of_sequences_changes_nothing(make):
    order = np.random.default_rng(1).permutation(len(X))
    straight = make(random_state=0).fit(X, Y)
    mixed = make(random_state=0).fit([X[i] for i in order], [Y[i] for i in order])
    for a, b in zip(straight.predict_proba(X), mixed.predict_proba(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_encoded_sequences_are_taken_everywhere(make):
    sequences = hr.Sequences(X)
    model = make().fit(sequences, Y)
    assert model.score(sequences, Y) == make().fit(X, Y).score(X, Y)
    assert [a.tolist() for a in model.predict(sequences[:2])] == [a.tolist() for a in model.predict(X[:2])]


def test_scikit_learn_tools_work(make):
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    model = make(order=2)
    assert clone(model).get_params() == model.get_params()
    assert clone(model) is not model
    assert cross_val_score(make(), X, Y, cv=3).min() > 0.5
    assert cross_val_score(make(), hr.Sequences(X), Y, cv=3).min() > 0.5
    search = GridSearchCV(make(), {"order": [0, 1]}, cv=2).fit(X, Y)
    assert search.best_estimator_.predict(["cat"])[0].tolist() == ["-", "a", "-"]
    lower = FunctionTransformer(lambda xs: [x.lower() for x in xs])
    pipeline = make_pipeline(lower, make()).fit([x.upper() for x in X], Y)
    assert pipeline.score(X, Y) == 1.0


def test_the_docstring_and_the_text_form_tell_the_parameters(make):
    assert repr(make()) == f"{make.__name__}()"
    assert repr(make(order=2, n_jobs=1)) == f"{make.__name__}(order=2, n_jobs=1)"
    for name in make().get_params():
        assert f"\n{name} : " in make.__doc__


def test_verbose_logs_and_prints_nothing(make, capsys, caplog):
    with caplog.at_level("INFO", logger="hedgerow"):
        make(verbose=1).fit(X, Y)
    assert make.__name__ in caplog.text
    assert capsys.readouterr().out == ""


def test_predicting_some_after_the_other_changes_nothing(make, monkeypatch):
    model = make().fit(X, Y)
    questions = (
        lambda: model.predict(X),
        lambda: model.predict(X, decode="marginal"),
        lambda: model.predict_proba(X),
        lambda: [score for best in model.predict_nbest(X, n=2) for score, _ in best],
        lambda: [labels for best in model.predict_nbest(X, n=2) for _, labels in best],
        lambda: [model.score(X, Y)],
        lambda: [model.log_likelihood(X, Y)],
    )
    whole = [question() for question in questions]
    monkeypatch.setattr("hedgerow.inference.blocks.MAX_BLOCK_SCORES", 1)
    assert len(list(model._answers(model.model_.encode(X)))) == len(X)
    for expected, question in zip(whole, questions, strict=True):
        for a, b in zip(expected, question(), strict=True):
            np.testing.assert_array_equal(a, b)


#: Their steps depend on the number of sequences and on their order.
NOT_BY_WEIGHT = {"StructuredPerceptron", "StructuredSVM", "SearchTagger"}


@pytest.mark.parametrize("name", sorted(set(REGISTRY) - NOT_BY_WEIGHT))
def test_a_weight_counts_like_repetition(name):
    rng = np.random.default_rng(3)
    x = ["".join(rng.choice(list("abcd"), 6)) for _ in range(8)]
    y = [[str((ord(c) + int(rng.random() < 0.2)) % 3) for c in s] for s in x]
    weights = np.array([1, 2, 3, 1, 2, 1, 0, 4])
    few = {"n_rounds": 10} if name in ("TreeCRF", "MEMM") else {}
    if name == "OutputCode":
        few = {"base": hr.TreeCRF(n_rounds=10)}
    if name == "OpinionPool":
        few = {"base": hr.TreeCRF(n_rounds=10, window=1)}
    if name == "FutureMEMM":
        few = {"n_rounds": 10, "early_stopping": None}  # without dev data that are drawn from the sequences
    if name == "LinearCRF":
        few = {"tol": 1e-7}  # the two fits take different steps to the same optimum
    make = REGISTRY[name]
    weighted = make(random_state=0, **few).fit(x, y, sample_weight=weights)
    repeated = make(random_state=0, **few).fit(
        [s for s, w in zip(x, weights, strict=True) for _ in range(w)],
        [s for s, w in zip(y, weights, strict=True) for _ in range(w)],
    )
    for a, b in zip(weighted.predict_proba(x), repeated.predict_proba(x), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-3)


def test_a_message_about_dev_data_names_them() -> None:
    with pytest.raises(InputError, match="X_dev: X must have columns of training"):
        hr.HMM().fit([[("x", "y"), ("y", "x")]], [["l", "m"]], X_dev=[["x"]], y_dev=[["l"]])
