"""The published algorithms, tree for tree over several rounds, against the papers' pseudo-code."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from builders.trees import tree as tree_of
from hedgerow.learning.line_search import best_factor, falling_factor
from oracles.treeboost import TreeBoost, splits_of, values_of


def data(seed, k):
    """Random letters and labels that depend on the letter before, the label before and chance."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(9):
        letters = rng.integers(0, 3, size=int(rng.integers(1, 6)))
        labels = [int(letters[0]) % k]
        for t in range(1, len(letters)):
            labels.append(int(letters[t - 1] + labels[-1] + (rng.random() < 0.3)) % k)
        X.append("".join("abc"[letter] for letter in letters))
        y.append([f"L{label}" for label in labels])
    X[0], y[0] = "abcab"[: max(k, 2)], [f"L{label}" for label in range(max(k, 2))]  # every label occurs
    return X, y


def check(model, X, y, n_rounds, **settings):
    model.fit(X, y)
    sequences = model.model_.encode(X)
    gold, k = model.model_.labels.codes(y, sequences), len(model.classes_)
    naive = TreeBoost(
        sequences, gold, model.order, k, model.window, max_leaves=model.max_leaves, l2=model.l2, **settings
    )
    naive.run(n_rounds)
    at = 0
    for eta, grown in zip(naive.step_sizes, naive.forest, strict=True):
        for expected in grown:
            found = tree_of(model.model_.potential.trees, at)
            assert splits_of(found) == splits_of(expected)
            assert values_of(found) == pytest.approx([eta * value for value in values_of(expected)], abs=1e-5)
            at += 1
    assert at == len(model.model_.potential.trees)
    assert [record["step_size"] for record in model.training_log_] == pytest.approx(naive.step_sizes)
    np.testing.assert_allclose(model.model_.potential.scores(sequences).edge, naive.potentials, atol=1e-4)
    return naive


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_published_equals_the_dissertation(order, k, seed):
    X, y = data(seed, k)
    check(hr.TreeCRF.published(order=order, window=1, l2=3.0, n_rounds=4, max_leaves=5), X, y, 4)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_published_2004_equals_the_paper(order, k, seed):
    X, y = data(seed, k)
    model = hr.TreeCRF.published_2004(order=order, window=1, n_rounds=5, max_leaves=4)
    naive = check(model, X, y, 5, pseudo_rounds=3)
    assert naive.step_sizes == [1.0] * 5


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_published_2004_with_a_line_search_equals_the_paper(order, k, seed):
    X, y = data(seed, k)
    model = hr.TreeCRF.published_2004(order=order, window=1, n_rounds=4, max_leaves=3, line_search=True)
    naive = check(model, X, y, 4, pseudo_rounds=3, line_search=True)
    assert len(set(naive.step_sizes)) > 1


def test_the_two_papers_differ_in_shrinkage_and_in_their_first_rounds():
    ours, theirs = hr.TreeCRF.published().get_params(), hr.TreeCRF.published_2004().get_params()
    differ = {name for name in ours if ours[name] != theirs[name]}
    assert differ <= {"l2", "pseudo_rounds", "max_leaves", "n_rounds"}
    assert theirs["l2"] == 0
    assert theirs["pseudo_rounds"] == 3


CURVES = {
    "minimum at 3": lambda x: (x - 3) ** 2,
    "minimum below 1": lambda x: (x - 0.3) ** 2,
    "minimum far below 1": lambda x: abs(x - 0.003),
    "minimum at 50": lambda x: (x - 50) ** 2 + abs(x),
    "steep above": lambda x: np.exp(x) - 20 * x,
}


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
def test_the_best_factor_is_that_of_a_fine_grid(curve):
    grid = np.concatenate([np.linspace(0, 1, 10001), np.linspace(1, 64, 63001)])
    best = grid[np.argmin([curve(x) for x in grid])]
    found = best_factor(curve, curve(0.0), curve(1.0))
    assert found == pytest.approx(best, rel=0.1)
    assert curve(found) < curve(0.0)


def test_the_factor_is_bounded_and_0_where_nothing_helps():
    assert best_factor(lambda x: -x, 0.0, -1.0) == 64
    assert best_factor(lambda x: x, 0.0, 1.0) == 0
    assert best_factor(lambda x: np.nan if x > 0.2 else -x, 0.0, np.nan) < 0.3
    assert falling_factor(lambda x: (x - 0.3) ** 2, 0.09, 0.49) == 0.5
    assert falling_factor(lambda x: 0.0, 0.0, 0.0) == 1  # as good as before
    assert falling_factor(lambda x: x, 0.0, 1.0) == 0
