"""Trees on data with missing values, node for node, against the oracle; and their values at positions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import hedgerow as hr
from builders.missing import damaged_rows
from builders.trees import grow, grower_of, growth_rules, random_marginals
from hedgerow import _core
from hedgerow.encoding import AttributeReader, Window
from hedgerow.encoding.attributes import PADDING
from oracles import missing as oracles_missing

pytestmark = pytest.mark.kernel

METHODS = ("weighting", "published-weighting", "surrogate", "published-surrogate", "learned")


def a_case(seed, lengths, order, k, window, **how):
    rng = np.random.default_rng(seed)
    rows = damaged_rows(rng, lengths, window, **how)
    gold = rng.integers(0, k, size=rows.sequences.n_positions).astype(np.int32)
    return rows, order, k, random_marginals(rng, rows.sequences.starts, order, k), gold


def check_node(trees, first, at, expected, rounded):
    """The node and all below it are those of the oracle; False where one of equal splits ended the comparison."""
    node = trees.nodes[first + at]
    attribute, lag, label, if_true, if_false = (
        int(node[name]) for name in ("attribute", "lag", "label", "if_true", "if_false")
    )
    if "split" not in expected:
        assert attribute < 0
        assert lag < 0
        assert float(trees.values[first + at, 0]) == pytest.approx(expected["value"], rel=1e-3, abs=1e-4)
        return True
    feature, _, ties = expected["split"]
    key = ("id", attribute) if attribute >= 0 else ("lag", lag, label)
    if node["n_alternatives"]:
        key = "any of", key, *((*key[:-1], other) for other in trees.alternatives_of(node))
    if key in ties and rounded:
        return False  # parts are rounded: of equals it may be another, and what is below differs
    assert key == feature.key
    assert float(node["gain"]) == pytest.approx(expected["gain"], rel=1e-3, abs=1e-4)
    assert float(node["true_fraction"]) == pytest.approx(expected["share"], abs=1e-6)
    found = [(("id", i if i >= 0 else ~i), i < 0) for i in trees.surrogates_of(node)]
    expected_surrogates = oracles_missing.first_of_slots(expected["surrogates"], feature.slot)
    assert found == [(other.key, opposite) for other, opposite, _ in expected_surrogates]
    yes = check_node(trees, first, if_true, expected["true"], rounded)
    no = check_node(trees, first, if_false, expected["false"], rounded)
    return yes and no


def check(case, method, *, newton=False, l2=2.0, min_leaf=1, max_leaves=10, subsets=False, weights=None, **kept):
    """Trees equal the oracle's. weights: of positions; kept: which examples are, see `kept_examples`."""
    rows, order, k, marginals, gold = case
    kinds = [column.kind for column in rows.sequences.columns for _ in rows.window.offsets]
    categorical = {slot for slot, kind in enumerate(kinds) if kind == "categorical"} if subsets else None
    trees, _ = grow(rows, order, k, marginals, gold, missing=method, newton=newton, l2=l2, min_leaf=min_leaf,
                    max_leaves=max_leaves, category_splits="subset" if subsets else "one-hot", weights=weights,
                    trim_by="example", influence_trim=kept.get("trim", 0.0), example_share=kept.get("share", 1.0),
                    seed=kept.get("seed", 0))  # fmt: skip
    features = oracles_missing.features_of(rows, order, k)
    rules = oracles_missing.Rules(l2, newton, 1.0, min_leaf)
    scores = np.zeros_like(marginals)
    trees.compiled(rows, k, order).add_scores(rows.reader, scores, 1)
    starts = rows.sequences.starts.tolist()
    for y in range(k):
        every = oracles_missing.examples_of(marginals, gold, starts, y, order, k)
        examples = oracles_missing.examples_of(marginals, gold, starts, y, order, k, **kept)
        if weights is not None:
            examples = [e._replace(weight=float(weights[e.position])) for e in examples]
        expected = oracles_missing.fit_tree(examples, features, max_leaves, rules, method, categorical)
        if not check_node(trees, int(trees.starts[y]), 0, expected, rounded="weighting" in method):
            continue
        at = dict.fromkeys((e.position for e in every), -1)
        for e in every:
            at[e.position] += 1
            assert scores[e.position, at[e.position], y] == pytest.approx(
                oracles_missing.evaluate(expected, e), rel=1e-3, abs=1e-4
            )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("newton", "order", "window"), [*product([False, True], [0, 1, 2], [0, 1])])
def test_trees_equal_the_oracle(method, newton, order, window):
    for seed in range(6):
        lengths = np.random.default_rng(seed + 100).integers(1, 7, size=6)
        case = a_case(seed, lengths, order, 2 if order == 2 else 3, window)
        check(case, method, newton=newton)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("method", METHODS)
def test_nodes_that_have_few_of_many_values(method, order):
    """Histograms of which only the entries that occur are read; surrogates may hold nowhere in a node."""
    rng = np.random.default_rng(order)

    def position():
        made = {name: str(rng.integers(0, 40)) if rng.random() < 0.6 else "0" for name in ("word", "tag")}
        return {name: None if rng.random() < 0.3 else value for name, value in made.items()}

    X = [[position() for _ in range(n)] for n in (9, 14, 11, 8)]
    X[0][0] = {"word": "0", "tag": "0"}
    rows = AttributeReader(hr.Sequences(X), Window.of(1), {})
    gold = rng.integers(0, 2, size=42).astype(np.int32)
    check((rows, order, 2, random_marginals(rng, rows.sequences.starts, order, 2), gold), method, max_leaves=15)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("newton", [False, True])
