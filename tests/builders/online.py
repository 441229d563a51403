"""Small random data for online learners, and learners after their epochs."""

from __future__ import annotations

from itertools import islice

import numpy as np

from hedgerow.learning.epochs import epoch_orders
from hedgerow.learning.margin import MarginLearner, MarginRules


def random_data(seed, n=8, letters="abc", n_labels=3):
    rng = np.random.default_rng(seed)
    X = ["".join(rng.choice(list(letters), size=rng.integers(1, 5))) for _ in range(n)]
    y = [[str(rng.integers(n_labels)) for _ in x] for x in X]
    y[0][0], X[1], y[1] = "0", "abc", ["1", "2", "0"]  # every label occurs
    return X, y


def learned(training, **rules):
    """A learner after its epochs, and the order of their examples."""
    given = {"window": 0, "epochs": 1, "averaging": "none", "random_state": 5} | rules
    learner = MarginLearner(training, MarginRules(**given))
    n_epochs = len(list(learner))
    return learner, np.concatenate(list(islice(epoch_orders(training, 5), n_epochs)))
