"""Training under constraints: every sum and every search is over the allowed label sequences only."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from builders.constraints import constrained, pairs_and_ends
from builders.online import learned, random_data
from builders.search import fitted
from builders.training import training_of
from hedgerow.learning.counting import CountingLearner
from hedgerow.learning.likelihood import Likelihood
from hedgerow.learning.linear_space import LinearSpace
from hedgerow.learning.pseudo_likelihood import pseudo_marginals
from hedgerow.learning.stochastic_gradient import StochasticGradientLearner, StochasticRules
from hedgerow.potentials.linear import LinearPotential
from oracles import constraints as oracles
from oracles.lattice import label_context, log_sum
from oracles.linear import assert_same_weights, dot, gradient_steps, hamming, mean, pegasos, perceptron, zero_one

pytestmark = pytest.mark.kernel
WEIGHTS = [1, 2, 0.5, 1, 1, 0.25, 1, 4]


def problem_of(order, seed=0, window=1, **options):
    """(training data with constraints, the same as an oracle)"""
    X, y = random_data(seed, n=8, letters="ab")
    y = [[label if label != "2" or t == 0 or labels[t - 1] != "0" else "1" for t, label in enumerate(labels)]
         for labels in y]  # fmt: skip
    training = training_of(X, y, order, weights=WEIGHTS)
    pairs, last = pairs_and_ends(training, seed, share=0.0)
    assert len(pairs) < 12
    return constrained(training, pairs, last), oracles.AllowedProblem(training, pairs, last, window=window, **options)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("edges", [False, True])
def test_the_gradient_is_that_of_the_constrained_likelihood(order, edges):
    training, _ = problem_of(order)
    space = LinearSpace.of(training, 0, observed_only=False, all_transitions=True, edges=edges)
    likelihood, rng = Likelihood(training, space), np.random.default_rng(order)
    weights = rng.normal(size=space.n_weights)
    value, gradient = likelihood(weights)
    for i in rng.permutation(len(weights))[:12]:
        step = np.zeros(len(weights))
        step[i] = 1e-2
        slope = (likelihood(weights + step)[0] - likelihood(weights - step)[0]) / 2e-2
        assert gradient[i] == pytest.approx(slope, abs=2e-3)
    assert np.isfinite(value)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_likelihood_is_that_of_enumeration(order):
    training, problem = problem_of(order)
    space = LinearSpace.of(training, 1, observed_only=False, all_transitions=True)
    weights = np.random.default_rng(order).normal(size=space.n_weights)
    named = {("gram", cell): w for cell, w in zip(space.n_grams.cells, space.split(weights)[2], strict=True)}
    state = zip(space.state.attributes.tolist(), space.state.outputs.tolist(), strict=True)
    named |= dict(zip(state, space.split(weights)[0], strict=True))
    expected = 0.0
    for x, y, weight in zip(problem.inputs, problem.gold, problem.weights, strict=True):
        scores = {z: float(dot(named, problem.features(x, z))) for z in problem.paths(x)}
        expected += float(weight) * (log_sum(scores.values()) - scores[y])
    assert Likelihood(training, space)(weights)[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_stochastic_steps(order):
    training, problem = problem_of(order)
    space = LinearSpace.of(training, 1, observed_only=False)
    learner = StochasticGradientLearner(training, space, 1.0, StochasticRules(epochs=1, tol=1e-5, random_state=0))
    trainer, examples = learner.trainer(0.5), np.array([3, 1, 7, 0, 2, 2, 5, 4, 6])
    known = {*zip(space.state.attributes.tolist(), space.state.outputs.tolist(), strict=True)}
    known |= {("gram", cell) for cell in space.n_grams.cells.tolist()}
    vectors, losses = gradient_steps(problem, examples, 0.5, 0.25, known)
    weights = [float(problem.weights[i]) for i in examples]
    assert trainer.epoch(examples) == pytest.approx(float(np.dot(weights, losses)), rel=1e-4)
    assert_same_weights(space.potential(trainer.mean()), mean(vectors, list(range(1, len(vectors) + 1))), 1e-4)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_the_perceptron_learns_from_the_best_allowed_path(order, seed):
    training, problem = problem_of(order, seed)
    learner, examples = learned(training, window=1, epochs=2, averaging="average")
    assert_same_weights(learner.potential, mean(perceptron(problem, examples)))


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize(("loss", "named"), [(hamming, "hamming"), (zero_one, "zero-one")])
def test_the_svm_learns_from_the_worst_allowed_path(order, loss, named):
    training = training_of(*random_data(0, n=8, letters="ab"), order)
    pairs, last = pairs_and_ends(training, share=0.0)
    training = constrained(training, pairs, last)
    problem = oracles.AllowedProblem(training, pairs, last, window=1)
    learner, examples = learned(training, window=1, epochs=2, averaging="none", C=0.5, loss=named)
    assert_same_weights(learner.potential, pegasos(problem, examples, 0.5, loss)[-1], 1e-4)


@pytest.mark.parametrize("direction", ["left-to-right", "right-to-left"])
@pytest.mark.parametrize("update", ["laso", "early", "max-violation", "standard"])
def test_a_search_keeps_the_constraints(direction, update):
    training, problem = problem_of(1, window=0)
    learner, _ = fitted(training, direction=direction, update=update, order=2, epochs=3, averaged=True)
    for beam in (1, 2, 20):
        search = learner.potential.answers(training.sequences, training.topology, beam=beam)
        _, ranked = search.nbest(3)
        for labels in (search.viterbi()[1], search.most_probable_labels(), ranked[0]):
            for begin, end in pairwise(training.sequences.starts.tolist()):
                assert oracles.is_allowed(tuple(labels[begin:end].tolist()), problem.pairs, problem.last)
    log_z, marginals = search.marginals()  # of the widest beam, which keeps everything
    for i, (begin, end) in enumerate(pairwise(training.sequences.starts.tolist())):
        labels = np.zeros(training.sequences.n_positions, np.int32)
        scores = {}
        for path in problem.paths(problem.inputs[i]):
            labels[begin:end] = path
            scores[path] = search.score(labels)[i]
        assert log_z[i] == pytest.approx(log_sum(scores.values()), abs=1e-4)
        for t in range(end - begin):
            for y in range(3):
                expected = sum(math.exp(s - log_z[i]) for path, s in scores.items() if path[t] == y)
                assert marginals[begin + t, y] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_transitions_of_an_hmm_are_shared_among_allowed_labels(order):
    training, _ = problem_of(order)
    learner = CountingLearner(training, 0.3)
    list(learner)
    probabilities = np.exp(learner.potential.transitions)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    if order:
        assert not probabilities[~training.constraints.table(order)].any()


@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_pseudo_likelihood_is_over_labels_that_fit_their_neighbours(order):
    training, problem = problem_of(order, window=0)
    rng, k = np.random.default_rng(order), len(training.labels)
    space = LinearSpace.of(training, 0, observed_only=False, all_transitions=True)
    potential = space.potential(rng.normal(size=space.n_weights))
    assert isinstance(potential, LinearPotential)
    lattice = potential.lattice(training.sequences, training.topology)
    _, found, _ = pseudo_marginals(lattice, training)
    scores, starts = potential.scores(training.sequences), training.sequences.starts.tolist()
    for begin, end in pairwise(starts):
        gold = training.codes[begin:end].tolist()
        for t in range(end - begin):
            logits = {}
            for y in range(k):
                path = (*gold[:t], y, *gold[t + 1 :])
                if oracles.is_allowed(path, problem.pairs, problem.last):
                    contexts = [label_context(path, u, order) for u in range(len(path))]
                    logits[y] = sum(
                        float(scores.state[begin + u, path[u]]) + float(scores.table[row(context, k), path[u]])
                        for u, context in enumerate(contexts)
                    )
            log_z = log_sum(logits.values())
            for y in range(k):
                p = math.exp(logits[y] - log_z) if y in logits else 0.0
                assert found[begin + t, 0, y] == pytest.approx(p, abs=1e-5)


def row(context, k):
    first, number = sum(k**m for m in range(len(context))), 0
    for label in context:
        number = number * k + label
    return first + number
