"""Importances, trees as text and transition scores, against the arrays of the model."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.errors import InputError

WORDS = [["the", "cat", "sat"], ["a", "dog", "ran", "off"]]
X = [[{"word": w, "size": float(len(w)), "bag": [w[0], w[-1]]} for w in sentence] for sentence in WORDS]
Y = [["D", "N", "V"], ["D", "N", "V", "P"]]


@pytest.fixture(scope="module")
def model():
    return hr.TreeCRF(window=1, n_rounds=5, learning_rate=0.5, l2=0.1, transitions="trees").fit(X, Y)


def test_importances_count_every_split_once(model):
    trees = model.model_.potential.trees
    inner = ~trees.is_leaf
    found = model.feature_importances_
    assert sum(i.splits for i in found) == inner.sum()
    assert sum(i.gain for i in found) == pytest.approx(trees.nodes["gain"][inner].sum(), rel=1e-5)
    assert [i.gain for i in found] == sorted((i.gain for i in found), reverse=True)
    assert len({i[:3] for i in found}) == len(found)
    columns = {i.column for i in found}
    assert columns <= {"word", "size", "bag", "previous label"}
    assert not any(i.value.startswith("< ") for i in found)


def split_gains(model, shown):
    """The gains of the splits of all trees whose line has these words."""
    lines = [
        line for at in model.training_log_ for k in model.classes_ for line in model.tree(at["step"], k).split("\n")
    ]
    return [float(line.split("(gain ")[1].split(",")[0]) for line in lines if shown in line and "(gain " in line]


def numbers(n=30):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n, 8))
    return [x[:, None] for x in values], [np.digitize(x, [-1, 0, 1]) for x in values]


def test_all_thresholds_of_a_column_of_numbers_are_one_importance():
    model = hr.TreeCRF(window=1, n_rounds=4, n_jobs=1).fit(*numbers())
    rows = {i[:3]: i for i in model.feature_importances_ if i.column == "x0" and i.value != "(outside)"}
    assert ("x0", 0, "any value") in rows
    assert {value for _, _, value in rows} == {"any value"}
    for (_, offset, _), row in rows.items():
        gains = split_gains(model, f"x0{f'[{offset:+d}]' if offset else ''} <")
        assert row.splits == len(gains)
        assert row.gain == pytest.approx(sum(gains), rel=0.01)


def test_label_statistics_and_linear_scores_have_one_importance_each():
    rng = np.random.default_rng(0)
    words = [[f"w{i}" for i in rng.integers(90, size=6)] for _ in range(60)]
    tags = [["AB"[int(word[1:]) % 2 ^ (rng.random() < 0.2)] for word in x] for x in words]
    for linear, column in ((False, "log P(A | symbol) / P(A)"), (True, "linear log P(A)")):
        model = hr.TreeCRF(n_rounds=20, linear=linear, random_state=0, n_jobs=1).fit(words, tags)
        rows = [i for i in model.feature_importances_ if i.column == column]
        assert [i[:3] for i in rows] == [(column, 0, "any value")]
        assert [i for i in model.feature_importances_.by_column() if i.column == column] == [
            (column, rows[0].gain, rows[0].splits)
        ]
        gains = split_gains(model, f"{column} <")
        assert len(set(gains)) > 1
        assert rows[0].splits == len(gains)


def test_a_test_for_known_values_is_in_words():
    x = [[{"size": None if i % 3 else float(i)} for i in range(12)]] * 4
    y = [["A" if p["size"] is None else "B" for p in one] for one in x]
    model = hr.TreeCRF(n_rounds=1, order=0, missing="learned", n_jobs=1).fit(x, y)
    assert model.tree(1, "A").splitlines()[0].startswith("size is a number?  (gain ")
    assert "missing: no" in model.tree(1, "A")


def test_trees_without_splits_have_no_importances():
    assert hr.TreeCRF(n_rounds=2, order=0).fit(["aa", "a"], [["A", "B"], ["A"]]).feature_importances_ == []


def test_a_tree_in_words_has_a_line_for_each_node(model):
    trees = model.model_.potential.trees
    text = model.tree(1, "N")
    code = model.classes_.tolist().index("N")
    assert len(text.splitlines()) == trees.starts[code + 1] - trees.starts[code]
    assert text.splitlines()[0].count("?") == 1
    assert "yes: " in text
    with pytest.raises(InputError, match="round must be an integer from 1 to 5; it is 6"):
        model.tree(6, "N")
    with pytest.raises(InputError, match="round must be an integer from 1 to 5; it is '1'"):
        model.tree("1", "N")
    with pytest.raises(InputError, match=r"label must be a label of the model \('D', 'N', 'P', 'V'\), but it is 'Q'"):
        model.tree(1, "Q")


def test_a_tree_says_what_it_does():
    model = hr.TreeCRF(n_rounds=1, learning_rate=1.0, order=0, l2=0.0, max_step=5.0)
    model.fit(["ab", "ba"], [list("AB"), list("BA")])
    assert model.tree(1, "A").splitlines() == [
        "symbol is a?  (gain 4, 4 positions)",
        "  yes: +2.0000  (2 positions)",
        "  no:  -2.0000  (2 positions)",
    ]
    assert model.feature_importances_ == [("symbol", 0, "a", 8.0, 2)]


def test_sets_places_outside_and_previous_labels_have_names():
    x = ["abcd", "badc", "cdab", "dcba"] * 3
    y = [["V" if c in "ab" else "C" for c in w] for w in x]
    model = hr.TreeCRF(window=1, n_rounds=3, category_splits="subset").fit(x, y)
    assert " or " in model.tree(1, "V")
    y = [["S", *"I" * (len(w) - 1)] for w in x]
    at_start = hr.TreeCRF(order=0, window=1, n_rounds=1).fit(x, y)
    assert at_start.tree(1, "S").startswith("symbol[-1] is (outside)?")
    assert at_start.feature_importances_[0][:3] == ("symbol", -1, "(outside)")
    x, y = ["xxxx"] * 10, [list("ABAB")] * 5 + [list("BABA")] * 5
    model = hr.TreeCRF(n_rounds=3).fit(x, y)
    assert {i.column for i in model.feature_importances_} == {"previous label"}
    assert "previous label[-1] is " in model.tree(1, "A")


@pytest.mark.parametrize("order", [0, 1, 2])
def test_effective_transitions_are_means_over_training(order):
    x, y = ["abcab", "ba", "c"], [list("VCCVC"), list("CV"), list("C")]
    model = hr.TreeCRF(order=order, n_rounds=4, transitions="trees").fit(x, y)
    edge = model.model_.potential.scores(model.model_.encode(x)).edge
    rows, at = [], [0, 1, 2, 3, 4, 0, 1, 0]
    for m in range(order + 1):
        here = [t for t, depth in enumerate(at) if min(depth, order) == m]
        rows.append(edge[here, : 2**m].mean(axis=0))
    np.testing.assert_allclose(model.transition_table_, np.concatenate(rows), atol=1e-6)


def test_transitions_survive_saving(tmp_path):
    for transitions in ("trees", "table"):
        model = hr.TreeCRF(n_rounds=4, transitions=transitions).fit(["ab", "ba"], [list("AB"), list("BA")])
        model.save(tmp_path / "m.hedgerow")
        table = hr.load(tmp_path / "m.hedgerow").transition_table_
        np.testing.assert_array_equal(table, model.transition_table_)
        assert table.shape == (3, 2)


def test_models_without_trees_say_so():
    model = hr.HMM().fit(["ab"], [["A", "B"]])
    with pytest.raises(InputError, match="HMM has no trees; fit a TreeCRF"):
        hr.inspection.importances(model.model_)


@pytest.mark.parametrize("make", [hr.MEMM(n_rounds=2), hr.FutureMEMM(bag=2, random_state=0), hr.HMM()])
def test_transition_scores_are_those_of_a_treecrf(make):
    X = ["abz", "bab", "zab", "baz"] * 5
    y = [["+" if "z" in x[t + 1 :] else "-" for t in range(3)] for x in X]
    model = make.fit(X, y)
    with pytest.raises(InputError, match=f"those of a TreeCRF, but the model is a {type(model).__name__}"):
        hr.inspection.transition_table(model.model_)


def test_views_are_computed_once_and_again_after_a_fit():
    linear, trees = hr.LinearCRF(max_iter=3, tol=1.0).fit(X, Y), hr.TreeCRF(n_rounds=2).fit(X, Y)
    for name in ("state_features_", "transition_features_", "intercept_"):
        assert getattr(linear, name) is getattr(linear, name)
    assert all(a is b for a, b in zip(trees.feature_importances_, trees.feature_importances_, strict=True))
    copies = [copy.copy(linear), copy.deepcopy(linear), pickle.loads(pickle.dumps(linear))]
    before = dict(linear.state_features_)
    linear.fit(X, [["Q"] * len(labels[:-1]) + ["R"] for labels in Y])
    assert {label for _, label in linear.state_features_} == {"Q", "R"}
    assert [one.state_features_ for one in copies] == [before] * 3


def test_views_can_not_change_the_model_or_the_importances(model):
    found = model.feature_importances_
    assert not hasattr(found, "clear")
    with pytest.raises(TypeError):
        found[0] = found[1]
    assert found.sort("splits") is not found
    with pytest.raises(ValueError, match="read-only"):
        model.transition_table_[0, 0] = 9.0
    table = hr.TreeCRF(n_rounds=2, transitions="table").fit(X, Y).transition_table_
    with pytest.raises(ValueError, match="read-only"):
        table[0, 0] = 9.0


def test_the_views_of_a_model_that_is_gone_are_forgotten():
    model = hr.LinearCRF(max_iter=3, tol=1.0).fit(X, Y)
    frozen = weakref.ref(model.model_)
    assert model.state_features_
    del model
    gc.collect()
    assert frozen() is None


@pytest.mark.parametrize(
    "view",
    [
        hr.inspection.importances,
        hr.inspection.transition_table,
        hr.inspection.future_features,
        lambda model: hr.inspection.tree_text(model, 1, "N"),
        lambda model: hr.inspection.pattern_probabilities(model, None),
    ],
)
def test_an_estimator_is_refused_with_the_cure(model, view):
    rule = "hedgerow.inspection reads the model of a fitted estimator, but got "
    with pytest.raises(InputError, match=f"^{rule}TreeCRF; pass its attribute model_$"):
        view(model)
    with pytest.raises(InputError, match=f"^{rule}str; pass the attribute model_ of an estimator$"):
        view("m.hedgerow")
