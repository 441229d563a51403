"""TreeCRF without settings: what it chooses, what it says, and what it refuses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.errors import InputError
from hedgerow.learning.adaptive_rules import Situation, adapted

AUTO = dict.fromkeys(
    (
        "trees",
        "transitions",
        "n_rounds",
        "learning_rate",
        "max_leaves",
        "min_leaf",
        "max_features",
        "influence_trim",
        "validation_fraction",
    ),
    "auto",
) | {"category_splits": "one-hot", "sample_by": "sequence", "trim_by": "position"}


def worded(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = [[f"w{i}" for i in rng.integers(90, size=6)] for _ in range(n)]
    return X, [["AB"[int(word[1:]) % 2] for word in x] for x in X]


def lettered(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = ["".join(rng.choice(list("abcd"), size=5)) for _ in range(n)]
    return X, [["vowel" if letter == "a" else "other" for letter in x] for x in X]


@pytest.mark.parametrize(
    ("situation", "chosen"),
    [
        (Situation(1000, 3, False), {"trees": "per-label", "transitions": "trees", "refit": True}),
        (Situation(1000, 15, False), {"trees": "per-label", "transitions": "table"}),
        (Situation(1000, 30, False), {"trees": "shared", "transitions": "table", "max_leaves": 300}),
        (Situation(1000, 30, True), {"trees": "per-label", "transitions": "table", "max_leaves": 20}),
        (Situation(10**6, 3, False), {"refit": False, "validation_fraction": 0.1, "learning_rate": 0.2}),
    ],
)
def test_the_rules(situation, chosen):
    assert chosen.items() <= adapted(situation, AUTO).items()


def test_what_is_given_stays():
    given = AUTO | {"trees": "per-label", "learning_rate": 0.7, "max_leaves": 3}
    assert {"trees": "per-label", "learning_rate": 0.7, "max_leaves": 3}.items() <= adapted(
        Situation(10**6, 99, False), given
    ).items()


@pytest.mark.parametrize("name", ["sample_by", "trim_by"])
def test_labels_share_no_tree_where_examples_are_left_out(name):
    assert adapted(Situation(1000, 30, False), AUTO | {name: "example"})["trees"] == "per-label"


@pytest.mark.parametrize("data", [worded, lettered])
def test_the_search_is_repeated_on_all_sequences(data):
    X, y = data()
    model = hr.TreeCRF(random_state=0, n_jobs=1).fit(X, y)
    log = model.training_log_
    search = [record for record in log if record["fit"] == "search"]
    final = [record for record in log if record["fit"] == "all"]
    assert log == search + final
    best, least = 0, 1e-4 * search[0]["dev_loss"]
    for i, record in enumerate(search):
        best = i if record["dev_loss"] < search[best]["dev_loss"] - least else best
    assert len(final) == best + 1 == search[-1]["best_step"]
    assert {record["n_rounds"] for record in final} == {best + 1}
    assert len(search) <= best + 1 + 20  # fewer if a step ends at the minimum of the training loss
    assert [record["step"] for record in final] == list(range(1, len(final) + 1))
    assert log[0]["held_out"] == 12
    assert log[0]["n_rounds"] == 1000
    chosen = {name: log[0][name] for name in ("learning_rate", "max_leaves", "min_leaf", "influence_trim")}
    same = hr.TreeCRF(n_rounds=len(final), random_state=0, n_jobs=1, **chosen).fit(X, y)
    for a, b in zip(model.predict_proba(X), same.predict_proba(X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_log_says_which_columns_are_read_how():
    X, y = worded()
    log = hr.TreeCRF(random_state=0, linear=True, n_jobs=1).fit(X, y).training_log_
    assert log[0]["columns"] == {"read": [], "statistics": ["symbol"], "linear": True}


def test_dev_data_do_not_change_the_linear_part():
    X, y = worded()
    setting = {"linear": True, "n_rounds": 3, "random_state": 0}
    alone, watched = hr.TreeCRF(**setting).fit(X, y), hr.TreeCRF(**setting).fit(X, y, X[:7], y[:7])
    assert "dev_accuracy" in watched.training_log_[0]
    for a, b in zip(alone.predict_proba(X), watched.predict_proba(X), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("linear", [False, True])
def test_one_file_and_any_number_of_threads(tmp_path, linear):
    X, y = worded()
    one, two = (hr.TreeCRF(random_state=3, linear=linear, n_jobs=n).fit(X, y) for n in (1, 2))
    one.save(tmp_path / "m.hedgerow")
    loaded = hr.load(tmp_path / "m.hedgerow")
    for a, b, c in zip(*(model.predict_proba(X) for model in (one, two, loaded)), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)
    assert loaded.feature_importances_ == one.feature_importances_
    if not linear:
        assert any("log P(A | symbol)" in importance.column for importance in one.feature_importances_)
        assert loaded.tree(1, "A") == one.tree(1, "A")


def test_one_sequence_has_no_search():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log = hr.TreeCRF(n_jobs=1).fit(["abab"], [["a", "b", "a", "b"]]).training_log_
    assert (len(log), log[0]["held_out"], log[0]["n_rounds"]) == (100, 0, 100)
    assert {record["fit"] for record in log} == {"all"}


def test_the_log_of_a_search_that_is_not_repeated_says_which_rounds_are_kept(monkeypatch):
    monkeypatch.setattr("hedgerow.learning.adaptive_rules.FEW_POSITIONS", 100)
    X, y = worded()
    model = hr.TreeCRF(random_state=0, n_jobs=1).fit(X, y)
    log = model.training_log_
    assert {record["fit"] for record in log} == {"search"}
    assert log[-1]["best_step"] < len(log)
    assert len(model.model_.potential.trees) == 2 * log[-1]["best_step"]


@pytest.mark.parametrize("n", [4, 10, 20])
def test_a_search_among_sure_labels_ends(n):
    X = ["abacdb", "dbcaba"] * (n // 2)
    y = [["vowel" if letter == "a" else "other" for letter in x] for x in X]
    log = hr.TreeCRF(random_state=0, n_jobs=1).fit(X, y).training_log_
    search = [record for record in log if record["fit"] == "search"]
    losses = [record["dev_loss"] * log[0]["held_out"] for record in search]
    assert min(losses[:-1]) >= 0.1 > losses[-1]
    assert len(log) - len(search) == len(search) < 150
    dev = hr.TreeCRF(random_state=0, n_jobs=1).fit(X, y, X[:2], y[:2]).training_log_
    assert dev[-2]["dev_loss"] * 2 >= 0.1 > dev[-1]["dev_loss"] * 2


def test_dev_data_end_the_search():
    X, y = worded()
    model = hr.TreeCRF(random_state=0, n_jobs=1).fit(X[:40], y[:40], X[40:], y[40:])
    assert "fit" not in model.training_log_[0]
    assert len(model.training_log_) < 1000


def test_whole_groups_are_held_out():
    X, y = lettered()
    seen = []
    groups = np.repeat(np.arange(6), 10)
    hr.TreeCRF(random_state=0, n_jobs=1).fit(X, y, groups=groups, callbacks=[seen.append])
    assert seen[0]["held_out"] in (10, 20)


@pytest.mark.parametrize(
    ("groups", "message"),
    [([1, 2], "one value for each of the 60 sequences"), ("ab", "must be a list"), ([[]] * 60, "strings or integers")],
)
def test_bad_groups_are_refused(groups, message):
    X, y = lettered()
    with pytest.raises(InputError, match=message):
        hr.TreeCRF().fit(X, y, groups=groups)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"linear": {"depth": 3}}, "linear must be a dict of"),
        ({"linear": {"epochs": 0}}, "epochs must be an integer of at least 1"),
        ({"linear": 3}, "True, False or a dict"),
        ({"n_rounds": "many"}, "an integer of at least 1 or 'auto'"),
        ({"learning_rate": 0}, "a number above 0 or 'auto'"),
        ({"warm_start": True}, "needs a number of rounds"),
        ({"checkpoint": "c.hedgerow"}, "needs a number of rounds"),
        ({"validation_fraction": 1.0}, "below 1"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    X, y = lettered()
    with pytest.raises(InputError, match=message):
        hr.TreeCRF(**parameters).fit(X, y)


def test_an_interrupted_search_keeps_what_it_has():
    X, y = worded()
    model = hr.TreeCRF(random_state=0, n_jobs=1)
    model.fit(X, y, callbacks=[lambda record: record["step"] == 3])
    assert len(model.training_log_) == 3
    assert len(model.predict(X)) == len(X)


def test_a_warm_start_continues_with_the_same_statistics():
    X, y = worded()
    rules = {"random_state": 0, "n_jobs": 1, "linear": {"epochs": 2}}
    model = hr.TreeCRF(n_rounds=3, warm_start=True, **rules).fit(X, y)
    model.set_params(n_rounds=6).fit(X, y)
    whole = hr.TreeCRF(n_rounds=6, **rules).fit(X, y)
    for a, b in zip(model.predict_proba(X), whole.predict_proba(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    with pytest.raises(InputError, match="label statistics of X and y differ"):
        model.set_params(n_rounds=7).fit(X[1:], y[1:])


def test_missing_words_have_no_statistics():
    X, y = worded()
    X = [[None if i % 5 == 0 else word for i, word in enumerate(x)] for x in X]
    for linear in (False, True):
        model = hr.TreeCRF(random_state=0, linear=linear, n_jobs=1, n_rounds=20).fit(X, y)
        right = np.mean([a == b for p, g in zip(model.predict(X), y, strict=True) for a, b in zip(p, g, strict=True)])
        assert right > 0.8


@pytest.mark.parametrize(
    ("make", "given", "message"),
    [
        (hr.TreeCRF.published, {"newton": True}, "TreeCRF.published: the published algorithm has newton=False"),
        (hr.TreeCRF.published, {"transitions": "table"}, "has transitions='trees', but transitions='table' was given"),
        (hr.TreeCRF.published_2004, {"l2": 1.0}, "TreeCRF.published_2004: the published algorithm has l2=0.0"),
        (hr.TreeCRF.published_2004, {"pseudo_rounds": 5}, "has pseudo_rounds=3"),
        (hr.FutureMEMM.published, {"newton": True}, "FutureMEMM.published: the published algorithm has newton=False"),
    ],
    ids=["newton", "transitions", "l2", "pseudo_rounds", "future"],
)
def test_what_a_published_algorithm_fixes_cannot_be_given(make, given, message):
    with pytest.raises(InputError, match=message):
        make(**given)


def test_published_is_left_alone():
    X, y = worded()
    log = hr.TreeCRF.published(n_rounds=2).fit(X, y).training_log_
    assert len(log) == 2
    assert "columns" not in log[0]
