"""Budgets, folds, schedules, and the noise of scores."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.errors import InputError
from hedgerow.estimators.groups import group_codes
from hedgerow.tuning.budget import Stop, seconds_of
from hedgerow.tuning.costs import fit_seconds
from hedgerow.tuning.cross_validation import make_folds, share_of
from hedgerow.tuning.data import RaceData
from hedgerow.tuning.evidence import Evidence, difference, is_noise, pooled
from hedgerow.tuning.plan import PLANNED, Rung, halving, make_plan, plan_seconds, too_slow
from hedgerow.tuning.traits import Traits
from oracles import tuning as oracle


@pytest.mark.parametrize(
    ("budget", "seconds"),
    [
        (3, 3.0),
        (np.float32(0.5), 0.5),
        ("90s", 90.0),
        ("10m", 600.0),
        ("1h", 3600.0),
        ("1h 30m", 5400.0),
        ("1.5m", 90.0),
    ],
)
def test_budgets_are_read(budget, seconds):
    assert seconds_of(budget) == seconds


@pytest.mark.parametrize("budget", [0, -1, "-5m", "0s", "ten", "", "5", "5 days", None, True, math.nan, math.inf, [1]])
def test_other_budgets_are_refused(budget):
    with pytest.raises(InputError, match="budget must be a number of seconds above 0"):
        seconds_of(budget)


def test_the_first_reason_to_stop_is_kept():
    stop = Stop(1000)
    assert not stop.is_due()
    stop.because("interrupted")
    stop.because("out of time")
    assert (stop.is_due(), stop.reason) == (True, "interrupted")
    late = Stop(1e-9)
    assert (late.is_due(), late.reason) == (True, "out of time")


@given(st.integers(1, 3000))
def test_halving_keeps_a_third(n):
    assert halving(n) == oracle.halving(n)


@given(st.lists(st.floats(0.001, 100), min_size=1, max_size=60), st.integers(2, 10), st.floats(0.01, 1e5))
def test_a_plan_is_the_first_schedule_that_the_budget_allows(costs, n_folds, budget):
    plan = make_plan(costs, n_folds, budget)
    assert plan[0].n_candidates == len(costs)
    assert plan[-1].n_folds == n_folds
    assert len(plan) == 1 or [rung.n_candidates for rung in plan] == halving(len(costs))
    for before, after in pairwise(plan):
        assert before.n_folds <= after.n_folds
        assert before.share <= after.share <= 1
    if plan[-1].share > 1 / 64:
        assert plan_seconds(plan, costs, n_folds) <= PLANNED * budget
    richer = make_plan(costs, n_folds, 2 * budget)
    assert plan_seconds(richer, costs, n_folds) >= plan_seconds(plan, costs, n_folds)


def test_candidates_that_take_a_quarter_of_the_budget_are_left_out_but_never_all():
    assert too_slow([1.0, 2.5, 2.6], 10.0) == [False, False, True]
    assert too_slow([2.6, 3.0], 10.0) == [False, False]


def test_fits_of_two_rungs_on_the_same_data_cost_once():
    plan = [Rung(4, 2, 1.0), Rung(2, 5, 1.0)]
    # On one fold of five, a fit learns from four fifths of the data.
    assert plan_seconds(plan, [1.0, 2.0, 3.0, 4.0], 5) == pytest.approx(0.8 * (2 * 10 + 3 * (7 + 5) / 2))
    plan = [Rung(4, 2, 0.5), Rung(2, 5, 1.0)]
    assert plan_seconds(plan, [1.0, 2.0, 3.0, 4.0], 5) == pytest.approx(0.8 * (0.5 * 2 * 10 + 5 * (7 + 5) / 2))


def test_an_output_code_costs_a_fit_of_its_base_for_each_bit():
    x, y = ["abcdefgh"] * 200, [list("abcdefgh")] * 200  # eight labels: a code of 30 bits
    eight = Traits.of(RaceData.read(x, y, None))
    two = replace(eight, n_labels=2)
    bit = fit_seconds(hr.TreeCRF(n_rounds=100), two)
    default = fit_seconds(hr.OutputCode(), eight)
    n_bits = hr.OutputCode(base=hr.HMM(), n_jobs=1).fit(x[:2], y[:2]).code_.shape[1]
    assert n_bits * bit < default < 4 * n_bits * bit
    assert fit_seconds(hr.OutputCode(n_bits=2 * n_bits), eight) == pytest.approx(2 * default)
    linear = fit_seconds(hr.LinearCRF(features=hr.templates.letters(3)), two)
    for code, n in (("one-vs-rest", 8), ("exhaustive", 127), (np.eye(8, dtype=int)[:, :5], 5)):
        made = hr.OutputCode(base=hr.LinearCRF(), code=code, features=hr.templates.letters(3))
        assert fit_seconds(made, eight) == pytest.approx(n * linear)
    cross = hr.OutputCode(code="grow", cascade="auto", cascade_predictions="cross")
    assert fit_seconds(cross, eight) == pytest.approx(6 * default)


@given(st.lists(st.integers(1, 9), min_size=2, max_size=30), st.data())
def test_folds_are_those_of_the_slow_version(lengths, data):
    groups = data.draw(st.lists(st.integers(0, 5), min_size=len(lengths), max_size=len(lengths)))
    codes = group_codes(groups, len(lengths))
    n_groups = len(set(groups))
    if n_groups < 2:
        return
    k = data.draw(st.integers(2, n_groups))
    folds = make_folds(k, codes, np.array(lengths), seed=7)
    sizes = [sum(n for n, g in zip(lengths, codes, strict=True) if g == group) for group in range(n_groups)]
    order = np.random.default_rng([7, 11]).permutation(n_groups).tolist()
    expected = oracle.fold_of_groups(sizes, order, k)
    for number, fold in enumerate(folds):
        assert fold.test.tolist() == [i for i, group in enumerate(codes) if expected[group] == number]
        assert sorted([*fold.train, *fold.test]) == list(range(len(lengths)))
        assert not set(codes[fold.train]) & set(codes[fold.test])
        together = codes[fold.train]
        assert len(set(together)) == 1 + np.count_nonzero(np.diff(together))  # groups are not torn apart


def test_a_share_has_whole_groups_and_two_labels():
    train, groups = np.arange(6), np.array([0, 0, 1, 1, 2, 3])
    two = [{0, 1}] * 6
    assert share_of(train, groups, two, 1 / 64).tolist() == [0, 1]
    assert share_of(train, groups, two, 0.5).tolist() == [0, 1, 2, 3]
    assert share_of(train, groups, [{0}] * 4 + [{1}] * 2, 1 / 64).tolist() == [0, 1, 2, 3, 4]
    assert share_of(train, groups, two, 1.0).tolist() == [0, 1, 2, 3, 4, 5]


def test_shares_are_nested():
    groups = np.arange(40)
    fold = make_folds(4, groups, np.ones(40, int), seed=0)[0]
    small, large = (set(share_of(fold.train, groups, [{0, 1}] * 40, share).tolist()) for share in (0.2, 0.6))
    assert small < large < set(fold.train.tolist())


def test_given_folds_and_splitters_are_used():
    from sklearn.model_selection import KFold

    groups, lengths = np.arange(4), np.ones(4, int)
    given_pairs = make_folds([([0, 1], [2, 3]), (np.array([False, False, True, True]), [0])], groups, lengths, 0)
    assert [(sorted(train), test.tolist()) for train, test in given_pairs] == [([0, 1], [2, 3]), ([2, 3], [0])]
    split = make_folds(KFold(2), groups, lengths, 0)
    assert [test.tolist() for _, test in split] == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("cv", "groups", "message"),
    [
        (1, None, "cv must be from 2 to the number of sequences, which is 4; it is 1; pass more folds"),
        (5, None, "cv must be from 2 to the number of sequences, which is 4; it is 5; pass fewer folds"),
        (3, [0, 0, 1, 1], "cv must be from 2 to the number of groups, which is 2; it is 3"),
        ("5", None, "cv must be a number of folds"),
        ([], None, "cv must be a number of folds"),
        (2.5, None, "cv must be a number of folds"),
        ([([0, 1], [1, 2])], None, "fold 0 has a sequence in both of its parts"),
        ([([0], [1])], [0, 0, 1, 1], "fold 0 has sequences of one group in both"),
        ([([0, 1], [4])], None, "from 0 to 3"),
        ([([0, 0], [1])], None, "distinct"),
        ([([0.5], [1])], None, "cv must be a number of folds"),
        (None, [7, 7, 7, 7], "needs at least 2 sequences that may be separated, but all 4 are in one group; give"),
    ],
)
def test_bad_folds_are_refused(cv, groups, message):
    with pytest.raises(InputError, match=message):
        make_folds(cv, group_codes(groups, 4), np.ones(4, int), 0)


@pytest.mark.parametrize("groups", [[1, 2, 3], "abcd", 4, [[1], [2], [3], [4]]])
def test_bad_groups_are_refused(groups):
    with pytest.raises(InputError, match="groups must hold one value for each of the 4 sequences"):
        group_codes(groups, 4)


def some_evidence(seed):
    draw = np.random.default_rng(seed)
    sizes = draw.integers(5, 30, 200).astype(float)
    return Evidence(draw.binomial(sizes.astype(int), 0.8).astype(float), sizes)


def test_standard_errors_are_those_of_the_jackknife():
    first, second = some_evidence(0), some_evidence(1)

    def ratio(evidence, units):
        return evidence.gains[units].sum() / evidence.sizes[units].sum()

    assert first.score == ratio(first, list(range(200)))
    assert first.standard_error == pytest.approx(oracle.jackknife(lambda u: ratio(first, u), 200), rel=0.02)
    gap, error = difference(first, second)
    assert gap == first.score - second.score
    slow = oracle.jackknife(lambda u: ratio(first, u) - ratio(second, u), 200)
    assert error == pytest.approx(slow, rel=0.02)


def test_pairing_shows_small_differences():
    sizes = np.full(100, 10.0)
    first = Evidence(np.tile([2.0, 10.0], 50), sizes)
    worse = Evidence(first.gains - np.tile([0.0, 1.0, 0.0, 0.0], 25), sizes)  # one mistake more in a quarter
    assert first.score - worse.score < first.standard_error  # unpaired, nothing would show
    assert not is_noise(first, worse)
    mixed = Evidence(first.gains + np.tile([1.0, -1.0], 50), sizes)
    assert is_noise(first, mixed)


def test_one_unit_has_no_standard_error():
    one = Evidence(np.array([0.5]), np.ones(1))
    assert math.isnan(one.standard_error)
    assert is_noise(one, Evidence(np.array([0.9]), np.ones(1)))
    assert pooled([one, one]).score == 0.5
    assert Evidence(np.zeros(2), np.zeros(2)).score == 0.0
