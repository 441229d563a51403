"""damage: values go missing at the level of the user's columns, at random, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.data.columns import ABSENT, MISSING
from hedgerow.errors import InputError


def position(t):
    item = {"c": "ab"[t % 2], "x": float(t), "b": ["p", "q"][: t % 3]}
    return item | ({"rare": "r"} if t % 4 == 0 else {})


X = [[position(t) for t in range(n)] for n in (3, 7, 40)] * 20


def kept(column, other):
    """Whether a column's values that are not missing are those of the other."""
    there = ~column.missing()
    if column.kind == "bag":
        return all(
            column.ids[column.starts[t] : column.starts[t + 1]].tolist()
            == other.ids[other.starts[t] : other.starts[t + 1]].tolist()
            for t in np.flatnonzero(there)
        )
    values = "values" if column.kind == "numeric" else "codes"
    return (getattr(column, values)[there] == getattr(other, values)[there]).all()


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0])
def test_values_go_missing_at_the_rate_and_others_stay(rate):
    whole = hr.Sequences(X)
    damaged = hr.datasets.damage(X, rate, seed=1)
    np.testing.assert_array_equal(damaged.starts, whole.starts)
    for before, after in zip(whole.columns, damaged.columns, strict=True):
        assert kept(after, before)
        if before.kind == "bag":
            there = np.diff(before.starts) > 0
        else:
            there = np.ones(len(before), bool) if before.kind == "numeric" else before.codes != ABSENT
        assert not after.missing()[~there].any()
        assert after.missing()[there].mean() == pytest.approx(rate, abs=0.1)
        hr.Sequences.of_columns(damaged.starts, (after,))  # passes every check of a column
        if before.kind == "categorical":
            assert set(after.codes[after.missing()].tolist()) <= {MISSING}


def test_columns_are_damaged_independently_and_seeds_repeat():
    one, same, other = (hr.datasets.damage(X, 0.5, seed) for seed in (3, 3, 4))
    masks = [column.missing() for column in one.columns[:2]]
    assert 0.15 < (masks[0] & masks[1]).mean() < 0.35
    for a, b in zip(one.columns, same.columns, strict=True):
        np.testing.assert_array_equal(a.missing(), b.missing())
    assert (one.columns[0].missing() != other.columns[0].missing()).any()


def test_weighted_bags_keep_their_weights():
    import scipy.sparse

    rng = np.random.default_rng(0)
    bags = [scipy.sparse.csr_matrix(rng.integers(0, 3, (30, 5)).astype(np.float32))]
    before, after = hr.Sequences(bags).columns[0], hr.datasets.damage(bags, 0.4, seed=0).columns[0]
    for t in range(30):
        a, b = after.starts[t : t + 2]
        if not after.missing()[t]:
            assert after.weights[a:b].tolist() == before.weights[before.starts[t] : before.starts[t + 1]].tolist()


def test_damaged_sequences_are_learned_from():
    words = ["abcab", "bcabc"] * 10
    y = [[c.upper() for c in word] for word in words]
    model = hr.HMM().fit(hr.datasets.damage(words, 0.2, seed=0), y)
    assert model.score(words, y) > 0.9


@pytest.mark.parametrize("rate", [-0.1, 1.1, "half", None, float("nan"), True])
def test_a_rate_that_is_none_is_refused(rate):
    with pytest.raises(InputError, match="rate must be a number from 0 to 1"):
        hr.datasets.damage(["ab"], rate, seed=0)


@pytest.mark.parametrize("seed", [-1, 0.5, None, True])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(InputError, match="seed must be an integer"):
        hr.datasets.damage(["ab"], 0.1, seed)
