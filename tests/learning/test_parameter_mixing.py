"""Iterative parameter mixing against perceptrons and SVMs in dicts, and epochs over memory-mapped data."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from builders.groups import run_group
from builders.online import random_data
from builders.parts import mapped_copy, parts_of, same
from builders.training import training_of
from hedgerow.errors import InputError
from hedgerow.learning import epochs
from hedgerow.learning.base import DevData
from hedgerow.learning.early_stopping import Stopping
from hedgerow.learning.epochs import epoch_orders, frequent_attributes
from hedgerow.learning.feature_counts import FeatureCounts
from hedgerow.learning.linear_space import LinearSpace, gold_codes
from hedgerow.learning.margin import MarginLearner, MarginRules, margin_trainer
from hedgerow.learning.parameter_mixing import MarginPart, MixingLearner
from hedgerow.learning.weight_vector import WeightVector
from oracles.linear import (
    Problem,
    added,
    assert_same_weights,
    hamming,
    mean,
    mixed_pegasos,
    perceptron,
    svm_objective,
    weights_of,
    zero_one,
)

pytestmark = pytest.mark.kernel

WEIGHTS = [1, 2, 0.5, 1, 1, 0.25, 1, 4]
# Of 8 sequences, these shares and a power of two as C make margins of whole parts of two: no rounding decides between
# paths that are equal.
GROUPS = {1: [[0, 1, 2, 3, 4, 5, 6, 7]], 2: [[0, 3, 4, 7], [1, 2, 5, 6]], 3: [[0, 3, 4, 7], [1, 2, 5], [6]]}
C = 0.5
LOSSES = {"hamming": hamming, "zero-one": zero_one}


def rules_of(**changed):
    return MarginRules(**{"window": 1, "epochs": 1, "averaging": "average", "random_state": 0} | changed)


def start(training, **changed):
    rules = rules_of(**changed)
    space = LinearSpace.bare(training, rules.window, all_transitions=True, scale=rules.scale)
    return rules, space, np.ones(space.attributes(training).n_ids, np.bool_)


def mixed(training, groups, dev_groups=None, **changed):
    """The learner of each part after its epochs, with their logs, which must be equal; so must be the potentials."""
    parts, dev = parts_of(training, groups), training.dev

    def work(member):
        own = replace(parts[member.rank], group=member)
        if dev is not None:
            codes = np.split(dev.codes, dev.sequences.starts[1:-1])
            chosen = dev_groups[member.rank]
            codes = np.concatenate([dev.codes[:0], *(codes[i] for i in chosen)])
            own = replace(own, dev=DevData(dev.sequences[np.asarray(chosen, np.int64)], codes, group=member))
        learner = MixingLearner(own, rules_of(**changed))
        return learner, list(learner)

    found = run_group(len(groups), work)
    for learner, log in found[1:]:
        assert log == found[0][1]
        assert same(learner.potential.to_arrays(), found[0][0].potential.to_arrays())
    return found[0]


def assert_close(log, other, tolerance):
    for mine, theirs in zip(log, other, strict=True):
        assert mine.keys() == theirs.keys()
        assert mine.pop("unit") == theirs.pop("unit") == "epoch"
        assert mine == pytest.approx(theirs, rel=tolerance)


def orders_of(training, groups, n_epochs, learner):
    """The orders of the parts in each epoch."""
    orders = []
    for rank, part in enumerate(parts_of(training, groups)):
        learner.training.group.rank = rank
        learner._part.training = part
        orders.append(list(islice(learner._orders(), n_epochs)))
    return list(zip(*orders, strict=True))


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("batch", [1, 2])
def test_epochs_of_perceptrons_are_those_of_the_book(order, batch):
    training = training_of(*random_data(3), order, weights=WEIGHTS)
    rules, space, kept = start(training, batch=batch)
    parts = [MarginPart(part, space, kept, rules) for part in parts_of(training, GROUPS[3])]
    problems = [Problem(part.training, window=1) for part in parts]
    weights, truth = WeightVector.zeros(len(kept), training.topology.n_cells), {}
    for epoch in range(1, 4):
        shares, slow, found = [0.5, 0.375, 0.125], [], []
        for part, problem in zip(parts, problems, strict=True):
            examples = next(epoch_orders(part.training, epoch))
            result = part.run_epoch(pickle.loads(pickle.dumps(weights)), examples, epoch)
            vectors = perceptron(problem, examples, batch=batch, first=truth)
            assert result.n_examples == result.counted == len(examples)
            assert (result.violations > 0) == (vectors[-1] != truth)
            assert_same_weights(result.vector.potential(space), vectors[-1])
            assert_same_weights(result.mean.potential(space), mean(vectors[1:]))
            slow.append(vectors[-1])
            found.append(result)
        weights = WeightVector.sum([result.vector for result in found], shares)
        truth = {}
        for w, share in zip(slow, shares, strict=True):
            truth = added(truth, w, share)
        assert_same_weights(weights.potential(space), truth)


@pytest.mark.parametrize("n_parts", GROUPS)
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("batch", [1, 2])
def test_mixed_svms_are_those_of_the_book(n_parts, order, loss, batch):
    training, groups = training_of(*random_data(2), order, weights=WEIGHTS), GROUPS[n_parts]
    problems = [Problem(part, window=1) for part in parts_of(training, groups)]
    for averaging in ("none", "average"):
        learner, log = mixed(training, groups, epochs=3, averaging=averaging, C=C, loss=loss, batch=batch)
        orders = orders_of(training, groups, 3, learner)
        last, average = mixed_pegasos(problems, orders, C, LOSSES[loss], batch)
        assert_same_weights(learner.potential, average if averaging == "average" else last, 1e-5)
        objective = svm_objective(Problem(training, window=1), weights_of(learner.potential), C, LOSSES[loss])
        assert log[-1]["loss"] == pytest.approx(objective / sum(WEIGHTS), rel=1e-5)


def separable_data():
    X = ["ab", "ba", "a", "b", "aab", "abb", "bab", "aa"]
    return X, [["01"[letter == "b"] for letter in x] for x in X]


@pytest.mark.parametrize("n_parts", [2, 3])
@pytest.mark.parametrize("separable", [True, False])
def test_the_mean_of_a_perceptron_is_over_the_vectors_of_all_epochs(n_parts, separable):
    data, groups = separable_data() if separable else random_data(4), GROUPS[n_parts]
    training = training_of(*data, 1, weights=WEIGHTS)
    problems = [Problem(part, window=1) for part in parts_of(training, groups)]
    learner, log = mixed(training, groups, epochs=40)
    n_epochs = len(log)
    assert (n_epochs < 40) == separable == (log[-1]["mistakes"] == 0)
    w, total = {}, {}
    for orders in orders_of(training, groups, n_epochs, learner):
        last = {}
        for problem, order in zip(problems, orders, strict=True):
            vectors = perceptron(problem, order, first=w)
            share = len(order) / 8
            last = added(last, vectors[-1], share)
            total = added(total, mean(vectors[1:]), 8 * share)
        w = last
    total = added(total, w, 8 * (40 - n_epochs))  # epochs that were not needed
    assert_same_weights(learner.potential, {name: value / (1 + 8 * 40) for name, value in total.items()}, 1e-5)


@pytest.mark.parametrize("C", [None, 0.3])
@pytest.mark.parametrize("averaging", ["none", "average"])
@pytest.mark.parametrize("batch", [None, 3])
def test_one_part_is_the_local_learner(C, averaging, batch):
    training = training_of(*random_data(5, n=50), 1, weights=np.arange(50) % 4, dev=random_data(6, n=20))
    changed = {"epochs": 4, "averaging": averaging, "C": C, "batch": batch, "min_freq": 2}
    learner, log = mixed(training, [range(50)], [range(20)], **changed)
    local = MarginLearner(training, rules_of(**changed))
    assert_close(log, [record | {"parts": 1} for record in local], 1e-4)
    assert weights_of(learner.potential) == pytest.approx(weights_of(local.potential), rel=1e-5, abs=1e-6)


def test_a_perceptron_that_makes_no_mistakes_counts_the_remaining_epochs():
    training = training_of(*separable_data(), 1)
    learner, log = mixed(training, GROUPS[1], epochs=30)
    assert len(log) < 30
    assert log[-1]["mistakes"] == 0
    local = MarginLearner(training, rules_of(epochs=30))
    assert len(list(local)) == len(log)
    assert weights_of(learner.potential) == pytest.approx(weights_of(local.potential), rel=1e-5)


@pytest.mark.parametrize("C", [None, C])
def test_parts_without_examples_change_nothing(C):
    weights = [*WEIGHTS, 0, 0]
    training = training_of(*random_data(3, n=10), 1, weights=weights)
    full, log = mixed(training, [[0, 1, 2], [3, 4, 5, 6, 7]], epochs=3, C=C)
    with_empty, log_with_empty = mixed(training, [[0, 1, 2], [3, 4, 5, 6, 7], [8, 9], []], epochs=3, C=C)
    assert same(full.potential.to_arrays(), with_empty.potential.to_arrays())
    assert [{**record, "parts": 4} for record in log] == log_with_empty


@pytest.mark.parametrize("C", [None, 1.0])
def test_the_temperature_is_that_of_all_dev_data(C):
    training = training_of(*random_data(5, n=40), 1, dev=random_data(6, n=30))
    halves = [range(0, 40, 2), range(1, 40, 2)]
    one_has_all, log = mixed(training, halves, [range(30), []], epochs=3, C=C)
    divided, divided_log = mixed(training, halves, [range(11), range(11, 30)], epochs=3, C=C)
    assert one_has_all.potential.temperature != 1
    assert one_has_all.potential.temperature == log[-1]["temperature"]
    assert divided.potential.temperature == pytest.approx(one_has_all.potential.temperature, rel=1e-6)
    assert_close(log, divided_log, 1e-6)


def test_early_stopping_keeps_the_potential_of_the_best_epoch():
    training = training_of(*random_data(5, n=40), 1, dev=random_data(6, n=30))
    halves, dev_halves = [range(0, 40, 2), range(1, 40, 2)], [range(30), []]
    learner, log = mixed(training, halves, dev_halves, epochs=30, C=1.0, stopping=Stopping("loss", 3))
    best = log[-1]["best_step"]
    assert best == len(log) - 3
    again, _ = mixed(training, halves, dev_halves, epochs=best, C=1.0)
    assert same(learner.potential.to_arrays(), again.potential.to_arrays())


@pytest.mark.parametrize("averaging", ["none", "average"])
@pytest.mark.parametrize("C", [None, 1e30])
def test_weights_beyond_all_numbers_are_refused(averaging, C):
    training = training_of(*random_data(0), 1, weights=[1e38] * 8)
    with pytest.raises(InputError, match="the weights are too large; lower C"):
        mixed(training, GROUPS[2], epochs=30, averaging=averaging, C=C)


def test_equal_weights_cancel_in_a_sum():
    some = WeightVector(np.array([0, 2, 2, 3]), np.array([0, 4, 1], np.int32), np.float32([1, 2, 3]),
                        np.float32([1, 0]))  # fmt: skip
    other = WeightVector(np.array([0, 1, 2, 2]), np.array([4, 2], np.int32), np.float32([-2, 5]),
                         np.float32([3, 4]))  # fmt: skip
    expected = WeightVector(np.array([0, 1, 2, 3]), np.array([0, 2, 1], np.int32), np.float32([0.5, 2.5, 1.5]),
                            np.float32([2, 2]))  # fmt: skip
    assert same(WeightVector.sum([some, other], [0.5, 0.5]), expected)


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


def test_votes_cannot_be_mixed():
    training = training_of(*random_data(0), 1)
    rules, space, kept = start(training, averaging="vote")
    with pytest.raises(InputError, match="the votes of parts cannot be mixed"):
        MarginPart(training, space, kept, rules)


def test_weights_are_set_once_before_the_first_example():
    training = training_of(*random_data(0), 1)
    rules, space, kept = start(training)
    zeros = WeightVector.zeros(len(kept), training.topology.n_cells)
    first = (zeros.starts, zeros.labels, zeros.weights, zeros.n_grams)
    trainer = margin_trainer(training, space, kept, rules)
    with pytest.raises(ValueError, match="n_seen must be at least 0"):
        trainer.start_from(*first, n_seen=-1)
    trainer.start_from(*first, n_seen=8)
    assert trainer.n_seen == 8
    with pytest.raises(ValueError, match="a mean needs sums, and an example"):
        trainer.weights(True, 1.0, 1)
    with pytest.raises(ValueError, match="weights are set once"):
        trainer.start_from(*first, n_seen=0)


def test_memory_mapped_data_are_learned_slice_by_slice(tmp_path, monkeypatch):
    training = training_of(*random_data(3, n=40), 1)
    rules, space, kept = start(training, batch=2)
    weights = WeightVector.zeros(len(kept), training.topology.n_cells)
    order = next(epoch_orders(training, 7))
    plain = MarginPart(training, space, kept, rules).run_epoch(weights, order, 1)
    mapped = mapped_copy(training, tmp_path)
    monkeypatch.setattr(epochs, "RANDOM_SEQUENCES", 5)
    part = MarginPart(mapped, space, kept, rules)
    assert len(part._pages) == 2
    found = part.run_epoch(weights, order, 1)
    assert same(tuple(found), tuple(plain))
