"""Trees of the library, node for node, against the algorithm as the papers print it."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from builders.trees import grow, grower_of, growth_rules, random_marginals, random_rows, tree
from hedgerow import _core
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import LocalColumn, NumericColumn
from hedgerow.encoding import AttributeReader, Binning, Window
from hedgerow.learning.growers import weighted_grower
from hedgerow.potentials.trees import NODE, Trees
from oracles import lattice as oracles
from oracles import trees as oracles_trees

pytestmark = pytest.mark.kernel


def in_single(tree):
    """The oracle's tree, its numbers as the library stores them."""
    if "test" not in tree:
        return {"value": float(np.float32(tree["value"]))}
    both = {branch: in_single(tree[branch]) for branch in ("true", "false")}
    return {"test": tree["test"], "gain": float(np.float32(tree["gain"])), **both}


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    order = draw(st.integers(0, 2))
    k = draw(st.integers(2, 3))
    lengths = rng.integers(1, 6, size=draw(st.integers(1, 4)))
    rows = random_rows(rng, lengths, draw(st.integers(0, 2)), numeric=draw(st.booleans()), bag=draw(st.booleans()),
                       flag=draw(st.booleans()), local=draw(st.booleans()))  # fmt: skip
    starts = rows.sequences.starts
    gold = rng.integers(0, k, size=int(starts[-1])).astype(np.int32)
    uniform = draw(st.booleans())  # as in the first round, where ties abound
    marginals = random_marginals(rng, starts, order, k)
    if uniform:
        marginals = np.where(marginals > 0, 1 / k ** (order + 1), 0).astype(np.float32)
    return rows, order, k, marginals, gold


def check_printed_algorithm(case, *, max_leaves, l2, newton, min_leaf):
    rows, order, k, marginals, gold = case
    trees, _ = grow(
        rows, order, k, marginals, gold, l2=l2, newton=newton, min_leaf=min_leaf, max_leaves=max_leaves, max_step=0.7
    )
    features = oracles_trees.features_of(rows, order, k)
    rules = oracles_trees.Rules(l2, newton, 0.7, min_leaf)
    for label in range(k):
        examples = oracles_trees.examples_of(marginals, gold, rows.sequences.starts.tolist(), label, order, k)
        expected = oracles_trees.fit_regression_tree(examples, features, max_leaves, rules)
        assert tree(trees, label) == in_single(expected)


@given(cases(), st.integers(2, 9), st.sampled_from([0.0, 2.0]), st.booleans(), st.integers(1, 2))
@settings(max_examples=120)
def test_trees_equal_the_printed_algorithm(case, max_leaves, l2, newton, min_leaf):
    check_printed_algorithm(case, max_leaves=max_leaves, l2=l2, newton=newton, min_leaf=min_leaf)


@pytest.mark.parametrize("columns", [(), ("numeric", "flag"), ("bag",), ("local",)])
@pytest.mark.parametrize("newton", [False, True])
@pytest.mark.parametrize("order", [0, 1])
def test_large_nodes_equal_the_printed_algorithm(order, newton, columns):
    """Nodes so large that slots are counted in groups, and that what a label leaves is not counted anew."""
    rng = np.random.default_rng(order)
    rows = random_rows(rng, [7] * 30, 1, **dict.fromkeys(columns, True))
    gold = rng.integers(0, 3, size=210).astype(np.int32)
    marginals = random_marginals(rng, rows.sequences.starts, order, 3)
    case = rows, order, 3, marginals, gold
    check_printed_algorithm(case, max_leaves=12, l2=2.0, newton=newton, min_leaf=1)


@given(cases(), st.booleans())
@settings(max_examples=60)
def test_what_training_adds_is_what_evaluation_adds(case, newton):
    rows, order, k, marginals, gold = case
    trees, scores = grow(rows, order, k, marginals, gold, newton=newton, step=0.3)
    again = np.zeros_like(scores)
    trees.compiled(rows, k, order).add_scores(rows.reader, again, 1)
    np.testing.assert_array_equal(scores, again)


