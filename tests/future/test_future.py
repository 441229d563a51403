"""Future features against naive twins: bags, their noisy-or, the way back, and the published lower level."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import hedgerow as hr
from builders.trees import grower_of, growth_rules
from builders.trees import tree as tree_of
from hedgerow import _core
from hedgerow.encoding import HERE, AttributeReader, Binning, Encoder
from hedgerow.future.discovery import PUBLISHED_STEPS, Discovery, DiscoveryData, DiscoveryRules
from hedgerow.future.potential import REST, InstanceBags
from hedgerow.potentials.trees import Trees
from oracles import future as oracles_future
from oracles import trees as oracles_trees

GROWTH = {"l2": 1.0, "max_leaves": 6}
SIZES = [1, 2, 3, 5, 8, 100, None]


def starts_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


STARTS = starts_of([1, 2, 7, 3, 20, 1, 11])


@pytest.mark.kernel
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_sums_over_bags(size, back):
    values = np.random.default_rng(0).normal(size=STARTS[-1])
    sums = _core.bag_sums(values, STARTS, size or REST, back, 2)
    expected = [math.fsum(values[bag]) for bag in oracles_future.bags(STARTS, size, back)]
    np.testing.assert_allclose(sums, expected, atol=1e-13)


@pytest.mark.kernel
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_a_position_is_seen_by_the_bags_that_hold_it(size, back):
    values = np.random.default_rng(1).normal(size=STARTS[-1])
    seen = np.zeros(STARTS[-1])
    for t, bag in enumerate(oracles_future.bags(STARTS, size, back)):
        seen[bag] += values[t]
    np.testing.assert_allclose(_core.bag_sums(values, STARTS, size or REST, not back, 1), seen, atol=1e-13)


@pytest.mark.kernel
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_the_noisy_or_of_bags(size, back):
    scores = np.random.default_rng(2).normal(size=STARTS[-1]) * 3
    p, rest = _core.bag_probabilities(scores, STARTS, size or REST, back, 2)
    np.testing.assert_allclose(p, oracles_future.noisy_or(scores, STARTS, size, back), atol=1e-12)
    np.testing.assert_allclose(p + rest, 1, atol=1e-15)


@pytest.mark.kernel
def test_small_probabilities_keep_their_digits():
    """A million positions of probability 1e-12: the product of 1 - q is lost in single steps, the sum is not."""
    n, score = 1_000_001, math.log(1e-12)
    p, rest = _core.bag_probabilities(np.full(n, score), np.array([0, n]), REST, False, 1)
    q = Fraction(1, 10**12 + 1)
    exact = 1 - (1 - q) ** 1000  # of the bag of 1000 positions
    assert p[-1001] == pytest.approx(float(exact), rel=1e-12)
    assert p[0] == pytest.approx(1e-6, rel=1e-5)
    assert (np.diff(p) <= 0).all()
    assert rest[0] < 1


@pytest.mark.kernel
def test_extreme_scores_are_sure():
    scores = np.array([-1e6, 1e6, -1e6, -1e6, 800.0, -800.0, 0.0])
    p, rest = _core.bag_probabilities(scores, np.array([0, 7]), 1, False, 1)
    np.testing.assert_array_equal(p, [1, 0, 0, 1, 0, 0.5, 0])
    np.testing.assert_array_equal(rest, [0, 1, 1, 0, 1, 0.5, 1])
    p, rest = _core.bag_probabilities(scores[::-1].copy(), np.array([0, 7]), REST, True, 1)
    assert np.isfinite(p).all()
    assert (rest >= 0).all()


@pytest.mark.kernel
def test_sums_of_what_is_not_negative_are_not_negative():
    """Where cumulated sums would subtract, a large value would leave noise behind it."""
    values = np.full(1000, 1e-9)
    values[::7] = 1e9
    sums = _core.bag_sums(values, np.array([0, 1000]), 3, False, 1)
    expected = [math.fsum(values[t + 1 : t + 4]) for t in range(1000)]
    np.testing.assert_allclose(sums, expected, rtol=1e-15)


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("values", "starts", "size", "threads", "message"),
    [
        (np.zeros(3), [0, 2], 1, 1, "starts go from 0"),
        (np.zeros(3), [1, 3], 1, 1, "starts go from 0"),
        (np.zeros(3), [0, 2, 1, 3], 1, 1, "starts rise"),
        (np.zeros(3), [0, 3], 0, 1, "room for a position"),
        (np.zeros(3), [0, 3], 1, 0, "at least one thread"),
    ],
)
def test_bad_arguments_of_bags(values, starts, size, threads, message):
    for kernel in (_core.bag_sums, _core.bag_probabilities):
        with pytest.raises(ValueError, match=message):
            kernel(values, np.array(starts), size, False, threads)


@pytest.mark.kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_softmax_of_positions(dtype):
    rng = np.random.default_rng(0)
    scores, eta, q = rng.normal(size=(50, 4)).astype(dtype) * 20, rng.normal(size=4), rng.random(50)
    codes = rng.integers(-1, 4, size=50).astype(np.int32)
    spoken = scores.astype(np.float64) + q[:, None] * eta
    for given, feature in ((spoken, (eta, q)), (scores.astype(np.float64), (None, None))):
        powers = np.exp(given - given.max(axis=1, keepdims=True))
        p = powers / powers.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(_core.softmax(scores, *feature, 2), p, rtol=1e-12)
        expected = np.log(p[np.arange(50), np.maximum(codes, 0)])
        np.testing.assert_allclose(_core.log_gold(scores, codes, *feature, 2), expected, rtol=1e-9, atol=1e-12)
    huge = np.array([[1e6, -1e6], [-1e6, 1e6]], dtype)
    np.testing.assert_array_equal(_core.log_gold(huge, np.zeros(2, np.int32), None, None, 1), [0, -2e6])


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("codes", "eta", "q", "message"),
    [
        ([0], None, None, "one code"),
        ([0, 3], None, None, "below the number"),
        ([0, 0], np.zeros(3), None, "a direction and values"),
        ([0, 0], np.zeros(2), np.zeros(2), "a number for each label"),
        ([0, 0], np.zeros(3), np.zeros(3), "a value for each position"),
    ],
)
def test_bad_arguments_of_a_softmax(codes, eta, q, message):
    with pytest.raises(ValueError, match=message):
        _core.log_gold(np.zeros((2, 3)), np.array(codes, np.int32), eta, q, 1)


# A tree with targets and weights of its own.


def rows_of(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = [[{"a": str(rng.choice(list("xyz"))), "n": float(rng.integers(5))} for _ in range(m)] for m in (1, n // 3, n)]
    sequences = hr.Sequences(X)
    encoder = Encoder.fit(sequences)
    sequences = encoder.transform(sequences)
    return AttributeReader(sequences, HERE, {"n": Binning.fit(sequences.column("n").values)})


@pytest.mark.kernel
@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_a_fitted_tree_equals_that_of_repeated_examples(scale):
    rows, rng = rows_of(), np.random.default_rng(3)
    n = rows.sequences.n_positions
    counts = rng.integers(0, 5, size=n)
    parts = [rng.integers(-(2**20), 2**20, size=count) for count in counts]
    examples = [(t, (), int(r)) for t in range(n) for r in parts[t]]
    expected = oracles_trees.fit_regression_tree(
        examples, oracles_trees.features_of(rows, 0, 2), 6, oracles_trees.Rules(0.5)
    )
    grower = grower_of(rows, 0, 2, growth_rules(**GROWTH | {"l2": 0.5}))
    targets = np.array([part.sum() for part in parts]) / oracles_trees.UNIT * scale
    grown, values = grower.fit(targets, counts.astype(float), 0)
    trees = Trees.of_round(*grown)
    assert _shape(tree_of(trees, 0), 1 / scale) == _shape(expected, 1)
    says = np.zeros((n, 1, 1), np.float32)
    trees.compiled(rows, 1, 0).add_scores(rows.reader, says, 1)
    np.testing.assert_array_equal(values, says[:, 0, 0])


def _shape(tree, scale):
    if "test" not in tree:
        return float(f"{tree['value'] * scale:.4g}")
    return tree["test"], _shape(tree["true"], scale), _shape(tree["false"], scale)


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("targets", "weights", "message"),
    [
        (np.zeros(3), np.ones(80), "a target and a weight for each"),
        (np.full(81, np.nan), np.ones(81), "finite"),
        (np.zeros(81), -np.ones(81), "not below 0"),
        (np.zeros(81), np.full(81, np.inf), "finite"),
        (np.zeros(81), np.full(81, 1e308), "sum of weights"),
    ],
)
def test_bad_targets_are_refused(targets, weights, message):
    grower = grower_of(rows_of(), 0, 2, growth_rules(**GROWTH))
    with pytest.raises(ValueError, match=message):
        grower.fit(targets, weights, 0)


@pytest.mark.kernel
def test_a_newton_grower_fits_no_targets():
    grower = grower_of(rows_of(), 0, 2, growth_rules(**GROWTH | {"newton": True}))
    with pytest.raises(ValueError, match="by its own weights"):
        grower.fit(np.zeros(81), np.ones(81), 0)


@pytest.mark.kernel
def test_targets_and_weights_of_zero_make_a_leaf():
    grower = grower_of(rows_of(), 0, 2, growth_rules(**GROWTH | {"l2": 0.0}))
    grown, values = grower.fit(np.zeros(81), np.zeros(81), 0)
    assert len(Trees.of_round(*grown).nodes) == 1
    np.testing.assert_array_equal(values, 0)


# The lower level.


def scene_of(k=2, seed=0, lengths=(1, 4, 9, 6, 12), weights=None):
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


def rules_of(size=3, initial_log_odds=-1.0, newton=False, l2=1.0, rounds=3, growth=None):
    bags = InstanceBags(size or REST, initial_log_odds, -1e6, 1e6)
    return DiscoveryRules(bags, rounds, newton, l2, growth_rules(**GROWTH | (growth or {})))


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("size", [1, 3, None])
def test_the_gradient_is_that_of_the_likelihood(size, back):
    """Central differences of the log-likelihood by every position's log-odds."""
    scene = scene_of(k=3, seed=1, weights=[1.0, 2.0, 0.5, 1.0, 3.0])
    discovery = Discovery(rules_of(size), scene, None, back)
    rng = np.random.default_rng(2)
    scores, eta = rng.normal(size=len(scene.codes)), rng.normal(size=3)
    pattern = discovery._begin(eta)
    assert pattern is not None
    pattern.scores, pattern.eta = scores, eta
    targets, _ = discovery._gradient(pattern)

    def value(at, by):
        moved = scores.copy()
        moved[at] += by
        return scene.likelihood(eta, discovery._q(moved)) * scene.weights.sum()

    step = 1e-5
    expected = [(value(at, step) - value(at, -step)) / (2 * step) for at in range(len(scores))]
    np.testing.assert_allclose(targets, expected, atol=1e-8)
    assert np.abs(targets).max() > 0.01


