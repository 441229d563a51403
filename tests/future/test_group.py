"""A FutureMEMM that a group of processes fits is that of one process with all sequences, to the bit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import hedgerow as hr
from builders.groups import learned_in_group, shares

N = 40


def data(seed=0, n=N, missing=0.0):
    """Labels depend on a letter ahead, on the letter itself, and on a number."""
    rng = np.random.default_rng(seed)

    def position():
        number = None if rng.random() < missing else float(rng.normal())
        letter = None if rng.random() < missing else str(rng.choice(list("abcdz")))
        return {"letter": letter, "number": number}

    X = [[position() for _ in range(rng.integers(1, 9))] for _ in range(n)]
    y = [
        [
            "+" if any(p["letter"] == "z" for p in x[t + 1 : t + 4]) else "-0"[(x[t]["number"] or 0) > 0.5]
            for t in range(len(x))
        ]
        for x in X
    ]
    return X, y


def two_labels(seed, n=N, missing=0.0):
    X, y = data(seed, n, missing)
    return X, [["+" if mark == "+" else "-" for mark in marks] for marks in y]


def spans(seed):
    """Spans of positions with a z ahead, labelled with B-x, I-x and O."""
    X, y = data(seed)
    inside = [[mark == "+" for mark in marks] for marks in y]
    return X, [[("I-x" if t and own[t - 1] else "B-x") if own[t] else "O" for t in range(len(own))] for own in inside]


def check(make, *arguments, sizes=(2, 3), shares_of=shares, **more):
    """Returns the records."""
    for size in sizes:
        (records, metadata, arrays), members = learned_in_group(size, make, *arguments, shares_of=shares_of, **more)
        for own_records, own_metadata, own_arrays in members:
            assert own_records == records
            assert own_metadata == metadata
            assert own_arrays.keys() == arrays.keys()
            for name in arrays:
                np.testing.assert_array_equal(own_arrays[name], arrays[name], err_msg=name)
    return records


def future_memm(**parameters):
    return lambda: hr.FutureMEMM(**{"bag": 3, "random_state": 0, "n_rounds": 12, "patience": 3} | parameters)


def published(**parameters):
    shared = {"bag": 3, "n_rounds": 100, "max_leaves": 4, "initial_log_odds": -1.0, "max_future": 2}
    return lambda: hr.FutureMEMM.published(**shared | parameters)


def found(records):
    return [record for record in records if record["what"] == "discovery"]


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("newton", [True, False])
def test_a_group_finds_the_features_of_one_process(newton, order):
    make, (X, y) = (future_memm(), data(order)) if newton else (published(), two_labels(order))
    records = check(lambda: make().set_params(order=order), X, y, sizes=(1, 2, 3))
    assert found(records)
    assert all(len(record["examples"]) == 5 for record in found(records))


@pytest.mark.parametrize("early_stopping", [None, "loss", "accuracy"])
@pytest.mark.parametrize("with_dev", [False, True])
def test_dev_data_and_weights_are_those_of_all(with_dev, early_stopping):
    X, y = data(3, 60)
    dev = (X[N:], y[N:]) if with_dev else ()
    weights = np.random.default_rng(0).random(N) * 3
    weights[::7] = 0
    make = future_memm(early_stopping=early_stopping, max_future=3)
    groups = [i // 3 for i in range(N)]
    assert found(check(make, X[:N], y[:N], *dev, sample_weight=weights, groups=groups))


@pytest.mark.parametrize("bag", [2, "rest"])
@pytest.mark.parametrize("bag_side", ["after", "before", "both"])
def test_bags_of_every_kind(bag_side, bag):
    make = future_memm(bag=bag, bag_side=bag_side, max_future=2, window=1, max_eta=1.5)
    assert found(check(make, *data(4), sizes=(3,)))


@pytest.mark.parametrize("newton", [True, False])
@pytest.mark.parametrize("missing", ["weighting", "learned", "impute", "indicator"])
def test_missing_values(missing, newton):
    make = (future_memm if newton else published)(missing=missing, max_future=2, min_leaf=2)
    assert found(check(make, *(data if newton else two_labels)(5, missing=0.2)))


def test_published_with_dev_data_and_weights():
    X, y = two_labels(9, 60)
    weights = np.random.default_rng(0).random(N) * 3
    records = check(published(bag_side="both"), X[:N], y[:N], X[N:], y[N:], sample_weight=weights)
    assert found(records)
    assert all("dev_accuracy" in record for record in records)


def test_constraints_hold_in_every_part():
    X, y = spans(7)
    make = future_memm(constraints="IOB2", early_stopping="auto", max_future=2)
    assert "dev_span_f1" in found(check(make, X[:30], y[:30], X[30:], y[30:]))[0]
    check(make, X, y, sizes=(3,))


@pytest.mark.parametrize(
    "cuts",
    [(0, 0, N, N), (0, 39, 39, N), (0, 1, 2, N)],
    ids=["all in the middle", "none in the middle", "one each at first"],
)
def test_members_may_lack_sequences(cuts):
    """Members without training sequences, and without dev sequences, given or split off."""

    def shares_of(n, _size):
        return [range(min(first, n), min(last, n)) for first, last in pairwise(cuts)]

    X, y = data(8, missing=0.1)
    assert found(check(future_memm(), X, y, sizes=(3,), shares_of=shares_of))
    X, y = spans(9)
    make = future_memm(constraints="IOB2", early_stopping="accuracy", max_future=2)
    check(make, X[5:], y[5:], X[:5], y[:5], sizes=(3,), shares_of=shares_of)
