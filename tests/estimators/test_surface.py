"""First steps of users: empty input, lists for other tools, solvers, errors of scikit-learn, help and notebooks."""

from __future__ import annotations

import doctest
import inspect
import json
import pickle
import pydoc
import subprocess
import sys

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.errors import InputError, NotFittedError
from hedgerow.estimators import base
from hedgerow.estimators.registry import REGISTRY

pytestmark = pytest.mark.filterwarnings("ignore::hedgerow.errors.CodeWarning")

X = ["cat", "dog", "cog", "at", "dot", "tact"] * 2
Y = [[c if c in "ao" else "-" for c in x] for x in X]


@pytest.mark.parametrize(
    "empty", [[], (), np.zeros((0, 3, 2)), hr.Sequences(X)[:0]], ids=["list", "tuple", "array", "Sequences"]
)
def test_no_sequences_give_no_predictions(empty):
    model = hr.HMM().fit(X, Y)
    for predict in (model.predict, model.predict_proba, model.predict_marginals, model.predict_nbest):
        assert predict(empty) == []
    with pytest.raises(NotFittedError):
        hr.HMM().predict(empty)
    with pytest.raises(InputError):
        model.predict("")


@pytest.mark.parametrize("labels", [["B-x", "I-x", "O"], [0, 1, 2], [False, True, True]], ids=["str", "int", "bool"])
def test_predictions_become_lists_that_json_and_metrics_take(labels):
    y = [[labels[i % 3] for i in range(len(x))] for x in X]
    model = hr.LinearCRF(max_iter=20).fit(X, y)
    found = model.predict(X)
    lists = [labels.tolist() for labels in found]
    assert json.loads(json.dumps(lists)) == lists
    assert type(lists[0][0]) is type(labels[0])
    for predicted in (found, lists):
        assert hr.metrics.accuracy(y, predicted) == hr.metrics.accuracy([np.array(row) for row in y], found)


def test_seqeval_takes_the_lists():
    from seqeval.metrics import f1_score

    y = [["B-x" if i % 3 == 0 else "I-x" if i % 3 == 1 else "O" for i in range(len(x))] for x in X]
    model = hr.LinearCRF(window=2, max_iter=20).fit(X, y)
    lists = [labels.tolist() for labels in model.predict(X)]
    for predicted in (lists, model.predict(X)):
        assert hr.metrics.span_f1(y, predicted) == pytest.approx(f1_score(y, lists))


def test_the_solver_follows_from_the_penalty():
    plain, sparse = (hr.LinearCRF(l1=l1, l2=0.5, tol=1e-8).fit(X, Y) for l1 in (0.0, 2.0))
    for automatic, solver in ((plain, "lbfgs"), (sparse, "owlqn")):
        same = hr.LinearCRF(**automatic.get_params() | {"solver": solver}).fit(X, Y)
        for a, b in zip(automatic.predict_proba(X), same.predict_proba(X), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-3)
    assert all(abs(sparse.state_features_[f]) < abs(w) for f, w in plain.state_features_.items())
    assert hr.LinearCRF(induce="mccallum", max_iter=5, random_state=0).fit(X, Y).score(X, Y) > 0.5
    with pytest.raises(InputError, match=r'solver="lbfgs" has no L1 penalty, but l1 is 0.1; use solver="auto"'):
        hr.LinearCRF(solver="lbfgs", l1=0.1).fit(X, Y)


def test_dev_data_can_be_positional():
    model = hr.HMM().fit(X, Y, X[:2], Y[:2])
    assert model.training_log_[-1]["dev_accuracy"] == 1.0
    assert list(inspect.signature(hr.HMM.fit).parameters)[1:5] == ["X", "y", "X_dev", "y_dev"]


