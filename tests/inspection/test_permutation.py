"""Permutation importance against plain lists that are shuffled and scored by the public methods."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import hedgerow as hr
from hedgerow.errors import AbsentColumnWarning, InputError, NotFittedError, UnseenLabelWarning
from hedgerow.inspection import permutation_importance
from hedgerow.learning.seeds import fit_seeds, stream
from oracles.changed_columns import mean_drop
from oracles.markup import NASTY, check_html, parsed_svg

mpl.use("Agg")

RNG = np.random.default_rng(0)
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "ran", "off", "home"]


def position(word):
    attributes = {"word": word, "size": float(len(word)), "ends": [word[0], word[-1]], "noise": str(RNG.integers(3))}
    return attributes if RNG.random() < 0.8 else {k: v for k, v in attributes.items() if k != "ends"}


X = [[position(WORDS[i]) for i in RNG.integers(len(WORDS), size=RNG.integers(1, 7))] for _ in range(12)]
Y = [["B-X" if len(p["word"]) > 3 else "I-X" if p["word"][0] == "a" else "O" for p in x] for x in X]

SCORES = {
    "accuracy": lambda model, X, y: model.score(X, y),
    "span_f1": hr.metrics.span_f1_scorer,
    "log_likelihood": lambda model, X, y: model.log_likelihood(X, y).sum() / sum(map(len, y)),
}


def orders(n, seed=0):
    return [stream(fit_seeds(seed)[0], i).permutation(sum(map(len, X))) for i in range(n)]


ESTIMATORS = [
    hr.TreeCRF(window=1, n_rounds=3, n_jobs=1),
    hr.LinearCRF(max_iter=10, n_jobs=1, tol=1.0),
    hr.StructuredPerceptron(epochs=2, n_jobs=1, random_state=0),
    hr.StructuredPerceptron(epochs=2, averaging="vote", n_jobs=1, random_state=0),
    hr.StructuredSVM(epochs=2, n_jobs=1, random_state=0),
    hr.HMM(),
    hr.MEMM(n_rounds=2, n_jobs=1),
    hr.FutureMEMM(bag=2, random_state=0, n_jobs=1),
    hr.SearchTagger(epochs=2, random_state=0, n_jobs=1),
    hr.OutputCode(base=hr.TreeCRF(n_rounds=2), n_jobs=1, random_state=0),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("metric", SCORES)
def test_drops_are_those_of_shuffled_lists(estimator, metric):
    model = estimator.fit(X, Y)
    found = permutation_importance(model, X, Y, n_repeats=2, metric=metric)
    assert {row.column for row in found.rows} == {"word", "size", "ends", "noise"}
    assert found.score == pytest.approx(SCORES[metric](model, X, Y))
    for row in found.rows:
        drop, deviation = mean_drop(model, X, Y, row.column, orders(2), SCORES[metric])
        assert row.drop == pytest.approx(drop, abs=1e-6)
        assert row.deviation == pytest.approx(deviation, abs=1e-6, nan_ok=True)
    assert [row.drop for row in found.rows] == sorted((row.drop for row in found.rows), reverse=True)


def test_results_depend_on_the_seed_alone():
    model = hr.LinearCRF(features=hr.templates.words(column="word"), max_iter=10, tol=1.0).fit(X, Y)
    all_columns = permutation_importance(model, X, Y)
    assert permutation_importance(model.set_params(n_jobs=2), hr.Sequences(X), Y) == all_columns
    (one,) = permutation_importance(model, X, Y, columns=["word"]).rows
    assert one in all_columns.rows
    assert permutation_importance(model, X, Y, columns="word").rows == (one,)
    assert permutation_importance(model, X, Y, random_state=1) != all_columns


FORMS = {
    "characters": (["cat", "dog", "a"], "symbol"),
    "words": ([["a", "b", "c"], ["b", "a", "b"], ["c"]], "symbol"),
    "bags": ([[["a"], ["b", "c"], []], [["b"], ["a"], ["b"]], [["c"]]], "bag"),
    "tuples": ([[("a", 1.0), ("b", 2.0), ("c", 3.0)], [("a", 1.0)] * 3, [("a", 1.0)]], "x1"),
    "arrays": ([np.arange(3.0)[:, None], np.ones((3, 1)), np.zeros((1, 1))], "x0"),
    "frames": ([pd.DataFrame({"w": list("abc")}), pd.DataFrame({"w": list("bab")}), pd.DataFrame({"w": ["a"]})], "w"),
    "sparse": ([scipy.sparse.csr_array(np.eye(3)), scipy.sparse.csr_array(np.eye(3)), scipy.sparse.eye(1, 3)], "bag"),
    "folded": ([[{f"k{i}": 1.0} for i in range(3)], [{f"k{i}": 1.0} for i in range(9, 12)], [{"k0": 2.0}]], None),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_x_has_columns_to_shuffle(form):
    x, column = FORMS[form]
    y = [["A", "B", "C"], ["B", "A", "B"], ["A"]]
    model = hr.LinearCRF(max_iter=20, tol=1.0, n_jobs=1).fit(x, y)
    found = permutation_importance(model, x, y, n_repeats=3)
    assert column is None or column in {row.column for row in found.rows}
    assert found.rows[0].drop >= 0


def test_unseen_labels_and_absent_columns_warn_once():
    model = hr.LinearCRF(max_iter=5, tol=1.0).fit(X, Y)
    some = [[{"word": p["word"]} for p in x] for x in X]
    with pytest.warns(AbsentColumnWarning) as caught:
        permutation_importance(model, some, Y)
    assert len(caught) == 1
    other = [["new"] * len(Y[0]), *Y[1:]]
    with pytest.warns(UnseenLabelWarning) as caught:
        found = permutation_importance(model, X, other, metric="log_likelihood", n_repeats=2)
    assert len(caught) == 1
    assert np.isfinite([found.score, *(row.drop for row in found.rows)]).all()


def test_bad_arguments_are_refused_before_work():
    model = hr.HMM().fit(X, Y)
    with pytest.raises(NotFittedError):
        permutation_importance(hr.HMM(), X, Y)
    with pytest.raises(InputError, match="must be a fitted estimator, but got Model; pass the estimator itself"):
        permutation_importance(model.model_, X, Y)
    with pytest.raises(InputError, match="must be a fitted estimator, but got str"):
        permutation_importance("model", X, Y)
    with pytest.raises(InputError, match="but y is None; pass the gold labels"):
        permutation_importance(model, X, None)
    with pytest.raises(InputError, match=r"columns must be columns of X, .* but got \['x'\]"):
        permutation_importance(model, X, Y, columns=["word", "x"])
    with pytest.raises(InputError, match="but got none"):
        permutation_importance(model, X, Y, columns=[])
    with pytest.raises(InputError, match="n_repeats must be an integer of at least 1; it is 0"):
        permutation_importance(model, X, Y, n_repeats=0)
    with pytest.raises(InputError, match="metric must be one of 'accuracy', 'span_f1', 'log_likelihood'; it is 'f1'"):
        permutation_importance(model, X, Y, metric="f1")
    with pytest.raises(InputError, match="random_state must be an integer of at least 0, or None; it is -1"):
        permutation_importance(model, X, Y, random_state=-1)
    with pytest.raises(InputError, match="X must be raw sequences, but it is encoded"):
        permutation_importance(model, model.model_.encode(X), Y)
    with pytest.raises(InputError, match="labels"):
        permutation_importance(model, X, Y[:-1])
    plain = hr.HMM().fit(["ab"], [["x", "y"]])
    with pytest.raises(InputError, match='metric="span_f1" needs labels that mark spans'):
        permutation_importance(plain, ["ab"], [["x", "y"]], metric="span_f1")


def test_a_model_that_excludes_shuffled_sequences_is_refused():
    X = [[{"a": "x", "b": "x"}, {"a": "y", "b": "y"}]] * 3
    y = [["X", "Y"]] * 3
    model = hr.HMM(smoothing=0.0).fit(X, y)
    with pytest.raises(InputError, match=r"no labels for some sequences in which 'a' is shuffled.*smoothing above 0"):
        permutation_importance(model, X, y, columns=["a"])


def test_columns_are_names():
    X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
    model = hr.HMM().fit(X, y)
    (row,) = permutation_importance(model, X, y, columns=np.array(["symbol"])).rows
    assert type(row.column) is str
    with pytest.raises(InputError, match="columns must be a list of names of columns; it is 0"):
        permutation_importance(model, X, y, columns=0)


def test_the_result_is_shown_as_text_html_svg_frame_and_plot():
    x = [[{NASTY: p["word"], "size": p["size"]} for p in x] for x in X]
    found = permutation_importance(hr.HMM().fit(x, Y), x, Y, n_repeats=2)
    lines = str(found).splitlines()
    assert lines[0] == f"accuracy {found.score:.4g}; drop when a column is shuffled, mean of 2"
    assert lines[1].split() == ["column", "drop", "deviation"]
    assert len(lines) == 4
    check_html(found._repr_html_())
    parsed_svg(found.to_svg())
    assert found.to_frame()["drop"].tolist() == [row.drop for row in found.rows]
    assert found[0] == found.rows[0]
    assert len(found) == 2
    axes = found.plot(n=1)
    axes.figure.canvas.draw()
    assert len(axes.get_yticklabels()) == 1
    mpl.pyplot.close("all")
