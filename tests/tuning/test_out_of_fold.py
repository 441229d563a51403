"""cross_val_predict, and scorers inside scikit-learn's searches."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

import hedgerow as hr
from hedgerow.errors import InputError

DATA = hr.datasets.load("pronounce", "train")
X = DATA.X[:40]
Y = [["silent" if phone == "_" else "heard" for phone in labels] for labels in DATA.y[:40]]


def test_predictions_are_those_of_a_plain_loop():
    folds = [(list(range(20)), list(range(39, 19, -1))), (list(range(20, 40)), list(range(20)))]
    found = hr.cross_val_predict(hr.LinearCRF(window=1), X, Y, cv=folds)
    for train, test in folds:
        model = hr.LinearCRF(window=1).fit([X[i] for i in train], [Y[i] for i in train])
        for i, labels in zip(test, model.predict([X[i] for i in test]), strict=True):
            assert found[i].tolist() == labels.tolist()


def test_threads_do_not_change_predictions():
    one, two = (hr.cross_val_predict(hr.HMM(), X, Y, n_jobs=n, random_state=0, method="predict_proba") for n in (1, 2))
    assert all((a == b).all() for a, b in zip(one, two, strict=True))


def test_probabilities_have_a_column_for_every_label():
    x, y = ["ab", "ba", "ab", "zb"], [["p", "q"], ["q", "p"], ["p", "q"], ["rare", "q"]]
    found = hr.cross_val_predict(hr.HMM(), x, y, cv=4, random_state=0, method="predict_proba")
    assert [p.shape for p in found] == [(2, 3)] * 4
    assert found[3][:, 2].tolist() == [0.0, 0.0]  # the only fold that did not learn "rare"
    assert all(p[:, 2].min() > 0 for p in found[:3])
    np.testing.assert_allclose([p.sum(axis=1) for p in found], 1.0, rtol=1e-6)


def test_integers_stay_integers():
    found = hr.cross_val_predict(hr.HMM(), ["ab", "ba"] * 3, [[3, 5], [5, 3]] * 3, random_state=0)
    assert [labels.tolist() for labels in found] == [[3, 5], [5, 3]] * 3


def test_predictions_find_the_rows_of_a_frame():
    df = pd.DataFrame({"s": [1, 1, 2, 2, 3, 3], "w": list("abbaab"), "tag": list("pqqppq")})
    x, y = hr.from_frame(df, sequence="s", label="tag")
    found = hr.cross_val_predict(hr.HMM(), x, y, cv=3, random_state=0)
    assert hr.to_frame(df, found)["prediction"].tolist() == df["tag"].tolist()


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"estimator": hr.HMM}, r"estimator must be an estimator of hedgerow, but got type; pass HMM\(\)"),
        ({"estimator": hr.compat.CRF()}, r"but got CRF; use cross_val_predict of sklearn\.model_selection for it"),
        ({"method": "predict_nbest"}, "method must be one of 'predict', 'predict_proba'"),
        ({"cv": [([0, 1], [2])]}, "every sequence in exactly one test part, but sequence 0 is in 0"),
        ({"cv": 41}, "cv must be from 2"),
        ({"groups": [1]}, "groups must hold one value"),
        ({"estimator": hr.HMM(order=-1)}, "order must be"),
    ],
)
def test_bad_arguments_are_refused(others, message):
    arguments = {"estimator": hr.HMM(), "X": X, "y": Y} | others
    with pytest.raises(InputError, match=message):
        hr.cross_val_predict(arguments.pop("estimator"), arguments.pop("X"), arguments.pop("y"), **arguments)


NAMES = [["Ann", "Lee", "left", "York"], ["in", "Leeds", "now"], ["Lee", "in", "York"]] * 4
IOB = [["B-P", "I-P", "O", "B-L"], ["O", "B-L", "O"], ["B-P", "O", "B-L"]] * 4
IOBES = [["B-P", "E-P", "O", "S-L"], ["O", "S-L", "O"], ["S-P", "O", "S-L"]] * 4
BILOU = [["B-P", "L-P", "O", "U-L"], ["O", "U-L", "O"], ["U-P", "O", "U-L"]] * 4


@pytest.mark.parametrize("gold", [IOB, IOBES, BILOU], ids=["IOB", "IOBES", "BILOU"])
def test_span_f1_scores_a_grid_search(gold):
    search = GridSearchCV(
        hr.HMM(), {"smoothing": [0.01, 0.1]}, cv=2, scoring=hr.metrics.span_f1_scorer, error_score="raise"
    ).fit(NAMES, gold)
    assert search.best_score_ == 1.0


def test_every_scorer_agrees_with_its_metric():
    model = hr.LinearCRF().fit(X[:20], Y[:20])
    predicted = model.predict(X[20:])
    scorers = hr.metrics
    assert scorers.accuracy_scorer(model, X[20:], Y[20:]) == scorers.accuracy(Y[20:], predicted)
    assert scorers.sequence_accuracy_scorer(model, X[20:], Y[20:]) == scorers.sequence_accuracy(Y[20:], predicted)
    likely = scorers.log_likelihood_scorer(model, X[20:], Y[20:])
    assert likely == pytest.approx(model.log_likelihood(X[20:], Y[20:]).mean())
    tagger = hr.HMM().fit(NAMES[:2], IOB[:2])
    assert scorers.span_f1_scorer(tagger, NAMES, IOB) == scorers.span_f1(IOB, tagger.predict(NAMES))


@pytest.mark.parametrize("name", ["accuracy", "sequence_accuracy", "log_likelihood"])
def test_scorers_serve_cross_val_score(name):
    scorer = pickle.loads(pickle.dumps(getattr(hr.metrics, f"{name}_scorer")))
    scores = cross_val_score(hr.LinearCRF(), X, Y, cv=2, scoring=scorer, error_score="raise")
    assert np.isfinite(scores).all()
