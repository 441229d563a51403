"""The drop-in has the surface of sklearn_crfsuite.CRF, and keeps scikit-learn's conventions."""

from __future__ import annotations

import copy
import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict

import hedgerow as hr
from hedgerow.compat import CRF
from hedgerow.errors import InputError

X: list[list[dict[str, Any]]] = [
    [{"letter": letter, "vowel": letter in "aeiou", "bias": 1.0} for letter in word]
    for word in ("cat", "dog", "cog", "at", "dot", "tact") * 2
]
y = [[item["letter"] if item["vowel"] else "-" for item in sequence] for sequence in X]
FITTED = CRF(c1=0.01, c2=0.01).fit(X, y)


def test_the_surface_is_that_of_sklearn_crfsuite() -> None:
    theirs = pytest.importorskip("sklearn_crfsuite").CRF
    assert list(inspect.signature(CRF).parameters) == list(inspect.signature(theirs).parameters)
    assert CRF().get_params() == theirs().get_params()
    public = {name for name in dir(theirs) if not name.startswith(("_", "set_fit", "get_metadata"))}
    assert public <= set(dir(FITTED)) | {"set_score_request"}


def test_parameters_may_be_positional() -> None:
    assert inspect.signature(CRF).bind("l2sgd", 2).arguments == {"algorithm": "l2sgd", "min_freq": 2}
    assert CRF("l2sgd", 2).get_params()["min_freq"] == 2
    with pytest.raises(TypeError, match="two values for 'algorithm'"):
        CRF("lbfgs", algorithm="ap")
    with pytest.raises(TypeError, match="28 parameters"):
        CRF(*[None] * 29)


def test_predictions_are_arrays_of_lists() -> None:
    labels = FITTED.predict(X)
    assert labels.tolist() == y
    assert labels.dtype == object
    assert labels.shape == (len(X),)
    assert FITTED.predict(X[:2]).shape == FITTED.predict_marginals(X[:2]).shape == (2,)  # of one length
    assert labels[np.arange(len(X)) == 3].tolist() == y[3:4]
    assert hr.metrics.accuracy(y, labels) == hr.metrics.accuracy(labels, y) == 1.0
    assert type(labels[0]) is list
    assert type(labels[0][0]) is str
    assert FITTED.predict_single(X[0]) == y[0]
    marginals = FITTED.predict_marginals(X)
    assert sum(marginals[0][0].values()) == pytest.approx(1)
    assert FITTED.predict_marginals_single(X[0]) == marginals[0]
    assert FITTED.score(X, y) == 1.0


def test_attributes_of_a_fitted_model() -> None:
    assert FITTED.classes_ == ["-", "a", "o"]
    assert FITTED.attributes_ == sorted({name for name, _ in FITTED.state_features_})
    assert FITTED.num_attributes_ == len(FITTED.attributes_)
    info = FITTED.tagger_.info()
    assert info.state_features == FITTED.state_features_
    assert info.transitions == FITTED.transition_features_
    assert list(info.labels) == FITTED.classes_
    assert int(info.header["num_features"]) == len(info.state_features) + len(info.transitions)


def test_the_tagger_answers_about_one_sequence() -> None:
    tagger = FITTED.tagger_
    with pytest.raises(InputError, match="no sequence yet"):
        tagger.tag()
    assert tagger.tag(X[0]) == tagger.tag() == y[0]
    assert tagger.marginal("a", 1) == FITTED.predict_marginals_single(X[0])[1]["a"]
    assert 0 < tagger.probability(y[0]) < 1
    assert tagger.tag([]) == tagger.tag() == []
    with pytest.raises(InputError, match="must have a position, but it is empty"):
        tagger.probability([])
    assert tagger.tag(iter(X[1])) == y[1]


def test_sequences_may_be_generators() -> None:
    crf = CRF(c1=0.01, c2=0.01).fit((iter(x) for x in X), (iter(labels) for labels in y))
    assert crf.state_features_ == FITTED.state_features_
    assert crf.predict([iter(x) for x in X]).tolist() == y


