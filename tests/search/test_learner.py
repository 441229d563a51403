"""Weights of learning to search, against weights in a dict and hypotheses written out."""

from __future__ import annotations

import numpy as np
import pytest

from builders.constraints import constrained
from builders.search import fitted, random_data
from builders.training import training_of
from oracles.constraints import AllowedSearch
from oracles.linear import Problem, mean
from oracles.search import UPDATES, SearchProblem, learned, weights_of

pytestmark = pytest.mark.kernel

DIRECTIONS = ["left-to-right", "right-to-left"]


def assert_same(potential, w, tolerance=1e-5):
    found = weights_of(potential)
    for name in {*found, *w}:
        assert abs(found.get(name, 0.0) - float(w.get(name, 0))) <= tolerance, name


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("order", [0, 1, 2, 4])
@pytest.mark.parametrize("beam", [1, 2])
def test_the_weights_are_those_of_the_books(update, direction, order, beam):
    for seed in range(3):
        training = training_of(*random_data(seed), 0, weights=[1, 2, 0.5, 1, 1, 0.25, 1, 4])
        averaged = seed == 0
        learner, examples = fitted(
            training, order=order, window=1, beam=beam, update=update, direction=direction, averaged=averaged
        )
        problem = SearchProblem(
            Problem(training, window=1), order, beam, backward=direction == "right-to-left", merges=update != "laso"
        )
        vectors = learned(problem, examples, update)
        assert_same(learner.potential, mean(vectors) if averaged else vectors[-1])


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("beam", [3, 5, 40])
def test_wider_beams_numbers_and_a_bias(update, beam):
    rng = np.random.default_rng(beam)
    X = [
        [{"n": float(rng.normal()), "b": {"u": float(rng.normal()), "v": float(rng.normal())}} for _ in range(4)]
        for _ in range(6)
    ]
    y = [[str(rng.integers(4)) for _ in x] for x in X]
    y[0] = ["0", "1", "2", "3"]
    training = training_of(X, y, 0)
    learner, examples = fitted(training, order=2, beam=beam, update=update, averaged=True)
    inputs = Problem(training, bias=True, scalings=learner.potential.scalings)
    problem = SearchProblem(inputs, 2, beam, merges=update != "laso")
    assert_same(learner.potential, mean(learned(problem, examples, update)), 1e-4)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("order", [1, 3])
def test_many_labels(update, order):
    """Rows of weights are sparse at first; those of frequent attributes and label contexts become dense."""
    X, y = random_data(0, n=40, letters="abcde", n_labels=40)
    training = training_of(X, y, 0)
    assert len(training.labels) > 32
    learner, examples = fitted(training, order=order, window=1, update=update, epochs=1, averaged=True)
    problem = SearchProblem(Problem(training, window=1), order, 2, merges=update != "laso")
    assert_same(learner.potential, mean(learned(problem, examples, update)))
    sizes = np.diff(learner.potential.state_features.starts)
    assert sizes.min() < 10
    assert sizes.max() > 10  # a quarter of 40 labels: more make a row dense


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_batches_are_searched_with_the_same_weights(update, direction):
    training = training_of(*random_data(1), 0, weights=[1, 2, 0.5, 1, 1, 0.25, 1, 4])
    backward = direction == "right-to-left"
    for batch in (2, 3, 20):
        learner, examples = fitted(training, order=2, window=1, update=update, direction=direction, batch=batch)
        problem = SearchProblem(Problem(training, window=1), 2, 2, backward=backward, merges=update != "laso")
        assert_same(learner.potential, learned(problem, examples, update, batch)[-1])


def test_epochs_after_the_last_mistake_count_without_being_run():
    training = training_of(["ab", "ba", "bb"], [["x", "y"], ["y", "x"], ["y", "y"]], 0)
    learner, examples = fitted(training, epochs=30, averaged=True)
    assert len(examples) < 90
    vectors = learned(SearchProblem(Problem(training), 1, 2, merges=False), examples, "laso")
    assert_same(learner.potential, mean(vectors + vectors[-1:] * (91 - len(vectors))))


PAIRS = {(a, b) for a in (None, 0, 1, 2) for b in range(3)} - {(None, 2), (0, 2)}
LAST = {0, 2}


def allowed_labels(labels):
    """The labels with those replaced that PAIRS and LAST forbid."""
    found = []
    for label in labels:
        found.append("0" if label == "2" and (not found or found[-1] == "0") else label)
    return [*found[:-1], "0" if found[-1] == "1" else found[-1]]


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("beam", [1, 3])
def test_searches_of_training_keep_the_constraints(update, direction, order, beam):
    for seed in range(3):
        X, y = random_data(seed)
        training = constrained(training_of(X, [allowed_labels(labels) for labels in y], 0), PAIRS, LAST)
        learner, examples = fitted(training, order=order, window=1, beam=beam, update=update, direction=direction)
        inputs, backward = Problem(training, window=1), direction == "right-to-left"
        problem = AllowedSearch(inputs, PAIRS, LAST, order, beam, backward=backward, merges=update != "laso")
        assert_same(learner.potential, learned(problem, examples, update)[-1])
