"""StructuredPerceptron against weights in a dict and paths written out."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import hedgerow as hr
from builders.online import learned, random_data
from builders.training import training_of
from hedgerow import _core
from hedgerow.data.read_y import read_labels
from hedgerow.errors import BeamWarning, InputError
from hedgerow.potentials.votes import VotedPotential
from oracles.linear import Problem, added, assert_same_weights, beamed, by_steps, dot, mean, perceptron

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("averaging", ["none", "average"])
def test_the_weights_are_those_of_the_book(order, seed, averaging):
    training = training_of(*random_data(seed), order, weights=[1, 2, 0.5, 1, 1, 0.25, 1, 4])
    learner, examples = learned(training, window=1, epochs=2, averaging=averaging)
    vectors = perceptron(Problem(training, window=1), examples)
    assert_same_weights(learner.potential, mean(vectors) if averaging == "average" else vectors[-1])


@pytest.mark.parametrize("order", [0, 1, 2])
def test_numbers_weights_of_bags_and_a_bias(order):
    X = [[{"n": float(t - i), "b": {"u": 2.0, "v": 0.5 * t}, "c": "xy"[t % 2]} for t in range(4)] for i in range(6)]
    y = [["ab"[(t + i) % 3 == 0] for t in range(4)] for i in range(6)]
    training = training_of(X, y, order)
    learner, examples = learned(training, averaging="average")
    problem = Problem(training, bias=True, scalings=learner.potential.scalings)
    assert_same_weights(learner.potential, mean(perceptron(problem, examples)), 1e-4)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("beam", [1, 2, 3])
@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_beams_and_early_updates(order, beam, early, seed):
    training = training_of(*random_data(seed, n_labels=4, letters="ab"), order, beam=beam)
    learner, examples = learned(training, early_update=early, epochs=2)
    problem = Problem(training)
    assert_same_weights(learner.potential, perceptron(problem, examples, find=beamed(problem, beam, early))[-1])


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(("n", "averaging"), [(40, "none"), (40, "average"), (220, "none")])
def test_many_labels(order, n, averaging):
    """Rows of weights are sparse at first; those of frequent attributes become dense. Best paths are pruned."""
    X, y = random_data(0, n=n, letters="abcdefghijklm", n_labels=n)
    training = training_of(X, y, order)
    assert len(training.labels) > (192 if n == 220 else 32)
    learner, examples = learned(training, window=1, epochs=2, averaging=averaging)
    problem = Problem(training, window=1)
    vectors = perceptron(problem, examples, by_steps(problem))
    truth = mean(vectors) if averaging == "average" else vectors[-1]
    assert_same_weights(learner.potential, truth)
    sizes = np.diff(learner.potential.state_features.starts)
    assert sizes.min() <= 2
    assert sizes.max() > 10  # a quarter of 40 labels: more make a row dense


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("averaging", ["none", "average"])
def test_batches_are_found_with_the_same_weights(order, averaging):
    training = training_of(*random_data(1), order, weights=[1, 2, 0.5, 1, 1, 0.25, 1, 4])
    for batch in (2, 3, 20):
        learner, examples = learned(training, window=1, epochs=2, averaging=averaging, batch=batch)
        vectors = perceptron(Problem(training, window=1), examples, batch=batch)
        assert_same_weights(learner.potential, mean(vectors) if averaging == "average" else vectors[-1])


@pytest.mark.parametrize(
    "estimator", [hr.StructuredPerceptron, hr.StructuredSVM, partial(hr.SearchTagger, update="early"), hr.SearchTagger]
)
def test_threads_change_nothing(estimator):
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abcdefgh"), size=rng.integers(1, 9))) for _ in range(3 * 1024)]
    y = [[c if rng.random() < 0.7 else "x" for c in x] for x in X]
    models = [estimator(epochs=2, random_state=0, n_jobs=n).fit(X, y) for n in (1, 2, 5)]
    weights = [model.model_.potential.state_weights.tolist() for model in models]
    assert weights[0] == weights[1] == weights[2]
    logs = [[record["loss"] for record in model.training_log_] for model in models]
    assert logs[0] == logs[1] == logs[2]


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_beam_of_everything_is_exact(order):
    training = training_of(*random_data(1), order)
    rows = hr.encoding.AttributeReader(training.sequences, hr.encoding.Window.of(0)).reader
    weights = []
    for beam in (0, 3 ** max(order, 1)):
        trainer = _core.MarginTrainer(
            rows, training.codes, training.weights, np.ones(rows.n_ids, bool), 3, order, np.zeros(0, np.int64),
            np.zeros(0, np.int32), bias=False, hamming=True, margin=0.0, growth=0.0, beam=beam, early=True,
            summed=False, recorded=False,
        )  # fmt: skip
        trainer.epoch(np.arange(8), 1, 1)
        by_attribute, n_grams = trainer.weights(False, 1.0, 1)
        weights.append([part.tolist() for part in (*by_attribute, n_grams)])
        with pytest.raises(ValueError, match="a mean needs sums"):
            trainer.weights(True, 1.0, 1)
    assert weights[0] == weights[1]


def test_a_wide_beam_is_said_once():
    X, y = random_data(0)
    with pytest.warns(
        BeamWarning, match="beam is 50, but 3 labels and order 1 have no more than 3 label contexts"
    ) as said:
        wide = hr.StructuredPerceptron(beam=50, random_state=0).fit(X, y)
    assert len(said) == 1
    assert wide.state_features_ == hr.StructuredPerceptron(random_state=0).fit(X, y).state_features_
    assert [p.tolist() for p in wide.predict(X)]  # without another word


@pytest.mark.slow
def test_separable_data_end_within_the_bound():
    X = ["".join(np.random.default_rng(i).choice(list("abcd"), size=4)) for i in range(30)]
    y = [[{"a": "v", "b": "w"}.get(c, "-") for c in x] for x in X]
    training = training_of(X, y, 1)
    problem = Problem(training)
    model = hr.StructuredPerceptron(averaging="none", epochs=1000, random_state=0).fit(X, y)
    mistakes = [record["mistakes"] for record in model.training_log_]
    assert mistakes[-1] == 0 < min(mistakes[:-1])
    assert model.score(X, y) == 1.0
    separator = perceptron(problem, [*range(30)] * 20)[-1]
    size = dot(separator, separator)
    radius, margin = 0, None
    for x, gold in zip(problem.inputs, problem.gold, strict=True):
        for z in problem.paths(x):
            if z != gold:
                difference = added(problem.features(x, gold), problem.features(x, z), -1)
                radius = max(radius, dot(difference, difference))
                least = dot(separator, difference)
                margin = least if margin is None else min(margin, least)
    assert margin > 0
    assert sum(mistakes) <= radius * size / margin**2


@pytest.mark.parametrize("averaging", ["average", "vote"])
def test_epochs_after_the_last_mistake_count_without_being_run(averaging):
    X, y = ["ab", "ba", "bb"], [["x", "y"], ["y", "x"], ["y", "y"]]
    training = training_of(X, y, 1)
    learner, examples = learned(training, averaging=averaging, epochs=30)
    assert len(examples) < 30 * len(X)
    vectors = perceptron(Problem(training), examples)
    vectors += vectors[-1:] * (30 * len(X) + 1 - len(vectors))
    if averaging == "average":
        assert_same_weights(learner.potential, mean(vectors))
    else:
        assert learner.potential.survived.sum() == len(vectors)
        assert learner.potential.survived[-1] == sum(w == vectors[-1] for w in vectors)


def test_what_cannot_be_separated_ends_all_the_same():
    model = hr.StructuredPerceptron(epochs=3, random_state=0).fit(["a", "a", "b"], [["x"], ["y"], ["y"]])
    assert [record["step"] for record in model.training_log_] == [1, 2, 3]
    assert model.training_log_[-1]["mistakes"] > 0


@pytest.mark.parametrize("order", [0, 1, 2])
def test_votes_are_counted_one_by_one(order):
    X, y = random_data(3)
    training = training_of(X, y, order)
    learner, examples = learned(training, averaging="vote", epochs=2)
    problem = Problem(training)
    vectors = perceptron(problem, examples)
    for n_threads in (1, 3):
        votes = learner.potential.votes(training.sequences, n_threads=n_threads)
        position = 0
        for x in problem.inputs:
            counted = np.zeros((len(x), 3))
            for w in vectors:
                for t, label in enumerate(problem.ranked(x, w)[0]):
                    counted[t, label] += 1
            np.testing.assert_array_equal(votes[position : position + len(x)], counted)
            position += len(x)


def test_a_voted_model_answers_with_shares_of_votes(tmp_path):
    X, y = random_data(3)
    model = hr.StructuredPerceptron(averaging="vote", random_state=0, window=1).fit(X, y, X_dev=X, y_dev=y)
    assert isinstance(model.model_.potential, VotedPotential)
    assert model.training_log_[-1]["dev_accuracy"] == model.score(X, y) > 0.5
    encoded = model.model_.encode(X)
    votes = model.model_.potential.votes(encoded)
    shares = votes / votes.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.concatenate(model.predict_proba(X)), shares, atol=1e-12)
    for decode in ("viterbi", "marginal"):
        predicted = np.concatenate(model.predict(X, decode=decode))
        np.testing.assert_array_equal(predicted, model.classes_[votes.argmax(axis=1)])
    gold = model.model_.labels.codes(read_labels(y, encoded), encoded)
    with np.errstate(divide="ignore"):
        log_shares = np.log(shares[np.arange(len(gold)), gold])
    np.testing.assert_allclose(model.log_likelihood(X, y), np.add.reduceat(log_shares, encoded.starts[:-1]))
    for ranked, best in zip(model.predict_nbest(X, n=2), model.predict(X), strict=True):
        assert ranked[0][1].tolist() == best.tolist()
    with pytest.raises(InputError, match="with averaging='vote' has no single set of weights"):
        model.state_features_  # noqa: B018
    model.save(tmp_path / "m")
    assert [p.tolist() for p in hr.load(tmp_path / "m").predict(X)] == [p.tolist() for p in model.predict(X)]
    model.set_params(n_jobs=3)
    assert [p.tolist() for p in hr.load(tmp_path / "m").predict(X)] == [p.tolist() for p in model.predict(X)]


@pytest.mark.parametrize("estimator", [hr.StructuredPerceptron, hr.StructuredSVM])
def test_probabilities_are_scaled_on_dev_data(estimator, tmp_path):
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abcd"), size=8)) for _ in range(60)]
    y = [[c if rng.random() < 0.8 else "d" for c in x] for x in X]
    model = estimator(random_state=0).fit(X[:30], y[:30], X_dev=X[30:], y_dev=y[30:])
    assert model.temperature_ == model.training_log_[-1]["temperature"] != 1
    best = model.log_likelihood(X[30:], y[30:]).mean()
    assert -model.training_log_[-1]["dev_loss"] == pytest.approx(best)
    plain = estimator(random_state=0).fit(X[:30], y[:30])
    assert plain.temperature_ == 1.0
    assert plain.state_features_ == model.state_features_
    assert [p.tolist() for p in plain.predict(X)] == [p.tolist() for p in model.predict(X)]
    assert best > plain.log_likelihood(X[30:], y[30:]).mean()
    model.save(tmp_path / "m")
    loaded = hr.load(tmp_path / "m")
    assert loaded.temperature_ == model.temperature_
    assert [p.tolist() for p in loaded.predict_proba(X)] == [p.tolist() for p in model.predict_proba(X)]


def test_rare_attributes_are_left_out():
    model = hr.StructuredPerceptron(min_freq=2, random_state=0).fit(["aab", "ca"], [["x", "x", "y"], ["y", "x"]])
    assert {name for name, _ in model.state_features_} <= {"symbol:a"}


def test_a_sequence_without_weight_is_not_there():
    X, y = random_data(2)
    weights = [1.0] * 7 + [0.0]
    given = {"random_state": 0, "averaging": "none", "epochs": 3}
    weighted = hr.StructuredPerceptron(**given).fit(X, y, sample_weight=weights)
    without = hr.StructuredPerceptron(**given).fit(X[:7], y[:7])
    assert weighted.transition_features_ == without.transition_features_


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"epochs": 0}, "epochs must be an integer of at least 1"),
        ({"beam": 0}, 'beam must be "kl", an integer of at least 1, a number between 0 and 1, or None'),
        ({"averaging": "median"}, "averaging must be one of 'average', 'vote', 'none'"),
        ({"min_freq": 0}, "min_freq must be an integer of at least 1"),
        ({"window": -1}, "window must be a number n"),
    ],
)
def test_bad_parameters(change, rule):
    with pytest.raises(InputError, match=rule):
        hr.StructuredPerceptron(**change).fit(["ab"], [["x", "y"]])


def test_a_beam_is_used_in_prediction_too():
    X = ["ab"] * 3
    model = hr.StructuredPerceptron(beam=1, random_state=0).fit(X, [["x", "y"]] * 3)
    proba = model.predict_proba(["ab"])[0]
    assert sorted(proba.ravel().tolist()) == [0, 0, 1, 1]  # one path alone is kept
