"""Folds and held-out parts: whole sequences, whole groups, and no label lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.training import training_of
from hedgerow.errors import InputError
from hedgerow.learning.folds import draw_folds, held_out, split_off_dev


@given(st.integers(1, 40), st.integers(2, 12), st.integers(0, 9), st.integers(0, 2**32))
def test_folds_are_even_and_keep_groups_together(n, n_folds, n_groups, seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_groups, size=n) if n_groups else None
    X = ["".join(rng.choice(list("ab"), size=3)) for _ in range(n)]
    training = replace(training_of(X, [["a", "b", "a"]] * n), groups=groups)
    folds = draw_folds(training, n_folds, rng)
    units = n if groups is None else len(np.unique(groups))
    assert len(folds) == n
    assert folds.max() + 1 == min(n_folds, units)
    if groups is None:
        sizes = np.bincount(folds)
        assert sizes.max() - sizes.min() <= 1
    else:
        assert all(len(np.unique(folds[groups == g])) == 1 for g in np.unique(groups))


@given(st.integers(2, 15), st.floats(0.01, 0.99), st.booleans(), st.integers(0, 2**32))
def test_what_is_held_out_takes_no_label_with_it(n, share, grouped, seed):
    rng = np.random.default_rng(seed)
    X = [[str(v) for v in rng.integers(3, size=rng.integers(1, 4))] for _ in range(n)]
    y = [[str(v) for v in rng.integers(4, size=len(x))] for x in X]
    y[0][0], y[1][0] = "4", "5"
    groups = rng.integers(4, size=n) if grouped else None
    training = replace(training_of(X, y), groups=groups)
    out = held_out(training, share, rng.permutation(n))
    assert not out.all()
    assert {label for gold in y for label in gold} == {
        label for gold, is_out in zip(y, out, strict=True) if not is_out for label in gold
    }
    if groups is not None:
        assert all(len(np.unique(out[groups == g])) == 1 for g in np.unique(groups))
    elif out.any():
        assert np.count_nonzero(out) <= max(1, round(share * n))


def test_a_split_that_would_lose_a_label_is_refused():
    training = training_of(["ab", "cd"], [["1", "2"], ["3", "4"]])
    with pytest.raises(InputError, match="no sequences can be held out"):
        split_off_dev(training, 0.5, np.arange(2))
    with pytest.raises(InputError, match="no groups can be held out"):
        split_off_dev(replace(training, groups=np.zeros(2, np.int64)), 0.5, np.arange(2))
