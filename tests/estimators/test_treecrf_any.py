"""TreeCRF with random parameters on random data: invariants that always hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr

pytestmark = pytest.mark.kernel


@st.composite
def data(draw):
    """Sequences of a random form with two to four labels, some of them of one position."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lengths = [1, *rng.integers(1, 9, size=draw(st.integers(1, 8)))]
    form = draw(st.sampled_from(["text", "dicts", "array", "bags", "damaged", "array with NaN"]))
    k = draw(st.integers(2, 4))

    def position():
        read = {"c": str(rng.choice(list("abc"))), "x": float(rng.normal()), "b": list(rng.choice(list("pqr"), size=2))}
        return {key: value for key, value in read.items() if rng.random() < 0.8}

    def damaged():
        return {key: None if rng.random() < 0.3 else value for key, value in position().items()}

    make = {
        "text": lambda n: "".join(rng.choice(list("abcd"), size=n)),
        "dicts": lambda n: [position() for _ in range(n)],
        "damaged": lambda n: [damaged() for _ in range(n)],
        "array": lambda n: rng.normal(size=(n, 3)).round(1),
        "array with NaN": lambda n: np.where(rng.random((n, 3)) < 0.3, np.nan, rng.normal(size=(n, 3)).round(1)),
        "bags": lambda n: [[f"w{i}" for i in set(rng.integers(0, 40, size=3).tolist())] for _ in range(n)],
    }[form]
    X = [make(int(n)) for n in lengths]
    y = [[f"L{v}" for v in rng.integers(0, k, size=int(n))] for n in lengths]
    y[0], y[1][0] = ["L0"], "L1"
    if form in ("dicts", "damaged"):
        X[0][0] = {"c": "a", "x": 0.5, "b": ["p"]}
    if form == "array with NaN":
        X[0][0] = 0.5
    return X, y


METHODS = (
    "weighting", "surrogate", "learned", "impute", "indicator", "published-weighting", "published-surrogate",
    "published-indicator",
)  # fmt: skip


@st.composite
def parameters(draw):
    chosen = {
        "order": draw(st.integers(0, 2)),
        "window": draw(st.integers(0, 2)),
        "n_rounds": draw(st.integers(1, 4)),
        "max_leaves": draw(st.integers(2, 9)),
        "min_leaf": draw(st.integers(1, 3)),
        "l2": draw(st.sampled_from([0.0, 0.5, 20.0])),
        "learning_rate": draw(st.sampled_from([0.1, 1.0, 50.0])),
        "max_step": draw(st.sampled_from([0.5, 1.0, 10.0])),
        "newton": draw(st.booleans()),
        "subsample": draw(st.sampled_from([1.0, 0.6])),
        "max_features": draw(st.sampled_from([1.0, 0.4])),
        "influence_trim": draw(st.sampled_from([0.0, 0.2])),
        "pseudo_rounds": draw(st.integers(0, 2)),
        "line_search": draw(st.booleans()),
        "random_state": 7,
    }
    if draw(st.booleans()):
        evidence = {"order": 1, "pseudo_rounds": 0, "line_search": False, "objective": "virtual-evidence"}
        return chosen | (evidence if draw(st.booleans()) else {})
    if draw(st.booleans()):
        return chosen | {"trees": "shared", "missing": draw(st.sampled_from(["impute", "indicator"]))}
    return chosen | {
        "sample_by": draw(st.sampled_from(["sequence", "example"])),
        "trim_by": draw(st.sampled_from(["position", "example"])),
        "missing": draw(st.sampled_from(METHODS)),
        "transitions": draw(st.sampled_from(["trees", "table"])),
        "category_splits": draw(st.sampled_from(["one-hot", "subset"])),
    }


@given(data(), parameters())
@settings(max_examples=120, deadline=None)
def test_what_always_holds(data, parameters):
    X, y = data
    model = hr.TreeCRF(n_jobs=1, **parameters).fit(X, y)
    proba = model.predict_proba(X)
    for p in proba:
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-4)
    if model.training_log_ and "objective" not in model.training_log_[-1]:
        assert -model.training_log_[-1]["loss"] == pytest.approx(model.log_likelihood(X, y).mean(), rel=1e-3, abs=1e-3)
    threaded = hr.TreeCRF(n_jobs=3, **parameters).fit(X, y)
    for one, other in zip(proba, threaded.predict_proba(X), strict=True):
        np.testing.assert_array_equal(one, other)
    best = [labels.tolist() for labels in model.predict(X, decode="viterbi")]
    assert [b[0][1].tolist() for b in model.predict_nbest(X, n=2)] == best
    gains = [importance.gain for importance in model.feature_importances_]
    assert all(gain > 0 for gain in gains)
    assert model.transition_table_.shape[1] == len(model.classes_)
    gains.sort(reverse=True)
    assert gains == [importance.gain for importance in model.feature_importances_]
    n_splits = sum(importance.splits for importance in model.feature_importances_)
    trees = model.model_.potential.trees
    assert n_splits == np.count_nonzero(~trees.is_leaf)
    if model.training_log_:
        lines = model.tree(1, model.classes_[0]).splitlines()
        assert len(lines) >= trees.starts[1]  # a line for every node of the first tree at least
