"""FutureMEMM: which features it finds and which it does not, its training log and its descriptions of features."""

from __future__ import annotations

import warnings

import matplotlib as mpl
import numpy as np
import pytest

import hedgerow as hr
from hedgerow.errors import BagWarning, InputError
from hedgerow.future.potential import FuturePotential
from hedgerow.potentials.local import LocalPotential, unnormalised
from hedgerow.potentials.trees import TreePotential

KINDS = ["xor", "or", "extra"]


def noise(n, seed, k=2, length=12):
    rng = np.random.default_rng(seed)
    X = ["".join(rng.choice(list("abcd"), size=length)) for _ in range(n)]
    return X, [[str(label) for label in rng.integers(k, size=length)] for _ in range(n)]


def ahead(n, seed, size=3, back=False):
    """A label is `+` where one of the next letters is a `z`, or one of the last."""
    rng = np.random.default_rng(seed)
    X = ["".join(rng.choice(list("abcdefgz"), size=rng.integers(3, 15))) for _ in range(n)]
    y = []
    for x in X:
        seen = [x[max(t - size, 0) : t] if back else x[t + 1 : t + 1 + size] for t in range(len(x))]
        y.append(["+" if "z" in bag else "-" for bag in seen])
    return X, y


@pytest.mark.parametrize("kind", KINDS)
def test_the_synthetic_sets_are_learned(kind):
    train, test = hr.datasets.future(kind, 400, seed=1), hr.datasets.future(kind, 100, seed=2)
    model = hr.FutureMEMM(order=0, bag=6, random_state=0).fit(train.X, train.y)
    assert model.score(test.X, test.y) >= 0.999
    (feature, *_) = model.future_features_
    shown = np.concatenate([model.pattern_probabilities(x)[0][0] > 0.5 for x in test.X])
    truth = np.concatenate([np.asarray(x)[:, :6].sum(axis=1) <= 1 for x in test.X])
    assert np.mean(shown == truth) >= 0.98
    assert feature.fires_at == pytest.approx(7 / 64, abs=0.02)


@pytest.mark.parametrize("back", [False, True])
def test_a_single_letter_ahead_or_behind_is_found(back):
    X, y = ahead(150, 0, back=back)
    side = "before" if back else "after"
    model = hr.FutureMEMM(order=0, bag=3, bag_side=side, random_state=0).fit(X, y)
    feature = model.future_features_[0]
    assert [words for words, _ in feature.pattern] == ["symbol is z"]
    assert (feature.bag_side, feature.bag) == (side, 3)
    assert feature.weights["+"] > 0 > feature.weights["-"]
    assert model.score(*ahead(50, 1, back=back)) == 1.0
    text = str(feature)
    assert "symbol is z" in text
    assert ("before" if back else "after") in text
    sequence, position = feature.examples[0]
    assert X[sequence][position] == "z"


def test_each_feature_finds_the_side_it_needs():
    X, first = ahead(200, 3)
    y = [
        [a + b for a, b in zip(one, ["+" if "f" in x[max(t - 3, 0) : t] else "-" for t in range(len(x))], strict=True)]
        for x, one in zip(X, first, strict=True)
    ]
    model = hr.FutureMEMM(order=0, bag=3, bag_side="both", random_state=0).fit(X[:150], y[:150])
    assert {feature.bag_side for feature in model.future_features_} == {"after", "before"}
    assert model.score(X[150:], y[150:]) > 0.99
    one_way = hr.FutureMEMM(order=0, bag=3, random_state=0).fit(X[:150], y[:150])
    assert one_way.score(X[150:], y[150:]) < 0.8


def test_the_rest_of_the_sequence_is_a_bag():
    rng = np.random.default_rng(5)
    X = ["".join(rng.choice(list("aaabbcz"), size=rng.integers(5, 40))) for _ in range(150)]
    y = [["+" if "z" in x[t + 1 :] else "-" for t in range(len(x))] for x in X]
    model = hr.FutureMEMM(order=0, bag="rest", random_state=0).fit(X[:100], y[:100])
    assert model.future_features_[0].bag == "rest"
    assert model.score(X[100:], y[100:]) > 0.995


