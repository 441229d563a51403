"""A hidden Markov model counted by loops over dicts, straight from the definition."""

from __future__ import annotations

import math
from collections import defaultdict


class NaiveHMM:
    """One categorical column per position (None is missing); probabilities, not logs."""

    def __init__(self, X, y, order, smoothing):
        self.labels = sorted({label for labels in y for label in labels})
        self.values = sorted({v for x in X for v in x if v is not None})
        self.order, self.s = order, smoothing
        self.everywhere = defaultdict(float)  # (history of exactly m labels, label) wherever m labels go before
        self.at_start = defaultdict(float)  # the same, only where the history is all there is
        self.emitted = defaultdict(float)
        for x, labels in zip(X, y, strict=True):
            for t, label in enumerate(labels):
                for m in range(order + 1):
                    if t >= m:
                        self.everywhere[tuple(labels[t - m : t]), label] += 1
                    if t == m:
                        self.at_start[tuple(labels[t - m : t]), label] += 1
                if x[t] is not None:
                    self.emitted[label, x[t]] += 1

    def _estimate(self, counts, history, label, prior):
        total = sum(counts[history, other] for other in self.labels)
        strength = self.s * len(self.labels)
        if total + strength == 0:
            return prior
        return (counts[history, label] + strength * prior) / (total + strength)

    def _expected(self, history, label):
        prior = 1 / len(self.labels) if not history else self._expected(history[1:], label)
        return self._estimate(self.everywhere, history, label, prior)

    def transition(self, history, label):
        """history: the labels before, oldest first, at most `order` of them."""
        if len(history) == self.order:
            return self._expected(tuple(history), label)
        return self._estimate(self.at_start, tuple(history), label, self._expected(tuple(history), label))

    def emission(self, label, value):
        if value is None or value not in self.values:
            return 1.0
        total = sum(self.emitted[label, v] for v in self.values)
        if total + self.s == 0:
            return 1 / len(self.values)
        return (self.emitted[label, value] + self.s) / (total + self.s * len(self.values))

    def joint(self, x, labels):
        p = 0.0
        for t, label in enumerate(labels):
            history = labels[max(0, t - self.order) : t]
            factors = self.transition(history, label) * self.emission(label, x[t])
            if factors == 0:
                return -math.inf
            p += math.log(factors)
        return p
