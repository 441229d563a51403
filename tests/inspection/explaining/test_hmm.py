"""Contributions of hidden Markov models against counts by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hedgerow as hr
from oracles.hmm import NaiveHMM

X = ["abca", "bcab", "cab", "ab", "c", "bbca"]
Y = ["xyyx", "yxxy", "yxx", "xy", "y", "xyyx"]


def log_ratio(one, other):
    return math.log(one / other)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_ratios_are_those_of_counts(order):
    model = hr.HMM(order=order, smoothing=0.5).fit(X, [list(labels) for labels in Y])
    naive = NaiveHMM(X, Y, order, 0.5)
    for x in (*X, "acb"):
        for t, explanation in enumerate(model.explain(x)):
            label, (against,) = explanation.label, explanation.against
            found = {c.column: c for c in explanation.contributions}
            wanted = log_ratio(naive.emission(label, x[t]), naive.emission(against, x[t]))
            assert found["symbol"].contribution == pytest.approx(wanted)
            assert (found["symbol"].value, found["symbol"].offset) == (x[t], 0)
            if t == 0:
                start = log_ratio(naive.transition([], label), naive.transition([], against))
                assert found["left context"].contribution == pytest.approx(start)
            if t == len(x) - 1:
                assert found["right context"].contribution == pytest.approx(0.0, abs=1e-9)


def test_the_context_of_the_second_position_sums_over_the_first_label():
    model = hr.HMM(smoothing=0.5).fit(X, [list(labels) for labels in Y])
    naive, x = NaiveHMM(X, Y, 1, 0.5), "ab"
    explanation = model.explain(x, 1)

    def before(label):
        return sum(naive.transition([], y) * naive.emission(y, "a") * naive.transition([y], label) for y in "xy")

    left = next(c for c in explanation.contributions if c.column == "left context")
    assert left.contribution == pytest.approx(log_ratio(before(explanation.label), before(explanation.against[0])))
    first = model.explain(x, 0)

    def after(label):
        return sum(naive.transition([label], y) * naive.emission(y, "b") for y in "xy")

    right = next(c for c in first.contributions if c.column == "right context")
    assert right.contribution == pytest.approx(log_ratio(after(first.label), after(first.against[0])))


def test_values_that_are_unseen_or_missing_say_nothing():
    X = [[{"w": w} for w in x] for x in ("ab", "ba", "aab")]
    Y = ["xy", "yx", "xxy"]
    model = hr.HMM().fit(X, [list(labels) for labels in Y])
    for value in ("never seen", None):
        explanation = model.explain([{"w": value}, {"w": "b"}], 0)
        assert "w" not in {c.column for c in explanation.contributions}


def test_numbers_have_normal_densities():
    rng = np.random.default_rng(0)
    X = [[{"n": float(np.float32(v))} for v in rng.normal(size=5)] for _ in range(8)]
    y = [["low" if row["n"] < 0 else "high" for row in x] for x in X]
    model = hr.HMM().fit(X, y)
    numbers = [row["n"] for x in X for row in x]
    by_label = {"low": [n for n in numbers if n < 0], "high": [n for n in numbers if n >= 0]}
    emission = model.model_.potential.emissions[0]
    codes = model.classes_.tolist()
    for label, values in by_label.items():
        assert emission.mean[codes.index(label)] == pytest.approx(np.mean(values))

    def density(label, value):
        mean, variance = emission.mean[codes.index(label)], emission.variance[codes.index(label)]
        return math.exp(-((value - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)

    for t, row in enumerate(X[0]):
        explanation = model.explain(X[0], t)
        found = next(c for c in explanation.contributions if c.column == "n")
        assert found.value == pytest.approx(row["n"])
        wanted = log_ratio(density(explanation.label, row["n"]), density(explanation.against[0], row["n"]))
        assert found.contribution == pytest.approx(wanted, rel=1e-6)


def test_bags_have_a_contribution_for_each_value_times_its_weight():
    X = [[{"bag": {"p": 1.0, "q": 2.0}}, {"bag": {"q": 1.0}}], [{"bag": {"q": 3.0}}, {"bag": {"p": 1.0}}]]
    model = hr.HMM(smoothing=1).fit(X, [["x", "y"], ["y", "x"]])
    counts = {("x", "p"): 2, ("x", "q"): 2, ("y", "p"): 0, ("y", "q"): 4}
    explanation = model.explain([{"bag": {"p": 2.0, "q": 0.5}}], 0)
    sign = 1 if explanation.label == "x" else -1
    found = {c.value: c.contribution for c in explanation.contributions if c.column == "bag"}

    def p(label, value):
        total = sum(n for (of, _), n in counts.items() if of == label)
        return (counts[label, value] + 1) / (total + 2)

    for value, weight in (("p", 2.0), ("q", 0.5)):
        assert found[value] == pytest.approx(sign * weight * log_ratio(p("x", value), p("y", value)))


def test_without_smoothing_impossible_values_have_infinite_contributions():
    model = hr.HMM(smoothing=0).fit(["cat", "dog", "at"], [["-", "a", "-"], ["-", "o", "-"], ["a", "-"]])
    explanation = model.explain("cat", 1)
    assert explanation.log_odds == math.inf
    amounts = {str(c): c.contribution for c in explanation.contributions}
    assert amounts["symbol = a"] == math.inf
    assert all(math.isfinite(amount) for name, amount in amounts.items() if name != "symbol = a")
    for start, end in ((0, 2), (1, 3), (0, 3)):
        for against in (None, ["o"] * (end - start), ["-"] * (end - start)):
            found = model.explain("cat", (start, end), against)
            assert not any(math.isnan(c.contribution) for c in found.contributions)
            assert sum(c.contribution for c in found.contributions) == found.log_odds == math.inf


def test_weights_of_zero_do_not_make_an_infinite_contribution_nan():
    X = [[{"bag": {"p": 1.0}}, {"bag": {"q": 1.0}}]] * 2
    model = hr.HMM(smoothing=0).fit(X, [["x", "y"]] * 2)
    explanation = model.explain([{"bag": {"p": 1.0, "q": 0.0}}], 0)
    assert not any(math.isnan(c.contribution) for c in explanation.contributions)
