"""Frank-Wolfe steps of a structured SVM against a quadratic program with a constraint for every path."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import hedgerow as hr
from builders.online import random_data
from builders.training import training_of
from hedgerow import _core
from hedgerow.errors import ConvergenceWarning, InputError
from hedgerow.estimators.allowed_labels import constraints_of
from hedgerow.learning.frank_wolfe import FrankWolfeLearner, FrankWolfeRules
from hedgerow.learning.linear_space import LinearSpace
from oracles.linear import Problem, assert_same_weights, hamming, svm_objective, weights_of, zero_one
from oracles.svm_optimum import optimum

pytestmark = pytest.mark.kernel

LOSSES = {"hamming": hamming, "zero-one": zero_one}
WEIGHTS = [1, 2, 0.5, 1, 0, 0.25, 1, 4]


def learner_of(training, **rules):
    given = {"window": 1, "C": 0.5, "loss": "hamming", "max_iter": 300, "tol": 1e-6, "random_state": 0} | rules
    return FrankWolfeLearner(training, FrankWolfeRules(**given))


def trainer_of(training, cost=0.25, *, hamming=True):
    reader = LinearSpace.bare(training, 1, all_transitions=True).attributes(training)
    topology = training.topology
    return _core.FrankWolfeTrainer(
        reader.reader, training.codes, training.weights, np.ones(reader.n_ids, np.bool_), len(training.labels),
        training.order, topology.forbidden_cells, topology.never_last, bias=False, hamming=hamming, cost=cost,
    )  # fmt: skip


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.1, 2.0])
def test_the_optimum_is_that_of_the_quadratic_program(order, loss, C):
    training = training_of(*random_data(order), order, weights=WEIGHTS)
    learner = learner_of(training, C=C, loss=loss)
    records = list(learner)
    problem = Problem(training, window=1)
    weights, least = optimum(problem, C, LOSSES[loss])
    assert_same_weights(learner.potential, weights, 2e-3)
    total = sum(WEIGHTS)
    assert records[-1]["gap"] <= 1e-6 * records[-1]["loss"]
    for record in records:
        assert (record["loss"] - record["gap"]) * total <= least * (1 + 2e-6)
        assert record["loss"] * total >= least * (1 - 2e-6)
    primal = svm_objective(problem, weights_of(learner.potential), C, LOSSES[loss])
    assert records[-1]["loss"] * total == pytest.approx(primal, rel=1e-5)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("length", [4, 60])
def test_the_dual_rises_by_what_steps_say(order, loss, length):
    """Paths of long sequences are more than are kept, so that some are merged."""
    rng = np.random.default_rng(order)
    X = ["".join(rng.choice(list("abc"), length)) for _ in range(12)]
    y = [rng.choice(list("xyz"), length).tolist() for _ in X]
    training = training_of(X, y, order)
    trainer = trainer_of(training, cost=2.0, hamming=loss == "hamming")
    sequences, duals = np.arange(12), [0.0]
    for _ in range(40):
        risen = trainer.epoch(sequences, 4, 1)
        risen += trainer.improve(sequences[::-1].copy())
        primal, dual = trainer.objectives(sequences, 1)
        assert risen >= 0
        assert dual - duals[-1] == pytest.approx(risen, rel=1e-4, abs=1e-5 * primal)
        assert dual <= primal
        duals.append(dual)
    assert primal > duals[-1] > duals[1] > 0


def test_the_gap_closes_on_sequences_with_more_paths_than_are_kept():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abc"), 80)) for _ in range(6)]
    y = [rng.choice(list("xyz"), 80).tolist() for _ in X]
    records = list(learner_of(training_of(X, y), C=1.0, tol=1e-3))
    assert records[-1]["gap"] <= 1e-3 * records[-1]["loss"]


def test_threads_change_no_bit():
    X, y = random_data(3, n=2100, n_labels=4)
    fits = [
        hr.StructuredSVM(solver="frank-wolfe", window=1, tol=0.05, n_jobs=n, random_state=0).fit(X, y)
        for n in (1, 2, 3)
    ]
    for other in fits[1:]:
        assert other.state_features_ == fits[0].state_features_
        assert other.transition_features_ == fits[0].transition_features_
        assert [r["gap"] for r in other.training_log_] == [r["gap"] for r in fits[0].training_log_]


def test_many_labels_and_constraints_reach_the_same_gap():
    X, y = random_data(3, n=60, n_labels=200)
    assert list(learner_of(training_of(X, y), tol=1e-3))[-1]["gap"] > 0
    X, y = random_data(3, n=30)
    training = training_of(X, y)
    seen = [pair for labels in y for pair in pairwise([None, *labels])]
    training = replace(training, constraints=constraints_of(seen, training.labels))
    record = list(learner_of(training, tol=1e-3))[-1]
    assert 0 <= record["gap"] <= 1e-3 * record["loss"]


def test_pegasos_does_not_fall_below_the_dual():
    X, y = random_data(0, n=40)
    exact = hr.StructuredSVM(solver="frank-wolfe", C=1.0, tol=1e-5, random_state=0).fit(X, y)
    pegasos = hr.StructuredSVM(C=1.0, epochs=400, random_state=0).fit(X, y)
    least = exact.training_log_[-1]["loss"] - exact.training_log_[-1]["gap"]
    assert least <= pegasos.training_log_[-1]["loss"] <= least * 1.01
    assert exact.training_log_[-1]["unit"] == "iteration"


def test_dev_data_numbers_and_frequencies():
    rng = np.random.default_rng(0)
    X = [[{"letter": str(rng.choice(list("abc"))), "size": float(rng.normal())} for _ in range(6)] for _ in range(30)]
    y = [["x" if p["letter"] == "a" or p["size"] > 1 else "z" for p in x] for x in X]
    model = hr.StructuredSVM(solver="frank-wolfe", min_freq=20, C=5.0, random_state=0).fit(X, y, X_dev=X, y_dev=y)
    assert model.score(X, y) > 0.9
    assert model.temperature_ == model.training_log_[-1]["temperature"]
    assert model.intercept_["x"] != 0


def test_a_fit_that_ends_too_soon_warns():
    X, y = random_data(1, n=30)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 iterations with a duality gap of .* above tol=0.001"):
        model = hr.StructuredSVM(solver="frank-wolfe", max_iter=2, random_state=0).fit(X, y)
    assert len(model.training_log_) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hr.StructuredSVM(solver="frank-wolfe", random_state=0).fit(X, y)


def test_bad_parameters():
    with pytest.raises(InputError, match='solver="frank-wolfe" learns without a beam, but beam is 3'):
        hr.StructuredSVM(solver="frank-wolfe", beam=3).fit(["ab"], [["x", "y"]])


@pytest.mark.filterwarnings("ignore::hedgerow.errors.ConvergenceWarning")
@pytest.mark.parametrize("C", [1e-30, 1e30])
def test_extreme_c_leaves_finite_weights(C):
    X, y = random_data(0)
    model = hr.StructuredSVM(solver="frank-wolfe", C=C, max_iter=20, random_state=0)
    model.fit(X, y, sample_weight=[C] * 8, X_dev=X, y_dev=y)
    assert np.isfinite(list(model.state_features_.values())).all()
    assert len(model.predict(X)) == 8


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda trainer: trainer.epoch(np.array([0, 0]), 1, 1), "each sequence once"),
        (lambda trainer: trainer.epoch(np.array([8]), 1, 1), "indices of sequences"),
        (lambda trainer: trainer.epoch(np.array([0]), 0, 1), "batch and n_threads"),
        (lambda trainer: trainer.objectives(np.array([0]), 0), "n_threads must be at least 1"),
        (lambda trainer: trainer.improve(np.array([-1])), "indices of sequences"),
    ],
    ids=["twice", "beyond", "batch", "threads", "negative"],
)
def test_the_trainer_checks_its_arguments(call, rule):
    with pytest.raises(ValueError, match=rule):
        call(trainer_of(training_of(*random_data(0))))


def test_the_cost_must_be_positive():
    with pytest.raises(ValueError, match="cost must be above 0"):
        trainer_of(training_of(*random_data(0)), cost=0.0)