@pytest.mark.parametrize("back", [False, True])
def test_the_newton_weights_are_the_expected_curvature(back):
    """Sum over bags of Var_P(eta) (dQ_t / dG_s)^2, by differences of Q."""
    scene = scene_of(k=3, seed=4)
    discovery = Discovery(rules_of(2, newton=True), scene, None, back)
    rng = np.random.default_rng(5)
    pattern = discovery._begin(np.array([1.0, -0.5, -0.5]))
    assert pattern is not None
    pattern.scores, pattern.eta = rng.normal(size=len(scene.codes)), rng.normal(size=3)
    _, weights = discovery._gradient(pattern)
    q = discovery._q(pattern.scores)
    _, p = scene.residuals(pattern.eta, q)
    variance = p @ pattern.eta**2 - (p @ pattern.eta) ** 2
    for at in range(len(q)):
        moved = pattern.scores.copy()
        moved[at] += 1e-6
        slope = (discovery._q(moved) - q) / 1e-6
        assert weights[at] == pytest.approx((variance * slope**2).sum(), abs=1e-5)


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("size", [1, 2, 4, None])
@pytest.mark.parametrize("sign", [1, -1])
def test_two_labels_are_the_published_algorithm(sign, size, back, monkeypatch):
    """Round by round: the same tree as on all pairs of a bag and a position in it, and the same step."""
    steps = PUBLISHED_STEPS[:5]  # longer ones would leave nothing to a second round
    monkeypatch.setattr("hedgerow.future.discovery.PUBLISHED_STEPS", steps)
    scene = scene_of(seed=7, lengths=(1, 14, 9, 16, 22))
    discovery = Discovery(rules_of(size, growth={"max_leaves": 3}), scene, None, back)
    F = (scene.scores[:, 1] - scene.scores[:, 0]).tolist()
    gold, starts = scene.codes.tolist(), scene.starts.tolist()
    pattern = discovery._begin(sign * np.array([-0.5, 0.5]))
    assert pattern is not None
    G, eta = [-1.0] * len(gold), float(sign)
    for at in range(3):
        tree, tests = oracles_future.lower_tree(scene.instances, F, eta, G, gold, starts, size, back, 3, 1.0)
        values = [oracles_future.says(tree, tests, s) for s in range(len(gold))]
        step = oracles_future.best_step(steps.tolist(), values, F, eta, G, gold, starts, size, back)
        assert pattern.steps[at] == pytest.approx(step)
        assert _tests(tree_of(pattern.trees[at], 0)) == _tests(tree)
        said = np.zeros((len(gold), 1, 1), np.float32)
        pattern.trees[at].compiled(scene.instances, 1, 0).add_scores(scene.instances.reader, said, 1)
        np.testing.assert_allclose(said[:, 0, 0], np.array(values) * step, rtol=1e-4, atol=step * 1e-8)
        G = pattern.scores.tolist()
        eta = float(pattern.eta[1] - pattern.eta[0])
        if not discovery._grow(pattern):
            break
    assert len(pattern.trees) >= 2


