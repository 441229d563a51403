"""Naive explanations: Shapley values over all subsets, and messages as sums over all label sequences."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, product

from oracles.lattice import label_context, log_sum, step_score


def shapley(players, value):
    """{player: Shapley value} of a game; `value` takes a frozenset of players."""
    n, found = len(players), {}
    for player in players:
        others = [other for other in players if other != player]
        total = 0.0
        for size in range(n):
            weight = math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n)
            for chosen in map(frozenset, combinations(others, size)):
                total += weight * (value(chosen | {player}) - value(chosen))
        found[player] = total
    return found


def tree_value(node, known):
    """The value of a tree if only the players in `known` are known.

    A node is a number, or (player, share of the input, share of training, if true, if false). Player None is always
    known.
    """
    if not isinstance(node, tuple):
        return node
    player, of_input, of_training, if_true, if_false = node
    share = of_input if player is None or player in known else of_training
    return share * tree_value(if_true, known) + (1 - share) * tree_value(if_false, known)


def split(first, labels, *, length, order, n_labels, attribute, scores):
    """(F of the first label, mean attributes there, mean attributes of all, F, M) of labels from `first` on.

    `attribute(t, context, label)` is the score of the attributes, a part of the scores of the lattice. F sums over all
    labels before, M over all labels before and after.
    """
    end = first + len(labels)

    def score(path):
        return sum(
            step_score(t, label_context(path, t, order), y, n_labels=n_labels, **scores) for t, y in enumerate(path)
        )

    def attributes(path, begin):
        return sum(attribute(t, label_context(path, t, order), path[t]) for t in range(begin, len(path)))

    def mean(paths):
        top = log_sum(score(path) for path in paths)
        return sum(math.exp(score(path) - top) * attributes(path, first) for path in paths)

    before = list(product(range(n_labels), repeat=first))
    to_first = [(*path, labels[0]) for path in before]
    to_end = [(*path, *labels) for path in before]
    after = list(product(range(n_labels), repeat=length - end))
    whole = log_sum(score((*path, *rest)) for path in to_end for rest in after)
    return log_sum(map(score, to_first)), mean(to_first), mean(to_end), log_sum(map(score, to_end)), whole


class SlowTrees:
    """The trees of a potential at one position, walked node by node; a player is (column, offset[, value of a bag]).

    `reader` reads what the trees read; `derived` names the columns that are computed: their players are named by it.
    """

    def __init__(self, trees, reader, position, derived=lambda column: None):
        self.trees, self.reader, self.position, self.derived = trees, reader, position, derived
        self.slots, self.ids = reader.slots(), set(reader.ids(position, position + 1)[1].tolist())
        self.missing = reader.missing(position, position + 1)[0].tolist()

    def slot(self, attribute):
        return max(i for i, slot in enumerate(self.slots) if slot.first <= attribute)

    def player(self, attribute):
        slot = self.slots[self.slot(attribute)]
        column = self.reader.sequences.column(slot.column)
        if self.derived(slot.column) is not None:
            return (self.derived(slot.column), 0)
        if column.kind == "bag" and attribute < slot.first + slot.n_values:
            return (slot.column, slot.offset, column.alphabet[attribute - slot.first])
        return (slot.column, slot.offset)

    def holds(self, attribute):
        """Whether a value is present, or a number is at most an edge."""
        slot = self.slots[self.slot(attribute)]
        end = slot.first + slot.n_values
        if self.reader.sequences.column(slot.column).kind == "numeric" and attribute < end:
            return any(slot.first <= i <= attribute for i in self.ids)
        return attribute in self.ids

    def is_missing(self, attribute):
        slot = self.slot(attribute)
        return slot < len(self.missing) and self.missing[slot]

    def share(self, node):
        """The share of the position that goes to `if_true` of a test of an attribute."""
        attribute = int(node["attribute"])
        if not self.is_missing(attribute):
            return float(any(map(self.holds, [attribute, *self.trees.alternatives_of(node)])))
        for surrogate in self.trees.surrogates_of(node):
            other = surrogate if surrogate >= 0 else ~surrogate
            if not self.is_missing(other):
                return float(self.holds(other) == (surrogate >= 0))
        return float(node["true_fraction"])

    def tree(self, number, label, context):
        """Tree `number` as nested nodes of `tree_value`; `context` has the labels before, None forgets them too."""
        first = int(self.trees.starts[number])

        def at(place):
            node = self.trees.nodes[first + place]
            if node["attribute"] < 0 and node["lag"] < 0:
                return float(self.trees.values[first + place, label if self.trees.values.shape[1] > 1 else 0])
            children = [int(node["if_true"]), int(node["if_false"])]
            counts = [int(self.trees.nodes[first + child]["count"]) for child in children]
            training = counts[0] / sum(counts) if sum(counts) else 0.5
            below = [at(child) for child in children]
            if node["attribute"] >= 0:
                return (self.player(int(node["attribute"])), self.share(node), training, *below)
            if context is None:
                return ("labels", training, training, *below)
            values = {int(node["label"]), *self.trees.alternatives_of(node)}
            return (None, float(context[int(node["lag"])] in values), training, *below)

        return at(0)

    def trees_of(self, label, context):
        """The trees that add to the score of a label."""
        own = 0 if self.trees.values.shape[1] > 1 else label
        return [self.tree(i, label, context) for i, one in enumerate(self.trees.labels.tolist()) if one == own]

    def value(self, label, context):
        """The score of a label."""
        return sum(tree_value(tree, players_of(tree)) for tree in self.trees_of(label, context))

    def bias(self, label):
        """The value of the trees if nothing is known, not even the labels before."""
        return sum(tree_value(tree, frozenset()) for tree in self.trees_of(label, None))

    def shapley(self, label, context):
        """{player: Shapley value}: tree by tree, because values of several trees add up."""
        found = {}
        for tree in self.trees_of(label, context):
            values = shapley(sorted(players_of(tree)), lambda known, tree=tree: tree_value(tree, known))
            for player, amount in values.items():
                found[player] = found.get(player, 0.0) + amount
        return found


def players_of(tree):
    """The players that a tree tests."""
    if not isinstance(tree, tuple):
        return frozenset()
    own = frozenset() if tree[0] is None else frozenset([tree[0]])
    return own | players_of(tree[3]) | players_of(tree[4])


def voted_weights(potential, reader, position, label):
    """{attribute id: mean weight times value} of a voted perceptron; the id after all others is the bias.

    The weight vectors come one after the other; each counts as often as it voted.
    """
    k, ids = potential.n_labels, reader.ids(position, position + 1)[1].tolist()
    values = dict(zip(ids, reader.weights(position, position + 1).tolist(), strict=True)) | {reader.n_ids: 1.0}
    vector, total = dict.fromkeys(values, 0.0), dict.fromkeys(values, 0.0)
    for (begin, end), votes in zip(pairwise(potential.starts.tolist()), potential.survived.tolist(), strict=True):
        for feature, amount in zip(potential.features[begin:end], potential.amounts[begin:end], strict=True):
            attribute, of = divmod(int(feature), k)
            if attribute in vector and of == label:
                vector[attribute] += float(amount)
        for attribute, weight in vector.items():
            total[attribute] += votes * weight
    n_votes = sum(potential.survived.tolist())
    return {attribute: weight / n_votes * values[attribute] for attribute, weight in total.items()}
