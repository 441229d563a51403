"""MEMM against a naive version that enumerates all label sequences, and the invariants of its learners."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import hedgerow as hr
from builders.trees import tree as tree_of
from hedgerow.errors import BeamWarning, InputError
from hedgerow.inference.lattice import Lattice
from hedgerow.learning.early_stopping import PATIENCE
from hedgerow.potentials.local import unnormalised
from oracles import crf as oracles_crf
from oracles import lattice as oracles
from oracles import memm as oracles_memm
from oracles import trees as oracles_trees

WORDS = ["abc", "cab", "bca", "aab", "ccb", "bab", "acb", "cc", "a", "abcabc"]
LABELS = [["V" if c == "a" or (t and w[t - 1] == "b") else "C" for t, c in enumerate(w)] for w in WORDS]
THREE = [["V" if c == "a" else "NC"[t % 2] for t, c in enumerate(w)] for w in WORDS]


def noisy(n, seed, k=3):
    """Letters that tell something of their label; labels tend to follow each other in a circle."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for length in rng.integers(1, 9, size=n):
        labels = [int(rng.integers(k))]
        for _ in range(length - 1):
            labels.append((labels[-1] + 1) % k if rng.random() < 0.7 else int(rng.integers(k)))
        y.append([f"L{label}" for label in labels])
        X.append(["abcde"[label] if rng.random() < 0.6 else str(rng.choice(list("abcde"))) for label in labels])
    return X, y


TRAIN, HELD = noisy(60, 1), noisy(25, 2)


def shape_of(tree):
    """The tree without gains; values as far as they do not depend on the last bits of a softmax."""
    if "test" not in tree:
        return round(tree["value"], 4)
    return tree["test"], shape_of(tree["true"]), shape_of(tree["false"])


@pytest.mark.parametrize("newton", [False, True])
@pytest.mark.parametrize("labels", [LABELS, THREE], ids=["two", "three"])
@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_trees_equal_the_naive_twin(order, labels, newton):
    rate = 0.5 if newton else 1.0
    model = hr.MEMM(
        order=order, window=1, n_rounds=4, max_leaves=5, l2=0.5, newton=newton, learning_rate=rate, n_jobs=1
    ).fit(WORDS, labels)
    fitted = model.model_
    sequences, k = fitted.encode(WORDS), len(model.classes_)
    gold = fitted.labels.codes(labels, sequences)
    rules = oracles_trees.Rules(0.5, newton)
    forest, scores = oracles_memm.boosted(sequences, gold, order, k, 1, 4, 5, rules, rate)
    trees = fitted.potential.inner.trees
    for at, grown in enumerate(forest):
        for label, expected in enumerate(grown):
            scaled = _scaled(expected, rate)
            assert shape_of(tree_of(trees, at * k + label)) == shape_of(scaled), (at, label)
    raw = fitted.potential.inner.scores(sequences).edge
    for (t, context), row in scores.items():
        np.testing.assert_allclose(raw[t, oracles.number(context, k)], row, atol=1e-4)


def _scaled(tree, rate):
    if "test" not in tree:
        return {"value": rate * tree["value"]}
    return {"test": tree["test"], "true": _scaled(tree["true"], rate), "false": _scaled(tree["false"], rate)}


def scores_by_place(model, sequences, order):
    """{(position, context): scores} of the potential before it is normalised."""
    potential, k = unnormalised(model.model_.potential), len(model.classes_)
    state, edge, table, _ = potential.scores(sequences)
    found = {}
    for begin, end in pairwise(sequences.starts.tolist()):
        for t in range(begin, end):
            for row, context in enumerate(model.model_.topology.contexts()):
                if len(context) != min(t - begin, order):
                    continue
                at = edge[t, oracles.number(context, k)] if edge is not None else state[t] + table[row]
                found[t, context] = at.astype(np.float64)
    return found


