"""Gold contexts as columns, and trees over them as trees over previous labels."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import hedgerow as hr
from builders.trees import growth_rules
from hedgerow.data.columns import ABSENT, LocalColumn
from hedgerow.encoding import AttributeReader, Encoder, Labels
from hedgerow.learning.base import DevData, TrainingData
from hedgerow.learning.boosting import BoostingLearner, BoostingRules
from hedgerow.learning.label_contexts import columns_to_lags, lags_to_columns, with_label_columns

GROWTH = growth_rules(l2=0.1, max_leaves=12)
RULES = BoostingRules(
    window=1,
    transitions="trees",
    shared=False,
    n_rounds=4,
    learning_rate=1.0,
    line_search=False,
    growth=GROWTH,
    subsample=1.0,
    pseudo_rounds=0,
    stopping=None,
    seed=0,
)


def training_of(n_labels, order, seed=0):
    rng = np.random.default_rng(seed)
    X = ["".join(rng.choice(list("abc"), size=n)) for n in [1, 2, 3, *rng.integers(4, 9, size=12)]]
    y = [[str(v) for v in rng.integers(n_labels, size=len(x))] for x in X]
    y[-1][:n_labels] = [str(v) for v in range(n_labels)][: len(y[-1])]
    sequences = hr.Sequences(X)
    encoder, labels = Encoder.fit(sequences), Labels.fit(y, sequences)
    codes = labels.codes(y, sequences)
    return TrainingData(
        encoder=encoder,
        labels=labels,
        sequences=encoder.transform(sequences),
        codes=codes,
        weights=np.ones(len(X)),
        order=order,
    )


@pytest.mark.parametrize(("n_labels", "order"), [(2, 0), (2, 1), (3, 3), (12, 2)])
def test_columns_hold_the_labels_before(n_labels, order):
    training = training_of(n_labels, order)
    dev = DevData(training.sequences, np.where(training.codes == 1, -1, training.codes))
    given = with_label_columns(replace(training, dev=dev))
    assert given.order == 0
    assert [spec.name for spec in given.encoder.columns] == ["symbol", *(f"y[-{m + 1}]" for m in range(order))]
    starts = training.sequences.starts.tolist()
    for data, codes, unseen in ((given.sequences, training.codes, None), (given.dev.sequences, dev.codes, -1)):
        for back, column in enumerate(data.columns[1:], 1):
            assert isinstance(column, LocalColumn)
            assert column.alphabet[len(training.labels)] == "start"
            for begin, end in pairwise(starts):
                for t in range(begin, end):
                    before = codes[t - back] if t - back >= begin else len(training.labels)
                    assert column.codes[t] == (ABSENT if before == unseen else before)


@pytest.mark.parametrize("splits", ["one-hot", "subset"])
@pytest.mark.parametrize(("n_labels", "order"), [(2, 1), (3, 2), (5, 3)])
def test_trees_that_ask_columns_become_trees_that_ask_labels(n_labels, order, splits):
    training = training_of(n_labels, order, seed=order)
    given = with_label_columns(training)
    rules = replace(RULES, growth=growth_rules(l2=0.1, max_leaves=12, category_splits=splits))
    learner = BoostingLearner(given, rules)
    for _ in learner:
        pass
    potential = learner.potential
    by_column = potential.scores(given.sequences).edge[:, 0]
    rows = AttributeReader(training.sequences, potential.window, potential.binnings)
    k = len(training.labels)
    trees = columns_to_lags(potential.trees, rows.n_ids, k)
    assert (trees.nodes["attribute"] < rows.n_ids).all()
    assert (trees.nodes["lag"] >= 0).any()
    assert splits == "one-hot" or (trees.nodes["n_alternatives"][trees.nodes["lag"] >= 0] > 0).any()
    back = lags_to_columns(trees, rows.n_ids, k)
    np.testing.assert_array_equal(back.nodes, potential.trees.nodes)
    np.testing.assert_array_equal(back.alternatives, potential.trees.alternatives)
    scores = replace(potential, trees=trees, tree_order=order, mean_edges=None).scores(training.sequences).edge
    for begin, end in pairwise(training.sequences.starts.tolist()):
        for t in range(begin, end):
            context = 0
            for back in range(1, min(t - begin, order) + 1):
                context = context * k + training.codes[t - back]
            np.testing.assert_allclose(scores[t, context], by_column[t], atol=1e-6)