@pytest.mark.parametrize(
    "name",
    ["tagger_", "classes_", "size_", "num_attributes_", "attributes_", "state_features_", "transition_features_"],
)
def test_attributes_are_none_before_a_fit(name: str, tmp_path: Path) -> None:
    theirs = pytest.importorskip("sklearn_crfsuite").CRF()
    crf = CRF(model_filename=tmp_path / "none.hedgerow")
    assert getattr(crf, name) is getattr(theirs, name) is None
    assert crf.training_log_ is theirs.training_log_ is None


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("LBFGS", "lbfgs"),
        ("L2SGD", "l2sgd"),
        ("averaged-perceptron", "ap"),
        ("Passive-Aggressive", "pa"),
        ("AROW", "arow"),
    ],
)
def test_names_of_algorithms(name: str, short: str) -> None:
    crf, same = (CRF(algorithm, max_iterations=3).fit(X, y) for algorithm in (name, short))
    assert crf.get_params()["algorithm"] == name
    assert crf.state_features_ == same.state_features_
    with pytest.raises(InputError, match=f"calibration_eta is a .* but the algorithm is '{short}'|c1 is a parameter"):
        CRF(name, c1=0.1, calibration_eta=0.1).fit(X, y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda crf: crf.predict(X[0]), "sequence 0 .* is a dict, which is one position; wrap X in a list"),
        (lambda crf: crf.predict_single([X[0]]), "position 0: .* list of dicts, which is a sequence; pass .* without"),
        (lambda crf: crf.predict_single(X[0][0]), "xseq is a dict, which is one position; pass .xseq. if"),
        (lambda crf: crf.predict([X[0], 5]), "sequence 1 must be a list of positions, but it is a int"),
        (
            lambda crf: crf.predict([[], X[0], [X[0][0], {"a": 1.0, "b": float("nan")}]]),
            "sequence 2, position 1: the value of attribute 'b' must be finite",
        ),
        (lambda crf: crf.predict([[], [None]]), "sequence 1, position 0"),
    ],
)
def test_messages_about_sequences(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        call(FITTED)
    assert len(str(caught.value)) < 250


def test_empty_sequences_are_allowed() -> None:
    with_empty = CRF(c1=0.01, c2=0.01).fit([[], *X, []], [[], *y, []])
    assert with_empty.state_features_ == FITTED.state_features_
    assert with_empty.predict([[], X[0]]).tolist() == [[], y[0]]
    assert with_empty.predict([]).tolist() == with_empty.predict_marginals([]).tolist() == []
    assert with_empty.predict_marginals_single([]) == []
    with pytest.raises(InputError, match="at least one sequence that is not empty"):
        CRF().fit([[]], [[]])
    with pytest.raises(InputError, match="12 sequences and 11"):
        CRF().fit(X, y[1:])
    with pytest.raises(InputError, match="sequence"):
        CRF().fit([*X, []], [*y, ["-"]])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"algorithm": "sgd"}, "algorithm must be one of"),
        ({"gamma": 1.0}, "gamma is a parameter of algorithm='arow', but the algorithm is 'lbfgs'"),
        ({"algorithm": "l2sgd", "c1": 0.1}, "c1 is a parameter of algorithm='lbfgs', but the algorithm is 'l2sgd'"),
        ({"calibration_eta": 0.1}, "calibration_eta is a parameter of algorithm='l2sgd'"),
        ({"algorithm": "ap", "min_freq": 2}, "algorithm='ap' has no min_freq here"),
        ({"trainer_cls": object}, "trainer_cls must be None"),
        ({"c2": -1}, "c2 must be a number of at least 0"),
        ({"linesearch": "Newton"}, "linesearch must be one of"),
    ],
    ids=str,
)
def test_what_has_no_meaning_here_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CRF(**parameters).fit(X, y)


def test_parameters_without_effect_are_accepted() -> None:
    free = {"linesearch": "Backtracking", "max_linesearch": 5, "keep_tempfiles": True, "verbose": False}
    assert CRF(c1=0.01, c2=0.01, **free).fit(X, y).state_features_ == FITTED.state_features_
    CRF(algorithm="l2sgd", max_iterations=2, calibration_eta=0.1, calibration_samples=10).fit(X, y)


def test_dev_data_come_in_pairs() -> None:
    with pytest.raises(InputError, match="X_dev and y_dev must be passed together"):
        CRF().fit(X, y, X)


def test_the_model_file(tmp_path: Path) -> None:
    path = tmp_path / "m.hedgerow"
    crf = CRF(c1=0.01, c2=0.01, model_filename=path)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        crf.predict(X)
    crf.fit(X, y)
    assert path.stat().st_size == crf.size_
    again = CRF(model_filename=str(path))
    assert again.training_log_ is None
    assert again.predict(X).tolist() == y
    assert again.state_features_ == crf.state_features_
    loaded = hr.load(path)
    assert isinstance(loaded, hr.LinearCRF)
    assert loaded.predict(hr.compat.read_items(X))[0].tolist() == y[0]
    hr.HMM().fit(["ab"], [["x", "y"]]).save(path)
    with pytest.raises(InputError, match=r"must hold a linear model, but .* holds a HMM"):
        CRF(model_filename=path).predict(X)
    with pytest.raises(FileNotFoundError):
        CRF(model_filename=tmp_path / "no" / "m").fit(X, y)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
def test_copies(copied: Any) -> None:
    assert repr(copied(CRF(c1=0.5))) == "CRF(c1=0.5)"
    twin = copied(FITTED)
    assert twin.get_params() == FITTED.get_params()
    assert twin.predict_marginals(X).tolist() == FITTED.predict_marginals(X).tolist()
    assert twin.training_log_ == FITTED.training_log_
    assert not hasattr(clone(twin), "estimator_")


def test_tools_of_scikit_learn() -> None:
    search = GridSearchCV(CRF(max_iterations=10), {"c1": [0.0, 0.1], "c2": [0.1, 1.0]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.8
    assert search.predict(X).tolist() == y
    out_of_fold = cross_val_predict(CRF(max_iterations=10), X, y, cv=2)
    assert [len(labels) for labels in out_of_fold] == [len(labels) for labels in y]
    assert len(cross_val_predict(CRF(max_iterations=10), X[:2], y[:2], cv=2)) == 2  # of one length


def test_one_thread_or_many_give_one_model() -> None:
    again = CRF(c1=0.01, c2=0.01).fit(X, y)
    assert again.predict_marginals(X).tolist() == FITTED.predict_marginals(X).tolist()


def test_progress_shows_the_score_of_the_dev_data(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="hedgerow"):
        crf = CRF(max_iterations=2, verbose=True).fit(X, y, X, y)
    assert len(caplog.messages) == len(crf.training_log_.iterations)
    assert all("dev accuracy" in message for message in caplog.messages)


def test_unseen_labels_of_the_dev_data_are_named() -> None:
    with pytest.warns(hr.errors.UnseenLabelWarning, match="1 distinct label of y_dev never occurred"):
        CRF(max_iterations=2).fit(X, y, X[:1], [["new", "new", "-"]])