@pytest.mark.parametrize("learner", ["trees", "linear"])
@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_answers_equal_those_of_all_label_sequences(order, learner):
    model = hr.MEMM(order=order, learner=learner, window=1, n_rounds=10, l2=0.1).fit(*TRAIN)
    X = ["abca", "b", "eedc", "xa"]
    sequences, k = model.model_.encode(X), len(model.classes_)
    scores = scores_by_place(model, sequences, order)
    lattice = model.model_.answers(sequences)
    np.testing.assert_allclose(lattice.marginals()[0], 0, atol=1e-5)
    assert not lattice.log_partition().any()
    proba, ranked = model.predict_proba(X), model.predict_nbest(X, n=3)
    predicted, by_position = (model.predict(X, decode=decode) for decode in ("viterbi", "marginal"))
    for i, (begin, end) in enumerate(pairwise(sequences.starts.tolist())):
        truth = oracles.answers(oracles_memm.paths(scores, begin, end, order, k), end - begin, order, k)
        assert truth["log_z"] == pytest.approx(0, abs=1e-9)
        np.testing.assert_allclose(proba[i], truth["state"], atol=1e-5)
        best = truth["ranked"][0]
        assert model.log_likelihood(X[i : i + 1], [predicted[i]])[0] == pytest.approx(best[1], abs=1e-5)
        assert by_position[i].tolist() == model.classes_[truth["state"].argmax(axis=1)].tolist()
        for (found, _), (_, expected) in zip(ranked[i], truth["ranked"], strict=False):
            assert found == pytest.approx(expected, abs=1e-5)


def test_marginals_do_not_look_ahead():
    model = hr.MEMM(order=2, n_rounds=10).fit(*TRAIN)
    one, other = model.predict_proba(["abcde", "abccc"])
    np.testing.assert_allclose(one[:3], other[:3], atol=1e-6)
    assert np.abs(one[3:] - other[3:]).max() > 0.01


def test_the_worked_example_of_a_model_that_must_look_ahead():
    """Forward alone says l2, backward alone l3, both together l1 (dissertation, section 5.1)."""
    emission = np.array([[0.45, 0.1, 0.45], [0.8, 0.1, 0.1], [0.1, 0.1, 0.8]])
    transition = np.full((3, 3), 0.05) + 0.85 * np.eye(3)
    X, y, chances = [], [], []
    for labels in product(range(3), repeat=3):
        for shown in product(range(3), repeat=3):
            X.append([f"e{e + 1}" for e in shown])
            y.append([f"l{label + 1}" for label in labels])
            steps = [transition[pair] for pair in pairwise(labels)]
            chances.append(np.prod([*steps, *(emission[pair] for pair in zip(labels, shown, strict=True))]))
    asked = [["e1", "e2", "e3"]]

    def second(model, *, backwards=False):
        """P(label of the second position), learned from all that can happen, as often as it does."""
        turn = slice(None, None, -1 if backwards else 1)
        model.fit([x[turn] for x in X], [labels[turn] for labels in y], sample_weight=chances)
        return model.predict_proba([asked[0][turn]])[0][1]

    make = {"n_rounds": 60, "learning_rate": 0.5, "l2": 0.0, "max_leaves": 20, "n_jobs": 1}
    alpha, beta = np.array([0.045, 0.07475, 0.01525]), np.array([0.45, 0.1525, 0.7475])
    np.testing.assert_allclose(second(hr.MEMM(**make)), alpha / alpha.sum(), atol=1e-3)
    np.testing.assert_allclose(second(hr.MEMM(**make), backwards=True), beta / beta.sum(), atol=1e-3)
    both = second(hr.TreeCRF(**make))
    np.testing.assert_allclose(both, alpha * beta / (alpha @ beta), atol=1e-2)
    assert [int(p.argmax()) for p in (alpha, beta, both)] == [1, 2, 0]


