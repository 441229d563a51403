"""What trees read besides the columns of X: statistics and linear scores, both from other folds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from builders.training import training_of
from hedgerow.errors import InputError
from hedgerow.learning.cross_fitting import MANY_VALUES, N_FOLDS, ColumnRules, learn_columns
from hedgerow.learning.folds import draw_folds, subset
from hedgerow.learning.margin import MarginLearner, MarginRules
from hedgerow.learning.seeds import stream
from hedgerow.potentials.tree_columns import log_marginals

LINEAR = MarginRules(window=0, epochs=3, averaging="average", random_state=1, C=0.5)


def rules(*, statistics=True, linear=None):
    return ColumnRules(window=1, statistics=statistics, linear=linear, seed=7)


def worded(n=40, n_words=80, seed=0):
    rng = np.random.default_rng(seed)
    X = [[{"word": f"w{i}", "tag": str(i % 3)} for i in rng.integers(n_words, size=6)] for _ in range(n)]
    y = [["AB"[int(position["word"][1:]) % 2] for position in x] for x in X]
    return training_of(X, y)


def test_only_columns_of_many_values_are_replaced():
    learned = learn_columns(worded(), rules())
    assert learned.columns.kept == ("tag",)
    assert learned.columns.statistics.columns == ("word",)
    assert learn_columns(worded(n_words=MANY_VALUES), rules()) is None
    assert learn_columns(worded(), rules(statistics=False)) is None
    assert learn_columns(worded(n=1, n_words=4), rules()) is None


def test_linear_scores_are_those_of_a_model_of_the_other_folds():
    training = worded()
    learned = learn_columns(training, rules(statistics=False, linear=LINEAR))
    folds = draw_folds(training, N_FOLDS, stream(7, 5))
    temperature = learned.columns.linear.temperature
    for fold in (0, 3):
        potential = MarginLearner(subset(training, folds != fold), LINEAR).learn_all()
        own = training.sequences[folds == fold]
        expected = log_marginals(replace(potential, temperature=temperature), own, training.topology, 1)
        of_fold = np.repeat(folds == fold, training.sequences.lengths)
        np.testing.assert_array_equal(learned.training.offset[of_fold], expected)


def test_the_linear_model_that_is_kept_has_seen_all_sequences():
    training = worded()
    learned = learn_columns(training, rules(linear=LINEAR))
    every = MarginLearner(training, LINEAR)
    for _ in every:
        pass
    np.testing.assert_array_equal(learned.columns.linear.state_weights, every.potential.state_weights)
    read = learned.columns.read(training.sequences, 1)
    assert [column.name for column in read.sequences.columns] == [
        column.name for column in learned.training.sequences.columns
    ]
    assert np.abs(read.offset - learned.training.offset).max() > 0.01


def test_threads_change_nothing():
    one, two = (learn_columns(replace(worded(), n_threads=n), rules(linear=LINEAR)) for n in (1, 3))
    np.testing.assert_array_equal(one.training.offset, two.training.offset)
    for a, b in zip(one.training.sequences.columns, two.training.sequences.columns, strict=True):
        np.testing.assert_array_equal(getattr(a, "values", None), getattr(b, "values", None))


def test_a_linear_part_needs_two_sequences():
    with pytest.raises(InputError, match="at least two sequences"):
        learn_columns(worded(n=1), rules(linear=LINEAR))
    one_group = replace(worded(), groups=np.zeros(40, np.int64))
    with pytest.raises(InputError, match="at least two sequences"):
        learn_columns(one_group, rules(linear=LINEAR))
