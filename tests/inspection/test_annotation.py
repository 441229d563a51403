"""Ranking for annotation against enumeration of label sequences and a slow choice of diverse sequences."""

from __future__ import annotations

import copy
import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import hedgerow as hr
from hedgerow.errors import InputError, NotFittedError
from hedgerow.inspection import annotation
from hedgerow.inspection.annotation import AttributeCounts
from inspection.test_calibration import ESTIMATORS, X_TEST, X, Y
from oracles import trust

SOME = [x for x in X_TEST if len(x) <= 4][:8]


def doubts(model, x, by, per_position):
    """The doubt about a sequence, from the probabilities of all its label sequences."""
    probabilities = trust.path_probabilities(model, x)
    root = 1 / len(x) if per_position else 1
    first, second = sorted(probabilities.values(), reverse=True)[:2]
    if by == "confidence":
        return 1 - first**root
    if by == "margin":
        return 1 - (first**root - second**root)
    return trust.entropy(probabilities) * root


@pytest.mark.parametrize("per_position", [False, True])
@pytest.mark.parametrize("by", ["confidence", "margin", "entropy"])
@pytest.mark.parametrize("name", ESTIMATORS, ids=lambda name: name.replace(" ", "-"))
def test_doubts_are_those_of_enumeration(name, by, per_position):
    model = copy.deepcopy(ESTIMATORS[name]).fit(X, Y)
    if name == "SearchTagger":
        pytest.skip("a beam sums over some paths only")
    ranked = hr.rank_for_annotation(model, SOME, 100, by=by, per_position=per_position)
    assert sorted(one.index for one in ranked) == list(range(len(SOME)))
    for index, score in ranked:
        assert score == pytest.approx(doubts(model, SOME[index], by, per_position), rel=1e-3, abs=1e-5)
    scores = [one.score for one in ranked]
    assert scores == sorted(scores, reverse=True)


def test_a_beam_gives_the_entropy_of_its_best_label_sequences():
    model = copy.deepcopy(ESTIMATORS["SearchTagger"]).fit(X, Y)
    for index, score in hr.rank_for_annotation(model, SOME, 100, by="entropy"):
        best = model.predict_nbest([SOME[index]], n=annotation.N_BEST)[0]
        values = model.log_likelihood([SOME[index]] * len(best), [labels for _, labels in best])
        odds = [math.exp(value) for value in values]
        expected = trust.entropy({i: p / sum(odds) for i, p in enumerate(odds)})
        assert score == pytest.approx(expected, rel=1e-3, abs=1e-5)
    for by in ("confidence", "margin"):
        assert len(hr.rank_for_annotation(model, SOME, 3, by=by)) == 3


def test_a_sequence_with_a_single_possible_labelling_leaves_no_doubt():
    model = hr.LinearCRF(constraints=[(None, "a"), ("a", "b")], n_jobs=1).fit(["xy"], [["a", "b"]])
    for by in ("confidence", "margin", "entropy"):
        for keywords in ({}, {"per_position": True}, {"diversity": 0.5}):
            ranked = hr.rank_for_annotation(model, ["xy", "y"], 2, by=by, **keywords)
            assert sorted(one.index for one in ranked) == [0, 1]
            assert [one.score for one in ranked] == pytest.approx([0, 0], abs=1e-6)


def test_long_sequences_are_still_ordered():
    """The probability of a long sequence is less than a float can tell from 0."""
    model = hr.HMM(n_jobs=1).fit(X, Y)
    doubtful = ["q" * 400, "q" * 1200, "q" * 800]
    for by in ("confidence", "margin"):
        assert [one.index for one in hr.rank_for_annotation(model, doubtful, 3, by=by)] == [1, 2, 0]