def many_values(rng, n_sequences=20, flags=0):
    """Columns of so many values that trees look up which of them they can use."""

    def position():
        word = f"w{int(rng.zipf(1.3)) % 300}"
        bag = [f"b{i}" for i in rng.integers(0, 30, size=2)]
        read = {"word": word, "bag": bag, "size": float(len(word))}
        return read | {f"flag{i}": bool(rng.random() < 0.1) for i in range(flags)}

    X = [[position() for _ in range(n)] for n in rng.integers(2, 8, size=n_sequences)]
    for i in range(400):  # values that occur once
        X[i % n_sequences][0]["bag"].append(f"once{i}")
    sequences = hr.Sequences(X)
    binnings = {c.name: Binning.fit(c.values) for c in sequences.columns if c.kind == "numeric"}
    return AttributeReader(sequences, Window.of(1), binnings)


@pytest.mark.parametrize("flags", [0, 200])  # columns that are nearly always False
@pytest.mark.parametrize(("newton", "min_leaf"), [(False, 1), (True, 1), (True, 3)])
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.slow
def test_many_values_change_nothing(newton, min_leaf, order, flags):
    rng = np.random.default_rng(5)
    rows = many_values(rng, n_sequences=8 if flags else 20, flags=flags)
    starts = rows.sequences.starts.tolist()
    gold = rng.integers(0, 2, size=starts[-1]).astype(np.int32)
    marginals = random_marginals(rng, starts, order, 2)
    trees, _ = grow(rows, order, 2, marginals, gold, newton=newton, min_leaf=min_leaf, max_leaves=25, l2=0.0)
    features = oracles_trees.features_of(rows, order, 2)
    examples = oracles_trees.examples_of(marginals, gold, starts, 0, order, 2)
    rules = oracles_trees.Rules(0.0, newton, 1.0, min_leaf)
    assert tree(trees, 0) == in_single(oracles_trees.fit_regression_tree(examples, features, 25, rules))


@pytest.mark.parametrize("n_sequences", [20, 60])
def test_columns_of_many_values_are_not_split_into_sets(n_sequences):
    rng = np.random.default_rng(12)
    rows = many_values(rng, n_sequences)
    assert (len(rows.sequences.column("word").alphabet) > 50) == (n_sequences > 20)
    starts = rows.sequences.starts.tolist()
    gold = rng.integers(0, 2, size=starts[-1]).astype(np.int32)
    marginals = random_marginals(rng, starts, 0, 2)
    _, scores = grow(rows, 0, 2, marginals, gold, category_splits="subset", max_leaves=3)
    examples = oracles_trees.examples_of(marginals, gold, starts, 0, 0, 2)
    expected = oracles_trees.fit_tree_with_sets(examples, rows, 0, 2, 3, oracles_trees.Rules(2.0))
    assert {(t, ()): float(scores[t, 0, 0]) for t in range(starts[-1])} == {
        key: float(np.float32(value)) for key, value in expected.items()
    }


@pytest.mark.parametrize("order", [0, 1])
def test_positions_left_out_do_not_count(order):
    rng = np.random.default_rng(6)
    rows = random_rows(rng, [5, 6, 4, 3], 1, bag=True)
    starts = rows.sequences.starts.tolist()
    gold = rng.integers(0, 2, size=starts[-1]).astype(np.int32)
    marginals = random_marginals(rng, starts, order, 2)
    in_sample = np.repeat(np.array([1, 0, 1, 0], dtype=np.uint8), [5, 6, 4, 3])
    trees, scores = grow(rows, order, 2, marginals, gold, in_sample=in_sample)
    features = oracles_trees.features_of(rows, order, 2)
    examples = [e for e in oracles_trees.examples_of(marginals, gold, starts, 1, order, 2) if in_sample[e[0]]]
    expected = oracles_trees.fit_regression_tree(examples, features, 8, oracles_trees.Rules(2.0))
    assert tree(trees, 1) == in_single(expected)
    assert not scores.any()  # a Forest adds the values to all positions


