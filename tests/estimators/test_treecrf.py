"""TreeCRF: the boosting loop against a naive version of TREEBOOST, its invariants and its parameters."""

from __future__ import annotations

import os

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.errors import InputError, UnseenLabelWarning

WORDS = ["abc", "cab", "bca", "aab", "ccb", "bab", "acb", "cc", "a", "abcabc"]
LABELS = [["V" if c == "a" or (t and w[t - 1] == "b") else "C" for t, c in enumerate(w)] for w in WORDS]
DATA = os.environ.get("HEDGEROW_DATA")


@pytest.mark.parametrize("transitions", ["trees", "table"])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_training_likelihood_rises_every_round(order, transitions):
    model = hr.TreeCRF(order=order, window=1, transitions=transitions, n_rounds=30).fit(WORDS, LABELS)
    objective = [-record["loss"] for record in model.training_log_]
    assert objective == sorted(objective)
    assert objective[-1] > objective[0] + 0.1
    assert objective[-1] == pytest.approx(model.log_likelihood(WORDS, LABELS).mean(), abs=1e-5)
    assert model.score(WORDS, LABELS) == 1.0


def noisy(n=40, seed=0):
    rng = np.random.default_rng(seed)
    x = ["".join(rng.choice(list("abcd"), size=8)) for _ in range(n)]
    y = [[str(rng.integers(0, 2)) if rng.random() < 0.4 else str(int(c in "ab")) for c in w] for w in x]
    return x, y


def test_a_step_far_too_long_is_stepped_back():
    x, y = noisy()
    model = hr.TreeCRF(window=1, learning_rate=500.0, max_step=50.0, n_rounds=20).fit(x, y)
    objective = [-record["loss"] for record in model.training_log_]
    assert objective == sorted(objective)
    assert np.isfinite(objective).all()
    assert any(record["step_size"] < 500 for record in model.training_log_)
    assert np.isfinite(model.predict_proba(x)[0]).all()
    assert objective[-1] == pytest.approx(model.log_likelihood(x, y).mean(), abs=1e-5)


def test_a_model_that_nothing_improves_is_still_a_model():
    model = hr.TreeCRF(n_rounds=5).fit(["aa", "aa"], [["A", "B"], ["B", "A"]])
    assert model.predict_proba(["aa"])[0] == pytest.approx(0.5)
    model = hr.TreeCRF(n_rounds=5, order=0).fit(["ab", "ba"], [["A", "A"], ["B", "B"]])
    assert model.predict_proba(["ab"])[0] == pytest.approx(0.5)


@pytest.mark.parametrize("transitions", ["trees", "table"])
def test_a_line_search_takes_longer_steps_where_they_help(transitions):
    x, y = noisy()
    plain = hr.TreeCRF.published(n_rounds=5, l2=200.0).set_params(transitions=transitions).fit(x, y)
    searched = hr.TreeCRF(**plain.get_params()).set_params(line_search=True).fit(x, y)
    assert any(record["step_size"] > 1 for record in searched.training_log_)
    assert searched.training_log_[-1]["loss"] < plain.training_log_[-1]["loss"]
    assert -searched.training_log_[-1]["loss"] == pytest.approx(searched.log_likelihood(x, y).mean(), abs=1e-5)


@pytest.mark.parametrize("transitions", ["trees", "table"])
def test_pseudo_rounds_raise_the_likelihood_too(transitions):
    model = hr.TreeCRF(window=1, pseudo_rounds=3, n_rounds=6, transitions=transitions).fit(WORDS, LABELS)
    objective = [-record["loss"] for record in model.training_log_]
    assert objective == sorted(objective)
    whole = hr.TreeCRF(window=1, n_rounds=6, transitions=transitions).fit(WORDS, LABELS)
    assert objective[2] != -whole.training_log_[2]["loss"]


def test_a_seed_decides_what_is_drawn():
    x, y = noisy()

    def scores(seed, n_jobs=1):
        model = hr.TreeCRF(n_rounds=5, subsample=0.5, max_features=0.5, random_state=seed, n_jobs=n_jobs).fit(x, y)
        return np.concatenate(model.predict_proba(x))

    np.testing.assert_array_equal(scores(1), scores(1, n_jobs=2))
    assert (scores(1) != scores(2)).any()


def test_a_sample_is_drawn_by_sequence_or_by_example():
    x, y = noisy()

    def counts(**how):
        model = hr.TreeCRF.published(n_rounds=1, random_state=1, **how).fit(x, y)
        return [int(model.model_.potential.trees.nodes["count"][i]) for i in model.model_.potential.trees.starts[:-1]]

    n = sum(map(len, x))
    assert counts() == [n, n]
    by_sequence = counts(subsample=0.5)
    assert by_sequence[0] == by_sequence[1] < n
    by_example = counts(subsample=0.5, sample_by="example")
    assert by_example[0] != by_example[1]  # each tree has a sample of its own
    assert n / 2 < min(by_example) < n  # a position of two examples is there if either is
    assert counts(subsample=1.0, sample_by="example") == [n, n]


