"""Iterative parameter mixing against perceptrons in dicts, and epochs over memory-mapped data."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from builders.online import random_data
from builders.parts import mapped_copy, parts_of, same
from builders.training import training_of
from hedgerow.errors import InputError
from hedgerow.learning import epochs
from hedgerow.learning.epochs import epoch_orders, frequent_attributes
from hedgerow.learning.feature_counts import FeatureCounts
from hedgerow.learning.linear_space import LinearSpace, gold_codes
from hedgerow.learning.margin import MarginRules
from hedgerow.learning.parameter_mixing import PerceptronPart, PerceptronWeights
from oracles.linear import Problem, added, assert_same_weights, mean, perceptron

pytestmark = pytest.mark.kernel

WEIGHTS = [1, 2, 0.5, 1, 1, 0.25, 1, 4]


def rules_of(**changed):
    return MarginRules(**{"window": 1, "epochs": 1, "averaging": "average", "random_state": 0} | changed)


def start(training, **changed):
    rules = rules_of(**changed)
    space = LinearSpace.bare(training, rules.window, all_transitions=True, scale=rules.scale)
    return rules, space, np.ones(space.attributes(training).n_ids, np.bool_)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("batch", [1, 2])
def test_epochs_of_parts_are_those_of_the_book(order, batch):
    training = training_of(*random_data(3), order, weights=WEIGHTS)
    rules, space, kept = start(training, batch=batch)
    groups = ([0, 3, 4, 7], [1, 2, 5], [6])
    parts = [PerceptronPart(part, space, kept, rules) for part in parts_of(training, groups)]
    problems = [Problem(part.training, window=1) for part in parts]
    weights, truth = PerceptronWeights.zeros(len(kept), training.topology.n_cells), {}
    for epoch in range(3):
        shares, slow = [0.5, 0.375, 0.125], []
        found = [part.run_epoch(pickle.loads(pickle.dumps(weights)), seed=epoch) for part in parts]
        for part, problem, result in zip(parts, problems, found, strict=True):
            examples = next(epoch_orders(part.training, epoch))
            vectors = perceptron(problem, examples, batch=batch, first=truth)
            slow.append(vectors[-1])
            assert result.n_examples == len(examples)
            assert (result.mistakes > 0) == (vectors[-1] != truth)
            assert_same_weights(result.weights.potential(space), vectors[-1])
            assert_same_weights(result.mean.potential(space), mean(vectors))
        weights = PerceptronWeights.mixed([result.weights for result in found], shares)
        truth = {}
        for w, share in zip(slow, shares, strict=True):
            truth = added(truth, w, share)
        assert_same_weights(weights.potential(space), truth)


def test_equal_weights_cancel_in_a_mix():
    some = PerceptronWeights(np.array([0, 2, 2, 3]), np.array([0, 4, 1], np.int32), np.float32([1, 2, 3]),
                             np.float32([1, 0]))  # fmt: skip
    other = PerceptronWeights(np.array([0, 1, 2, 2]), np.array([4, 2], np.int32), np.float32([-2, 5]),
                              np.float32([3, 4]))  # fmt: skip
    mixed = PerceptronWeights.mixed([some, other], [0.5, 0.5])
    expected = PerceptronWeights(np.array([0, 1, 2, 3]), np.array([0, 2, 1], np.int32), np.float32([0.5, 2.5, 1.5]),
                                 np.float32([2, 2]))  # fmt: skip
    assert same(mixed, expected)


def test_frequent_attributes_of_parts_merge():
    training = training_of(*random_data(5), 1)
    space = LinearSpace.bare(training, 1)
    counts = [
        FeatureCounts.of(space.attributes(part), lambda block, part=part: np.zeros_like(gold_codes(part, block)), 1)
        for part in parts_of(training, ([5, 1], [0, 2, 3, 4, 6, 7]))
    ]
    for min_freq in (2, 4):
        found = counts[0].merge(counts[1:]).by_attribute >= min_freq
        np.testing.assert_array_equal(found, frequent_attributes(space.attributes(training), training, min_freq))


@pytest.mark.parametrize("changed", [{"C": 1.0}, {"averaging": "vote"}])
def test_other_learners_cannot_be_mixed(changed):
    training = training_of(*random_data(0), 1)
    _, space, kept = start(training)
    with pytest.raises(InputError, match="only the weights of perceptrons"):
        PerceptronPart(training, space, kept, rules_of(**changed))


def test_memory_mapped_data_are_learned_slice_by_slice(tmp_path, monkeypatch):
    training = training_of(*random_data(3, n=40), 1)
    rules, space, kept = start(training, batch=2)
    weights = PerceptronWeights.zeros(len(kept), training.topology.n_cells)
    plain = PerceptronPart(training, space, kept, rules).run_epoch(weights, 7)
    mapped = mapped_copy(training, tmp_path)
    monkeypatch.setattr(epochs, "RANDOM_SEQUENCES", 5)
    part = PerceptronPart(mapped, space, kept, rules)
    assert len(part._pages) == 2
    found = part.run_epoch(weights, 7)
    assert same(tuple(found), tuple(plain))