@pytest.mark.parametrize("diversity", [0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("by", ["confidence", "entropy"])
def test_diversity_is_that_of_plain_loops(by, diversity):
    model = hr.LinearCRF(n_jobs=1).fit(X, Y)
    doubt = [0.0] * len(X_TEST)
    for index, score in hr.rank_for_annotation(model, X_TEST, 100, by=by):
        doubt[index] = score
    found = hr.rank_for_annotation(model, X_TEST, 12, by=by, diversity=diversity)
    chosen = [one.index for one in found]
    assert len(set(chosen)) == 12
    assert [one.score for one in found] == [doubt[i] for i in chosen]
    value = lambda order: [trust.relevance(doubt, X_TEST, order, k, diversity) for k in range(12)]  # noqa: E731
    np.testing.assert_allclose(value(chosen), value(trust.diverse(doubt, X_TEST, 12, diversity)), atol=1e-9)


def test_diversity_leaves_out_copies():
    model = hr.HMM().fit(X, Y)
    X_twice = [["x", "x"], ["x", "x"], ["y"], ["z"], ["x", "x"]]
    chosen = [one.index for one in hr.rank_for_annotation(model, X_twice, 3, diversity=0.9)]
    assert sorted({"".join(X_twice[i]) for i in chosen}) == ["xx", "y", "z"]
    assert sorted(one.index for one in hr.rank_for_annotation(model, X_twice, 9, diversity=0.9)) == [0, 1, 2, 3, 4]


def test_cosines_are_those_of_plain_loops(monkeypatch):
    model = hr.HMM().fit(X, Y)
    encoded = model._encode(X_TEST)
    whole = AttributeCounts.of(encoded)
    monkeypatch.setattr(annotation, "MAX_POSITIONS", 7)
    for counts in (whole, AttributeCounts.of(encoded)):
        for i in range(0, len(X_TEST), 7):
            expected = [trust.cosine(X_TEST[i], x) for x in X_TEST]
            np.testing.assert_allclose(counts.similarities(i), expected, atol=1e-12)


def test_every_form_of_input(tmp_path):
    texts, labels = ["".join(x) for x in X], [list(y) for y in Y]
    corpus = hr.encode(lambda: zip(texts, labels, strict=True), tmp_path / "c")
    model, of_corpus = hr.HMM().fit(texts, labels), hr.HMM().fit(corpus, corpus.y)
    for keywords in ({}, {"by": "margin"}, {"by": "entropy"}, {"diversity": 0.3}):
        expected = hr.rank_for_annotation(model, texts, 5, **keywords)
        for form in (hr.Sequences(texts), iter(texts)):
            assert hr.rank_for_annotation(model, form, 5, **keywords) == expected
        assert hr.rank_for_annotation(of_corpus, corpus, 5, **keywords) == expected


def test_columns_of_every_kind():
    frames = [
        pd.DataFrame({"size": [0.5, 1.0, np.nan], "word": list("abc")}),
        pd.DataFrame({"size": [2.0], "word": ["a"]}),
    ]
    numeric = hr.TreeCRF(n_rounds=2, n_jobs=1).fit(frames, [["p", "q", "p"], ["q"]])
    assert len(hr.rank_for_annotation(numeric, frames, 2, diversity=0.5)) == 2
    bags = [[{"bag": ["a", "b"]}], [{"bag": []}, {"bag": ["b"]}], [{"bag": []}]]
    model = hr.HMM().fit(bags, [["p"], ["p", "q"], ["q"]])
    assert sorted(one.index for one in hr.rank_for_annotation(model, bags, 5, diversity=0.5)) == [0, 1, 2]


@pytest.mark.parametrize("diversity", [0.0, 0.4])
@pytest.mark.parametrize("by", ["confidence", "margin", "entropy"])
def test_threads_and_repeated_runs_change_nothing(by, diversity):
    model = hr.LinearCRF(n_jobs=1).fit(X, Y)
    expected = hr.rank_for_annotation(model, X_TEST, 10, by=by, diversity=diversity)
    assert hr.rank_for_annotation(model, X_TEST, 10, by=by, diversity=diversity) == expected
    assert hr.rank_for_annotation(model.set_params(n_jobs=2), X_TEST, 10, by=by, diversity=diversity) == expected
    assert hr.rank_for_annotation(model, X_TEST, 4, by=by, diversity=diversity) == expected[:4]


def test_memory_is_not_quadratic():
    model = hr.HMM(n_jobs=1).fit(X, Y)
    many = [X_TEST[i % len(X_TEST)] for i in range(3000)]
    tracemalloc.start()
    hr.rank_for_annotation(model, many, 5, diversity=0.5)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 3000 * 3000  # a byte for each pair of sequences


def test_limits_and_bad_input():
    model = hr.HMM().fit(X, Y)
    assert hr.rank_for_annotation(model, [], 3) == []
    assert hr.rank_for_annotation(model, [], 3, diversity=0.5) == []
    assert len(hr.rank_for_annotation(model, SOME, np.int64(2))) == 2
    for n in (0, -1, 1.5, True, "2", None):
        with pytest.raises(InputError, match="n must be an integer of at least 1"):
            hr.rank_for_annotation(model, SOME, n)
    with pytest.raises(InputError, match='by must be "confidence", "margin" or "entropy"'):
        hr.rank_for_annotation(model, SOME, 1, by="random")
    for diversity in (-0.1, 1.1, float("nan"), "0.5", True, None):
        with pytest.raises(InputError, match="diversity must be a number from 0 to 1"):
            hr.rank_for_annotation(model, SOME, 1, diversity=diversity)
    with pytest.raises(InputError, match="per_position must be True or False; it is 'yes'"):
        hr.rank_for_annotation(model, SOME, 1, per_position="yes")
    with pytest.raises(NotFittedError):
        hr.rank_for_annotation(hr.HMM(), SOME, 1)
    with pytest.raises(NotFittedError):
        hr.rank_for_annotation(hr.HMM(), [], 1)
    with pytest.raises(InputError, match="must be a fitted estimator"):
        hr.rank_for_annotation(model.model_, SOME, 1)