def test_residuals_are_trimmed_by_position_or_by_example():
    x, y = noisy()

    def losses(**how):
        model = hr.TreeCRF.published(n_rounds=4, l2=1.0, random_state=1, **how).fit(x, y)
        return [record["loss"] for record in model.training_log_]

    assert losses(trim_by="example") == losses()
    by_position, by_example = losses(influence_trim=0.3), losses(influence_trim=0.3, trim_by="example")
    assert by_position != by_example
    assert by_example[-1] < by_example[0]


def test_previous_labels_are_learned_where_inputs_say_nothing():
    x = ["xxxxxx"] * 20
    y = [list("ABABAB")] * 10 + [list("BABABA")] * 10
    for transitions in ("trees", "table"):
        model = hr.TreeCRF(transitions=transitions, n_rounds=80).fit(x, y)
        assert "".join(model.predict(["xxxxxxxx"], decode="viterbi")[0]) in ("ABABABAB", "BABABABA")
    table = model.model_.potential.table
    assert table[1, 1] > table[1, 0] + 1
    assert table[2, 0] > table[2, 1] + 1


def test_interrupting_leaves_the_rounds_done_so_far(tmp_path):
    def stop(record):
        if record["step"] == 3:
            raise KeyboardInterrupt

    model = hr.TreeCRF(n_rounds=50)
    with pytest.raises(KeyboardInterrupt):
        model.fit(WORDS, LABELS, callbacks=[stop])
    assert len(model.training_log_) == 3
    three = hr.TreeCRF(n_rounds=3).fit(WORDS, LABELS)
    for a, b in zip(model.predict_proba(WORDS), three.predict_proba(WORDS), strict=True):
        np.testing.assert_array_equal(a, b)
    model.save(tmp_path / "m.hedgerow")


def test_early_stopping_keeps_the_best_round():
    x, y = noisy()
    model = hr.TreeCRF(n_rounds=200, early_stopping="loss")
    model.fit(x[:25], y[:25], X_dev=x[25:], y_dev=y[25:])
    scores = [-record["dev_loss"] for record in model.training_log_]
    best = int(np.argmax(scores)) + 1
    assert len(scores) < 200
    assert len(model.model_.potential.trees) == 2 * best
    assert model.log_likelihood(x[25:], y[25:]).mean() == pytest.approx(max(scores), abs=1e-5)
    with pytest.raises(InputError, match="early_stopping needs dev data"):
        hr.TreeCRF(early_stopping="accuracy").fit(x[:1], y[:1])


def same(a, b, x):
    assert len(a.model_.potential.trees) == len(b.model_.potential.trees)
    for left, right in zip(a.predict_proba(x), b.predict_proba(x), strict=True):
        np.testing.assert_array_equal(left, right)
    timeless = [[{k: v for k, v in r.items() if not k.endswith("seconds")} for r in m.training_log_] for m in (a, b)]
    assert timeless[0] == timeless[1]


VARIANTS = [
    {"transitions": "trees", "category_splits": "subset", "window": 1},
    {"transitions": "table"},
    {"trees": "shared"},
    {"subsample": 0.5, "max_features": 0.5, "random_state": 3},
    {"subsample": 0.5, "sample_by": "example", "influence_trim": 0.05, "trim_by": "example", "random_state": 3},
    {"learning_rate": 500.0, "max_step": 50.0},
]


@pytest.mark.parametrize("change", VARIANTS)
def test_warm_start_goes_on_to_the_model_of_one_long_fit(change):
    x, y = noisy()
    long = hr.TreeCRF(n_rounds=12, **change).fit(x, y)
    parts = hr.TreeCRF(n_rounds=5, warm_start=True, **change).fit(x, y)
    parts.set_params(n_rounds=12).fit(x, y)
    same(long, parts, x)
    afresh = hr.TreeCRF(n_rounds=5, **change).fit(x, y).set_params(n_rounds=12).fit(x, y)
    same(long, afresh, x)


def test_a_loaded_model_goes_on_too(tmp_path):
    x, y = noisy()
    hr.TreeCRF(n_rounds=5).fit(x, y).save(tmp_path / "m.hedgerow")
    part = hr.load(tmp_path / "m.hedgerow").set_params(warm_start=True, n_rounds=9).fit(x, y)
    same(hr.TreeCRF(n_rounds=9).fit(x, y), part, x)