def test_many_labels_share_a_feature():
    """Four labels, of which two mark an event ahead: the feature raises their scores and lowers the others."""
    X, plain = ahead(200, 7)
    y = [[("AB" if c < "d" else "CD")[mark == "+"] for c, mark in zip(x, m, strict=True)]
         for x, m in zip(X, plain, strict=True)]  # fmt: skip
    model = hr.FutureMEMM(order=0, bag=3, random_state=0).fit(X[:150], y[:150])
    assert model.score(X[150:], y[150:]) == 1.0
    assert len(model.future_features_) <= 2
    weights = model.future_features_[0].weights
    assert min(weights["B"], weights["D"]) > max(weights["A"], weights["C"])
    assert sum(weights.values()) == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_where_nothing_helps_it_is_a_plain_memm(order):
    X, y = noise(60, 0)
    model = hr.FutureMEMM(order=order, bag=3, random_state=0).fit(X, y)
    assert model.future_features_ == []
    assert isinstance(model.model_.potential, LocalPotential)
    assert isinstance(unnormalised(model.model_.potential), TreePotential)
    assert model.training_log_[-1]["what"] == "end"
    assert model.training_log_[-1]["future_features"] == 0


def test_none_may_be_asked_for():
    X, y = ahead(60, 0)
    model = hr.FutureMEMM(order=1, bag=3, max_future=0, random_state=0).fit(X, y)
    assert model.future_features_ == []
    assert all(record["what"] != "discovery" for record in model.training_log_)


def pattern_steps(**parameters):
    model = hr.FutureMEMM(order=1, bag=3, max_future=1, **parameters).fit(*ahead(100, 0), *ahead(40, 1))
    (found,) = [record for record in model.training_log_ if record["what"] == "discovery"]
    return found["pattern_steps"]


@pytest.mark.parametrize("newton", [True, False])
def test_no_step_of_a_pattern_is_longer_than_allowed(newton):
    bound = max(pattern_steps(newton=newton)) / 2
    assert max(pattern_steps(newton=newton, max_beta=bound)) <= bound


def test_without_a_bound_steps_of_newton_trees_are_at_most_10():
    assert pattern_steps(max_beta=1e9) == pattern_steps() == pattern_steps(max_beta=10.0)


def test_the_log_has_every_step():
    X, y = ahead(100, 0)
    dev = ahead(40, 1)
    model = hr.FutureMEMM(order=1, bag=3).fit(X, y, *dev)
    assert [record["step"] for record in model.training_log_] == list(range(1, len(model.training_log_) + 1))
    found = [record for record in model.training_log_ if record["what"] == "discovery"]
    assert found
    assert set(found[0]) >= {"pattern_steps", "pattern_rounds", "bag_side", "fires_at", "dev_accuracy"}
    assert found[0]["dev_loss"] < model.training_log_[model.training_log_.index(found[0]) - 1]["dev_loss"]
    assert model.training_log_[-1]["dev_accuracy"] == model.score(*dev)
    np.testing.assert_allclose(
        -model.training_log_[-1]["dev_loss"], model.log_likelihood(*dev).mean(), rtol=1e-3, atol=1e-3
    )


def test_training_scores_are_those_of_the_model():
    """The loss of the last record is that of the fitted model: no test changes when trees become a potential."""
    X, y = ahead(80, 2)
    rng = np.random.default_rng(0)
    y = [[mark if rng.random() < 0.8 else "-" if x < "d" else "+" for x, mark in zip(*one, strict=True)]
         for one in zip(X, y, strict=True)]  # fmt: skip
    for order in (0, 1, 2):
        model = hr.FutureMEMM(order=order, bag=2, random_state=0).fit(X, y)
        assert isinstance(unnormalised(model.model_.potential), FuturePotential)
        assert -model.training_log_[-1]["loss"] == pytest.approx(model.log_likelihood(X, y).mean(), abs=1e-4)


@pytest.mark.parametrize("window", [0, 1])
def test_windows_do_not_shift_features(window):
    X, y = ahead(120, 4)
    model = hr.FutureMEMM(order=0, window=window, bag=3, random_state=0).fit(X, y)
    assert model.score(*ahead(40, 5)) > 0.99


