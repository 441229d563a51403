"""TreeCRF: the boosting loop against TREEBOOST written naively, and what the loop must keep."""

from __future__ import annotations

import os

import numpy as np
import oracles
import oracles_trees
import pytest
from test_trees import as_dict

import hedgerow as hr
from hedgerow.encoding import Rows, Window
from hedgerow.errors import InputError

WORDS = ["abc", "cab", "bca", "aab", "ccb", "bab", "acb", "cc", "a", "abcabc"]
LABELS = [["V" if c == "a" or (t and w[t - 1] == "b") else "C" for t, c in enumerate(w)] for w in WORDS]
DATA = os.environ.get("HEDGEROW_DATA")


def naive_treeboost(sequences, gold, order, k, window, n_rounds, max_leaves, l2):
    """TREEBOOST of the dissertation: marginals by writing out all paths, trees on the expanded table."""
    rows = Rows(sequences, Window.of(window))
    starts = sequences.starts.tolist()
    features = oracles_trees.features_of(rows, order, k)
    rules = oracles_trees.Rules(l2)
    potentials = np.zeros((sequences.n_positions, k**order, k), dtype=np.float32)
    forest = []
    for _ in range(n_rounds):
        marginals = np.concatenate(
            [
                oracles.enumerate_answers(end - begin, order, k, edge=potentials[begin:end])["pair"]
                for begin, end in zip(starts[:-1], starts[1:], strict=True)
            ]
        ).astype(np.float32)
        grown = []
        for label in range(k):
            examples = oracles_trees.examples_of(marginals, gold, starts, label, order, k)
            grown.append(oracles_trees.fit_regression_tree(examples, features, max_leaves, rules))
        tests = dict(features)
        for label, tree in enumerate(grown):
            for t, history, _ in oracles_trees.examples_of(marginals, gold, starts, label, order, k):
                node = tree
                while "test" in node:
                    node = node["true" if tests[node["test"]]((t, history, 0)) else "false"]
                h = oracles.number([label for label in history if label is not None], k)
                potentials[t, h, label] += np.float32(node["value"])
        forest.append(grown)
    return forest, potentials


def shape_of(tree):
    """The tree without its numbers, which depend on the last bits of marginals."""
    if "test" not in tree:
        return round(tree["value"], 5)
    return tree["test"], shape_of(tree["true"]), shape_of(tree["false"])


@pytest.mark.parametrize("order", [0, 1, 2])
def test_published_equals_naive_treeboost_tree_for_tree(order):
    x, y = WORDS[:8], LABELS[:8]
    model = hr.TreeCRF.published(order=order, window=1, l2=3.0, n_rounds=3, max_leaves=5).fit(x, y)
    sequences = model.model_.encode(x)
    gold = model.model_.labels.codes(y, sequences)
    forest, potentials = naive_treeboost(sequences, gold, order, 2, 1, 3, 5, 3.0)
    trees = model.model_.potential.trees
    for i, expected in enumerate(tree for grown in forest for tree in grown):
        part = slice(trees.starts[i], trees.starts[i + 1])
        got = as_dict(0, trees.nodes[part], trees.values[part], trees.gains[part])
        assert shape_of(got) == shape_of(expected)
    np.testing.assert_allclose(model.model_.potential.scores(sequences).edge, potentials, atol=1e-5)


@pytest.mark.parametrize("transitions", ["trees", "table"])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_training_likelihood_rises_every_round(order, transitions):
    model = hr.TreeCRF(order=order, window=1, transitions=transitions, n_rounds=30).fit(WORDS, LABELS)
    objective = [record["objective"] for record in model.history_]
    assert objective == sorted(objective)
    assert objective[-1] > objective[0] + 0.1
    assert objective[-1] == pytest.approx(model.log_likelihood(WORDS, LABELS).mean(), abs=1e-5)
    assert model.score(WORDS, LABELS) == 1.0