def test_order_0_is_the_sliding_window():
    window = {"order": 0, "window": 1, "n_rounds": 15}
    memm, crf = hr.MEMM(**window).fit(*TRAIN), hr.TreeCRF(max_leaves=50, **window).fit(*TRAIN)
    for a, b in zip(memm.predict_proba(HELD[0]), crf.predict_proba(HELD[0]), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    memm, crf = hr.MEMM(order=0, learner="linear").fit(*TRAIN), hr.LinearCRF(order=0, solver="lbfgs").fit(*TRAIN)
    for a, b in zip(memm.predict_proba(HELD[0]), crf.predict_proba(HELD[0]), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


# The linear learner.


def naive_objective(weights, X, y, classes, order, l2):
    """Minus the log-likelihood on gold contexts plus the penalty; weights by names as oracles_crf has them."""
    total = l2 * sum(weight**2 for weight in weights.values())
    for x, labels in zip(X, y, strict=True):
        for t, gold in enumerate(labels):
            scores = {}
            for label in classes:
                named = oracles_crf.features(x, [*labels[:t], label], t, 0, order, edges=False, bias=True)
                scores[label] = sum(weights.get(name, 0.0) * value for name, value in named)
            total -= scores[gold] - oracles.log_sum(scores.values())
    return total


@pytest.mark.parametrize("order", [0, 1, 2])
def test_weights_are_at_the_top_of_the_naive_likelihood(order):
    X = [[{"w": w, "n": float(i % 3)} for i, w in enumerate(x)] for x in TRAIN[0][:25]]
    y = TRAIN[1][:25]
    model = hr.MEMM(learner="linear", order=order, l2=0.3).fit(X, y)
    classes = model.classes_.tolist()
    scaling = model.model_.potential.inner.scalings["n"]
    scaled = [[{"w": p["w"], "n": (p["n"] - scaling.mean) / scaling.deviation} for p in x] for x in X]
    weights = {("gram", (), label): 0.0 for label in classes}
    for (name, label), weight in model.state_features_.items():
        column, _, value = name.partition(":")
        feature = (column, 0, value) if column == "w" else ("n", 0, None)
        weights["state", feature, label] = weight * (1 if column == "w" else scaling.deviation)
    for gram, weight in model.transition_features_.items():
        weights["gram", gram[:-1], gram[-1]] = weight
    for label, weight in model.intercept_.items():
        weights["gram", (), label] = weight + scaling.mean * weights["state", ("n", 0, None), label] / scaling.deviation
    value = naive_objective(weights, scaled, y, classes, order, 0.3)
    assert value == pytest.approx(model.training_log_[-1]["loss"] * len(X), rel=1e-4)
    grams = {len(name[1]) for name in weights if name[0] == "gram"}
    assert grams == set(range(order + 1))
    for name in [*list(weights)[:4], *list(weights)[-6:]]:
        near = [weights | {name: weights[name] + h} for h in (1e-4, -1e-4)]
        both = [naive_objective(moved, scaled, y, classes, order, 0.3) for moved in near]
        assert (both[0] - both[1]) / 2e-4 == pytest.approx(0, abs=0.05)
        assert min(both) > value - 1e-5


def test_weights_of_a_sequence_count_as_copies():
    X, y = TRAIN[0][:20], TRAIN[1][:20]
    weights = np.array([1, 2, 3, 1] * 5)
    copies = [i for i, weight in enumerate(weights) for _ in range(weight)]
    for make in (hr.MEMM(learner="linear"), hr.MEMM(n_rounds=5, newton=False, l2=0.0, max_leaves=4)):
        weighted = type(make)(**make.get_params()).fit(X, y, sample_weight=weights).predict_proba(HELD[0])
        copied = type(make)(**make.get_params()).fit([X[i] for i in copies], [y[i] for i in copies])
        for a, b in zip(weighted, copied.predict_proba(HELD[0]), strict=True):
            np.testing.assert_allclose(a, b, atol=2e-3)


# Held-out data.


@pytest.mark.parametrize("decode", ["viterbi", "marginal"])
@pytest.mark.parametrize("learner", ["trees", "linear"])
def test_dev_scores_are_those_of_decoding(learner, decode, monkeypatch):
    monkeypatch.setattr("hedgerow.inference.blocks.MAX_BLOCK_SCORES", 100)  # several blocks
    make = {"order": 2, "learner": learner, "decode": decode, "n_rounds": 12}
    model = hr.MEMM(**make).fit(*TRAIN, X_dev=HELD[0], y_dev=HELD[1])
    record = model.training_log_[-1]
    assert record["dev_accuracy"] == pytest.approx(model.score(*HELD))
    assert -record["dev_loss"] == pytest.approx(model.log_likelihood(*HELD).mean(), abs=1e-4)
    gold = model.model_.labels.codes(HELD[1], model.model_.encode(HELD[0]))
    scores = Lattice(model.model_.topology, model.model_.encode(HELD[0]).starts,
                     edge=model.model_.potential.scores(model.model_.encode(HELD[0])).edge).score(gold)  # fmt: skip
    assert -record["dev_loss"] == pytest.approx(scores.mean(), abs=1e-4)  # of gold contexts


@pytest.mark.parametrize("by", ["accuracy", "loss"])
@pytest.mark.parametrize("learner", ["trees", "linear"])
def test_early_stopping_keeps_the_best_round(learner, by):
    key = f"dev_{by}"
    make = {"learner": learner, "early_stopping": by, "l2": 1e-4, "learning_rate": 1.0, "n_rounds": 60}
    model = hr.MEMM(**make).fit(*TRAIN, X_dev=HELD[0], y_dev=HELD[1])
    scores = [record[key] * (-1 if by == "loss" else 1) for record in model.training_log_]
    best = int(np.argmax(scores))
    assert best < len(scores) - 1
    assert learner == "linear" or len(scores) == best + 1 + PATIENCE
    found = model.score(*HELD) if by == "accuracy" else model.log_likelihood(*HELD).mean()
    assert found == pytest.approx(scores[best], abs=1e-5)


@pytest.mark.parametrize("learner", ["trees", "linear"])
def test_early_stopping_needs_held_out_labels(learner):
    with pytest.raises(InputError, match="early_stopping needs dev data"):
        hr.MEMM(learner=learner, early_stopping="accuracy").fit(TRAIN[0][:1], TRAIN[1][:1])


def test_dev_data_that_need_too_much_memory_are_refused():
    X, y = [[str(i) for i in range(300)]], [list(range(300))]
    dev = [["0"] * 40_000], [[0] * 40_000]
    with pytest.raises(InputError, match=r"GiB for these data, but .*; lower the order, or give less dev data"):
        hr.MEMM(order=2).fit(X, y, X_dev=dev[0], y_dev=dev[1])


# Beams.


def test_a_beam_of_one_is_greedy():
    model = hr.MEMM(order=2, n_rounds=10, beam=1).fit(*TRAIN)
    for x in HELD[0][:10]:
        edge = model.model_.potential.scores(model.model_.encode([x])).edge
        labels = []
        for t in range(len(x)):
            row = edge[t, oracles.number(oracles.label_context(labels, t, 2), 3)]
            labels.append(int(row.argmax()))
        assert model.predict_single(x).tolist() == model.classes_[labels].tolist()


def test_a_beam_changes_no_probability_of_a_labelling():
    exact, beam = (hr.MEMM(order=2, n_rounds=10, beam=b).fit(*TRAIN, X_dev=HELD[0], y_dev=HELD[1]) for b in (None, 1))
    np.testing.assert_allclose(beam.log_likelihood(*HELD), exact.log_likelihood(*HELD), atol=1e-6)
    records = zip(beam.training_log_, exact.training_log_, strict=True)
    assert all(a["dev_loss"] == pytest.approx(b["dev_loss"]) for a, b in records)
    for x, ((log_probability, labels), *_) in zip(HELD[0], beam.predict_nbest(HELD[0], n=1), strict=True):
        assert log_probability == pytest.approx(exact.log_likelihood([x], [labels])[0], abs=1e-6)


def test_constraints_take_probability_away():
    model = hr.MEMM(n_rounds=5).fit(*TRAIN).model_
    sequences = model.encode(["ab"])
    allowed = np.array([[True, False, False], [True, True, True]])
    lattice = Lattice(
        model.topology, sequences.starts, **model.potential.scores(sequences)._asdict(), allowed=allowed
    )  # fmt: skip
    first = model.answers(sequences).marginals()[1][0, 0]
    assert lattice.log_partition()[0] == pytest.approx(math.log(first), abs=1e-6)


def test_a_wide_beam_is_exact_and_said():
    exact = hr.MEMM(order=2, n_rounds=5).fit(*TRAIN)
    with pytest.warns(BeamWarning):
        wide = hr.MEMM(order=2, n_rounds=5, beam=100).fit(*TRAIN)
    for a, b in zip(exact.predict_proba(HELD[0]), wide.predict_proba(HELD[0]), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(
        InputError, match='beam must be "kl", an integer of at least 1, a number between 0 and 1, or None; it is 0'
    ):
        hr.MEMM(beam=0).fit(*TRAIN)


# All kinds of input, and missing values.


@pytest.mark.parametrize("learner", ["trees", "linear"])
def test_every_form_of_input(learner):
    X, y = [list(x) for x in TRAIN[0]], TRAIN[1]
    one_hot = [np.array([[c == v for v in "abcde"] for c in x], dtype=float) for x in X]
    forms = {
        "dicts": [[{"w": c, "n": i, "b": [c, "x"]} for i, c in enumerate(x)] for x in X],
        "bags": [[[c, "x"] for c in x] for x in X],
        "arrays": one_hot,
        "frames": [pd.DataFrame({"w": x}) for x in X],
        "sparse": [scipy.sparse.csr_matrix(x) for x in one_hot],
    }
    expected = hr.MEMM(learner=learner, n_rounds=20).fit(X, y).score(X, y)
    for name, given in forms.items():
        assert hr.MEMM(learner=learner, n_rounds=20).fit(given, y).score(given, y) > expected - 0.03, name


def test_a_column_may_be_called_as_a_history():
    X = [[{"y[-1]": c, "y[-2]": float(i)} for i, c in enumerate(x)] for x in TRAIN[0]]
    other = [[{"v": c, "w": float(i)} for i, c in enumerate(x)] for x in TRAIN[0]]
    for learner in ("trees", "linear"):
        make = {"order": 2, "learner": learner, "n_rounds": 5}
        a, b = (hr.MEMM(**make).fit(data, TRAIN[1]).predict_proba(data) for data in (X, other))
        for one, two in zip(a, b, strict=True):
            np.testing.assert_array_equal(one, two)


def with_holes(X):
    return [[{"w": None if (i + t) % 4 == 0 else c} for t, c in enumerate(x)] for i, x in enumerate(X)]


@pytest.mark.parametrize(
    ("learner", "missing", "said"),
    [
        ("trees", "auto", "weighting"),
        ("trees", "weighting", "weighting"),
        ("trees", "learned", "learned"),
        ("trees", "impute", "impute"),
        ("trees", "indicator", "indicator"),
        ("linear", "auto", "indicator"),
        ("linear", "impute", "impute"),
        ("linear", "indicator", "indicator"),
    ],
)
def test_missing_values(learner, missing, said, tmp_path):
    X, new = with_holes(TRAIN[0]), with_holes(HELD[0])
    model = hr.MEMM(learner=learner, missing=missing, n_rounds=10).fit(X, TRAIN[1])
    assert model.training_log_[0]["missing"]["method"] == said
    model.save(tmp_path / "m.hedgerow")
    again = hr.load(tmp_path / "m.hedgerow").predict_proba(new)
    for a, b in zip(model.predict_proba(new), again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert model.score(new, HELD[1]) > 0.5


def test_weighting_equals_that_of_a_crf_of_order_0():
    X, new = with_holes(TRAIN[0]), with_holes(HELD[0])
    memm, crf = (make(order=0, window=1, n_rounds=5).fit(X, TRAIN[1]) for make in (hr.MEMM, hr.TreeCRF))
    for a, b in zip(memm.predict_proba(new), crf.predict_proba(new), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"missing": "weighting"}, r'missing="weighting" is for trees, but learner is "linear"; use "impute"'),
        ({"missing": "learned"}, r'missing="learned" is for trees'),
        ({"warm_start": True}, "warm_start is for trees"),
        ({"checkpoint": "c.hedgerow"}, "checkpoint is for trees"),
    ],
)
def test_what_weights_cannot_do_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        hr.MEMM(learner="linear", **change).fit(*TRAIN)


# Going on.


def test_a_warm_start_gives_the_model_of_one_fit():
    whole = hr.MEMM(order=2, n_rounds=12).fit(*TRAIN, X_dev=HELD[0], y_dev=HELD[1])
    parts = hr.MEMM(order=2, n_rounds=5, warm_start=True).fit(*TRAIN, X_dev=HELD[0], y_dev=HELD[1])
    parts.set_params(n_rounds=12).fit(*TRAIN, X_dev=HELD[0], y_dev=HELD[1])
    drop = ("seconds", "inference_seconds", "growing_seconds", "transitions")
    strip = [{k: v for k, v in record.items() if k not in drop} for record in whole.training_log_]
    assert [{k: v for k, v in record.items() if k not in drop} for record in parts.training_log_] == strip
    for a, b in zip(whole.predict_proba(HELD[0]), parts.predict_proba(HELD[0]), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(InputError, match=r"order must not change .* it was 2 and is 1 now"):
        parts.set_params(order=1).fit(*TRAIN)


def test_a_checkpoint_gives_the_model_of_one_fit(tmp_path):
    path = str(tmp_path / "c.hedgerow")

    def stop(record):
        if record["step"] == 7:
            raise KeyboardInterrupt

    make = {"n_rounds": 15, "subsample": 0.7, "random_state": 3}
    model = hr.MEMM(checkpoint=path, **make)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*TRAIN, callbacks=[stop])
    assert len(model.training_log_) == 7
    assert len(model.predict(HELD[0])) == len(HELD[0])
    again = hr.MEMM(checkpoint=path, **make).fit(*TRAIN)
    whole = hr.MEMM(**make).fit(*TRAIN)
    for a, b in zip(whole.predict_proba(HELD[0]), again.predict_proba(HELD[0]), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("learner", ["trees", "linear"])
def test_an_interrupted_fit_keeps_its_rounds(learner):
    def stop(record):
        if record["step"] == 3:
            raise KeyboardInterrupt

    model = hr.MEMM(learner=learner)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*TRAIN, callbacks=[stop])
    assert len(model.training_log_) == 3
    assert model.score(*TRAIN) > 0.5


# What it tells, and where it serves.


def test_trees_and_weights_can_be_looked_at():
    model = hr.MEMM(order=2, n_rounds=5).fit(*TRAIN)
    tests = {(test.column, test.offset) for test in model.feature_importances_}
    assert ("previous label", -1) in tests
    assert "previous label[-1] is L" in "".join(model.tree(at, "L0") for at in range(1, 6))
    with pytest.raises(InputError, match="MEMM with learner='trees' has no weights; fit a LinearCRF"):
        model.state_features_  # noqa: B018
    linear = hr.MEMM(order=1, learner="linear").fit(*TRAIN)
    weights = linear.transition_features_
    assert weights["L0", "L1"] > weights["L0", "L0"]
    assert linear.state_features_["symbol:a", "L0"] > 0
    with pytest.raises(InputError, match="MEMM with learner='linear' has no trees; fit a TreeCRF"):
        linear.feature_importances_  # noqa: B018


@pytest.mark.parametrize("learner", ["trees", "linear"])
def test_bits_of_a_code_may_be_memms(learner, tmp_path):
    code = hr.OutputCode(base=hr.MEMM(learner=learner, n_rounds=5), random_state=0).fit(*TRAIN)
    code.save(tmp_path / "m.hedgerow")
    again = hr.load(tmp_path / "m.hedgerow")
    assert [a.tolist() for a in code.predict(HELD[0])] == [a.tolist() for a in again.predict(HELD[0])]


def test_huge_scores_do_not_overflow():
    X, y = [np.array([[1e4], [-1e4], [1e4]])] * 3, [["a", "b", "a"]] * 3
    model = hr.MEMM(learner="linear", l2=1e-8, max_iter=200).fit(X, y)
    p = model.predict_proba([np.array([[1e30], [-1e30]])])[0]
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
    assert math.isfinite(model.log_likelihood(X, y).sum())
