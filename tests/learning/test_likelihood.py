"""The likelihood of parts of the data adds up to that of the whole, bit for bit, for any division into parts."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from builders.parts import N, data, divisions, mapped_copy, parts_of, same
from hedgerow import _core
from hedgerow.encoding import AttributeReader, Window
from hedgerow.encoding.exact_sums import ExactSums
from hedgerow.encoding.moments import Moments
from hedgerow.errors import InputError
from hedgerow.learning import likelihood_part
from hedgerow.learning.base import edge_counts
from hedgerow.learning.feature_counts import FeatureCounts
from hedgerow.learning.likelihood import Likelihood, exact_sum, sum_parts
from hedgerow.learning.likelihood_part import LikelihoodPart
from hedgerow.learning.linear_space import LinearSpace, SpaceCounts, gold_codes
from hedgerow.learning.sum_limits import SumLimits
from hedgerow.potentials.linear import Features
from oracles import exact_sums as oracle

pytestmark = pytest.mark.kernel


def evaluated(parts, space, weights, n_threads=1):
    """The value and gradient from parts, as workers would compute them."""
    parts = [replace(part, n_threads=n_threads) for part in parts]
    limits = [SumLimits.of(part, space.attributes(part)) for part in parts]
    merged = limits[-1].merge(limits[:-1])
    computed = [LikelihoodPart(part, pickle.loads(pickle.dumps(space)), merged) for part in parts]
    observed = sum(part.observed for part in reversed(computed))
    return sum_parts(space, observed, [part.evaluate(weights) for part in computed])


@pytest.mark.parametrize(
    ("order", "edges", "options"),
    [
        (0, False, {}),
        (1, False, {"weighted": True}),
        (1, False, {"values": True, "weighted": True}),
        (1, True, {"values": True, "weighted": True}),
        (2, False, {"weighted": True}),
        (2, True, {}),
        (1, False, {"beam": 2, "weighted": True}),
    ],
)
def test_parts_add_up_to_the_whole(order, edges, options):
    training = data(order, **options)
    space = LinearSpace.of(training, 1, edges=edges)
    weights = np.random.default_rng(1).normal(size=space.n_weights)
    value, gradient = Likelihood(training, space)(weights)
    assert np.isfinite(value)
    for groups in divisions(N):
        for n_threads in (1, 2):
            summed, slope = evaluated(parts_of(training, groups), space, weights, n_threads)
            assert summed == value
            np.testing.assert_array_equal(slope, gradient)


@pytest.mark.parametrize("values", [False, True])
def test_sums_are_exact_to_the_unit_of_residuals(values):
    """Against residuals in double precision, summed by attribute in plain Python."""
    training = data(values=values, weighted=True)
    space = LinearSpace.of(training, 0)
    weights = np.random.default_rng(2).normal(size=space.n_weights)
    (value, gradient), (precise, slope) = (Likelihood(training, space, double=d)(weights) for d in (False, True))
    assert value == pytest.approx(precise, rel=1e-6)
    largest = np.repeat(_core.largest_values(space.attributes(training).reader), np.diff(space.state.starts))
    scale = np.concatenate([largest, np.ones(len(space.n_grams))])
    np.testing.assert_array_less(np.abs(gradient - slope) / scale, 1e-4)


def test_whole_residuals_are_rounded_once():
    rng = np.random.default_rng(0)
    lengths, width = np.array([3, 1, 5]), 7
    starts, n = np.concatenate([[0], np.cumsum(lengths)]), int(lengths.sum())
    p = rng.uniform(0, 1, (n, width)).astype(np.float32)
    p[0, :4] = 0, 1, 0.25, 2.0**-26
    gold = rng.integers(-1, width, n).astype(np.int32)
    factors = np.array([2.0**25, 2.0**24, 3.0])
    found = np.empty((n, width), np.int32)
    _core.whole_residuals(p, gold, starts, factors, found, 2)
    np.testing.assert_array_equal(found, oracle.whole_residuals(p, gold, np.repeat(factors, lengths)))
    for bad in (np.array([2.0**25 + 4, 0, 0]), np.array([-1.0, 0, 0]), np.array([np.nan, 0, 0])):
        with pytest.raises(ValueError, match="factors"):
            _core.whole_residuals(p, gold, starts, bad, found, 1)


@pytest.mark.parametrize("width", [2, 5, 19, 70])
def test_gradients_of_values_are_sums_of_rounded_products(width):
    rng = np.random.default_rng(width)
    n = 300
    numbers = (rng.normal(size=n) * 10.0 ** rng.integers(-4, 3, n)).astype(np.float32)
    numbers[:40] = 1
    ones = np.ones(n, np.float32)
    reader = _core.AttributeReader(np.array([0, n]), np.array([0]))
    for column in (numbers, ones, ones * 0):
        reader.add_numbers(column)
    features = _core.LinearFeatures(np.arange(4) * width, np.tile(np.arange(width, dtype=np.int32), 3), width)
    residuals = rng.integers(-(2**25), 2**25, (n, width), endpoint=True).astype(np.int32)
    largest = _core.largest_values(reader)
    np.testing.assert_array_equal(largest, [np.abs(numbers).max(), 1, 0])
    unit, value_unit = 2.0**-25, 2.0**-15
    whole = np.zeros(3 * width)
    _core.LinearPostings(reader, features, 0, n, 0, largest).add_whole_gradient(residuals, unit, value_unit, whole, 2)
    products = oracle.rounded_products(numbers, residuals, float(largest[0]), value_unit)
    expected = np.concatenate(
        [products.sum(axis=0).astype(np.float64), residuals.sum(axis=0, dtype=np.int64), np.zeros(width)]
    )
    np.testing.assert_array_equal(whole, expected * unit)
    # A block where all values are 1 is summed as whole numbers, and adds up to the same bits.
    for cut in (40, 41, 200):
        blocks = np.zeros(3 * width)
        for first, last in ((cut, n), (0, cut)):
            postings = _core.LinearPostings(reader, features, first, last, 0, largest)
            postings.add_whole_gradient(residuals[first:last], unit, value_unit, blocks, 1)
        np.testing.assert_array_equal(blocks, whole)
    with pytest.raises(ValueError, match="exceed"):
        _core.LinearPostings(reader, features, 0, n, 0, largest / 2)
    with pytest.raises(ValueError, match="exceed"):
        _core.LinearPostings(reader, features, 0, n, 0)


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("edges", [False, True])
def test_spaces_of_parts_merge_to_that_of_the_whole(values, edges):
    training = data(values=values)
    for min_freq in (1, 3):
        for observed_only in (True, False):
            rules = {"min_freq": min_freq, "observed_only": observed_only, "edges": edges}
            whole = LinearSpace.of(training, 1, **rules)
            for groups in divisions(N):
                counts = [pickle.loads(pickle.dumps(SpaceCounts.of(part, 1, edges=edges)))
                          for part in parts_of(training, groups)]  # fmt: skip
                merged = counts[0].merge(counts[1:])
                some = parts_of(training, groups)[-1]
                assert same(LinearSpace.of(some, 1, counts=merged, **rules), whole)


def test_features_are_counted_one_block_at_a_time(monkeypatch):
    training = data(values=True)
    reader = AttributeReader(training.sequences, Window.of(1), LinearSpace.of(training, 1).scalings)
    whole = FeatureCounts.of(reader, lambda block: gold_codes(training, block), 4)
    times = oracle.feature_counts(*reader.ids(0, len(training.codes)), training.codes)
    attributes = np.repeat(np.arange(reader.n_ids), np.diff(whole.starts))
    assert dict(zip(zip(attributes, whole.outputs, strict=True), whole.counts, strict=True)) == times
    monkeypatch.setattr("hedgerow.learning.feature_counts.PAGE_POSITIONS", 7)
    assert same(FeatureCounts.of(reader, lambda block: gold_codes(training, block), 4), whole)


def test_gold_counts_of_parts_add_up(monkeypatch):
    training = data(2, weighted=True)
    limits = SumLimits.of(training)
    whole = edge_counts(training)
    monkeypatch.setattr("hedgerow.learning.base.COUNT_POSITIONS", 5)
    for groups in divisions(N):
        summed = sum(edge_counts(part, limits) for part in parts_of(training, groups))
        np.testing.assert_array_equal(summed, whole)


def test_postings_beyond_the_budget_change_nothing(monkeypatch):
    training = data(values=True, weighted=True)
    space = LinearSpace.of(training, 1)
    weights = np.random.default_rng(3).normal(size=space.n_weights)
    value, gradient = Likelihood(training, space)(weights)
    monkeypatch.setattr(likelihood_part, "BLOCK", 40)
    for budget in (0, 3000):
        monkeypatch.setattr(likelihood_part, "POSTINGS_BYTES", budget)
        likelihood = Likelihood(training, space)
        for _ in range(2):
            again, slope = likelihood(weights)
            assert again == value
            np.testing.assert_array_equal(slope, gradient)
        kept = likelihood._part._kept
        assert sum(postings.n_bytes for block in kept.values() for postings in block) <= budget
        assert bool(kept) == bool(budget)


def test_memory_mapped_data_give_the_same_bits(tmp_path, monkeypatch):
    training = data()
    space = LinearSpace.of(training, 1)
    weights = np.random.default_rng(4).normal(size=space.n_weights)
    value, gradient = Likelihood(training, space)(weights)
    monkeypatch.setattr(likelihood_part, "PAGE_POSITIONS", 20)
    monkeypatch.setattr(likelihood_part, "BLOCK", 40)
    mapped = mapped_copy(training, tmp_path)
    assert same(LinearSpace.of(mapped, 1), space)
    again, slope = Likelihood(mapped, space)(weights)
    assert again == value
    np.testing.assert_array_equal(slope, gradient)


def test_limits_must_be_those_of_all_parts():
    training = data(values=True, weighted=True)
    space = LinearSpace.of(training, 0)
    limits = SumLimits.of(training, space.attributes(training))
    with pytest.raises(InputError, match="weights of a part must be at most 0"):
        LikelihoodPart(training, space, replace(limits, largest_weight=0.5))
    small = LikelihoodPart(training, space, replace(limits, largest_values=limits.largest_values / 4))
    with pytest.raises(InputError, match="merge those of all parts"):
        small.evaluate(np.zeros(space.n_weights))


def test_too_many_features_are_refused():
    outputs = np.broadcast_to(np.int32(0), 2**31)  # takes no memory
    with pytest.raises(InputError, match="fewer than 2147483648 features"):
        Features(np.array([0, 2**31]), outputs, 1)


@pytest.mark.parametrize("n_positions", [1, 2, 1000, 2**28, 2**28 + 1, 2**40])
@pytest.mark.parametrize("largest", [1e-3, 1.0, 1.5, 4.0])
def test_units_leave_room_for_all_positions(n_positions, largest):
    limits = SumLimits(n_positions, largest)
    assert n_positions * largest / limits.residual_unit <= 2**53
    assert largest / limits.residual_unit <= 2**25
    assert n_positions * largest / (limits.residual_unit * limits.value_unit) <= 2**53
    assert n_positions * largest / limits.count_unit <= 2**51
    np.testing.assert_allclose(limits.rounded_weights(np.array([largest])), largest, rtol=n_positions * 2.0**-51)
    if n_positions <= 2**28:
        assert largest / limits.residual_unit > 2**24


@pytest.mark.parametrize("block", [3, 2**20])
def test_exact_sums_are_those_of_fractions(monkeypatch, block):
    monkeypatch.setattr("hedgerow.encoding.exact_sums.BLOCK", block)
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=20) * 10.0 ** rng.integers(-300, 300, 20), [0.0, 5e-324, -1.7e308, 1.0]])
    of_sum = rng.integers(0, 3, len(x))
    expected = oracle.exact_sums(x, of_sum, 3)
    assert oracle.fractions_of(ExactSums.of(x, of_sum, 3)) == expected
    for cut in (1, 11):
        first, second = ExactSums.of(x[:cut], of_sum[:cut], 3), ExactSums.of(x[cut:], of_sum[cut:], 3)
        assert oracle.fractions_of(second.merge([first])) == expected
    assert oracle.fractions_of(ExactSums.of(x[:0], of_sum[:0], 3)) == [0, 0, 0]


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_one_exact_sum_is_rounded_once(n):
    rng = np.random.default_rng(n)
    x = rng.normal(size=n) * 10.0 ** rng.integers(-320, 300, n)
    weights = rng.choice([0.0, 0.3, 1.0, 7.0], n)
    assert ExactSums.of(x).rounded() == [math.fsum(x)]
    assert ExactSums.weighted(x, weights).rounded() == [math.fsum(weights * x)]
    for cut in (0, n // 3, n):
        parts = [ExactSums.weighted(x[at], weights[at]) for at in (slice(cut), slice(cut, None))]
        assert parts[0].merge(parts[1:]).rounded() == [math.fsum(weights * x)]


def test_exact_sums_take_finite_numbers():
    for strange in (np.inf, -np.inf, np.nan):
        x = np.array([1.0, strange])
        assert ExactSums.weighted(x, np.array([2.0, 0.0])).rounded() == [2.0]
        with pytest.raises(ValueError, match="must be finite"):
            ExactSums.of(x)
        with pytest.raises(ValueError, match="must be finite"):
            ExactSums.weighted(x, np.ones(2))
    with pytest.raises(ValueError, match="one weight per value"):
        ExactSums.weighted(np.ones(2), np.ones(3))


def test_moments_of_parts_merge_bit_for_bit():
    rng = np.random.default_rng(1)
    values = (1e6 + rng.normal(size=500)).astype(np.float32)
    values[::7] = np.nan
    whole = Moments.of(values)
    known = values[~np.isnan(values)].astype(np.float64)
    np.testing.assert_allclose(whole.mean_and_deviation(), (known.mean(), known.std()), rtol=1e-12)
    for cuts in ([100], [1, 499], [3, 5, 250, 251]):
        parts = [Moments.of(part) for part in np.split(values, cuts)][::-1]
        merged = parts[0].merge(parts[1:])
        assert merged.mean_and_deviation() == whole.mean_and_deviation()
        assert (merged.n, merged.largest) == (whole.n, whole.largest)
    assert Moments.of(values[:0]).mean_and_deviation() == (0, 0)
    assert Moments.of(values[:1]).mean_and_deviation() == (0, 0)


def test_sums_of_losses_do_not_depend_on_their_order(monkeypatch):
    rng = np.random.default_rng(2)
    x = rng.normal(size=1000) * 10.0 ** rng.integers(-8, 9, 1000)
    whole = exact_sum([x])
    monkeypatch.setattr("hedgerow.learning.likelihood.SUMMED", 64)
    assert exact_sum(np.split(rng.permutation(x), [10, 700])) == whole
    assert whole == float(oracle.exact_sums(x, np.zeros(1000, int), 1)[0])
