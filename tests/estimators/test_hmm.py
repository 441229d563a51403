"""The HMM against a naive version, counts by hand, and worked examples of the first papers."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.errors import MissingColumnWarning
from hedgerow.inference.lattice import Lattice
from hedgerow.topology import Topology
from oracles.hmm import NaiveHMM


@st.composite
def small_data(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, k = draw(st.integers(1, 6)), draw(st.integers(2, 3))
    lengths = rng.integers(1, 6, size=n)
    y = [rng.choice(list("ABC"[:k]), size=m).tolist() for m in lengths]
    y[0] = (list("ABC"[:k]) + y[0])[: max(k, len(y[0]))]
    X = [[[*"xyz", None][i] for i in rng.integers(0, 4, size=len(labels))] for labels in y]
    if all(v is None for x in X for v in x):
        X[0][0] = "x"
    return [[{"v": v} for v in x] for x in X], X, y


@given(small_data(), st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0]))
@settings(max_examples=60)
def test_equals_the_naive_twin(data, order, smoothing):
    X, plain, y = data
    model = hr.HMM(order=order, smoothing=smoothing, decode="viterbi").fit(X, y)
    naive = NaiveHMM(plain, y, order, smoothing)
    for x, raw in zip(X[:2], plain[:2], strict=True):
        truth = {labels: naive.joint(raw, labels) for labels in product(naive.labels, repeat=len(x))}
        best = max(truth.values())
        z = best + math.log(sum(math.exp(v - best) for v in truth.values()))
        predicted = tuple(model.predict_single(x).tolist())
        assert math.isclose(truth[predicted], best, abs_tol=1e-9)
        assert math.isclose(model.log_likelihood([x], [list(predicted)])[0], best - z, abs_tol=1e-9)
        proba = model.predict_proba([x])[0]
        for t, k in product(range(len(x)), range(len(naive.labels))):
            p = sum(math.exp(v - z) for path, v in truth.items() if path[t] == naive.labels[k])
            assert math.isclose(proba[t, k], p, abs_tol=1e-9)


def test_counts_by_hand():
    X, y = [["a", "b", "a"], ["b", "b"]], [["N", "V", "N"], ["N", "N"]]
    model = hr.HMM(smoothing=0).fit(X, y)
    potential = model.model_.potential
    np.testing.assert_allclose(np.exp(potential.transitions), [[1, 0], [1 / 2, 1 / 2], [1, 0]])
    np.testing.assert_allclose(np.exp(potential.emissions[0].log_probability), [[1 / 2, 0], [1 / 2, 1]])
    model = hr.HMM(smoothing=1).fit(X, y)
    emission = model.model_.potential.emissions[0]
    np.testing.assert_allclose(np.exp(emission.log_probability), [[1 / 2, 1 / 3], [1 / 2, 2 / 3]])


def test_weights_count_as_repetitions():
    X, y = [["a", "b"], ["b", "a"], ["a", "a"]], [["N", "V"], ["V", "V"], ["N", "N"]]
    weighted = hr.HMM(order=2).fit(X, y, sample_weight=[2, 1, 0])
    repeated = hr.HMM(order=2).fit([X[0], X[0], X[1]], [y[0], y[0], y[1]])
    np.testing.assert_allclose(weighted.model_.potential.transitions, repeated.model_.potential.transitions)


def test_the_example_where_only_both_directions_together_are_right():
    """Forward alone says l2, backward alone says l3; the smoothed posterior says l1 (dissertation, section 5.1)."""
    transitions = {(a, b): 18 if a == b else 1 for a, b in product("123", repeat=2)}
    emitted = {"1": (18, 4, 18), "2": (32, 4, 4), "3": (4, 4, 32)}
    supply = {label: ["e1"] * a + ["e2"] * b + ["e3"] * c for label, (a, b, c) in emitted.items()}
    X, y = [], []
    for pair, count in transitions.items():
        for _ in range(count):
            X.append([supply[label].pop() for label in pair])
            y.append(list(pair))
    assert not any(supply.values())
    model = hr.HMM(smoothing=0).fit(X, y)
    alpha = np.array([0.045, 0.07475, 0.01525])
    beta = np.array([0.45, 0.1525, 0.7475])
    expected = alpha * beta / (alpha @ beta)
    posterior = model.predict_proba([["e1", "e2", "e3"]])[0][1]
    np.testing.assert_allclose(posterior, expected, atol=1e-9)
    assert model.predict_single(["e1", "e2", "e3"])[1] in model.classes_
    assert model.classes_[posterior.argmax()] == "1"
    assert model.predict([["e1", "e2", "e3"]], decode="marginal")[0][1] == "1"


def slide_tagger(words, tags, ptag, pword):
    """The recurrence of the lecture's tagging slide, written as it stands there."""
    best, back = {0: {"<s>": 1.0}}, {}
    for i, word in enumerate(words[1:], 1):
        best[i], back[i] = {}, {}
        for tag in tags[word]:
            for prev in best[i - 1]:
                score = best[i - 1][prev] * ptag.get(prev, {}).get(tag, 0) * pword.get(tag, {}).get(word, 0)
                if score > best[i].get(tag, 0):
                    best[i][tag], back[i][tag] = score, prev
    path = [words[-1]]
    for i in range(len(words) - 1, 1, -1):
        path.append(back[i][path[-1]])
    return path[::-1]


