"""Small random data for beam search, and a learner after its epochs."""

from __future__ import annotations

from itertools import islice

import numpy as np

from hedgerow.learning.epochs import epoch_orders
from hedgerow.search.learner import SearchLearner, SearchRules


def random_data(seed, n=8, letters="abc", n_labels=3, longest=5):
    rng = np.random.default_rng(seed)
    X = ["".join(rng.choice(list(letters), size=rng.integers(1, longest))) for _ in range(n)]
    y = [[str(rng.integers(n_labels)) for _ in x] for x in X]
    y[0][0], X[1], y[1] = "0", "abca", ["1", "2", "0", str(n_labels - 1)]  # every label occurs
    return X, y


def fitted(training, **rules):
    """A learner after its epochs, and the order of their examples."""
    given = {
        "order": 1, "window": 0, "beam": 2, "update": "laso", "direction": "left-to-right", "epochs": 2,
        "averaged": False, "min_freq": 1, "random_state": 5,
    } | rules  # fmt: skip
    learner = SearchLearner(training, SearchRules(**given))
    n_epochs = len(list(learner))
    return learner, np.concatenate(list(islice(epoch_orders(training, 5), n_epochs)))