def published(**parameters):
    return hr.FutureMEMM.published(**{"order": 0, "bag": 6, "initial_log_odds": -7.0} | parameters)


@pytest.mark.parametrize("kind", KINDS)
def test_published_learns_the_synthetic_sets(kind):
    """Table 5.3: from -7 one or two features are found, with long steps, and hardly a label is wrong."""
    train, test = hr.datasets.future(kind, 400, seed=0), hr.datasets.future(kind, 100, seed=2)
    model = published().fit(train.X, train.y)
    assert model.score(test.X, test.y) > 0.99
    assert 1 <= len(model.future_features_) <= 2
    assert max(next(r for r in model.training_log_ if r["what"] == "discovery")["pattern_steps"]) >= 1000


def test_published_steps_keep_their_bounds():
    train = hr.datasets.future("or", 200, seed=3)
    model = published(max_alpha=2.0, max_beta=20000.0, max_eta=0.5).fit(train.X, train.y)
    log = model.training_log_
    assert max(record["step_size"] for record in log if record["what"] == "round") <= 2.0
    assert max(max(record["pattern_steps"]) for record in log if record["what"] == "discovery") <= 20000.0
    assert all(-1e-6 < weight <= 0.5 for feature in model.future_features_ for weight in feature.weights.values())


def test_published_iterations_can_be_chosen_by_hold_out_validation():
    """n_rounds counts the trees of both levels; a fit with fewer is the beginning of a fit with more."""
    train, dev = hr.datasets.future("xor", 100, seed=3), hr.datasets.future("xor", 50, seed=4)
    whole = published().fit(train.X, train.y, dev.X, dev.y)
    for record in whole.training_log_:
        n = record["iterations"]
        model = published(n_rounds=max(n, 1)).fit(train.X, train.y, dev.X, dev.y)
        last = model.training_log_[-1]
        assert last["iterations"] == max(n, 1)
        assert last["dev_accuracy"] == record["dev_accuracy"] == model.score(dev.X, dev.y)
        assert last["loss"] == record["loss"]


def test_published_training_scores_are_those_of_the_model():
    X, y = ahead(80, 2)
    for order in (0, 1, 2):
        model = hr.FutureMEMM.published(order=order, bag=2, max_leaves=3).fit(X, y, *ahead(40, 1))
        assert model.future_features_
        assert -model.training_log_[-1]["loss"] == pytest.approx(model.log_likelihood(X, y).mean(), abs=1e-4)
        dev_loss = -model.log_likelihood(*ahead(40, 1)).mean()
        assert model.training_log_[-1]["dev_loss"] == pytest.approx(dev_loss, rel=1e-4, abs=1e-4)


def test_published_has_two_labels():
    with pytest.raises(InputError, match="newton=False, is for two labels, but y has 3; use newton=True"):
        hr.FutureMEMM.published().fit(*noise(5, 0, k=3))


