"""Passive-aggressive and AROW steps against the enumeration of all paths."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from builders.training import training_of
from hedgerow.compat import read_items
from hedgerow.errors import InputError
from hedgerow.learning.epochs import epoch_orders
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.learning.path_steps import PathStepLearner, PathStepRules, StepRules
from oracles.linear import Problem, assert_same_weights, mean
from oracles.path_steps import arow, passive_aggressive

pytestmark = pytest.mark.kernel
SAMPLE_WEIGHTS = [1, 2, 0.5, 1, 1, 0.25, 1, 4]


def data(seed, n=8):
    """Attributes with random values, so that only weights of 0 make ties; some labels are not the largest value's."""
    rng = np.random.default_rng(seed)
    X = [
        [dict(zip("abcd", rng.normal(size=4).tolist(), strict=True)) for _ in range(rng.integers(1, 4))]
        for _ in range(n)
    ]
    y = [["abc".index(max("abc", key=item.get)) if rng.random() < 0.8 else rng.integers(3) for item in x] for x in X]
    return X, [[str(label) for label in labels] for labels in y]


def training(seed=0, weights=None, n=8):
    X, y = data(seed, n)
    return training_of(read_items(X), y, weights=weights)


def space_of(train, observed_only=True):
    return LinearSpace.of(train, 0, observed_only=observed_only, all_transitions=not observed_only, scale=False)


def names_of(space):
    known = {*zip(space.state.attributes.tolist(), space.state.outputs.tolist(), strict=True)}
    return known | {("gram", cell) for cell in space.n_grams.cells.tolist()}


def learner_of(train, steps, observed_only=True, **rules):
    given = {"epochs": 3, "averaging": False, "random_state": 5} | rules
    return PathStepLearner(train, space_of(train, observed_only), PathStepRules(steps=steps, **given))


def assert_same_steps(learner, naive):
    """The steps of two shuffled epochs, with the current weights or their mean."""
    trainer = learner.trainer()
    order = np.concatenate(list(islice(epoch_orders(learner.training, 5), 2)))
    problem = Problem(learner.training)
    vectors, costs = naive(problem, order, names_of(learner.space))
    mistakes, cost = trainer.epoch(order)
    assert 0 < mistakes == np.count_nonzero(costs) < len(order)
    assert cost == pytest.approx(sum(float(problem.weights[i]) * c for i, c in zip(order, costs, strict=True)))
    w = mean(vectors) if learner.rules.averaging else vectors[-1]
    assert_same_weights(learner.space.potential(trainer.weights()), w, 1e-5)


@pytest.mark.parametrize("kind", [0, 1, 2])
@pytest.mark.parametrize("error_sensitive", [True, False])
@pytest.mark.parametrize("averaging", [True, False])
@pytest.mark.parametrize("observed_only", [True, False])
def test_passive_aggressive_steps_are_those_of_the_book(kind, error_sensitive, averaging, observed_only):
    c = 0.1
    steps = StepRules.passive_aggressive(kind, c, error_sensitive=error_sensitive)
    for seed in range(2):
        learner = learner_of(training(seed, SAMPLE_WEIGHTS), steps, observed_only, averaging=averaging)
        assert_same_steps(learner, lambda *of: passive_aggressive(*of, kind, c, error_sensitive))


@pytest.mark.parametrize("variance", [1.0, 0.2])
@pytest.mark.parametrize("gamma", [1.0, 0.1, 5.0])
@pytest.mark.parametrize("observed_only", [True, False])
def test_arow_steps_are_those_of_the_book(variance, gamma, observed_only):
    for seed in range(2):
        learner = learner_of(training(seed, SAMPLE_WEIGHTS), StepRules.arow(variance, gamma), observed_only)
        assert_same_steps(learner, lambda *of: arow(*of, variance, gamma))


PA_I = StepRules.passive_aggressive(1, 1.0, error_sensitive=True)


def separable(n=40):
    rng = np.random.default_rng(0)
    X = [[{"word": f"w{rng.integers(9)}"} for _ in range(4)] for _ in range(n)]
    return X, [["odd" if int(item["word"][1:]) % 2 else "even" for item in x] for x in X]


@pytest.mark.parametrize("averaging", [True, False])
def test_epochs_without_a_mistake_are_skipped_but_counted(averaging):
    X, y = separable()
    train = training_of(read_items(X), y)
    learner = learner_of(train, PA_I, epochs=30, averaging=averaging)
    records = list(learner)
    assert len(records) < 30
    assert records[-1]["mistakes"] == records[-1]["loss"] == 0
    patient = learner.trainer()
    for order in islice(epoch_orders(train, 5), 30):
        patient.epoch(order)
    np.testing.assert_allclose(learner._trainer.weights(), patient.weights(), rtol=1e-12)


def test_training_ends_below_the_tolerance_at_once():
    X, y = separable()
    train = training_of(read_items(X), y)
    losses = [record["loss"] for record in learner_of(train, PA_I, epochs=30, averaging=True)]
    learner = learner_of(train, PA_I, epochs=30, averaging=True, tol=losses[0] + 1e-9)
    assert [record["loss"] for record in learner] == losses[:1]
    first = learner.trainer()
    first.epoch(next(epoch_orders(train, 5)))
    np.testing.assert_array_equal(learner._trainer.weights(), first.weights())


def test_records_have_dev_scores():
    X, y = separable()
    train = training_of(read_items(X), y, dev=(read_items(X), y))
    assert [*learner_of(train, PA_I, epochs=5)][-1]["dev_accuracy"] == 1.0


def test_repeated_runs_and_other_orders_of_sequences_give_one_model():
    X, y = data(3, n=30)
    weights = []
    for step in (1, 1, -1):
        learner = learner_of(training_of(read_items(X[::step]), y[::step]), StepRules.arow(1.0, 1.0))
        list(learner)
        weights.append(learner._trainer.weights())
    np.testing.assert_array_equal(weights[0], weights[1])
    np.testing.assert_array_equal(weights[0], weights[2])


def test_a_mistake_without_features_changes_nothing():
    train = training_of(read_items([[["a"]], [["a"]]]), [["x"], ["y"]])
    space = space_of(train)
    bare = LinearSpace.bare(train, 0, scale=False)
    steps = StepRules.passive_aggressive(0, 1.0, error_sensitive=False)
    learner = PathStepLearner(train, bare, PathStepRules(steps=steps, epochs=2, averaging=True, random_state=0))
    assert [record["mistakes"] for record in learner] == [1, 1]
    assert len(learner.potential.state_weights) == 0 < len(space.state)


def test_weights_too_large_are_refused():
    train = training_of(read_items([[{"a": 1e-39}], [{"a": -1e-39}]]), [["x"], ["y"]])
    with pytest.raises(InputError, match="the weights are too large"):
        list(learner_of(train, StepRules.passive_aggressive(0, 1.0, error_sensitive=False), observed_only=False))
