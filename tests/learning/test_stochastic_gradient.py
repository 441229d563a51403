"""LinearCRF's stochastic gradient steps against expectations over all paths."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from builders.online import random_data
from builders.training import training_of
from hedgerow.errors import InputError
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.learning.stochastic_gradient import StochasticGradientLearner, StochasticRules
from oracles.linear import Problem, assert_same_weights, gradient_steps, mean

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("decay", [0.0, 0.25])
@pytest.mark.parametrize("observed_only", [True, False])
def test_the_steps_are_those_of_the_book(order, decay, observed_only):
    training = training_of(*random_data(order), order, weights=[1, 2, 0.5, 1, 1, 0.25, 1, 4])
    space = LinearSpace.of(training, 1, observed_only=observed_only)
    learner = StochasticGradientLearner(training, space, decay * 4, StochasticRules(epochs=1, tol=1e-5, random_state=0))
    trainer = learner.trainer(0.5)
    examples = np.array([3, 1, 7, 0, 2, 2, 5, 4, 6])
    known = {*zip(space.state.attributes.tolist(), space.state.outputs.tolist(), strict=True)}
    known |= {("gram", cell) for cell in space.n_grams.cells.tolist()}
    problem = Problem(training, window=1)
    vectors, losses = gradient_steps(problem, examples, 0.5, decay, known)
    weights = [float(problem.weights[i]) for i in examples]
    assert trainer.epoch(examples) == pytest.approx(float(np.dot(weights, losses)), rel=1e-4)
    counts = list(range(1, len(vectors) + 1))
    assert_same_weights(space.potential(trainer.mean()), mean(vectors, counts), 1e-4)


def test_a_decay_takes_no_more_than_half():
    training = training_of(*random_data(0), 1)
    space = LinearSpace.of(training, 0)
    examples = np.tile(np.arange(8), 5)
    learner = StochasticGradientLearner(training, space, 4e6, StochasticRules(epochs=1, tol=1e-5, random_state=0))
    trainer = learner.trainer(1.0)
    trainer.epoch(examples)
    rate, decay = 0.5 / 1e6, 1e6  # a step takes no more than half
    known = {*zip(space.state.attributes.tolist(), space.state.outputs.tolist(), strict=True)}
    known |= {("gram", cell) for cell in space.n_grams.cells.tolist()}
    vectors, _ = gradient_steps(Problem(training), examples, rate, decay, known)
    found, truth = space.potential(trainer.mean()), mean(vectors, list(range(1, len(vectors) + 1)))
    assert_same_weights(found, truth, 1e-5 * max(map(abs, truth.values())))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_it_comes_near_the_least_objective(order):
    X, y = random_data(0, n=40, letters="abcde")
    exact = hr.LinearCRF(order=order, window=1, l2=0.5).fit(X, y)
    near = hr.LinearCRF(order=order, window=1, l2=0.5, solver="sgd", random_state=0, epochs=200).fit(X, y)
    least, found = exact.training_log_[-1]["loss"], near.training_log_[-1]["loss"]
    assert least * 0.9999 <= found <= least * 1.01
    penalty = 0.5 * sum(w * w for w in [*near.state_features_.values(), *near.transition_features_.values()])
    assert found * len(X) == pytest.approx(penalty - near.log_likelihood(X, y).sum(), rel=1e-4)


def test_weights_of_sequences_count():
    X, y = random_data(1, n=12)
    weights = np.array([1.0, 3.0, 2.0] * 4)
    exact = hr.LinearCRF().fit(X, y, sample_weight=weights)
    near = hr.LinearCRF(solver="sgd", random_state=0, epochs=300).fit(X, y, sample_weight=weights)
    assert near.training_log_[-1]["loss"] == pytest.approx(exact.training_log_[-1]["loss"], rel=0.01)


def test_numbers_bring_a_bias():
    X = [[{"n": float(t * i)} for t in range(5)] for i in range(8)]
    y = [["a" if t * i > 6 else "b" for t in range(5)] for i in range(8)]
    model = hr.LinearCRF(solver="sgd", random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert any(model.intercept_.values())


def test_dev_scores_and_an_end_by_tolerance():
    X, y = random_data(0, n=30)
    model = hr.LinearCRF(solver="sgd", random_state=0, tol=1e-2).fit(X, y, X_dev=X, y_dev=y)
    assert 10 < len(model.training_log_) < 1000
    assert model.training_log_[-1]["dev_accuracy"] == model.score(X, y)
    assert -model.training_log_[-1]["dev_loss"] == pytest.approx(model.log_likelihood(X, y).mean(), rel=1e-5)


def test_seeds_and_the_order_of_sequences():
    X, y = random_data(0, n=30)
    one, two, mixed = (
        hr.LinearCRF(solver="sgd", random_state=3, epochs=3).fit(X[::step], y[::step]).predict_proba(X)
        for step in (1, 1, -1)
    )
    for a, b, c in zip(one, two, mixed, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, c, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"l1": 1.0}, r'solver="sgd" has no L1 penalty, but l1 is 1.0; use solver="auto"'),
        ({"edge_features": True}, r'solver="sgd" cannot learn edge_features; use solver="lbfgs"'),
        ({"beam": 1}, r'solver="sgd" learns without a beam, but beam is not None; use solver="lbfgs"'),
    ],
)
def test_what_it_does_not_do_is_said(change, rule):
    with pytest.raises(InputError, match=rule):
        hr.LinearCRF(solver="sgd", **change).fit(["ab"], [["x", "y"]])