@pytest.mark.parametrize("n_values", [250, 257, 70_000])
def test_codes_of_one_two_and_four_bytes(n_values):
    """A column of so many values: training reads its codes, evaluation its values."""
    rng = np.random.default_rng(0)
    column = LocalColumn("many", np.arange(n_values, dtype=np.int32), Alphabet.of(map(str, range(n_values))))
    few = LocalColumn("few", rng.integers(0, 3, n_values).astype(np.int32), Alphabet.of("abc"))
    starts = np.array([0, n_values // 2, n_values])
    rows = AttributeReader(hr.Sequences.of_columns(starts, (column, few)), Window.of(0), {})
    gold = (np.arange(n_values) == n_values - 1).astype(np.int32)
    marginals = random_marginals(rng, starts, 0, 2) * np.float32(0.01) + np.float32(0.495)
    trees, scores = grow(rows, 0, 2, marginals, gold, max_leaves=9, l2=0.1)
    again = np.zeros_like(scores)
    trees.compiled(rows, 2, 0).add_scores(rows.reader, again, 1)
    np.testing.assert_array_equal(scores, again)
    assert trees.nodes["attribute"][0] == n_values - 1


def test_residuals_near_zero_are_left_out():
    rng = np.random.default_rng(7)
    rows = random_rows(rng, [8, 8], 1)
    starts = rows.sequences.starts.tolist()
    gold = rng.integers(0, 2, size=16).astype(np.int32)
    marginals = random_marginals(rng, starts, 0, 2)
    trees, _ = grow(rows, 0, 2, marginals, gold, newton=True, influence_trim=0.4)
    features = oracles_trees.features_of(rows, 0, 2)
    examples = oracles_trees.examples_of(marginals, gold, starts, 0, 0, 2)
    kept = [e for e in examples if abs(e[2]) >= int(0.4 * oracles_trees.UNIT)]
    assert 0 < len(kept) < len(examples)
    assert tree(trees, 0) == in_single(
        oracles_trees.fit_regression_tree(kept, features, 8, oracles_trees.Rules(2.0, newton=True))
    )


@pytest.mark.parametrize("kept", [{"trim": 0.1}, {"share": 0.5, "seed": 5}, {"trim": 0.03, "share": 0.8}], ids=str)
@pytest.mark.parametrize("newton", [False, True])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_examples_left_out_do_not_count(order, newton, kept):
    """Influence trimming and sampling by example: the tree is that of the expanded table of the other examples."""
    rng = np.random.default_rng(order)
    rows = random_rows(rng, [5, 1, 6, 4, 3], 1, bag=True, numeric=True)
    starts = rows.sequences.starts.tolist()
    gold = rng.integers(0, 2, size=starts[-1]).astype(np.int32)
    marginals = random_marginals(rng, starts, order, 2)
    rules = {"newton": newton, "min_leaf": 2, "trim_by": "example", "influence_trim": kept.get("trim", 0.0)}
    trees, scores = grow(rows, order, 2, marginals, gold, example_share=kept.get("share", 1.0),
                         seed=kept.get("seed", 0), **rules)  # fmt: skip
    features = oracles_trees.features_of(rows, order, 2)
    for label in range(2):
        examples = oracles_trees.examples_of(marginals, gold, starts, label, order, 2)
        some = oracles_trees.kept_examples(examples, label, 2, **kept)
        assert 0 < len(some) < len(examples)
        expected = oracles_trees.fit_regression_tree(some, features, 8, oracles_trees.Rules(2.0, newton, min_leaf=2))
        assert tree(trees, label) == in_single(expected)
    assert not scores.any()  # a Forest adds the values to all positions


def test_positions_are_trimmed_by_the_residuals_of_examples_that_are_drawn():
    rng = np.random.default_rng(3)
    rows = random_rows(rng, [8, 9], 1)
    starts = rows.sequences.starts.tolist()
    gold = rng.integers(0, 3, size=17).astype(np.int32)
    marginals = random_marginals(rng, starts, 1, 3)
    trees, _ = grow(rows, 1, 3, marginals, gold, influence_trim=0.3, example_share=0.6, seed=1)
    examples = oracles_trees.examples_of(marginals, gold, starts, 0, 1, 3)
    drawn = oracles_trees.kept_examples(examples, 0, 3, share=0.6, seed=1)
    size = np.zeros(17)
    for t, _, residual in drawn:
        size[t] += abs(residual)
    kept = [e for e in drawn if size[e[0]] >= int(0.3 * oracles_trees.UNIT)]
    assert 0 < len(kept) < len(drawn)
    features = oracles_trees.features_of(rows, 1, 3)
    assert tree(trees, 0) == in_single(oracles_trees.fit_regression_tree(kept, features, 8, oracles_trees.Rules(2.0)))


@pytest.mark.parametrize("trim_by", ["position", "example"])
def test_a_weight_of_all_positions_is_a_factor_of_the_penalty(trim_by):
    """Residuals are trimmed as they are, whatever the weights."""
    rng = np.random.default_rng(4)
    rows = random_rows(rng, [9, 8, 7], 1)
    gold = rng.integers(0, 2, size=24).astype(np.int32)
    marginals = random_marginals(rng, rows.sequences.starts, 1, 2)
    rules = growth_rules(influence_trim=0.3, trim_by=trim_by, l2=1.0)
    data = _core.TreeData(rows.reader, 1, rules, 1)

    def nodes(grower):
        return Trees.of_round(*grower.grow(marginals, gold, np.zeros_like(marginals), None, 1.0, 0, 1)).nodes

    weighted = nodes(weighted_grower(data, 2, rules, np.full(24, 4.0)))
    plain = nodes(_core.TreeGrower(data, 2, growth_rules(influence_trim=0.3, trim_by=trim_by, l2=0.25), None))
    assert len(plain) > 5
    np.testing.assert_array_equal(weighted["attribute"], plain["attribute"])
    np.testing.assert_array_equal(weighted["count"], plain["count"])


def test_trees_of_all_labels_refuse_samples_of_examples():
    rng = np.random.default_rng(4)
    rows = random_rows(rng, [9], 0)
    gold = rng.integers(0, 2, size=9).astype(np.int32)
    for rules in ({"example_share": 0.5}, {"trim_by": "example", "influence_trim": 0.1}):
        with pytest.raises(ValueError, match="whole positions"):
            grow(rows, 0, 2, random_marginals(rng, [0, 9], 0, 2), gold, shared=True, **rules)


def test_phases_are_measured_on_demand():
    rng = np.random.default_rng(2)
    rows = random_rows(rng, [20] * 10, 1)
    gold = rng.integers(0, 3, size=200).astype(np.int32)
    marginals = random_marginals(rng, rows.sequences.starts, 1, 3)
    grower = grower_of(rows, 1, 3, growth_rules())
    scores = np.zeros_like(marginals)
    grower.grow(marginals, gold, scores, None, 1.0, 0, 2)
    assert not any(grower.times.values())
    grower.measure()
    grower.grow(marginals, gold, scores, None, 1.0, 0, 2)
    assert set(grower.times) == {"select", "histogram", "scan", "partition", "values"}
    assert all(seconds > 0 for seconds in grower.times.values())
    assert grower.n_counted == 3 * 200


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    rows = random_rows(rng, rng.integers(1, 30, size=50), 2, numeric=True, bag=True)
    starts = rows.sequences.starts
    gold = rng.integers(0, 5, size=int(starts[-1])).astype(np.int32)
    marginals = random_marginals(rng, starts, 1, 5)
    one, scores = grow(rows, 1, 5, marginals, gold, max_leaves=20, max_features=0.5)
    three, others = grow(rows, 1, 5, marginals, gold, max_leaves=20, max_features=0.5, n_threads=3)
    np.testing.assert_array_equal(scores, others)
    for a, b in zip(astuple(one), astuple(three), strict=True):
        np.testing.assert_array_equal(a, b)
    again = np.zeros_like(scores)
    one.compiled(rows, 5, 1).add_scores(rows.reader, again, 3)
    np.testing.assert_array_equal(scores, again)


def test_tree_data_of_many_positions_by_several_threads():
    """More positions than are encoded at a time: each column splits them exactly."""
    n = 100_000
    numbers = np.random.default_rng(0).integers(0, 3, size=n).astype(np.float32)
    letters = np.array(list("abc"))[numbers.astype(int)]
    bins = {"n": Binning.fit(numbers)}
    for column in (NumericColumn("n", numbers), hr.Sequences([letters.tolist()]).columns[0]):
        rows = AttributeReader(hr.Sequences.of_columns(np.array([0, n // 3, n]), (column,)), Window.of(1), bins)
        marginals, gold = np.full((n, 1, 2), 0.5, np.float32), (numbers == 1).astype(np.int32)
        grown, scores = grow(rows, 0, 2, marginals, gold, max_leaves=3, l2=0.0, n_threads=3)
        np.testing.assert_allclose(scores[:, 0, 1], gold - 0.5, atol=1e-6)
        one, same = grow(rows, 0, 2, marginals, gold, max_leaves=3, l2=0.0)
        np.testing.assert_array_equal(same, scores)
        np.testing.assert_array_equal(one.nodes, grown.nodes)


def test_every_instruction_set_grows_and_evaluates_the_same():
    rng = np.random.default_rng(8)
    rows = random_rows(rng, rng.integers(1, 30, size=60), 2, numeric=True, bag=True)
    starts = rows.sequences.starts
    gold = rng.integers(0, 3, size=int(starts[-1])).astype(np.int32)
    marginals = random_marginals(rng, starts, 1, 3)
    found = []
    used = _core.instruction_set()
    try:
        for name in _core.instruction_sets():
            _core.use_instruction_set(name)
            trees, scores = grow(rows, 1, 3, marginals, gold, max_leaves=30, newton=True)
            again = np.zeros_like(scores)
            trees.compiled(rows, 3, 1).add_scores(rows.reader, again, 1)
            whole, _ = grow(rows, 0, 3, marginals[:, :1], gold, max_leaves=30, newton=True, shared=True)
            found.append((*astuple(trees), scores, again, *astuple(whole)))
    finally:
        _core.use_instruction_set(used)
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("n_positions", [3, 64, 65, 530, 600])  # a chunk is of 512, a word of 64
@pytest.mark.parametrize(("order", "shared"), [(0, False), (1, False), (2, False), (0, True)])
@pytest.mark.parametrize("max_leaves", [5, 20, 40, 300])  # looked up in tables of 16, 32, 64, and several
def test_trees_of_any_size_evaluate_as_they_grew(n_positions, order, shared, max_leaves):
    rng = np.random.default_rng(n_positions)
    n_long = n_positions // 9
    rows = random_rows(rng, [9] * n_long + [1] * (n_positions - 9 * n_long), 2, numeric=True, bag=True)
    gold = rng.integers(0, 3, size=n_positions).astype(np.int32)
    marginals = random_marginals(rng, rows.sequences.starts, order, 3)
    trees, scores = grow(rows, order, 3, marginals, gold, shared=shared, newton=shared, max_leaves=max_leaves, l2=0.0)
    used = _core.instruction_set()
    try:
        for name in _core.instruction_sets():
            _core.use_instruction_set(name)
            again = np.zeros_like(scores)
            trees.compiled(rows, 3, order).add_scores(rows.reader, again, 1)
            np.testing.assert_array_equal(scores, again)
    finally:
        _core.use_instruction_set(used)


def test_a_node_chooses_among_a_share_of_the_tests():
    rng = np.random.default_rng(9)
    rows = random_rows(rng, rng.integers(5, 10, size=30), 2)
    starts = rows.sequences.starts
    gold = rng.integers(0, 2, size=int(starts[-1])).astype(np.int32)
    marginals = random_marginals(rng, starts, 0, 2)
    roots = {
        int(grow(rows, 0, 2, marginals, gold, max_leaves=2, max_features=0.3, seed=seed)[0].nodes["attribute"][0])
        for seed in range(20)
    }
    best = int(grow(rows, 0, 2, marginals, gold, max_leaves=2)[0].nodes["attribute"][0])
    assert best in roots
    assert len(roots) > 2


@pytest.mark.parametrize("newton", [False, True])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_subsets_equal_the_naive_search_over_prefixes(order, newton):
    rng = np.random.default_rng(10 + order)
    rows = random_rows(rng, [6, 5, 7, 6], 1, numeric=True, bag=True)
    starts = rows.sequences.starts.tolist()
    gold = rng.integers(0, 3, size=starts[-1]).astype(np.int32)
    marginals = random_marginals(rng, starts, order, 3)
    trees, scores = grow(rows, order, 3, marginals, gold, category_splits="subset", newton=newton, max_leaves=6)
    again = np.zeros_like(scores)
    trees.compiled(rows, 3, order).add_scores(rows.reader, again, 1)
    np.testing.assert_array_equal(scores, again)
    rules = oracles_trees.Rules(2.0, newton)
    for label in range(3):
        examples = oracles_trees.examples_of(marginals, gold, starts, label, order, 3)
        expected = oracles_trees.fit_tree_with_sets(examples, rows, order, 3, 6, rules)
        got = {}
        for t, context, _ in examples:
            h = oracles.number([v for v in context if v is not None], 3)
            got[t, context] = float(scores[t, h, label])
        assert got == {key: float(np.float32(value)) for key, value in expected.items()}


def check_shared_node(trees, at, rows, inside, residuals, l2, min_leaf):
    """Every split of a tree for all labels gains as much as the best there is; every leaf has the Newton values."""

    def sums(some):
        r = residuals[some]
        return r.sum(axis=0), (np.abs(r) * (1 - np.abs(r))).sum(axis=0)

    def merit(some):
        r, w = sums(some)
        return float((r**2 / (l2 + w)).sum())

    attribute, if_true, if_false = (int(trees.nodes[at][name]) for name in ("attribute", "if_true", "if_false"))
    if attribute < 0:
        r, w = sums(inside)
        np.testing.assert_allclose(trees.values[at], np.clip(r / (l2 + w), -1, 1), rtol=1e-4, atol=1e-5)
        return
    gains = {}
    for (_, key), test in oracles_trees.features_of(rows, 0, residuals.shape[1]):
        yes = np.array([t for t in inside if test((t, (), 0))], dtype=int)
        no = np.setdiff1d(inside, yes)
        if min(len(yes), len(no)) >= min_leaf:
            gains[key] = merit(yes) + merit(no) - merit(inside), yes, no
    gain, yes, no = gains[attribute]
    assert gain == pytest.approx(max(g for g, _, _ in gains.values()), rel=1e-4)
    assert trees.nodes["gain"][at] == pytest.approx(gain, rel=1e-3)
    check_shared_node(trees, if_true, rows, yes, residuals, l2, min_leaf)
    check_shared_node(trees, if_false, rows, no, residuals, l2, min_leaf)


@pytest.mark.parametrize("k", [3, 20])
def test_a_shared_tree_takes_the_best_split_for_all_labels_together(k):
    rng = np.random.default_rng(k)
    rows = random_rows(rng, rng.integers(3, 9, size=20), 1, numeric=True, bag=True, flag=True)
    n = rows.sequences.n_positions
    gold = rng.integers(0, k, size=n).astype(np.int32)
    marginals = random_marginals(rng, rows.sequences.starts, 0, k)
    trees, scores = grow(rows, 0, k, marginals, gold, shared=True, newton=True, max_leaves=12, min_leaf=2)
    assert trees.is_leaf.sum() == 12
    residuals = np.eye(k)[gold] - marginals[:, 0]
    check_shared_node(trees, 0, rows, np.arange(n), residuals, 2.0, 2)
    again = np.zeros_like(scores)
    trees.compiled(rows, k, 0).add_scores(rows.reader, again, 1)
    np.testing.assert_array_equal(scores, again)


def test_threads_and_samples_of_shared_trees():
    rng = np.random.default_rng(4)
    rows = random_rows(rng, rng.integers(1, 30, size=400), 2, numeric=True, bag=True)
    n = rows.sequences.n_positions
    gold = rng.integers(0, 30, size=n).astype(np.int32)
    marginals = random_marginals(rng, rows.sequences.starts, 0, 30)
    sample = rng.integers(0, 2, size=n).astype(np.uint8)
    some = {"shared": True, "newton": True, "max_leaves": 30, "in_sample": sample, "max_features": 0.7}
    one, scores = grow(rows, 0, 30, marginals, gold, **some)
    three, others = grow(rows, 0, 30, marginals, gold, **some, n_threads=3)
    np.testing.assert_array_equal(scores, others)
    np.testing.assert_array_equal(one.nodes, three.nodes)
    assert one.nodes["count"][0] == sample.sum()
    assert not scores.any()  # a Forest adds the values to all positions


def test_weights_of_one_change_nothing_and_zero_leaves_out():
    rng = np.random.default_rng(1)
    rows = random_rows(rng, [4, 4], 1)
    gold = rng.integers(0, 2, size=8).astype(np.int32)
    marginals = random_marginals(rng, rows.sequences.starts, 1, 2)
    plain, _ = grow(rows, 1, 2, marginals, gold)
    ones, _ = grow(rows, 1, 2, marginals, gold, weights=np.ones(8))
    np.testing.assert_array_equal(plain.nodes, ones.nodes)
    np.testing.assert_allclose(plain.values, ones.values)
    weights = np.repeat([1.0, 0.0], 4)
    half, _ = grow(rows, 1, 2, marginals, gold, weights=weights, max_leaves=2)
    alone, _ = grow(AttributeReader(rows.sequences[0], rows.window), 1, 2, marginals[:4], gold[:4], max_leaves=2)
    np.testing.assert_allclose(
        half.values[half.nodes["attribute"] < 0].max(), alone.values[alone.nodes["attribute"] < 0].max()
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": np.array([0, 1, 2], dtype=np.int32)}, "gold labels are below"),
        ({"gold": np.array([0, 1], dtype=np.int32)}, "one gold label"),
        ({"marginals": np.zeros((3, 1, 2), dtype=np.float32)}, "labels\\^order"),
        ({"max_leaves": 1}, "max_leaves must be at least 2"),
        ({"weights": np.ones(2)}, "one weight"),
        ({"example_share": 0.0}, "example_share must be above 0"),
        ({"trim_by": "label"}, "trim_by must be position or example"),
        ({"missing": "impute"}, "missing must be weighting"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    rows = random_rows(np.random.default_rng(2), [3], 1)
    arguments = {"marginals": np.zeros((3, 2, 2), dtype=np.float32), "gold": np.array([0, 1, 0], dtype=np.int32)}
    with pytest.raises(ValueError, match=message):
        grow(rows, 1, 2, **arguments | change)


def split(attribute=-1, lag=-1, label=-1, if_true=1, if_false=2, **others):
    return {"attribute": attribute, "lag": lag, "label": label, "if_true": if_true, "if_false": if_false} | others


LEAF = {"attribute": -1, "lag": -1}


@pytest.mark.parametrize(
    "nodes",
    [
        [split(0, if_true=0, if_false=0)],
        [split(0)],
        [split(99), LEAF, LEAF],
        [split(lag=1, label=0), LEAF, LEAF],
        [split(lag=0, label=3), LEAF, LEAF],
        [split(lag=0), LEAF, LEAF],
        [split(0, first_alternative=1, n_alternatives=1), LEAF, LEAF],
        [split(0, first_alternative=-1, n_alternatives=1), LEAF, LEAF],
        [split(0, n_alternatives=-1), LEAF, LEAF],
        [split(0, n_alternatives=2), LEAF, LEAF],
        [split(0, first_alternative=2**63 - 1, n_alternatives=1), LEAF, LEAF],
        [split(lag=0, label=0, n_alternatives=1), LEAF, LEAF],
        [split(0, if_true=1, if_false=1), LEAF],
        [split(0), LEAF, LEAF, LEAF],
    ],
)
def test_a_forest_that_cannot_be_is_refused(nodes):
    with pytest.raises(ValueError):
        forest_of(nodes, alternatives=[5])


def forest_of(nodes, *, starts=None, alternatives=(), surrogates=()):
    table = np.zeros(len(nodes), NODE)
    for row, node in zip(table, nodes, strict=True):
        for name, value in node.items():
            row[name] = value
    starts = np.array([0, len(nodes)] if starts is None else starts)
    values = np.zeros((len(nodes), 1), np.float32)
    trees = Trees(
        labels=np.zeros(len(starts) - 1, np.int32),
        starts=starts,
        nodes=table,
        values=values,
        alternatives=np.array(alternatives, np.int32),
        surrogates=np.array(surrogates, np.int32),
    )
    return trees.compiled(random_rows(np.random.default_rng(2), [3], 1), 2, 1)


@pytest.mark.parametrize(
    "starts",
    [[0], [0, 2], [1, 3], [0, 3, 3], [0, 4, 3], [0, -(2**63), 3], [0, 2**63 - 1, -(2**63), 3], [3, 0]],
)
def test_starts_of_trees_that_cannot_be_are_refused(starts):
    nodes = [split(0), LEAF, LEAF]
    forest_of(nodes, starts=[0, 3])
    with pytest.raises(ValueError):
        forest_of(nodes, starts=starts)


@pytest.mark.parametrize(
    ("changed", "surrogates"),
    [
        ({"true_fraction": 1.5}, []),
        ({"true_fraction": np.nan}, []),
        ({"n_surrogates": 1}, []),
        ({"n_surrogates": -1}, [0]),
        ({"n_surrogates": 1, "first_surrogate": 1}, [0]),
        ({"n_surrogates": 1}, [10**6]),
        ({"n_surrogates": 1}, [-(10**6)]),
    ],
)
def test_what_becomes_of_missing_values_is_checked(changed, surrogates):
    forest_of([split(0, n_surrogates=1), LEAF, LEAF], surrogates=[0])
    with pytest.raises(ValueError):
        forest_of([split(0, **changed), LEAF, LEAF], surrogates=surrogates)


def test_growers_share_tree_data_of_the_same_rules():
    rng = np.random.default_rng(7)
    rows, gold = random_rows(rng, [5, 8], 1, numeric=True), rng.integers(0, 2, 13).astype(np.int32)
    marginals, rules = random_marginals(rng, rows.sequences.starts, 1, 2), growth_rules()
    expected, _ = grow(rows, 1, 2, marginals, gold)
    data = _core.TreeData(rows.reader, 1, rules, 1)
    for _ in range(2):
        grower = _core.TreeGrower(data, 2, rules, None)
        found = Trees.of_round(*grower.grow(marginals, gold, np.zeros_like(marginals), None, 1.0, 0, 1))
        np.testing.assert_array_equal(found.nodes, expected.nodes)
        np.testing.assert_array_equal(found.values, expected.values)
    with pytest.raises(ValueError, match="min_leaf and category_splits"):
        _core.TreeGrower(data, 2, growth_rules(min_leaf=2), None)


def test_a_forest_refuses_other_columns():
    rng = np.random.default_rng(3)
    rows, others = random_rows(rng, [3], 1), random_rows(rng, [3], 2)
    trees, scores = grow(rows, 0, 2, np.full((3, 1, 2), 0.5, np.float32), np.array([0, 1, 0], np.int32))
    with pytest.raises(ValueError, match="columns like those"):
        trees.compiled(rows, 2, 0).add_scores(others.reader, scores, 1)


@pytest.mark.slow
@pytest.mark.parametrize("newton", [False, True])
def test_more_positions_than_24_bits_are_counted(newton):
    """Values and counts of a stump are those of whole numbers."""
    n = 2**24 + 5
    codes = (np.arange(n) % 3 == 1).astype(np.int32)
    reader = _core.AttributeReader(np.array([0, n], np.int64), np.array([0], np.int64))
    reader.add_categorical(codes, 2, False)
    rules = growth_rules(newton=newton, max_leaves=2, l2=0.0, max_step=9.0)
    grower = _core.TreeGrower(_core.TreeData(reader, 0, rules, 1), 2, rules, None)
    gold = codes.copy()
    gold[0] = 1
    marginals = np.full((n, 1, 2), 0.5, np.float32)
    grown = Trees.of_round(*grower.grow(marginals, gold, np.zeros_like(marginals), None, 1.0, 0, 1))
    n_one = int(codes.sum())
    weight = 0.25 if newton else 1.0
    expected = {n: (2 * (n_one + 1) - n) / 2 / n, n_one: 0.5, n - n_one: (2 - (n - n_one)) / 2 / (n - n_one)}
    first = slice(grown.starts[1], grown.starts[2])  # of the label 1
    values = dict(zip(grown.nodes["count"][first].tolist(), grown.values[first, 0].tolist(), strict=True))
    assert values == {count: float(np.float32(value / weight)) for count, value in expected.items()}


@pytest.mark.parametrize(("n_positions", "offset"), [(2**31, 0), (3, 2**30)], ids=["positions", "padding"])
def test_more_positions_and_padding_than_31_bits_are_refused(n_positions, offset):
    reader = _core.AttributeReader(np.array([0, n_positions]), np.array([-offset], np.int64))
    if offset:
        reader.add_categorical(np.zeros(n_positions, np.int32), 1, False)
    with pytest.raises(ValueError, match=r"fewer than 2\^31.*shorten the window or divide"):
        _core.TreeData(reader, 0, growth_rules(), 1)


@pytest.mark.parametrize(("newton", "most"), [(True, 2**28), (False, 2**31)])
def test_too_many_positions_are_refused_before_they_are_counted(newton, most):
    """Members of a group need not have the positions: what they say about their number is enough."""

    class Other:
        rank, size = 0, 2

        def __call__(self, outgoing):
            claimed = np.array(outgoing[1], copy=True)
            if claimed.size == 16:  # positions of all, and whether values are missing, of one column without values
                claimed.view(np.int64)[0] = most - 3
            return [outgoing[0], claimed]

    reader = _core.AttributeReader(np.array([0, 3], np.int64), np.array([0], np.int64))
    reader.add_categorical(np.full(3, -2, np.int32), 0, False)
    rules = growth_rules(newton=newton)
    data = _core.TreeData(reader, 0, rules, 1, Other())
    with pytest.raises(ValueError, match=r"positions.*fewer than 2\^.*fit on fewer sequences"):
        _core.TreeGrower(data, 2, rules, None, Other())
