"""Two models against plain loops over their public predictions, and against the tests of significance."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.errors import InputError, NotFittedError, UnseenLabelWarning
from hedgerow.inspection.comparison import ChangedSequence, comparison_of
from hedgerow.inspection.labelling import Labelling
from inspection.test_labelling import X_TEST, Y_TEST, X, Y
from oracles import errors as oracle
from oracles.markup import NASTY, check_html

A, B = hr.HMM().fit(X[:6], Y[:6]), hr.LinearCRF(n_jobs=1).fit(X, Y)


def lists(labels: Any) -> list[list[Any]]:
    return [one.tolist() for one in labels]


@pytest.mark.filterwarnings("ignore::hedgerow.errors.UnseenLabelWarning")
@pytest.mark.parametrize(("a", "b"), [(A, B), (B, A), (A, hr.StructuredPerceptron(random_state=0).fit(X, Y))])
def test_a_comparison_is_that_of_plain_loops(a: Any, b: Any) -> None:
    found = hr.inspection.compare(a, b, X_TEST, Y_TEST, n_resamples=50, random_state=3)
    by_a, by_b = lists(a.predict(X_TEST)), lists(b.predict(X_TEST))
    assert list(found.changed) == oracle.changed(Y_TEST, by_a, by_b)
    assert len(found.changed) > 0
    assert found.mcnemar == hr.significance.mcnemar(Y_TEST, by_a, by_b)
    assert found.span_f1 is not None
    for metric, bootstrap in (("accuracy", found.accuracy), ("span_f1", found.span_f1)):
        interval = oracle.bootstrap(Y_TEST, by_a, by_b, metric, "IOB2", 50, 3, 0.95)
        assert (bootstrap.low, bootstrap.high) == pytest.approx(interval, abs=1e-12)
        assert bootstrap.a == pytest.approx(oracle.score(Y_TEST, by_a, metric, "IOB2"))
        assert bootstrap.b == pytest.approx(oracle.score(Y_TEST, by_b, metric, "IOB2"))
    assert sum(map(found.count, ("better", "worse", "neither"))) == len(found.changed)
    assert found.mcnemar.n_b_only == sum(one.gained for one in found.changed)
    assert found.mcnemar.n_a_only == sum(one.lost for one in found.changed)


def test_better_means_that_b_is_better() -> None:
    X, y = [["a", "b"]] * 4, [["P", "Q"]] * 4
    good, bad = hr.HMM().fit(X, y), hr.HMM().fit(X, [["Q", "P"]] * 4)
    found = hr.inspection.compare(bad, good, X, y)
    assert found.accuracy.difference == 1
    assert found.changed[2] == (2, "better", (0, 1), 2, 0)
    assert (found.count("better"), found.count("worse"), found.span_f1) == (4, 0, None)
    back = hr.inspection.compare(good, bad, X, y)
    assert (back.accuracy.difference, back.count("worse")) == (-1, 4)


def test_a_model_and_itself() -> None:
    found = hr.inspection.compare(B, B, X_TEST, Y_TEST)
    assert (found.changed, found.mcnemar.p_value) == ((), 1.0)
    assert (found.accuracy.low, found.accuracy.high) == (0.0, 0.0)
    assert "0 of 20 sequences changed" in str(found)
    check_html(found._repr_html_())


def test_labels_are_compared_by_value() -> None:
    X, y, wider = [["a", "b"]] * 3, [["P", "Q"]] * 3, [["P", "Q"]] * 3
    small = hr.HMM().fit(X, y)
    large = hr.HMM().fit([*X, ["c", "d"]], [*wider, ["A", "Z"]])  # "P" has another code than in the small model
    assert small.classes_.tolist().index("P") != large.classes_.tolist().index("P")
    assert hr.inspection.compare(small, large, X, y).changed == ()
    with pytest.warns(UnseenLabelWarning):
        found = hr.inspection.compare(small, large, [["c", "a"]], [["A", "P"]])
    assert found.accuracy.b == 1.0
    assert found.changed[0].change == "better"


def test_schemes_that_differ_are_read_as_the_wider_one() -> None:
    X = [["a", "b"], ["c"], ["d"]]
    narrow = hr.HMM().fit(X, [["B-N", "I-N"], ["O"], ["B-N"]])
    wide = hr.HMM().fit(X, [["B-N", "E-N"], ["O"], ["S-N"]])
    with pytest.warns(UnseenLabelWarning):
        found = hr.inspection.compare(narrow, wide, X, [["B-N", "E-N"], ["O"], ["S-N"]])
    assert found.span_f1 is not None
    assert (found.span_f1.a, found.span_f1.b) == (1.0, 1.0)  # B I and a lonely B mark the same spans
    assert found.accuracy.a < 1


def test_letters_of_two_schemes_have_no_span_f1() -> None:
    X = [["a", "b"], ["c"]]
    one, other = hr.HMM().fit(X, [["B-N", "E-N"], ["O"]]), hr.HMM().fit(X, [["B-N", "L-N"], ["O"]])
    with pytest.warns(UnseenLabelWarning):
        assert hr.inspection.compare(one, other, X, [["B-N", "E-N"], ["O"]]).span_f1 is None


def test_gold_labels_that_mark_no_spans() -> None:
    with pytest.warns(UnseenLabelWarning):
        found = hr.inspection.compare(A, B, X_TEST[:1], [["other"] * len(X_TEST[0])])
    assert (found.span_f1, found.accuracy.a, found.accuracy.b) == (None, 0.0, 0.0)


def test_labellings_that_are_computed_already() -> None:
    first, second = Labelling.of(A, X_TEST, Y_TEST), Labelling.of(B, X_TEST, Y_TEST)
    assert comparison_of(first, second) == hr.inspection.compare(A, B, X_TEST, Y_TEST)
    with pytest.raises(InputError, match="pass y"):
        comparison_of(replace(first, gold=None), second)


def test_iterators_and_seeds() -> None:
    found = hr.inspection.compare(A, B, iter(X_TEST), iter(Y_TEST), random_state=1)
    assert found == hr.inspection.compare(A, B, X_TEST, Y_TEST, random_state=1)
    assert found != hr.inspection.compare(A, B, X_TEST, Y_TEST, random_state=2)
    assert pickle.loads(pickle.dumps(found)) == found


def test_integers_and_bools() -> None:
    X, y = ["ab", "b"], [[0, 1], [1]]
    found = hr.inspection.compare(hr.HMM().fit(X, y), hr.HMM().fit(X, y), X, np.array(y, dtype=object))
    assert (found.accuracy.a, found.span_f1) == (1.0, None)


def test_texts() -> None:
    found = hr.inspection.compare(A, B, X_TEST, Y_TEST)
    lines = str(found).splitlines()
    assert lines[0] == "A: HMM, B: LinearCRF; intervals at 95% from 2,000 resamples"
    assert lines[1].split() == ["metric", "A", "B", "B", "-", "A", "interval"]
    assert any("McNemar" in line for line in lines)
    assert found.to_frame()["sequence"].tolist() == [one.sequence for one in found.changed]
    check_html(found._repr_html_())


def test_long_lists_say_how_many_are_hidden() -> None:
    one = ChangedSequence(0, "better", (0,), 1, 0)
    found = replace(hr.inspection.compare(A, B, X_TEST, Y_TEST), changed=(one,) * 1734, n_sequences=12000)
    for shown in (str(found), found._repr_html_()):
        assert "1,734 of 12,000 sequences changed from A to B: 1,734 better, 0 worse" in shown
        assert "… 1,724 more" in shown
    assert "… " not in replace(found, changed=(one,) * 10)._repr_html_()


def test_words_are_escaped() -> None:
    X, y = [[NASTY, "b"]], [[f"B-{NASTY}", "O"]]
    model = hr.HMM().fit(X, y)
    check_html(hr.inspection.compare(model, model, X, y)._repr_html_())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((A, B, [], []), "at least one sequence, but X is empty"),
        ((A, B, X, None), "y is None; pass y"),
        ((A, hr.HMM().fit(X, [[len(w) for w in x] for x in X]), X, Y), "strings, but those of model_b are integers"),
        ((A, B.model_, X, Y), "not its model_"),
        (
            (hr.HMM().fit(["ab"], [[0, 1]]), hr.HMM().fit(["ab"], [[False, True]]), ["ab"], [[0, 1]]),
            "^compare: the labels of model_a are integers, but those of model_b are bools; fit both",
        ),
        ((A, B, X, Y[1:]), "sequence"),
    ],
)
def test_bad_input(arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        hr.inspection.compare(*arguments)


def test_the_model_that_rejects_the_columns_is_named() -> None:
    words, lemmas = ([[{name: "cat"}, {name: "."}]] for name in ("word", "lemma"))
    a, b = (hr.HMM().fit(x, [["N", "."]]) for x in (words, lemmas))
    with pytest.raises(
        InputError, match=r"^compare: model_b: X must have columns of training, .* training had 'lemma'"
    ):
        hr.inspection.compare(a, b, words, [["N", "."]])
    with pytest.raises(InputError, match=r"^compare: model_a: X must have columns of training, .* training had 'word'"):
        hr.inspection.compare(a, b, lemmas, [["N", "."]])
    with pytest.raises(InputError, match=r"^sequence 0 has 2 positions"):  # neither model
        hr.inspection.compare(a, a, words, [["N"]])


def test_bad_parameters() -> None:
    with pytest.raises(InputError, match="n_resamples"):
        hr.inspection.compare(A, B, X, Y, n_resamples=0)
    with pytest.raises(InputError, match="random_state"):
        hr.inspection.compare(A, B, X, Y, random_state=-1)
    with pytest.raises(InputError, match="change must be"):
        hr.inspection.compare(A, B, X, Y).count("other")  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        hr.inspection.compare(A, hr.HMM(), X, Y)