@pytest.mark.parametrize("columns", [("letter",), ("letter", "number"), ("flag", "letter", "bag")])
@pytest.mark.slow
def test_large_nodes_equal_the_oracle(method, newton, columns):
    """Nodes so large that slots are counted in pairs, and that histograms are subtracted."""
    case = a_case(1, [7] * 25, 1, 3, 1, columns=columns, rate=0.2)
    check(case, method, newton=newton, max_leaves=12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("newton", "order"), [*product([False, True], [0, 1])])
@pytest.mark.slow
def test_sets_of_values_equal_the_oracle(method, newton, order):
    for seed in range(6):
        case = a_case(seed, [5] * 8, order, 3, 1, columns=("letter", "number", "bag"))
        check(case, method, newton=newton, subsets=True)


@pytest.mark.parametrize("method", [*METHODS[:3], "learned"])
def test_leaves_have_as_many_positions_as_they_must(method):
    check(a_case(2, [7] * 12, 0, 2, 1), method, newton=True, min_leaf=5)


KEPT = {
    "trimmed": {"trim": 0.12},
    "drawn": {"share": 0.6, "seed": 3},
    "both": {"trim": 0.05, "share": 0.7, "seed": 2**63 + 1},
}


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("newton", "order"), [*product([False, True], [0, 1, 2])])
def test_examples_left_out_equal_the_oracle(method, newton, order, kept):
    for seed in range(3):
        case = a_case(seed, [5, 1, 7, 4], order, 2 if order == 2 else 3, 1)
        check(case, method, newton=newton, **KEPT[kept])


@pytest.mark.parametrize("method", ["weighting", "published-surrogate"])
@pytest.mark.parametrize(("newton", "order"), [*product([False, True], [1, 2])])
def test_examples_left_out_of_weighted_sequences_and_sets_of_values(method, newton, order):
    for seed in range(3):
        case = a_case(seed, [5, 3, 6, 4], order, 2, 1, columns=("letter", "number"))
        weights = np.repeat(np.array([1.0, 0.5, 0.25, 0.75]), [5, 3, 6, 4])
        check(case, method, newton=newton, weights=weights, **KEPT["both"])
        check(case, method, newton=newton, subsets=True, **KEPT["both"])


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize(("newton", "subsets"), [*product([False, True], repeat=2)])
def test_large_nodes_with_examples_left_out(newton, subsets, kept):
    """Without missing values: nodes so large that slots are counted in groups and histograms are subtracted."""
    case = a_case(2, [7] * 25, 1, 3, 1, columns=("letter", "flag"), rate=0.0)
    check(case, "weighting", newton=newton, subsets=subsets, min_leaf=2, max_leaves=12, **KEPT[kept])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("newton", "order"), [*product([False, True], [0, 1])])
def test_what_training_adds_is_what_evaluation_adds(method, newton, order):
    """To the bit, so that going on from a saved model is going on from the model itself."""
    rows, order, k, marginals, gold = a_case(3, [9] * 40, order, 3, 1)
    trees, scores = grow(rows, order, k, marginals, gold, missing=method, newton=newton, max_leaves=80, step=0.3)
    assert len(trees.nodes) > 3 * 100  # more leaves than a table of values holds
    again = np.zeros_like(scores)
    trees.compiled(rows, k, order).add_scores(rows.reader, again, 2)
    np.testing.assert_array_equal(scores, again)


@pytest.mark.parametrize("method", METHODS)
def test_growing_adds_scores_only_if_all_positions_count(method):
    rows, order, k, marginals, gold = a_case(4, [9] * 10, 1, 3, 1)
    in_sample = np.repeat(np.arange(10) % 2, 9).astype(np.uint8)
    grower = grower_of(rows, order, k, growth_rules(missing=method))
    assert grower.adds_scores(False)
    assert not grower.adds_scores(True)
    assert not grower_of(rows, order, k, growth_rules(missing=method, influence_trim=0.1)).adds_scores(False)
    _, scores = grow(rows, order, k, marginals, gold, missing=method, in_sample=in_sample)
    assert not scores.any()


def test_every_instruction_set_evaluates_the_same():
    rows, order, k, marginals, gold = a_case(5, [9] * 40, 1, 3, 1)
    found = []
    used = _core.instruction_set()
    try:
        for name in _core.instruction_sets():
            _core.use_instruction_set(name)
            trees, scores = grow(rows, order, k, marginals, gold, newton=True, max_leaves=30)
            found.append((trees.nodes, scores))
    finally:
        _core.use_instruction_set(used)
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_column_without_a_value_is_never_tested():
    rng = np.random.default_rng(6)
    X = [[{"letter": str(rng.choice(list("ab"))), "gone": None} for _ in range(5)] for _ in range(5)]
    rows = AttributeReader(hr.Sequences(X), Window.of(1), {})
    gold = rng.integers(0, 2, size=25).astype(np.int32)
    for method in METHODS:
        trees, _ = grow(rows, 0, 2, random_marginals(rng, rows.sequences.starts, 0, 2), gold, missing=method)
        tests = [rows.name(i) for i in trees.nodes["attribute"].tolist() if i >= 0]
        assert all(column == "letter" or value == PADDING for column, _, value in tests)
