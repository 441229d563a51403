"""TREEBOOST as the two papers print it: probabilities by writing out all paths, trees on the expanded table.

The dissertation (Hao 2009, tables 3.1 and 3.3): all potentials begin at 0, every round subtracts the probabilities of
all pairs of neighbouring labels from gold, and steps have the size 1. The paper of 2004 has no shrinkage (l2 = 0), and
begins with three rounds on the pseudo-likelihood. Its line search finds the step that maximises what the round follows.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from hedgerow.encoding import AttributeReader, Window
from oracles import lattice as oracles
from oracles import pseudo_likelihood as oracles_pseudo
from oracles import trees as oracles_trees


class TreeBoost:
    """`forest` has a list of trees for each round, `potentials` are the scores of the training positions."""

    def __init__(self, sequences, gold, order, k, window, *, max_leaves, l2, pseudo_rounds=0, line_search=False):
        rows = AttributeReader(sequences, Window.of(window))
        self.gold, self.order, self.k = gold, order, k
        self.starts = sequences.starts.tolist()
        self.features = oracles_trees.features_of(rows, order, k)
        self.rules, self.max_leaves = oracles_trees.Rules(l2), max_leaves
        self.pseudo_rounds, self.line_search = pseudo_rounds, line_search
        self.potentials = np.zeros((sequences.n_positions, k**order, k), dtype=np.float32)
        self.forest, self.step_sizes = [], []

    def of_sequences(self, potentials):
        for begin, end in pairwise(self.starts):
            yield self.gold[begin:end].tolist(), potentials[begin:end]

    def probabilities(self, is_pseudo):
        """GENERATEEXAMPLES subtracts these from gold."""
        found = []
        for gold, edge in self.of_sequences(self.potentials):
            if is_pseudo:
                found.append(oracles_pseudo.stand_ins(gold, self.order, self.k, None, {"edge": edge})[0])
            else:
                found.append(oracles.enumerate_answers(len(gold), self.order, self.k, edge=edge)["pair"])
        # Trees keep residuals below 2 in size. Those of an order above 1 can be larger while all labels are unlikely.
        return np.maximum(np.concatenate(found), -1).astype(np.float32)

    def loss(self, potentials, is_pseudo):
        """Minus the mean logarithm of the likelihood, or of the pseudo-likelihood."""
        total, order, k = 0.0, self.order, self.k
        for gold, edge in self.of_sequences(potentials):
            if is_pseudo:
                total -= oracles_pseudo.log_pseudo_likelihood(gold, order, k, None, {"edge": edge})
            else:
                total += oracles.enumerate_answers(len(gold), order, k, edge=edge)["log_z"]
                total -= oracles.path_score(gold, order, n_labels=k, edge=edge)
        return total / (len(self.starts) - 1)

    def run(self, n_rounds):
        for m in range(n_rounds):
            is_pseudo = m < self.pseudo_rounds
            marginals = self.probabilities(is_pseudo)
            grown, step = [], np.zeros_like(self.potentials)
            for label in range(self.k):
                examples = oracles_trees.examples_of(marginals, self.gold, self.starts, label, self.order, self.k)
                tree = oracles_trees.fit_regression_tree(examples, self.features, self.max_leaves, self.rules)
                grown.append(tree)
                for t, context, _ in examples:
                    h = oracles.number([label for label in context if label is not None], self.k)
                    step[t, h, label] = self.output(tree, t, context)
            eta = self.best_step(step, is_pseudo) if self.line_search else 1.0
            self.potentials += np.float32(eta) * step
            self.forest.append(grown)
            self.step_sizes.append(eta)
        return self

    def output(self, tree, t, context):
        tests = dict(self.features)
        while "test" in tree:
            tree = tree["true" if tests[tree["test"]]((t, context, 0)) else "false"]
        return np.float32(tree["value"])

    def best_step(self, step, is_pseudo):
        """The step size by the rule of the library: bracket the minimum by doubling, then golden sections."""

        def loss(eta):
            return self.loss(self.potentials + np.float32(eta) * step, is_pseudo)

        at = [0.0, 1.0, 2.0]
        assert loss(at[1]) < loss(at[0])
        while loss(at[2]) < loss(at[1]):
            at = [at[1], at[2], min(2 * at[2], 64.0)]
            if at[1] == 64:
                break
        golden = (3 - 5**0.5) / 2
        while at[2] - at[0] > 0.1 * at[1]:
            below, above = at[1] - at[0], at[2] - at[1]
            tried = at[1] + golden * above if above > below else at[1] - golden * below
            two = sorted([at[1], tried])
            best = min(two, key=lambda eta: (loss(eta), eta != at[1]))
            at = [at[0], best, two[1]] if best == two[0] else [two[0], best, at[2]]
        return at[1]


def splits_of(tree):
    """The tests of a tree, nested; None for a leaf."""
    if "test" not in tree:
        return None
    return tree["test"], splits_of(tree["true"]), splits_of(tree["false"])


def values_of(tree):
    """The values of the leaves, true branches first."""
    if "test" not in tree:
        return [float(tree["value"])]
    return values_of(tree["true"]) + values_of(tree["false"])
