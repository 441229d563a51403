"""Dual coordinate ascent against its definition over all paths, and LinearCRF against scipy's minimum."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest

import hedgerow as hr
from builders.online import random_data
from builders.training import training_of
from hedgerow import _core
from hedgerow.errors import ConvergenceWarning
from hedgerow.learning import dual_ascent
from hedgerow.learning.dual_ascent import DualAscentLearner, _ending
from hedgerow.learning.likelihood import Likelihood
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.learning.quasi_newton import Penalty, QuasiNewtonRules
from oracles.dual import Paths, dual_weights, least_loss
from oracles.linear import Problem

pytestmark = pytest.mark.kernel

WEIGHTS = [1, 2, 0.5, 1, 0, 0.25, 1, 4]
PENALTIES = [(0.0, 0.5), (0.0, 0.05), (0.3, 0.0), (0.2, 0.1)]


def names_of(space):
    state = zip(space.state.attributes.tolist(), space.state.outputs.tolist(), strict=True)
    return [*state, *(("gram", cell) for cell in space.n_grams.cells.tolist())]


def trainer_of(training, space, n_batches, **rules):
    topology = training.topology
    return _core.DualTrainer(
        space.attributes(training).reader, training.codes, training.weights,
        np.flatnonzero(training.weights), space.state.core, space.n_grams.cells,
        topology.lattice_order, topology.forbidden_cells, topology.never_last, n_batches=n_batches, **rules,
    )  # fmt: skip


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize(("l1", "l2", "pull"), [(0.0, 0.5, 0.0), (0.0, 0.1, 0.4), (0.3, 0.0, 1.0)])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_steps_are_those_of_the_definition(order, l1, l2, pull, n_threads):
    training = training_of(*random_data(order), order, weights=WEIGHTS)
    space = LinearSpace.of(training, 1)
    visits = np.array([2, 0, 1])
    trainer = trainer_of(training, space, 3, l1=l1, l2=l2, pull=pull)
    for _ in range(3):
        trainer.move_centre()
        trainer.sweep(visits, 0.7, n_threads)
    names = names_of(space)
    paths = Paths(Problem(training, window=1), names)
    expected = dual_weights(paths, len(names), visits, 3, l1=l1, l2=l2, pull=pull, caution=0.7, sweeps=3)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(trainer.weights(), expected, atol=1e-5)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize(("l1", "l2"), PENALTIES)
def test_the_loss_is_the_least_that_scipy_finds(order, l1, l2):
    training = training_of(*random_data(order), order, weights=WEIGHTS)
    space = LinearSpace.of(training, 1)
    learner = DualAscentLearner(training, space, QuasiNewtonRules(penalty=Penalty(l1, l2), max_iter=1000, tol=1e-7))
    found = list(learner)[-1]["loss"] * sum(WEIGHTS)
    names = names_of(space)
    least = least_loss(Paths(Problem(training, window=1), names), len(names), l1, l2)
    assert found == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize(("l1", "l2"), PENALTIES)
def test_the_weights_fulfil_the_conditions_of_an_optimum(l1, l2):
    training = training_of(*random_data(3, n=300, letters="abcdefgh"))
    space = LinearSpace.of(training, 1)
    learner = DualAscentLearner(training, space, QuasiNewtonRules(penalty=Penalty(l1, l2), max_iter=1000, tol=1e-8))
    list(learner)
    w = learner._weights
    gradient = Likelihood(training, space)(w)[1] + 2 * l2 * w
    assert np.abs(gradient[w != 0] + l1 * np.sign(w[w != 0])).max() < 0.05
    assert np.abs(gradient[w == 0]).max(initial=0) < l1 + 0.05
    assert (l1 > 0) == (w == 0).any()


@pytest.mark.parametrize(("l1", "l2"), PENALTIES)
def test_threads_change_no_bit(l1, l2):
    X, y = random_data(1, n=600, letters="abcdefgh")
    fits = [hr.LinearCRF(window=1, l1=l1, l2=l2, n_jobs=n).fit(X, y) for n in (1, 2, 3)]
    for other in fits[1:]:
        assert other.state_features_ == fits[0].state_features_
        assert other.transition_features_ == fits[0].transition_features_


@pytest.mark.parametrize("order", [0, 1, 2])
def test_constraints_numbers_and_weights_reach_the_loss_of_lbfgs(order):
    rng = np.random.default_rng(0)
    X = [[{"letter": str(rng.choice(list("abc"))), "size": float(rng.normal())} for _ in range(6)] for _ in range(300)]
    y = [["x" if p["letter"] == "a" or p["size"] > 1 else "z" for p in x] for x in X]
    y = [["w" if t and label == labels[t - 1] == "x" else label for t, label in enumerate(labels)] for labels in y]
    pairs = {pair for labels in y for pair in pairwise([None, *labels])}
    losses = [
        hr.LinearCRF(order=order, l2=0.5, solver=solver, tol=1e-7, constraints=sorted(pairs, key=str))
        .fit(X, y, sample_weight=np.arange(300) % 4 / 2)
        .training_log_[-1]["loss"]
        for solver in ("auto", "lbfgs")
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_a_fit_that_ends_too_soon_warns():
    X, y = random_data(1, n=300)
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        model = hr.LinearCRF(max_iter=3).fit(X, y)
    assert len(model.training_log_) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hr.LinearCRF().fit(X, y)


def test_few_sequences_are_left_to_lbfgs():
    X, y = random_data(1, n=100)
    losses = [[r["loss"] for r in hr.LinearCRF(solver=solver).fit(X, y).training_log_] for solver in ("auto", "lbfgs")]
    assert losses[0] == losses[1]


def test_data_whose_residuals_take_too_much_memory_are_left_to_lbfgs(monkeypatch):
    training = training_of(*random_data(0), 1)
    space = LinearSpace.of(training, 1)
    monkeypatch.setattr(dual_ascent, "MIN_SEQUENCES", 1)
    for most, learns in ((training.codes.size * 3, True), (training.codes.size * 3 - 1, False)):
        monkeypatch.setattr(dual_ascent, "MAX_RESIDUALS", most)
        assert DualAscentLearner.can_learn(training, space) is learns


def test_sweeps_end_when_little_is_left_and_when_they_are_slow():
    falling = [1 + 0.5**i for i in range(40)]
    n = next(n for n in range(1, 40) if _ending(falling[:n], 1e-5))
    assert falling[n - 1] - 1 < 1e-5 < 8 * (falling[n - 4] - 1)
    assert _ending(falling[:n], 1e-5) == "converged"
    assert _ending([*falling[: n - 1], 1.001], 1e-5) is None  # rises by more than the tolerance
    slow = [1 + 0.001 * 0.99**i for i in range(40)]
    assert _ending(slow, 1e-5) == "slow"
    assert _ending([10 * value for value in np.linspace(2, 1, 40)], 1e-5) is None  # much is gained still


def test_the_binding_refuses_what_does_not_fit():
    training = training_of(*random_data(0))
    space = LinearSpace.of(training, 1)
    with pytest.raises(ValueError, match="pull above 0"):
        trainer_of(training, space, 3, l1=1.0, l2=0.0, pull=0.0)
    with pytest.raises(ValueError, match="n_batches"):
        trainer_of(training, space, 0, l1=0.0, l2=1.0, pull=0.0)
    trainer = trainer_of(training, space, 3, l1=0.0, l2=1.0, pull=0.0)
    with pytest.raises(ValueError, match="numbers of batches"):
        trainer.sweep(np.array([3]), 0.7, 1)
    with pytest.raises(ValueError, match="caution"):
        trainer.sweep(np.array([0]), 0.0, 1)