def test_a_step_far_too_long_is_stepped_back():
    model = hr.TreeCRF(window=1, learning_rate=500.0, max_step=50.0, n_rounds=20).fit(WORDS, LABELS)
    objective = [record["objective"] for record in model.history_]
    assert objective == sorted(objective)
    assert np.isfinite(objective).all()
    assert any(record["step"] < 500 for record in model.history_)
    assert np.isfinite(model.predict_proba(WORDS)[0]).all()


def test_previous_labels_are_learned_where_inputs_say_nothing():
    x = ["xxxxxx"] * 20
    y = [list("ABABAB")] * 10 + [list("BABABA")] * 10
    for transitions in ("trees", "table"):
        model = hr.TreeCRF(transitions=transitions, n_rounds=80).fit(x, y)
        assert "".join(model.predict(["xxxxxxxx"])[0]) in ("ABABABAB", "BABABABA")
    table = model.model_.potential.table
    assert table[1, 1] > table[1, 0] + 1
    assert table[2, 0] > table[2, 1] + 1


def test_interrupting_leaves_the_rounds_done_so_far(tmp_path):
    def stop(record):
        if record["round"] == 3:
            raise KeyboardInterrupt

    model = hr.TreeCRF(n_rounds=50)
    with pytest.raises(KeyboardInterrupt):
        model.fit(WORDS, LABELS, callbacks=[stop])
    assert len(model.history_) == 3
    three = hr.TreeCRF(n_rounds=3).fit(WORDS, LABELS)
    for a, b in zip(model.predict_proba(WORDS), three.predict_proba(WORDS), strict=True):
        np.testing.assert_array_equal(a, b)
    model.save(tmp_path / "m.hedgerow")


def test_early_stopping_keeps_the_best_round():
    rng = np.random.default_rng(0)
    x = ["".join(rng.choice(list("abcd"), size=8)) for _ in range(40)]
    y = [[str(rng.integers(0, 2)) if rng.random() < 0.4 else str(int(c in "ab")) for c in w] for w in x]
    model = hr.TreeCRF(n_rounds=200, early_stopping="log-likelihood")
    model.fit(x[:25], y[:25], X_dev=x[25:], y_dev=y[25:])
    scores = [record["dev_log_likelihood"] for record in model.history_]
    best = int(np.argmax(scores)) + 1
    assert len(scores) < 200
    assert len(model.model_.potential.trees) == 2 * best
    assert model.log_likelihood(x[25:], y[25:]).mean() == pytest.approx(max(scores), abs=1e-5)
    with pytest.raises(InputError, match="early_stopping needs held-out data"):
        hr.TreeCRF(early_stopping="accuracy").fit(x, y)


def test_few_labels_use_trees_and_many_a_table():
    few = hr.TreeCRF(n_rounds=1).fit(WORDS, LABELS)
    many = hr.TreeCRF(n_rounds=1).fit(["abcdefghijkl"] * 2, [list("abcdefghijkl")] * 2)
    assert few.model_.potential.table is None
    assert many.model_.potential.table is not None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_leaves": 1}, "max_leaves must be an integer at least 2; it is 1"),
        ({"n_rounds": 0}, "n_rounds must be an integer at least 1"),
        ({"window": -1}, "window must be an integer at least 0"),
        ({"learning_rate": 0}, "learning_rate must be a number above 0"),
        ({"l2": -1.0}, "l2 must be a number at least 0"),
        ({"order": 40}, "GiB"),
    ],
)
def test_bad_parameters_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        hr.TreeCRF(**change).fit(WORDS, LABELS)


def test_missing_values_are_refused_by_name():
    with pytest.raises(InputError, match="column 'v' has 1 missing values"):
        hr.TreeCRF().fit([[{"v": "a"}, {"v": None}]], [["A", "B"]])


@pytest.mark.skipif(DATA is None, reason="HEDGEROW_DATA is not set: the original files are not here")
def test_the_published_accuracy_of_nettalk_stress_is_near_after_60_rounds():
    train, test = hr.datasets.load("nettalk-stress", "train"), hr.datasets.load("nettalk-stress", "test")
    model = hr.TreeCRF.published(window=6, n_rounds=60, decode="marginal").fit(train.X, train.y)
    assert model.score(test.X, test.y) > 0.845  # published after 169: 85.18, standard error .42