@pytest.mark.parametrize("transitions", ["trees", "table"])
def test_warm_start_on_other_data_keeps_the_bins_of_the_trees(transitions):
    rng = np.random.default_rng(0)
    x = [rng.normal(size=(6, 2)) for _ in range(20)]
    y = [["hi" if v > 0 else "lo" for v in sequence[:, 0]] for sequence in x]
    model = hr.TreeCRF(n_rounds=20, learning_rate=0.5, transitions=transitions, warm_start=True).fit(x, y)
    before = model.predict_proba(x)
    other = [sequence[:3] + 5 for sequence in x[:4]]
    model.set_params(n_rounds=21).fit(other, [["hi", "lo", "hi"]] * 4)
    binnings = model.model_.potential.binnings
    assert all(len(binning.edges) > 100 for binning in binnings.values())
    trees = model.model_.potential.trees.rounds(2)
    assert len(trees) == 21
    after = model.predict_proba(x)
    assert np.mean([np.abs(a - b).mean() for a, b in zip(before, after, strict=True)]) < 0.2


def test_warm_start_refuses_another_make_or_new_labels():
    x, y = noisy()
    model = hr.TreeCRF(n_rounds=2, warm_start=True).fit(x, y)
    with pytest.raises(InputError, match="window must not change"):
        model.set_params(window=1).fit(x, y)
    with pytest.raises(InputError, match="transitions must not change"):
        model.set_params(window=0, transitions="table").fit(x, y)
    with pytest.raises(InputError, match="label '7' was not among the labels"):
        model.set_params(transitions="auto").fit(x[:1], [["7"] * 8])


@pytest.mark.parametrize("change", VARIANTS)
def test_a_checkpoint_resumes_to_the_identical_model(change, tmp_path):
    x, y = noisy()
    path = str(tmp_path / "c.hedgerow")

    def stop(record):
        if record["step"] == 17:
            raise KeyboardInterrupt

    dev = {"X_dev": x[30:], "y_dev": y[30:]}
    whole = hr.TreeCRF(n_rounds=25, **change).fit(x[:30], y[:30], **dev)
    with pytest.raises(KeyboardInterrupt):
        hr.TreeCRF(n_rounds=25, checkpoint=path, **change).fit(x[:30], y[:30], **dev, callbacks=[stop])
    seen = []
    again = hr.TreeCRF(n_rounds=25, checkpoint=path, **change).fit(x[:30], y[:30], **dev, callbacks=[seen.append])
    assert seen[0]["step"] == 18
    same(whole, again, x)


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    x, y = noisy()
    path = str(tmp_path / "c.hedgerow")
    hr.TreeCRF(n_rounds=10, checkpoint=path).fit(x, y)
    before = (tmp_path / "c.hedgerow").read_bytes()
    with pytest.raises(InputError, match="other data or parameters"):
        hr.TreeCRF(n_rounds=10, checkpoint=path, l2=2.0).fit(x, y)
    with pytest.raises(InputError, match="other data or parameters"):
        hr.TreeCRF(n_rounds=10, checkpoint=path).fit(x, [*y[:-1], y[0]])
    with pytest.raises(InputError, match="other data or parameters"):
        hr.TreeCRF(n_rounds=10, checkpoint=path).fit(x, y, sample_weight=[2.0] + [1.0] * 39)
    with pytest.raises(InputError, match="needs a random_state"):
        hr.TreeCRF(n_rounds=10, checkpoint=path, subsample=0.5).fit(x, y)
    assert (tmp_path / "c.hedgerow").read_bytes() == before
    longer = hr.TreeCRF(n_rounds=14, checkpoint=path, n_jobs=1).fit(x, y)
    same(hr.TreeCRF(n_rounds=14).fit(x, y), longer, x)


@pytest.mark.parametrize("transitions", ["trees", "table"])
def test_early_stopping_survives_a_checkpoint(transitions, tmp_path):
    x, y = noisy()
    path = str(tmp_path / "c.hedgerow")
    rules = {"n_rounds": 200, "early_stopping": "loss", "transitions": transitions}
    whole = hr.TreeCRF(**rules).fit(x[:25], y[:25], X_dev=x[25:], y_dev=y[25:])
    hr.TreeCRF(checkpoint=path, **rules).fit(x[:25], y[:25], X_dev=x[25:], y_dev=y[25:])
    again = hr.TreeCRF(checkpoint=path, **rules).fit(x[:25], y[:25], X_dev=x[25:], y_dev=y[25:])
    same(whole, again, x)