def test_the_tagging_example_of_the_lecture():
    """`a can can can a can` is tagged D N A V D N: words allow tags, </s> ends the sentence."""
    words = ["<s>", "a", "can", "can", "can", "a", "can", "</s>"]
    tags = {"a": ["D"], "can": ["N", "A", "V"], "</s>": ["</s>"]}
    ptag = {"<s>": {"D": 1}, "D": {"N": 1}, "N": {"A": 0.4, "</s>": 0.4, "V": 0.2}, "A": {"V": 1}}
    ptag["V"] = {"D": 0.5, "</s>": 0.5}
    pword = {"D": {"a": 0.5}, "N": {"can": 0.1}, "A": {"can": 0.4}, "V": {"can": 0.2}, "</s>": {"</s>": 1}}
    labels = ["D", "N", "A", "V", "</s>"]
    with np.errstate(divide="ignore"):
        table = np.log([[ptag[h].get(y, 0) for y in labels] for h in ["<s>", *labels[:-1]]] + [[0] * 5])
        state = np.log([[pword[y].get(w, 0) for y in labels] for w in words[1:]])
    allowed = np.array([[y in tags[w] for y in labels] for w in words[1:]])
    _, path = Lattice(Topology(5), np.array([0, 7]), state=state, table=table, allowed=allowed).viterbi()
    got = [labels[y] for y in path]
    assert got == slide_tagger(words, tags, ptag, pword) == ["D", "N", "A", "V", "D", "N", "</s>"]


def test_numeric_columns_are_normal_and_missing_ones_say_nothing():
    rng = np.random.default_rng(0)
    X = [np.column_stack([rng.normal(size=50), rng.normal(size=50) * 3]).astype(np.float32) for _ in range(2)]
    y = [(x[:, 0] > 0).astype(int) for x in X]
    model = hr.HMM(order=0, smoothing=0).fit(X, y)
    values, labels = np.concatenate(X).astype(float), np.concatenate(y)
    x = np.array([[0.3, -1.0], [np.nan, 2.0], [np.nan, np.nan]], dtype=np.float32)
    log_p = np.log(np.bincount(labels) / len(labels))[None].repeat(3, axis=0)
    for t, c, k in product(range(3), range(2), range(2)):
        if not np.isnan(x[t, c]):
            chosen = values[labels == k, c]
            mean, variance = chosen.mean(), chosen.var()
            log_p[t, k] += -0.5 * math.log(2 * math.pi * variance) - (float(x[t, c]) - mean) ** 2 / (2 * variance)
    expected = np.exp(log_p) / np.exp(log_p).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba([x])[0], expected, atol=1e-6)


def test_a_constant_numeric_column_and_one_without_values_do_no_harm():
    X = [[{"c": 1.0, "n": None, "v": v} for v in (0.0, 1.0, 0.0)]]
    with pytest.warns(MissingColumnWarning, match="'n'"):
        model = hr.HMM().fit(X, [["a", "b", "a"]])
    assert np.isfinite(model.predict_proba(X)[0]).all()
    assert model.predict(X)[0].tolist() == ["a", "b", "a"]


def test_bags_are_counted_attribute_by_attribute():
    X = [[["p", "q"], ["q"], []], [["p"], ["r"]]]
    y = [["A", "B", "A"], ["A", "B"]]
    model = hr.HMM(order=0, smoothing=0.5).fit(X, y)
    counts = {"A": {"p": 2, "q": 1, "r": 0}, "B": {"p": 0, "q": 1, "r": 1}}
    joint = {}
    for k, prior in (("A", 3.5 / 6), ("B", 2.5 / 6)):
        total = sum(counts[k].values()) + 1.5
        joint[k] = prior * (counts[k]["p"] + 0.5) / total * (counts[k]["q"] + 0.5) / total
    proba = model.predict_marginals([[["p", "q", "unseen"]]])[0][0]
    assert math.isclose(proba["A"], joint["A"] / sum(joint.values()), rel_tol=1e-9)


def test_a_certain_model_without_smoothing_can_meet_the_impossible():
    model = hr.HMM(smoothing=0).fit([["a", "b"]], [["A", "B"]])
    with pytest.raises(hr.errors.ImpossibleLatticeError, match="sequence 1 has no allowed path"):
        model.predict([["a", "b"], ["b", "b"]])
