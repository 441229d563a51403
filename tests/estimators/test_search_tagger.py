"""SearchTagger: what it learns, its training log, files and misuse."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from builders.search import random_data
from hedgerow.datasets.synthetic import future
from hedgerow.errors import InputError
from oracles.search import UPDATES

DIRECTIONS = ["left-to-right", "right-to-left"]


def test_a_label_far_back_needs_a_high_order():
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(300):
        first = str(rng.choice(["a", "b"]))
        X.append(first + "xxxx" + "?")
        y.append([first, *"zzzz", first.upper()])
    low, high = (hr.SearchTagger(order=order, random_state=0).fit(X[:200], y[:200]) for order in (4, 5))
    assert high.score(X[200:], y[200:]) == 1.0
    assert low.score(X[200:], y[200:]) < 0.95
    weights = high.transition_features_
    assert weights["a", "z", "z", "z", "z", "A"] > weights.get(("a", "z", "z", "z", "z", "B"), 0.0)
    assert any(name[0] is None for name in weights)


def test_what_comes_last_is_seen_first_from_the_right():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("xy"), size=5)) + str(rng.choice(list("ab"))) for _ in range(200)]
    y = [[x[-1]] * 6 for x in X]
    left = hr.SearchTagger(beam=1, random_state=0).fit(X[:150], y[:150])
    right = hr.SearchTagger(beam=1, direction="right-to-left", random_state=0).fit(X[:150], y[:150])
    assert right.score(X[150:], y[150:]) == 1.0 > left.score(X[150:], y[150:])
    assert right.transition_features_["a", "a"] > right.transition_features_.get(("b", "a"), 0.0)
    assert any(name[-1] is None for name in right.transition_features_)


@pytest.mark.parametrize("update", UPDATES)
def test_mistakes_and_updates_are_told(update):
    X, y = random_data(1, n=30)
    log = hr.SearchTagger(update=update, beam=1, epochs=3, random_state=0).fit(X, y).training_log_
    assert [record["step"] for record in log] == [1, 2, 3]
    assert all(record["updates"] >= record["mistakes"] > 0 for record in log)
    if update == "laso":
        assert log[0]["updates"] > log[0]["mistakes"]
    else:
        assert log[0]["updates"] == log[0]["mistakes"]


def test_probabilities_are_scaled_on_dev_data(tmp_path):
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abcd"), size=8)) for _ in range(60)]
    y = [[c if rng.random() < 0.8 else "d" for c in x] for x in X]
    model = hr.SearchTagger(random_state=0).fit(X[:30], y[:30], X_dev=X[30:], y_dev=y[30:])
    assert model.temperature_ == model.training_log_[-1]["temperature"] != 1
    best = model.log_likelihood(X[30:], y[30:]).mean()
    assert -model.training_log_[-1]["dev_loss"] == pytest.approx(best)
    plain = hr.SearchTagger(random_state=0).fit(X[:30], y[:30])
    assert plain.temperature_ == 1.0
    assert plain.state_features_ == model.state_features_
    assert [p.tolist() for p in plain.predict(X)] == [p.tolist() for p in model.predict(X)]
    assert best > plain.log_likelihood(X[30:], y[30:]).mean()


def test_a_wider_beam_may_be_asked_for_later():
    X, y = random_data(3, n=40, longest=9)
    model = hr.SearchTagger(beam=1, random_state=0).fit(X, y)
    assert len(model.predict_nbest(["abcab"], n=9)[0]) == 1
    model.set_params(beam=4)
    assert len(model.predict_nbest(["abcab"], n=9)[0]) > 1


def test_rare_attributes_are_left_out():
    model = hr.SearchTagger(min_freq=2, random_state=0).fit(["aab", "ca"], [["x", "x", "y"], ["y", "x"]])
    assert {name for name, _ in model.state_features_} <= {"symbol:a"}


def test_a_sequence_without_weight_is_not_there():
    X, y = random_data(2)
    given = {"random_state": 0, "averaging": "none", "epochs": 3}
    weighted = hr.SearchTagger(**given).fit(X, y, sample_weight=[1.0] * 7 + [0.0])
    assert weighted.transition_features_ == hr.SearchTagger(**given).fit(X[:7], y[:7]).transition_features_


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"beam": 0}, "beam must be an integer of at least 1; it is 0"),
        ({"beam": None}, "beam must be an integer of at least 1; it is None"),
        ({"update": "late"}, "update must be one of 'laso', 'early', 'max-violation', 'standard'"),
        ({"direction": "down"}, "direction must be one of 'left-to-right', 'right-to-left'"),
        ({"averaging": "vote"}, "averaging must be one of 'average', 'none'"),
        ({"epochs": 0}, "epochs must be an integer of at least 1"),
        ({"order": 31}, "order 31 with 2 labels has more n-grams than 64-bit numbers; use a lower order"),
    ],
)
def test_bad_parameters(change, rule):
    with pytest.raises(InputError, match=rule):
        hr.SearchTagger(**change).fit(["ab"], [["x", "y"]])


def test_weights_beyond_all_numbers_are_refused():
    with pytest.raises(InputError, match="the weights grew too large"):
        hr.SearchTagger(update="standard", random_state=0).fit(
            ["aaaaaaaa", "b"], [["x"] * 8, ["y"]], sample_weight=[1e30, 1e30]
        )


def test_a_long_sequence_costs_no_more_than_its_length():
    rng = np.random.default_rng(0)
    x = "".join(rng.choice(list("abc"), size=100_000))
    y = list(rng.choice(list("pq"), size=100_000))
    model = hr.SearchTagger(epochs=2, n_jobs=1, random_state=0).fit([x], [y])  # quadratic would take minutes
    assert model.training_log_[0]["updates"] > 1000


def test_future_features_are_read_at_each_step(tmp_path):
    train, test = future("extra", 120, seed=1), future("extra", 40, seed=2)
    given = {"order": 1, "window": 1, "epochs": 6, "random_state": 0}
    plain = hr.SearchTagger(**given).fit(train.X, train.y)
    ahead = hr.SearchTagger(future=hr.FutureMEMM(order=0, bag=6), **given)
    assert ahead.get_params()["future__bag"] == 6
    ahead.fit(train.X, train.y, X_dev=test.X, y_dev=test.y)
    assert plain.score(test.X, test.y) < 0.95 < 0.98 < ahead.score(test.X, test.y)
    assert ahead.training_log_[-1]["future_features"] >= 1
    assert ahead.training_log_[-1]["dev_accuracy"] == ahead.score(test.X, test.y)
    assert ahead.state_features_["future feature 1", "1"] > 1
    ahead.save(tmp_path / "m")
    loaded = hr.load(tmp_path / "m")
    assert repr(loaded) == repr(ahead)
    for a, b in zip(ahead.predict_proba(test.X), loaded.set_params(n_jobs=3).predict_proba(test.X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_future_features_that_are_not_there_are_told():
    X, y = ["ab", "ba"] * 4, [["a", "b"], ["b", "a"]] * 4
    model = hr.SearchTagger(future=hr.FutureMEMM(order=0), random_state=0).fit(X, y)
    assert model.training_log_[0]["future_features"] == 0
    assert model.score(X, y) == 1.0
    with pytest.raises(InputError, match="future must be a FutureMEMM or None; it is HMM"):
        hr.SearchTagger(future=hr.HMM()).fit(X, y)
    with pytest.raises(InputError, match="bag must be an integer of at least 1"):
        hr.SearchTagger(future=hr.FutureMEMM(bag=0)).fit(X, y)
