"""The lower level: gradients and curvatures by differences, and the same sums in a group of processes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import hedgerow as hr
from builders.groups import part_of, run_group, shares
from builders.trees import growth_rules
from hedgerow import _core
from hedgerow.encoding import HERE, AttributeReader, Encoder
from hedgerow.future.discovery import Discovery, DiscoveryData, DiscoveryRules
from hedgerow.future.instance_bags import REST, InstanceBags

GROWTH = {"l2": 1.0, "max_leaves": 6}


def data_of(k=2, seed=0, lengths=(1, 4, 9, 6, 12), weights=None):
    """Letters, labels and scores at random; most labels go by an `a` nearby."""
    rng = np.random.default_rng(seed)
    X = ["".join(rng.choice(list("abcd"), size=n)) for n in lengths]
    sequences = hr.Sequences(X)
    rows = AttributeReader(Encoder.fit(sequences).transform(sequences), HERE)
    n = sequences.n_positions
    weights = np.ones(n) if weights is None else np.repeat(weights, lengths)
    shows = np.array([letter == "a" for letter in "".join(X)]).astype(float)
    nearby = _core.bag_sums(shows, sequences.starts, 2, False, 1) + _core.bag_sums(shows, sequences.starts, 2, True, 1)
    codes = np.where(rng.random(n) < 0.2, rng.integers(k, size=n), nearby > 0).astype(np.int32)
    return DiscoveryData(rows, codes, weights, rng.normal(size=(n, k)) * 0.3, 1)


def rules_of(size=3, initial_log_odds=-1.0, l2=1.0, rounds=3, growth=None, **bounds):
    bags = InstanceBags(size=size or REST, initial_log_odds=initial_log_odds, lowest=-1e6, highest=1e6)
    growth = growth_rules(**GROWTH | (growth or {}))
    return DiscoveryRules(instance_bags=bags, rounds=rounds, l2=l2, growth=growth, **bounds)


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("size", [1, 3, None])
def test_the_gradient_is_that_of_the_likelihood(size, back):
    """Central differences of the log-likelihood by every position's log-odds."""
    data = data_of(k=3, seed=1, weights=[1.0, 2.0, 0.5, 1.0, 3.0])
    discovery = Discovery(rules_of(size), data, None, back)
    rng = np.random.default_rng(2)
    scores, eta = rng.normal(size=len(data.codes)), rng.normal(size=3)
    pattern = discovery._start(eta)
    assert pattern is not None
    pattern.log_odds, pattern.eta = scores, eta
    targets, _ = discovery._gradient(pattern)

    def value(at, by):
        moved = scores.copy()
        moved[at] += by
        return data.log_likelihood(eta, discovery._q(moved)) * data.weights.sum()

    step = 1e-5
    expected = [(value(at, step) - value(at, -step)) / (2 * step) for at in range(len(scores))]
    np.testing.assert_allclose(targets, expected, atol=1e-8)
    assert np.abs(targets).max() > 0.01


@pytest.mark.parametrize("back", [False, True])
def test_the_newton_weights_are_the_expected_curvature(back):
    """Sum over bags of Var_P(eta) (dQ_t / dG_s)^2, by differences of Q."""
    data = data_of(k=3, seed=4)
    discovery = Discovery(rules_of(2), data, None, back)
    rng = np.random.default_rng(5)
    pattern = discovery._start(np.array([1.0, -0.5, -0.5]))
    assert pattern is not None
    pattern.log_odds, pattern.eta = rng.normal(size=len(data.codes)), rng.normal(size=3)
    _, weights = discovery._gradient(pattern)
    q = discovery._q(pattern.log_odds)
    p = _core.softmax(data.scores, pattern.eta, q, 1)
    variance = p @ pattern.eta**2 - (p @ pattern.eta) ** 2
    for at in range(len(q)):
        moved = pattern.log_odds.copy()
        moved[at] += 1e-6
        slope = (discovery._q(moved) - q) / 1e-6
        assert weights[at] == pytest.approx((variance * slope**2).sum(), abs=1e-5)


