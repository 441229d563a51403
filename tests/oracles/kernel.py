"""A structured perceptron whose state scores are sums of a kernel over its mistakes, without weights of attributes."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from oracles.lattice import label_context, table_row
from oracles.linear import TIE, hamming


def quadratic(a, b):
    """((1 + 2 s)^2 - 1) / 8, where s is the number of attributes that both have."""
    s = len(set(a) & set(b))
    return Fraction((1 + 2 * s) ** 2 - 1, 8)


class KernelPerceptron:
    """Positions of mistakes are kept with a label and an amount; label n-grams have weights."""

    def __init__(self, problem, kernel):
        self.problem, self.kernel = problem, kernel
        self.support, self.grams = [], Counter()

    def state_score(self, attributes, label):
        own = [attribute for attribute, _ in attributes]
        return sum(amount * self.kernel(own, other) for other, y, amount in self.support if y == label)

    def cells(self, labels):
        problem = self.problem
        for t, label in enumerate(labels):
            for m in range(1, min(t, problem.order) + 1):
                yield table_row(label_context(labels, t, m), problem.k) * problem.k + label

    def learn(self, order):
        for i in order:
            x, y, weight = self.problem.inputs[i], self.problem.gold[i], self.problem.weights[i]
            states = [[self.state_score(attributes, label) for label in range(self.problem.k)] for attributes in x]

            def score(z, states=states, y=y):
                own = sum(states[t][label] for t, label in enumerate(z)) + TIE * hamming(y, z)
                return own + sum(self.grams[cell] for cell in self.cells(z))

            z = min(self.problem.paths(x), key=lambda z: (-score(z), z[::-1]))
            for t, (right, found) in enumerate(zip(y, z, strict=True)):
                if right != found:
                    own = [attribute for attribute, _ in x[t]]
                    self.support += [(own, right, weight), (own, found, -weight)]
            for labels, sign in ((y, 1), (z, -1)):
                for cell in self.cells(labels):
                    self.grams[cell] += sign * weight