def test_a_bag_longer_than_any_sequence_is_said_once():
    X, y = ahead(40, 0)
    with pytest.warns(BagWarning, match=r"bag is 99, but the longest sequence has \d+ positions") as said:
        model = hr.FutureMEMM(bag=99, random_state=0).fit(X, y)
    assert len(said) == 1
    rest = hr.FutureMEMM(bag="rest", random_state=0).fit(X, y)
    for a, b in zip(model.predict_proba(X), rest.predict_proba(X), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("initial_log_odds", [0.0, 1.0])
def test_patterns_that_begin_everywhere_are_allowed_but_said(initial_log_odds):
    X, y = ahead(40, 0)
    with pytest.warns(BagWarning, match="initial_log_odds is"):
        hr.FutureMEMM(bag=3, initial_log_odds=initial_log_odds, random_state=0).fit(X, y)


@pytest.mark.parametrize("bag", [0, -1, 1.5, "some", None, True, 2**40])
def test_strange_bags_are_refused(bag):
    with pytest.raises(InputError, match='bag must be an integer of at least 1 or "rest"'):
        hr.FutureMEMM(bag=bag).fit(*ahead(5, 0))


@pytest.mark.parametrize(
    "change",
    [{"bag_side": "up"}, {"max_future": -1}, {"pattern_rounds": 0}, {"pattern_leaves": 1}, {"max_beta": 0},
     {"initial_log_odds": float("nan")}, {"initial_log_odds": -1e9}, {"learning_rate": 0}, {"n_rounds": 0},
     {"missing": "surrogate"}],
)  # fmt: skip
def test_bad_parameters_are_refused(change):
    with pytest.raises(InputError, match=next(iter(change))):
        hr.FutureMEMM(**change).fit(*ahead(5, 0))


def test_one_sequence_is_enough():
    (x,), (y,) = ahead(1, 12)
    model = hr.FutureMEMM(order=0, bag=3).fit([x * 10], [y * 10])
    assert model.training_log_[-1]["what"] == "end"


def test_sequences_of_one_position_have_empty_bags():
    model = hr.FutureMEMM(bag="rest", random_state=0).fit(["a", "b"] * 10, [["A"], ["B"]] * 10)
    assert model.future_features_ == []
    assert model.score(["a", "b"], [["A"], ["B"]]) == 1.0


def test_a_column_called_like_a_feature_is_refused():
    X = [[{"future feature 1": "a"}, {"future feature 1": "b"}]] * 4
    with pytest.raises(InputError, match=r"'future feature 1' has the name of a future feature; rename the column"):
        hr.FutureMEMM().fit(X, [["A", "B"]] * 4)


def test_dev_data_without_a_known_label_are_refused():
    X, y = ahead(10, 0)
    with (
        pytest.warns(UserWarning, match="never occurred"),
        pytest.raises(InputError, match="needs dev data with labels of y"),
    ):
        hr.FutureMEMM().fit(X, y, X_dev=["ab"], y_dev=[["?", "?"]])


@pytest.mark.parametrize("missing", ["weighting", "learned", "impute", "indicator"])
def test_missing_values(missing):
    X, y = ahead(150, 6)
    rng = np.random.default_rng(0)
    damaged = [[{"c": None if rng.random() < 0.1 else c, "n": ord(c) % 3} for c in x] for x in X]
    model = hr.FutureMEMM(order=0, bag=3, missing=missing, random_state=0).fit(damaged[:100], y[:100])
    assert model.score(damaged[100:], y[100:]) > 0.9
    assert model.future_features_


def test_files_hold_all_of_it(tmp_path):
    X, y = ahead(80, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = hr.FutureMEMM(order=1, window=1, bag=2, bag_side="both", random_state=0).fit(X, y)
    model.save(tmp_path / "m.hedgerow")
    loaded = hr.load(tmp_path / "m.hedgerow")
    for a, b in zip(model.predict_proba(X), loaded.predict_proba(X), strict=True):
        np.testing.assert_array_equal(a, b)
    assert loaded.future_features_ == model.future_features_
    assert loaded.feature_importances_ == model.feature_importances_


def test_weights_count():
    """Sequences of weight 0 are as if they were not there."""
    X, y = ahead(60, 9)
    dev = ahead(30, 10)
    wrong = [["-" if mark == "+" else "+" for mark in one] for one in y]
    model = hr.FutureMEMM(bag=3).fit(X + X, y + wrong, *dev, sample_weight=[1.0] * 60 + [0.0] * 60)
    alone = hr.FutureMEMM(bag=3).fit(X, y, *dev)
    assert model.score(*dev) == pytest.approx(alone.score(*dev), abs=0.02)


def test_a_plot_has_a_panel_for_each_feature():
    mpl.use("Agg")
    from matplotlib import pyplot

    X, y = ahead(100, 0)
    model = hr.FutureMEMM(bag=3, random_state=0).fit(X, y)
    axes = model.plot_patterns("abzab")
    assert len(axes) == len(model.future_features_)
    assert [text.get_text() for text in axes[0].get_xticklabels()] == list("abzab")
    heights = [bar.get_height() for bar in axes[0].patches]
    np.testing.assert_allclose(heights, model.pattern_probabilities("abzab")[0][0])
    pyplot.close("all")
    with pytest.raises(InputError, match="but got 1 sequence with 5 positions and 1 name"):
        model.plot_patterns("abzab", names=["x"])
    plain = hr.FutureMEMM(bag=3, max_future=0, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="has no future feature to plot"):
        plain.plot_patterns("abzab")
