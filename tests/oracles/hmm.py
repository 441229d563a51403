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
        self.everywhere = defaultdict(float)  # (context of exactly m labels, label) wherever m labels go before
        self.at_start = defaultdict(float)  # the same, only where the context is all there is
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

    def _estimate(self, counts, context, label, prior):
        total = sum(counts[context, other] for other in self.labels)
        strength = self.s * len(self.labels)
        if total + strength == 0:
            return prior
        return (counts[context, label] + strength * prior) / (total + strength)

    def _expected(self, context, label):
        prior = 1 / len(self.labels) if not context else self._expected(context[1:], label)
        return self._estimate(self.everywhere, context, label, prior)

    def transition(self, context, label):
        """context: the labels before, oldest first, at most `order` of them."""
        if len(context) == self.order:
            return self._expected(tuple(context), label)
        return self._estimate(self.at_start, tuple(context), label, self._expected(tuple(context), label))

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
            context = labels[max(0, t - self.order) : t]
            factors = self.transition(context, label) * self.emission(label, x[t])
            if factors == 0:
                return -math.inf
            p += math.log(factors)
        return p
