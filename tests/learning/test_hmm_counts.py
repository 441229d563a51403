"""Counts of a hidden Markov model: those of parts merge to those of the whole, bit for bit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from builders.parts import N, data, divisions, parts_of, same
from hedgerow.learning.counting import CountingLearner
from hedgerow.learning.hmm_counts import HMMCounts, count_limits


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_of_parts_merge_to_those_of_the_whole(order, weighted, monkeypatch):
    training = data(order, values=True, weighted=weighted)
    whole = HMMCounts.of(training)
    learner = CountingLearner(training, 1.0)
    (record,) = learner
    monkeypatch.setattr("hedgerow.learning.hmm_counts.COUNT_POSITIONS", 9)
    for groups in divisions(N):
        parts = parts_of(training, groups)
        limits = [count_limits(part) for part in parts]
        merged = limits[-1].merge(limits[:-1])
        counts = [pickle.loads(pickle.dumps(HMMCounts.of(part, merged))) for part in parts]
        summed = counts[0].merge(counts[1:])
        again = CountingLearner(training, 1.0, summed)
        assert list(again) == [record]
        assert same(again.potential, learner.potential)
        for a, b in zip(summed.transitions.contexts, whole.transitions.contexts, strict=True):
            np.testing.assert_array_equal(a, b)


def test_counts_are_weights_added_one_by_one():
    training = data(1, values=True, weighted=True)
    counts = HMMCounts.of(training)
    bag = training.sequences.column("b")
    expected = np.zeros((len(bag.alphabet), len(training.labels)))
    numbers = np.zeros((3, len(training.labels)))
    for t, (label, weight) in enumerate(zip(training.codes, training.position_weights, strict=True)):
        for i in range(bag.starts[t], bag.starts[t + 1]):
            expected[bag.ids[i], label] += weight * abs(float(bag.weights[i]))
        x = float(training.sequences.column("x").values[t])
        numbers[:, label] += weight, weight * x, weight * x * x
    names = [column.name for column in training.sequences.columns]
    np.testing.assert_allclose(counts.emissions[names.index("b")], expected, rtol=1e-9, atol=1e-9)
    by_label, _ = counts.emissions[names.index("x")].by_label()
    means = numbers[1] / numbers[0]
    np.testing.assert_allclose([mean for mean, _ in by_label], means, rtol=1e-12)
    np.testing.assert_allclose([spread for _, spread in by_label], numbers[2] / numbers[0] - means**2, rtol=1e-4)
