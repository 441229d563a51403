"""Shapley values of trees against the sum over all subsets of players."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import _core
from oracles.explanations import shapley, tree_value

pytestmark = pytest.mark.kernel
LEAF, FIXED = -2, -1
NO_CASES = (np.ones(1), np.zeros((0, 1), np.uint8))  # of trees whose tests all have players


def random_tree(rng, n_players, depth):
    if depth == 0 or rng.random() < 0.2:
        return float(rng.normal())
    player = int(rng.integers(-1, n_players))
    of_input = float(rng.choice([0.0, 1.0, rng.random()] if player >= 0 else [0.0, 1.0]))
    return (
        None if player < 0 else player,
        of_input,
        float(rng.choice([0.0, 1.0, rng.random(), rng.random()])),
        random_tree(rng, n_players, depth - 1),
        random_tree(rng, n_players, depth - 1),
    )


def flat(trees):
    """The arrays of the kernel: nodes in the order root, if true, if false; children after their parents."""
    starts, columns = [0], {name: [] for name in ("if_true", "if_false", "players", "input", "training", "leaves")}

    def add(node):
        at = len(columns["players"]) - starts[-1]
        inner = isinstance(node, tuple)
        player, of_input, of_training = node[:3] if inner else (LEAF, 0.0, 0.0)
        row = (0, 0, FIXED if player is None else player, of_input, of_training, 0.0 if inner else node)
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
        if inner:
            place = starts[-1] + at
            columns["if_true"][place] = add(node[3])
            columns["if_false"][place] = add(node[4])
        return at

    for tree in trees:
        add(tree)
        starts.append(len(columns["players"]))
    columns["input"] = [0.5 if p == FIXED else i for p, i in zip(columns["players"], columns["input"], strict=True)]
    types = (np.int32, np.int32, np.int32, np.float64, np.float64, np.float64)
    return np.array(starts, np.int64), *(np.array(c, t) for c, t in zip(columns.values(), types, strict=True))


def outcomes(node):
    """Those of the tests without a player, in the order of `flat`."""
    if not isinstance(node, tuple):
        return []
    return [int(node[1])] * (node[0] is None) + outcomes(node[3]) + outcomes(node[4])


def values_of(trees, n_players):
    given = np.array([[one] for tree in trees for one in outcomes(tree)], np.uint8).reshape(-1, 1)
    return _core.tree_shapley(*flat(trees), n_players, np.ones(1), given)


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(0, 5), st.integers(1, 3))
def test_equals_the_sum_over_subsets(seed, n_players, depth, n_trees):
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, n_players, depth) for _ in range(n_trees)]
    players = list(range(n_players))

    def value(known):
        return sum(tree_value(tree, known) for tree in trees)

    wanted = shapley(players, value)
    found, base = values_of(trees, n_players)
    assert base == pytest.approx(value(frozenset()), abs=1e-9)
    assert found == pytest.approx([wanted[player] for player in players], abs=1e-9)


def with_outcomes(node, left):
    """The same tree with other outcomes of the tests without a player, taken from `left`."""
    if not isinstance(node, tuple):
        return node
    of_input = float(left.pop(0)) if node[0] is None else node[1]
    return (node[0], of_input, node[2], with_outcomes(node[3], left), with_outcomes(node[4], left))


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 5), st.integers(0, 5))
def test_cases_are_summed_with_their_weights(seed, n_players, depth, n_cases):
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, n_players, depth) for _ in range(2)]
    outcome = rng.integers(0, 2, (sum(len(outcomes(tree)) for tree in trees), n_cases)).astype(np.uint8)
    weights = rng.choice([0.0, 0.3, 1.0, 2.0], n_cases)
    found, base = _core.tree_shapley(*flat(trees), n_players, weights, outcome)
    wanted, wanted_base = np.zeros(n_players), 0.0
    for case, weight in enumerate(weights):
        left = outcome[:, case].tolist()
        own, own_base = values_of([with_outcomes(tree, left) for tree in trees], n_players)
        wanted, wanted_base = wanted + weight * own, wanted_base + weight * own_base
    assert found == pytest.approx(wanted, abs=1e-9)
    assert base == pytest.approx(wanted_base, abs=1e-9)


def test_a_deep_tree_with_many_players_adds_up():
    rng = np.random.default_rng(3)
    tree = 1.0
    for player in range(64):
        tree = (player, float(rng.random()), float(rng.random()), tree, float(rng.normal()))
    found, base = values_of([tree], 64)
    assert base + found.sum() == pytest.approx(tree_value(tree, frozenset(range(64))), abs=1e-9)


def test_equal_players_have_equal_values():
    tree = (0, 1.0, 0.3, (1, 1.0, 0.3, 1.0, 0.0), 0.0)  # both must be true
    found, base = values_of([tree], 2)
    assert found[0] == pytest.approx(found[1])
    assert base == pytest.approx(0.09)
    assert found.sum() == pytest.approx(0.91)


def test_no_trees_have_no_values():
    found, base = _core.tree_shapley(np.zeros(1, np.int64), *flat([])[1:], 2, *NO_CASES)
    assert found.tolist() == [0.0, 0.0]
    assert base == 0.0


@pytest.mark.parametrize(
    ("name", "value"),
    [("if_true", 9), ("if_true", -1), ("if_false", 0), ("players", 7), ("players", -3)],
)
def test_refuses_nodes_that_do_not_exist(name, value):
    starts, if_true, if_false, players, *rest = flat([(0, 1.0, 0.5, 1.0, 2.0)])
    arrays = {"if_true": if_true, "if_false": if_false, "players": players}
    arrays[name][0] = value
    with pytest.raises(ValueError, match=r"node|player|child"):
        _core.tree_shapley(starts, *arrays.values(), *rest, 2, *NO_CASES)


def test_refuses_arrays_of_other_lengths():
    starts, if_true, *rest = flat([(0, 1.0, 0.5, 1.0, 2.0)])
    with pytest.raises(ValueError, match="an entry for each node"):
        _core.tree_shapley(starts, if_true[:-1], *rest, 2, *NO_CASES)


@pytest.mark.parametrize(("rows", "cases"), [(0, 1), (2, 1), (1, 2), (1, 0)])
def test_refuses_outcomes_of_other_numbers(rows, cases):
    with pytest.raises(ValueError, match=r"a row for each node|a weight for each case"):
        _core.tree_shapley(*flat([(None, 1.0, 0.5, 1.0, 2.0)]), 1, np.ones(1), np.zeros((rows, cases), np.uint8))
