"""Early stopping, the same for every iterative estimator: the model of the best step, by any score, with a split."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.errors import InputError
from hedgerow.estimators.dev_spans import span_f1_function
from hedgerow.estimators.parameters import parameters
from hedgerow.estimators.registry import REGISTRY

pytestmark = pytest.mark.filterwarnings("ignore::hedgerow.errors.ConvergenceWarning")

RNG = np.random.default_rng(4)
TAGS = ["O", "B-x", "I-x", "B-y", "I-y"]


def noisy(n):
    X, Y = [], []
    for _ in range(n):
        x = RNG.choice(list("abcdef"), RNG.integers(3, 9)).tolist()
        y = [TAGS[(ord(c) - ord("a")) % 5] if RNG.random() < 0.7 else str(RNG.choice(TAGS)) for c in x]
        X.append(x)
        Y.append(y)
    return X, Y


X, Y = noisy(60)
X_DEV, Y_DEV = noisy(20)
STOPPING = {"early_stopping", "patience", "validation_fraction"}
MODELS = {
    "TreeCRF": hr.TreeCRF(n_rounds=40, learning_rate=0.5),
    "TreeCRF with a table": hr.TreeCRF(n_rounds=40, learning_rate=0.5, transitions="table"),
    "lbfgs": hr.LinearCRF(l2=1e-3, window=1),
    "owlqn": hr.LinearCRF(l1=1e-3, l2=1e-3, window=1),
    "sgd": hr.LinearCRF(solver="sgd", epochs=30, l2=1e-3, window=1),
    "induction": hr.LinearCRF(induce="mccallum", max_iter=40),
    "perceptron": hr.StructuredPerceptron(epochs=12, window=1),
    "voted": hr.StructuredPerceptron(epochs=6, averaging="vote"),
    "SVM": hr.StructuredSVM(epochs=12, window=1),
    "MEMM": hr.MEMM(n_rounds=40, learning_rate=0.5),
    "MEMM of weights": hr.MEMM(learner="linear", l2=1e-3, window=1),
    "SearchTagger": hr.SearchTagger(epochs=12, window=1),
}


def variant(name, **changes):
    return type(MODELS[name])(**MODELS[name].get_params(deep=False) | {"random_state": 0} | changes)


def test_accuracy_that_is_perfect_at_once_keeps_more_than_one_round():
    x = ["abcabc", "cbacba"] * 10
    model = hr.TreeCRF(n_rounds=50, early_stopping="accuracy", patience=8, random_state=0).fit(x, [list(s) for s in x])
    log = model.training_log_
    assert {record["dev_accuracy"] for record in log} == {1.0}
    assert len(log) == 9  # the eight rounds after the first do not label better
    assert len(model.model_.potential.trees) == 3 * 9  # but each is surer than the one before


def test_every_iterative_estimator_has_the_parameters():
    have = {name for name, cls in REGISTRY.items() if set(parameters(cls)) >= STOPPING}
    assert have == {type(model).__name__ for model in MODELS.values()} | {"FutureMEMM"}
    # An HMM has one step; otherwise early stopping is a parameter of the base.
    assert set(REGISTRY) - have == {"HMM", "OutputCode", "OpinionPool"}
    choices = {cls._parameters["early_stopping"].annotation for name, cls in REGISTRY.items() if name in have}
    assert len(choices) == 1


@pytest.mark.parametrize("by", ["loss", "accuracy", "span_f1"])
@pytest.mark.parametrize("name", MODELS)
def test_the_model_of_the_best_step_is_kept(name, by):
    model = variant(name, early_stopping=by, patience=3).fit(X, Y, X_DEV, Y_DEV)
    scores = [record[f"dev_{by}"] for record in model.training_log_]
    if name == "voted" and by == "loss":
        assert scores == [None] * len(scores)  # some gold label has no vote
        return
    better = [-score for score in scores] if by == "loss" else scores
    best = int(np.argmax(better))
    assert len(scores) - best <= 4
    if by == "accuracy":
        assert model.score(X_DEV, Y_DEV) == pytest.approx(scores[best], abs=1e-12)
    elif by == "span_f1":
        assert hr.metrics.span_f1(Y_DEV, model.predict(X_DEV)) == pytest.approx(scores[best], abs=1e-12)
    else:
        assert -model.log_likelihood(X_DEV, Y_DEV).mean() == pytest.approx(scores[best], rel=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_auto_and_a_split_of_the_training_data(name):
    model = variant(name, early_stopping="auto", patience=2, validation_fraction=0.25).fit(X, Y)
    assert "dev_span_f1" in model.training_log_[-1]
    again = variant(name, early_stopping="span_f1", patience=2, validation_fraction=0.25).fit(X, Y)
    assert [p.tolist() for p in again.predict(X)] == [p.tolist() for p in model.predict(X)]
    with pytest.raises(InputError, match="early_stopping needs dev data"):
        variant(name, early_stopping="auto").fit(X[:1], Y[:1])


@pytest.mark.parametrize("by", ["loss", "accuracy", "span_f1"])
@pytest.mark.parametrize("order", [0, 1])
def test_future_features_stop_by_any_score(by, order):
    """The top level stalls several times, once for each feature; the best of all steps is kept."""
    model = hr.FutureMEMM(order=order, bag=2, early_stopping=by, patience=2, random_state=0).fit(X, Y, X_DEV, Y_DEV)
    scores = [record[f"dev_{by}"] for record in model.training_log_]
    assert model.training_log_[-1]["what"] == "end"
    if by == "accuracy":
        assert model.score(X_DEV, Y_DEV) == pytest.approx(max(scores), abs=1e-12)
    elif by == "span_f1":
        assert hr.metrics.span_f1(Y_DEV, model.predict(X_DEV)) == pytest.approx(max(scores), abs=1e-12)
    else:
        found = -model.log_likelihood(X_DEV, Y_DEV).mean()
        assert found <= min(scores) + 1e-4 * np.mean([len(y) for y in Y_DEV]) + 1e-4


def test_future_features_are_chosen_by_the_score_that_auto_stands_for():
    shared = {"bag": 2, "patience": 2, "random_state": 0}
    auto = hr.FutureMEMM(early_stopping="auto", **shared).fit(X, Y)
    spans = hr.FutureMEMM(early_stopping="span_f1", **shared).fit(X, Y)
    assert any(record.get("trial") and "dev_span_f1" in record for record in auto.training_log_)
    for a, b in zip(auto.predict_proba(X), spans.predict_proba(X), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(InputError, match="needs labels that mark spans"):
        hr.FutureMEMM(early_stopping="span_f1").fit(X, [[tag[0] for tag in labels] for labels in Y])


def test_without_early_stopping_dev_data_do_not_change_future_features():
    shared = {"bag": 2, "early_stopping": None, "n_rounds": 20, "random_state": 0}
    alone = hr.FutureMEMM(**shared).fit(X, Y)
    watched = hr.FutureMEMM(**shared).fit(X, Y, X_DEV, Y_DEV)
    assert not any(record.get("trial") for record in alone.training_log_)
    assert watched.training_log_[-1]["dev_accuracy"] == watched.score(X_DEV, Y_DEV)
    assert len(watched.future_features_) > 0
    for a, b in zip(alone.predict_proba(X), watched.predict_proba(X), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("fraction", [0.01, 0.99])
def test_any_share_leaves_sequences_on_both_sides(fraction):
    hr.TreeCRF(n_rounds=1, early_stopping="accuracy", validation_fraction=fraction).fit(X[:2], Y[:2])
    hr.OutputCode(base=hr.HMM(), code="grow", validation_fraction=fraction, random_state=0).fit(X[:2], Y[:2])
    hr.FutureMEMM(validation_fraction=fraction, n_rounds=2, max_future=0).fit(X[:5], Y[:5])


def test_the_split_is_drawn_by_the_seed():
    seen = []
    y = [[f"L{i}"] * len(x) if i % 2 else ["-"] * len(x) for i, x in enumerate(X)]
    y += y  # no label may occur in the split alone
    twice = X + X
    model = hr.HMM()
    assert model._validation_fraction is None
    model = hr.TreeCRF(n_rounds=1, early_stopping="accuracy", validation_fraction=0.5, random_state=1)
    model.fit(twice, y, callbacks=[seen.append])
    assert len(model.classes_) == 31  # also those of the split, from which nothing is learned
    other = hr.TreeCRF(n_rounds=1, early_stopping="accuracy", validation_fraction=0.5, random_state=2).fit(twice, y)
    assert other.training_log_[-1]["dev_accuracy"] != seen[-1]["dev_accuracy"]


def test_auto_is_accuracy_without_spans():
    y = [[tag[0] for tag in labels] for labels in Y]
    model = hr.TreeCRF(n_rounds=5, early_stopping="auto", random_state=0).fit(X, y)
    assert "dev_span_f1" not in model.training_log_[-1]
    with pytest.raises(InputError, match="needs labels that mark spans"):
        hr.TreeCRF(early_stopping="span_f1").fit(X, y)


def test_output_codes_stop_the_learning_of_their_bits():
    base = hr.TreeCRF(n_rounds=30, learning_rate=0.5, early_stopping="accuracy", patience=2)
    stopped = hr.OutputCode(base=base, random_state=0).fit(X, Y)
    whole = hr.OutputCode(base=hr.TreeCRF(n_rounds=30, learning_rate=0.5), random_state=0).fit(X, Y)
    n_trees = [sum(a.size for a in m.model_.potential.to_arrays()[1].values()) for m in (stopped, whole)]
    assert n_trees[0] < n_trees[1]


@pytest.mark.parametrize("seed", range(20))
def test_span_f1_of_codes_is_that_of_the_metrics(seed):
    rng = np.random.default_rng(seed)
    classes = np.array(["B-x", "B-y", "I-x", "I-y", "O"])
    lengths = rng.integers(1, 8, size=20)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    gold = rng.choice([*classes, "I-z"], starts[-1])
    function = span_f1_function(classes.tolist(), gold.tolist(), starts)
    for _ in range(3):
        codes = rng.integers(0, len(classes), starts[-1]).astype(np.int32)
        expected = hr.metrics.span_f1(np.split(gold, starts[1:-1]), np.split(classes[codes], starts[1:-1]))
        assert function(codes) == pytest.approx(expected, abs=1e-12)


def test_labels_that_mark_no_spans_have_no_span_f1():
    starts = np.array([0, 2])
    for classes in (["a", "b"], [0, 1], ["O", "I"], ["O", "B-x", "OTHER"]):
        assert span_f1_function(classes, classes[:2], starts) is None