def test_the_direction_is_fitted_to_the_feature():
    """The gradient of the penalised likelihood is 0 where it ends, and labels' weights add up to nothing."""
    data = data_of(k=4, seed=9, lengths=(30, 40))
    discovery = Discovery(rules_of(3, l2=0.3), data, None, False)
    q = np.random.default_rng(1).random(len(data.codes))
    eta = np.array([1.0, 0.0, 0.0, -1.0])
    for _ in range(30):
        eta = discovery._fitted_direction(eta, q)
    residuals = np.eye(4)[data.codes] - _core.softmax(data.scores, eta, q, 1)
    np.testing.assert_allclose(q @ residuals - 0.3 * eta, 0, atol=1e-2)
    assert eta.sum() == pytest.approx(0, abs=1e-12)


def test_every_round_makes_gold_more_likely():
    data = data_of(k=3, seed=11, lengths=(40, 40))
    plain = data.log_likelihood(np.zeros(3), np.zeros(80))
    discovery = Discovery(rules_of(2, rounds=6, l2=0.0), data, None, False)
    pattern = discovery._start(np.array([1.0, -0.5, -0.5]))
    found = [one.log_likelihood for one in discovery._candidates(pattern)]
    assert all(later > earlier for earlier, later in pairwise(found))
    assert found[0] > plain


def test_bounds_of_steps_and_weights():
    """max_beta replaces the longer steps of the grid, and max_eta bounds what two labels' weights differ by."""
    data = data_of(k=3, seed=11, lengths=(40, 40))
    free = Discovery(rules_of(2, rounds=4), data, None, False).best()
    assert free is not None
    bound = float(np.ptp(free.feature.weights)) / 3
    rules = rules_of(2, rounds=4, max_beta=max(free.steps) / 2, max_eta=bound)
    assert rules.steps[-1] == max(free.steps) / 2
    found = Discovery(rules, data, None, False).best()
    assert found is not None
    assert max(found.steps) <= max(free.steps) / 2
    assert np.ptp(found.feature.weights) <= bound * 1.0001
    assert found.log_likelihood < free.log_likelihood


def part(data, member):
    """The sequences of a member of a group."""
    reader, at = part_of(data.instances, shares(len(data.starts) - 1, member.size)[member.rank])
    rows = {"codes": data.codes[at], "weights": data.weights[at], "scores": data.scores[at]}
    return replace(data, instances=reader, group=member, **rows), at


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_sums_of_a_group_are_those_of_one_process(size):
    """To the bit; and the exact sums, rounded once or with terms rounded to a unit."""
    rng = np.random.default_rng(size)
    lengths = rng.integers(1, 30, size=12)
    data = data_of(k=4, seed=size, lengths=lengths, weights=rng.random(12) * 10)
    n = len(data.codes)
    eta, q = rng.normal(size=4), rng.random(n)

    def sums(own, q):
        direction = own.direction_sums(eta, q)
        return own.total_weight, own.log_likelihood(eta, q), *direction, own.squared_residuals()

    def work(member):
        own, at = part(data, member)
        return sums(own, q[at])

    expected = sums(data, q)
    for found in run_group(size, work):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    assert expected[0] == float(sum(map(Fraction, data.weights.tolist())))
    gold = _core.log_gold(data.scores, data.codes, eta, q, 1) * data.weights
    assert expected[1] == float(sum(map(Fraction, gold.tolist()))) / expected[0]
    residuals = (np.eye(4)[data.codes] - _core.softmax(data.scores, None, None, 1)) * data.weights[:, None]
    np.testing.assert_allclose(expected[4], (residuals**2).sum(axis=0), rtol=1e-9)


@pytest.mark.parametrize("back", [False, True])
def test_a_group_finds_the_candidate_of_one_process(back):
    """Also what is rounded to single precision in the feature is the same in double precision."""
    rng = np.random.default_rng(3)
    data = data_of(k=3, seed=11, lengths=rng.integers(1, 30, size=12), weights=rng.random(12) * 10)
    rules = rules_of(2, rounds=4)
    expected = Discovery(rules, data, None, back)
    started = [expected._start(eta) for eta in expected._directions()]
    best = expected.best()
    assert best is not None

    def work(member):
        own, at = part(data, member)
        discovery = Discovery(rules, own, None, back)
        return [discovery._start(eta) for eta in discovery._directions()], discovery.best(), at

    for own, found, at in run_group(3, work):
        for mine, other in zip(own, started, strict=True):
            assert (mine is None) == (other is None)
            if other is not None:
                np.testing.assert_array_equal(mine.eta, other.eta)
                np.testing.assert_array_equal(mine.log_odds, other.log_odds[at])
        assert found.log_likelihood == best.log_likelihood
        assert found.steps == best.steps
        np.testing.assert_array_equal(found.values, best.values[at])