def test_a_dev_set_without_labels_in_common_is_refused():
    with pytest.raises(InputError, match="no label in common"), pytest.warns(UnseenLabelWarning):
        hr.TreeCRF(early_stopping="accuracy").fit(WORDS, LABELS, X_dev=["ab"], y_dev=[["X", "Y"]])


@pytest.mark.parametrize("make", [hr.TreeCRF, hr.LinearCRF, hr.MEMM, hr.StructuredPerceptron])
def test_stopping_by_loss_needs_a_dev_sequence_with_known_labels(make):
    dev = {"X_dev": ["ab", "aba"], "y_dev": [[LABELS[0][0], "new"], ["new", "new", LABELS[0][0]]]}
    records = []
    with pytest.raises(InputError, match='"loss" needs a dev sequence whose'), pytest.warns(UnseenLabelWarning):
        make(early_stopping="loss").fit(WORDS, LABELS, **dev, callbacks=[records.append])
    assert records == []


def test_a_search_for_the_rounds_names_itself_if_dev_data_are_of_no_use():
    known = LABELS[0][0]
    for y_dev, rule in (
        ([[known, "new"]], "a dev sequence whose labels all occur"),
        ([["new", "new"]], "dev data with"),
    ):
        with (
            pytest.raises(InputError, match=f'^n_rounds="auto" needs {rule}.*; pass other dev data'),
            pytest.warns(UnseenLabelWarning),
        ):
            hr.TreeCRF().fit(WORDS, LABELS, X_dev=["ab"], y_dev=y_dev)


def test_few_labels_use_trees_and_many_a_table():
    few = hr.TreeCRF(n_rounds=1).fit(WORDS, LABELS)
    many = hr.TreeCRF(n_rounds=1).fit(["abcdefghijkl"] * 2, [list("abcdefghijkl")] * 2)
    assert few.model_.potential.table is None
    assert many.model_.potential.table is not None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_leaves": 1}, "max_leaves must be an integer of at least 2 or 'auto'; it is 1"),
        ({"n_rounds": 0}, "n_rounds must be an integer of at least 1"),
        ({"window": -1}, "window must be a number n"),
        ({"learning_rate": 0}, "learning_rate must be a number above 0"),
        ({"l2": -1.0}, "l2 must be a number of at least 0"),
        ({"order": 40}, "GiB"),
        ({"max_features": 1.5}, "max_features must be a number above 0 and at most 1 or 'auto'; it is 1.5"),
        ({"subsample": 0.0}, "subsample must be a number above 0 and at most 1"),
        ({"influence_trim": float("nan")}, "influence_trim must be a number of at least 0"),
        ({"trees": "shared", "transitions": "trees"}, "cannot test previous labels"),
        ({"all_transitions": False, "transitions": "trees"}, "all_transitions=False leaves scores out of a transition"),
        ({"trees": "shared", "category_splits": "subset"}, "splits off one value at a time"),
        ({"trees": "shared", "sample_by": "example"}, 'sample_by is "example"; use "sequence"'),
        ({"trees": "shared", "trim_by": "example"}, 'trim_by is "example"; use "position"'),
    ],
)
def test_bad_parameters_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        hr.TreeCRF(**change).fit(WORDS, LABELS)


@pytest.mark.skipif(DATA is None, reason="HEDGEROW_DATA is not set: the original files are not here")
def test_the_published_accuracy_of_nettalk_stress_is_near_after_60_rounds():
    train, test = hr.datasets.load("nettalk-stress", "train"), hr.datasets.load("nettalk-stress", "test")
    model = hr.TreeCRF.published(window=6, n_rounds=60, decode="marginal").fit(train.X, train.y)
    assert model.score(test.X, test.y) > 0.845  # published after 169: 85.18, standard error .42


def test_the_training_log_says_how_long_inference_and_growing_took():
    train = hr.datasets.hmm_three(20, 30, seed=0)
    log = hr.TreeCRF(n_rounds=5, window=1, n_jobs=1).fit(train.X, train.y).training_log_
    for record in log:
        assert record["inference_seconds"] > 0
        assert record["growing_seconds"] > 0
    assert sum(r["inference_seconds"] + r["growing_seconds"] for r in log) < log[-1]["seconds"]


def test_subsets_do_not_overfit_words():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefghi"), 6)) for _ in range(1200)]

    def drawn(known):
        X = [[{"word": word, "ending": word[-1]} for word in rng.choice(words[:known], 8)] for _ in range(80)]
        return X, [["xyz"["abcdefghi".index(x["ending"]) % 3] for x in sequence] for sequence in X]

    model = hr.TreeCRF(n_rounds=20, category_splits="subset", label_statistics=False).fit(*drawn(600))
    assert model.score(*drawn(1200)) == 1