def _tests(tree):
    return (tree["test"], _tests(tree["true"]), _tests(tree["false"])) if "test" in tree else None


def test_the_direction_is_fitted_to_the_feature():
    """The gradient of the penalised likelihood is 0 where it ends, and labels' weights add up to nothing."""
    scene = scene_of(k=4, seed=9, lengths=(30, 40))
    discovery = Discovery(rules_of(3, l2=0.3), scene, None, False)
    q = np.random.default_rng(1).random(len(scene.codes))
    eta = np.array([1.0, 0.0, 0.0, -1.0])
    for _ in range(30):
        eta = discovery._fitted(eta, q)
    residuals, _ = scene.residuals(eta, q)
    np.testing.assert_allclose(q @ residuals - 0.3 * eta, 0, atol=1e-2)
    assert eta.sum() == pytest.approx(0, abs=1e-12)


def test_every_round_makes_gold_more_likely():
    scene = scene_of(k=3, seed=11, lengths=(40, 40))
    plain = scene.likelihood(np.zeros(3), np.zeros(80))
    discovery = Discovery(rules_of(2, newton=True, rounds=6, l2=0.0), scene, None, False)
    pattern = discovery._begin(np.array([1.0, -0.5, -0.5]))
    found = [one.likelihood for one in discovery._grown(pattern)]
    assert all(later > earlier for earlier, later in pairwise(found))
    assert found[0] > plain
