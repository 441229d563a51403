"""A tree fitted to targets with weights, against a tree on repeated examples."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from builders.groups import part_of, run_group, shares
from builders.missing import damaged_rows
from builders.trees import grower_of, growth_rules
from builders.trees import tree as tree_of
from hedgerow import _core
from hedgerow.encoding import HERE, AttributeReader, Binning, Encoder
from hedgerow.potentials.trees import Trees
from oracles import trees as oracles_trees

GROWTH = {"l2": 1.0, "max_leaves": 6}


def rows_of(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = [[{"a": str(rng.choice(list("xyz"))), "n": float(rng.integers(5))} for _ in range(m)] for m in (1, n // 3, n)]
    sequences = hr.Sequences(X)
    encoder = Encoder.fit(sequences)
    sequences = encoder.transform(sequences)
    return AttributeReader(sequences, HERE, {"n": Binning.fit(sequences.column("n").values)})


@pytest.mark.kernel
@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_a_fitted_tree_equals_that_of_repeated_examples(scale):
    rows, rng = rows_of(), np.random.default_rng(3)
    n = rows.sequences.n_positions
    counts = rng.integers(0, 5, size=n)
    parts = [rng.integers(-(2**20), 2**20, size=count) for count in counts]
    examples = [(t, (), int(r)) for t in range(n) for r in parts[t]]
    expected = oracles_trees.fit_regression_tree(
        examples, oracles_trees.features_of(rows, 0, 2), 6, oracles_trees.Rules(0.5)
    )
    grower = grower_of(rows, 0, 2, growth_rules(**GROWTH | {"l2": 0.5}))
    targets = np.array([part.sum() for part in parts]) / oracles_trees.UNIT * scale
    grown, values = grower.fit(targets, counts.astype(float), 0)
    trees = Trees.of_round(*grown)
    assert _shape(tree_of(trees, 0), 1 / scale) == _shape(expected, 1)
    says = np.zeros((n, 1, 1), np.float32)
    trees.compiled(rows, 1, 0).add_scores(rows.reader, says, 1)
    np.testing.assert_array_equal(values, says[:, 0, 0])


def _shape(tree, scale):
    if "test" not in tree:
        return float(f"{tree['value'] * scale:.4g}")
    return tree["test"], _shape(tree["true"], scale), _shape(tree["false"], scale)


@pytest.mark.kernel
@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
@pytest.mark.parametrize("missing", ["weighting", "learned", "surrogate"])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_group_fits_the_tree_of_one_process(size, missing, scale):
    """To the bit, also where the largest target and most of the weights are in one part."""
    rng = np.random.default_rng(size)
    rows = damaged_rows(rng, [4, 1, 7, 3, 9, 2, 6, 5, 8, 4], 0, rate=0.2)
    n, rules = rows.sequences.n_positions, growth_rules(max_leaves=8, missing=missing)
    for seed in range(3):
        targets = rng.normal(size=n) * scale * 10.0 ** rng.integers(-3, 3, size=n)
        weights = rng.random(n) * 10.0 ** rng.integers(-6, 6, size=n)
        grown, values = grower_of(rows, 0, 2, rules).fit(targets, weights, seed)

        def work(member, targets=targets, weights=weights, seed=seed):
            reader, at = part_of(rows, shares(len(rows.sequences), size)[member.rank])
            data = _core.TreeData(reader.reader, 0, rules, 1, member)
            return _core.TreeGrower(data, 2, rules, None, member).fit(targets[at], weights[at], seed)

        members = run_group(size, work)
        for own, _ in members:
            for mine, expected in zip(own, grown, strict=True):
                np.testing.assert_array_equal(mine, expected)
        np.testing.assert_array_equal(np.concatenate([own for _, own in members]), values)


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("targets", "weights", "message"),
    [
        (np.zeros(3), np.ones(80), "a target and a weight for each"),
        (np.full(81, np.nan), np.ones(81), "finite"),
        (np.zeros(81), -np.ones(81), "not below 0"),
        (np.zeros(81), np.full(81, np.inf), "finite"),
        (np.zeros(81), np.full(81, 1e308), "sum of weights"),
    ],
)
def test_bad_targets_are_refused(targets, weights, message):
    grower = grower_of(rows_of(), 0, 2, growth_rules(**GROWTH))
    with pytest.raises(ValueError, match=message):
        grower.fit(targets, weights, 0)


@pytest.mark.kernel
def test_a_newton_grower_fits_no_targets():
    grower = grower_of(rows_of(), 0, 2, growth_rules(**GROWTH | {"newton": True}))
    with pytest.raises(ValueError, match="by its own weights"):
        grower.fit(np.zeros(81), np.ones(81), 0)


@pytest.mark.kernel
def test_targets_and_weights_of_zero_make_a_leaf():
    grower = grower_of(rows_of(), 0, 2, growth_rules(**GROWTH | {"l2": 0.0}))
    grown, values = grower.fit(np.zeros(81), np.zeros(81), 0)
    assert len(Trees.of_round(*grown).nodes) == 1
    np.testing.assert_array_equal(values, 0)