def test_scikit_learn_s_error_is_caught_where_it_is_in_use():
    from sklearn.exceptions import NotFittedError as Theirs
    from sklearn.utils.validation import check_is_fitted

    with pytest.raises(Theirs) as caught:
        hr.TreeCRF().predict(X)
    assert isinstance(caught.value, NotFittedError)
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), Theirs)
    with pytest.raises(Theirs):
        check_is_fitted(hr.TreeCRF())
    check_is_fitted(hr.HMM().fit(X, Y))


def test_without_scikit_learn_the_error_is_ours_alone():
    code = (
        "import hedgerow as hr, sys\n"
        "try: hr.HMM().predict(['ab'])\n"
        "except hr.errors.NotFittedError as error: print(type(error) is hr.errors.NotFittedError)\n"
        "print('sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_columns_of_training_have_names(name):
    model = REGISTRY[name]().fit([[{"a": c, "b": "x"} for c in x] for x in X], Y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.n_features_in_ == 2
    with pytest.raises(AttributeError):
        _ = REGISTRY[name]().feature_names_in_
    assert not hasattr(REGISTRY[name](), "n_features_in_")


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_html_for_notebooks(name):
    model = REGISTRY[name](order=2)
    assert "not fitted" in model._repr_html_()
    assert "<b>2</b>" in model._repr_html_()
    fitted = hr.HMM(smoothing=0.5).fit(["ab", "ba"], [["<b>", "&"], ["&", "<b>"]])._repr_html_()
    assert "2 labels &#x27;&amp;&#x27;, &#x27;&lt;b&gt;&#x27;" in fitted


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_help_is_readable(name):
    text = pydoc.plain(pydoc.render_doc(REGISTRY[name]))
    assert "Annotated" not in text
    assert "dataclass" not in text
    assert "Parameters\n |  ----------" in text


PUBLIC = sorted(
    {
        (cls.__name__, name)
        for cls in REGISTRY.values()
        for name, value in inspect.getmembers(cls)
        if not name.startswith("_") and callable(value)
    }
)


@pytest.mark.parametrize(("cls", "name"), PUBLIC)
def test_public_methods_have_numpydoc_sections(cls, name):
    method = getattr(REGISTRY[cls], name)
    text = inspect.getdoc(method)
    arguments = [p for p in inspect.signature(method).parameters if p != "self"]
    if arguments:
        assert "Parameters\n----------" in text
        for argument in arguments:
            assert argument in text.partition("Parameters\n----------")[2].partition("\n\n")[0], argument
    returns = inspect.signature(method).return_annotation
    assert ("Returns\n-------" in text) == (returns not in ("None", None)), returns


@pytest.mark.parametrize(
    "cls", [base.Estimator, hr.TreeCRF, hr.FutureMEMM, hr.callbacks.Progress], ids=lambda cls: cls.__name__
)
def test_examples_in_docstrings_run(cls):
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    examples = [test for test in finder.find(cls, cls.__name__) if test.examples]
    assert examples
    for test in examples:
        runner.run(test)
    assert runner.failures == 0


@pytest.mark.parametrize(
    ("model", "absent"),
    [
        (hr.MEMM(learner="linear", max_iter=5), {"feature_importances_"}),
        (hr.MEMM(n_rounds=2), {"state_features_", "transition_features_", "intercept_"}),
        (
            hr.StructuredPerceptron(averaging="vote", random_state=0),
            {"state_features_", "transition_features_", "intercept_"},
        ),
    ],
    ids=["linear MEMM", "trees MEMM", "votes"],
)
def test_models_lack_the_attributes_of_parts_that_they_do_not_have(model, absent):
    model = model.fit(X, Y)
    found = {name for name, _ in inspect.getmembers(model)}
    views = {"feature_importances_", "state_features_", "transition_features_", "intercept_"}
    assert views - found == {name for name in views if not hasattr(model, name)}
    assert {name for name in views if hasattr(type(model), name) and not hasattr(model, name)} == absent
    for name in absent:
        with pytest.raises(InputError, match=r"with (learner|averaging)="):
            getattr(model, name)
