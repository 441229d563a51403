"""FutureMEMM.published is the printed algorithm: feature for feature, tree for tree, step for step."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from builders.trees import tree as tree_of
from hedgerow.future import printed
from oracles import future as oracles_future


def data(seed, n=40):
    """A label is mostly 1 if a `z` is among the next two letters, or after an `a`, and tends to repeat."""
    rng = np.random.default_rng(seed)
    X = ["".join(rng.choice(list("abcz"), size=rng.integers(1, 12))) for _ in range(n)]
    y = []
    for x in X:
        labels = []
        for t, letter in enumerate(x):
            p = 0.9 if "z" in x[t + 1 : t + 3] else 0.7 if letter == "a" else 0.5 if labels[-1:] == ["1"] else 0.1
            labels.append("1" if rng.random() < p else "0")
        y.append(labels)
    return X, y


def learner_of(monkeypatch, estimator, X, y, *dev):
    """The learner of a fit, after the fit, and the fitted estimator."""
    made = []

    class Kept(printed.PrintedLearner):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(printed, "PrintedLearner", Kept)
    fitted = estimator.fit(X, y, *dev)
    (learner,) = made
    return learner, fitted


def named(tree, reader):
    """(test, if true, if false), or the value of a leaf; a test is a column and a value or bin."""
    if "test" not in tree:
        return tree["value"]
    test = tree["test"]
    if test[0] == "id":
        column, _, value = reader.name(test[1])
        test = column, value
    return test, named(tree["true"], reader), named(tree["false"], reader)


def splits_and_leaves(tree, factor=1.0):
    """The tests of a named tree or of an oracle's, and its leaves times a factor, both from left to right."""
    if isinstance(tree, float):
        return [], [tree * factor]
    if isinstance(tree, dict) and "test" not in tree:
        return [], [tree["value"] * factor]
    test, yes, no = (tree["test"], tree["true"], tree["false"]) if isinstance(tree, dict) else tree
    left, right = splits_and_leaves(yes, factor), splits_and_leaves(no, factor)
    return [test, *left[0], *right[0]], [*left[1], *right[1]]


def check_tree(ours, theirs, step):
    (tests, leaves), (their_tests, their_leaves) = splits_and_leaves(ours), splits_and_leaves(theirs, step)
    assert tests == their_tests
    np.testing.assert_allclose(leaves, their_leaves, rtol=1e-3, atol=1e-6 * step)


CASES = [
    pytest.param(0, 0, 2, "after", -1.0, 1e5, id="order 0"),
    pytest.param(1, 1, 2, "after", -1.0, 20.0, id="order 1"),
    pytest.param(2, 2, 3, "after", -2.0, 1e5, id="order 2"),
    pytest.param(3, 1, None, "after", -3.0, 50.0, id="rest"),
    pytest.param(4, 0, 2, "before", -0.5, 10.0, id="before"),
    pytest.param(5, 1, 1, "after", -0.5, 1e5, id="bags of one"),
]


@pytest.mark.parametrize(("seed", "order", "size", "side", "start", "beta"), CASES)
def test_published_is_the_printed_algorithm(seed, order, size, side, start, beta, monkeypatch):
    X, y = data(seed)
    estimator = hr.FutureMEMM.published(
        order=order, bag=size or "rest", bag_side=side, initial_log_odds=start, max_leaves=4, max_future=3,
        max_beta=beta,
    )  # fmt: skip
    learner, model = learner_of(monkeypatch, estimator, X, y)
    own, pattern = learner.train.attributes(learner.window, learner.binnings), learner.train.instances
    steps, features = iter(learner.steps), iter(learner.features)
    records = model.training_log_[:-1]
    expected = list(oracles_future.published(
        X, y, order=order, size=size, back=side == "before", start=start, max_leaves=4, alpha=40.0, beta=beta, eta=10.0,
        min_gain=printed.MIN_GAIN, max_future=3,
    ))  # fmt: skip
    assert [record["what"] for record in records] == [what for what, *_ in expected]
    for record, (what, found, step) in zip(records, expected, strict=True):
        if what == "round":
            assert record["step_size"] == pytest.approx(step, rel=5e-3)
            check_tree(named(tree_of(next(steps), 0), own), found, step)
            continue
        feature = next(features)
        assert feature.weights.tolist() == pytest.approx([0.0, step], rel=5e-3)
        assert record["pattern_steps"] == pytest.approx([step for _, step in found], rel=5e-3)
        for at, (tree, own_step) in enumerate(found):
            check_tree(named(tree_of(feature.trees, at), pattern), tree, own_step)
    assert model.future_features_
    assert beta == 1e5 or any(len(found) > 1 for what, found, _ in expected if what == "discovery")
