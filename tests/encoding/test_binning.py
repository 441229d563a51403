"""Bins: properties that can be counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hedgerow.encoding import Binning
from hedgerow.encoding.binning import transform_all
from hedgerow.errors import InputError
from oracles.encoding import bin_edges

pytestmark = pytest.mark.kernel

floats = st.one_of(st.floats(width=32, allow_infinity=False), st.integers(-3, 3).map(float), st.just(float("nan")))
columns = arrays(np.float32, st.integers(0, 60), elements=floats)
max_bins = st.integers(1, 12)


@given(columns, max_bins)
def test_edges_equal_counting_by_hand(values: np.ndarray, n: int) -> None:
    assert Binning.fit(values, n).edges.tolist() == bin_edges(values.tolist(), n)


def test_threads_find_the_same_edges_and_bins() -> None:
    rng = np.random.default_rng(1)
    many = [(rng.normal(size=size) * 10.0**e).astype(np.float32) for e, size in enumerate(rng.integers(0, 3000, 30))]
    one = Binning.fit_all(many, [9] * 30)
    for alone, values, with_others in zip(one, many, Binning.fit_all(many, [9] * 30, n_threads=3), strict=True):
        assert alone.edges.tolist() == with_others.edges.tolist() == bin_edges(values.tolist(), 9)
    for alone, values, bins in zip(one, many, transform_all(many, one, n_threads=3), strict=True):
        assert alone.transform(values).tolist() == bins.tolist()


@given(columns, max_bins)
def test_bins_count_the_edges_at_or_below(values: np.ndarray, n: int) -> None:
    binning = Binning.fit(values, n)
    expected = [255 if v != v else sum(edge <= v for edge in binning.edges.tolist()) for v in values.tolist()]
    assert binning.transform(values).tolist() == expected
    assert binning.transform(values).dtype == np.uint8
    assert binning.n_bins <= n


@given(columns, max_bins)
def test_bins_keep_the_order_and_none_is_empty(values: np.ndarray, n: int) -> None:
    binning = Binning.fit(values, n)
    present = np.sort(values[~np.isnan(values)])
    bins = binning.transform(present)
    assert (np.diff(bins.astype(int)) >= 0).all()
    if len(present):
        assert sorted(set(bins.tolist())) == list(range(binning.n_bins))
    assert (np.diff(binning.edges) > 0).all()


@given(columns, max_bins)
def test_few_distinct_values_have_a_bin_each(values: np.ndarray, n: int) -> None:
    distinct = sorted({v for v in values.tolist() if v == v})
    binning = Binning.fit(values, n)
    if len(distinct) <= n:
        assert binning.transform(np.array(distinct, np.float32)).tolist() == list(range(len(distinct)))
    else:
        assert binning.n_bins >= 1


@given(columns, max_bins)
def test_a_bin_without_its_last_value_holds_less_than_its_share(values: np.ndarray, n: int) -> None:
    present = values[~np.isnan(values)]
    if len(np.unique(present)) <= n:
        return
    bins = Binning.fit(values, n).transform(present)
    for b in set(bins.tolist()):
        inside = present[bins == b]
        assert np.count_nonzero(inside < inside.max()) < len(present) / n


@given(columns, st.randoms())
def test_the_order_of_values_does_not_matter(values: np.ndarray, random: Any) -> None:
    shuffled = values.copy()
    random.shuffle(shuffled)
    assert Binning.fit(values, 7).edges.tolist() == Binning.fit(shuffled, 7).edges.tolist()


def test_uniform_values_fill_all_bins_evenly() -> None:
    values = np.random.default_rng(0).permutation(25_500).astype(np.float32)
    counts = np.bincount(Binning.fit(values).transform(values))
    assert len(counts) == 255
    assert set(counts) == {100}


def test_neighbouring_floats_are_told_apart() -> None:
    low = np.float32(1)
    for value in (low, np.nextafter(low, np.float32(2)), np.float32(0), np.float32(-3e38)):
        pair = np.array([value, np.nextafter(value, np.float32(np.inf))], np.float32)
        assert Binning.fit(pair).transform(pair).tolist() == [0, 1]
    far = np.array([-3.4e38, 3.4e38], np.float32)
    assert Binning.fit(far).edges.tolist() == [0.0]


def test_edges_lie_midway() -> None:
    assert Binning.fit(np.float32([4, 1, 2, 1, np.nan])).edges.tolist() == [1.5, 3.0]


@pytest.mark.parametrize("values", [[], [np.nan, np.nan], [3.0, 3.0, np.nan]])
def test_nothing_to_tell_apart_means_no_edges(values: list[float]) -> None:
    binning = Binning.fit(np.array(values, np.float32))
    assert binning.edges.tolist() == []
    assert binning.transform(np.float32([np.nan, 1])).tolist() == [255, 0]


def test_refuses() -> None:
    for n in (0, 256):
        with pytest.raises(InputError, match="max_bins must be from 1 to 255"):
            Binning.fit(np.float32([1]), n)
    with pytest.raises(InputError, match="must be finite"):
        Binning.fit(np.float32([1, np.inf]))
    for edges in (
        np.float32([1, 1]),
        np.float32([2, 1]),
        np.float32([np.nan]),
        np.float64([1]),
        np.zeros((1, 1)),
    ):
        with pytest.raises(InputError, match="edges of bins must be"):
            Binning(edges)
    with pytest.raises(InputError, match="fewer than 255"):
        Binning(np.arange(255, dtype=np.float32))
