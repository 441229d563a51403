"""Naive feature induction: all candidates are enumerated, and the gain of each is searched numerically."""

from __future__ import annotations

import math
from itertools import chain
from typing import NamedTuple


class Occurrence(NamedTuple):
    value: float
    weight: float
    probability: float
    is_gold: bool


def gain_at(mu: float, occurrences: list[Occurrence], l2: float) -> float:
    total = -l2 * mu * mu
    for o in occurrences:
        raised = o.probability * math.exp(mu * o.value)
        total += o.weight * (mu * o.value * o.is_gold - math.log(1 - o.probability + raised))
    return total


def best_gain(occurrences: list[Occurrence], l2: float) -> tuple[float, float]:
    """(gain, mu), by closing in on the top of a concave function."""
    low, high = -20.0, 20.0
    for _ in range(80):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if gain_at(left, occurrences, l2) < gain_at(right, occurrences, l2):
            low = left
        else:
            high = right
    return gain_at((low + high) / 2, occurrences, l2), (low + high) / 2


class NaiveInduction:
    """shown: for each position {attribute: value}; valued: attributes that are never conjoined.

    model: {members: (id, labels)} of the features that are there; a member is an attribute.
    """

    def __init__(self, shown, valued, model, l2, min_count, observed_only):
        self.shown, self.valued, self.model = shown, valued, model
        self.l2, self.min_count, self.observed_only = l2, min_count, observed_only

    def where(self, members):
        return [t for t, there in enumerate(self.shown) if all(m in there for m in members)]

    def contexts(self):
        """{members: id} of what attributes are conjoined with: nothing, and the attributes of the model."""
        plain = {m: number for m, (number, _) in self.model.items() if not set(m) & self.valued}
        return {(): -1, **plain}

    def candidates(self):
        """{members: (attribute, context)}: the lowest attribute whose rest is in the model."""
        attributes = sorted(set(chain.from_iterable(self.shown)))
        found = {}
        for rest, context in self.contexts().items():
            for attribute in attributes:
                if attribute in rest or (rest and attribute in self.valued):
                    continue
                members = tuple(sorted((*rest, attribute)))
                if members not in found or attribute < found[members][0]:
                    found[members] = attribute, context
        return {m: made for m, made in found.items() if not self.says_nothing_new(m)}

    def says_nothing_new(self, members):
        """Whether a part that the model has holds at just the same positions."""
        parts = [r for r in self.contexts() if r and len(r) == len(members) - 1 and set(r) < set(members)]
        return any(self.where(part) == self.where(members) for part in parts)

    def ranked(self, probabilities, gold, weights):
        """[(gain, mu, attribute, context, label)], the best first."""
        found = []
        for members, (attribute, context) in self.candidates().items():
            there = self.where(members)
            for label in range(len(probabilities[0])):
                if label in self.model.get(members, (None, ()))[1]:
                    continue
                occurrences = [
                    Occurrence(
                        self.shown[t][attribute] if len(members) == 1 else 1.0,
                        weights[t], probabilities[t][label], gold[t] == label,
                    )
                    for t in there
                ]  # fmt: skip
                counted = sum(o.is_gold for o in occurrences) if self.observed_only else len(occurrences)
                gain, mu = best_gain(occurrences, self.l2)
                if counted >= self.min_count and gain > 0:
                    found.append((gain, mu, attribute, context, label))
        return sorted(found, key=lambda f: (-f[0], *f[2:]))
