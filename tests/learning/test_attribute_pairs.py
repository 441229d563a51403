"""Weights of pairs of attributes against the kernel machine that they stand for."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

import hedgerow as hr
from builders.online import learned, random_data
from builders.training import training_of
from hedgerow.encoding import AttributeReader, Window
from hedgerow.errors import InputError
from hedgerow.learning import attribute_pairs
from hedgerow.learning.attribute_pairs import with_pairs
from hedgerow.learning.frank_wolfe import FrankWolfeLearner, FrankWolfeRules
from hedgerow.learning.linear_space import LinearSpace
from oracles.kernel import KernelPerceptron, quadratic
from oracles.linear import Problem, hamming
from oracles.svm_optimum import optimum

pytestmark = pytest.mark.kernel


def positions_of(reader):
    starts, ids = reader.ids(0, reader.sequences.n_positions)
    return [ids[a:b].tolist() for a, b in pairwise(starts)]


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("window", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_the_scores_are_those_of_the_kernel_machine(order, window, seed):
    training = training_of(*random_data(seed), order, weights=[1, 2, 0.5, 1, 1, 0.25, 1, 4])
    learner, examples = learned(training, window=window, epochs=3, degree=2)
    machine = KernelPerceptron(Problem(training, window=window), quadratic)
    machine.learn(examples)
    scores = learner.potential.scores(training.sequences).state
    inputs = [attributes for x in machine.problem.inputs for attributes in x]
    expected = [[float(machine.state_score(own, label)) for label in range(3)] for own in inputs]
    assert np.abs(expected).max() > 0.5
    np.testing.assert_allclose(scores, expected, atol=1e-5)


@pytest.mark.parametrize("min_freq", [1, 2, 4])
@pytest.mark.parametrize("block", [1, 7, 10000])
def test_the_pairs_are_those_that_occur_together(min_freq, block, monkeypatch):
    monkeypatch.setattr(attribute_pairs, "BLOCK_POSITIONS", block)
    rng = np.random.default_rng(0)
    X = [
        [{"letter": str(rng.choice(list("abc"))), "kinds": list(rng.choice(list("xyz"), 2)), "size": rng.normal()}
         for _ in range(rng.integers(1, 5))]
        for _ in range(12)
    ]  # fmt: skip
    training = training_of(X, [["u" if p["letter"] == "a" else "v" for p in x] for x in X])
    space = with_pairs(LinearSpace.bare(training, 1), training, min_freq)
    reader = AttributeReader(training.sequences, Window.of(1), space.scalings)
    numbers = set(np.flatnonzero(reader.of_columns(["size"])).tolist())
    assert numbers
    counts = {}
    for ids in positions_of(reader):
        for pair in combinations(sorted(set(ids) - numbers), 2):
            counts[pair] = counts.get(pair, 0) + 1
    assert space.conjunctions.sets() == sorted(pair for pair, count in counts.items() if count >= min_freq)


def test_the_svm_reaches_the_optimum_with_pairs():
    training = training_of(*random_data(1, n=6), 1)
    rules = FrankWolfeRules(window=1, C=1.0, loss="hamming", max_iter=300, tol=1e-6, random_state=0, degree=2)
    record = list(FrankWolfeLearner(training, rules))[-1]
    problem = Problem(training, window=1)
    space = with_pairs(LinearSpace.bare(training, 1), training, 1)
    by_position = iter(positions_of(space.attributes(training)))
    problem.inputs = [[[(i, 1) for i in next(by_position)] for _ in x] for x in problem.inputs]
    assert record["loss"] * 6 == pytest.approx(optimum(problem, 1.0, hamming)[1], rel=1e-5)


def test_exclusive_or_needs_pairs(tmp_path):
    rng = np.random.default_rng(0)
    X = [[{"a": str(a), "b": str(b)} for a, b in rng.integers(2, size=(5, 2))] for _ in range(60)]
    y = [[str(p["a"] == p["b"]) for p in x] for x in X]
    for make in (hr.StructuredPerceptron, hr.StructuredSVM):
        assert make(degree=1, random_state=0).fit(X, y).score(X, y) < 0.8
        model = make(degree=2, random_state=0).fit(X, y)
        assert model.score(X, y) == 1
        model.save(tmp_path / "pairs.hedgerow")
        again = hr.load(tmp_path / "pairs.hedgerow")
        assert [labels.tolist() for labels in again.predict(X)] == y
        assert ("a:0 & b:0", "True") in model.state_features_


@pytest.mark.parametrize("solver", ["pegasos", "frank-wolfe"])
def test_threads_change_no_bit(solver):
    X, y = random_data(3, n=300)
    fits = [
        hr.StructuredSVM(solver=solver, degree=2, window=1, tol=0.05, n_jobs=n, random_state=0).fit(X, y)
        for n in (1, 2)
    ]
    assert fits[0].state_features_ == fits[1].state_features_


def test_what_cannot_be_done_is_refused(monkeypatch):
    X, y = random_data(0)
    with pytest.raises(InputError, match='averaging="vote" has no weights for pairs'):
        hr.StructuredPerceptron(degree=2, averaging="vote").fit(X, y)
    with pytest.raises(InputError, match="degree must be one of 1, 2"):
        hr.StructuredSVM(degree=3).fit(X, y)
    monkeypatch.setattr(attribute_pairs, "MAX_PAIRS", 5)
    with pytest.raises(InputError, match=r"pair of attributes that occur together, and these are more than 5"):
        hr.StructuredSVM(degree=2, window=2).fit(X, y)
