"""Naive online learners: weights in a dict, all paths enumerated, every step by its definition."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product

import numpy as np

from hedgerow.encoding import AttributeReader, Window
from oracles.lattice import label_context, table_row


class Problem:
    """The attributes and gold labels of each sequence; features are (attribute, label) and ("gram", cell)."""

    def __init__(self, training, window=0, bias=False, scalings=None):
        self.k, self.order, self.bias = len(training.labels), training.order, bias
        rows = AttributeReader(training.sequences, Window.of(window), scalings)
        self.weights = [Fraction(float(w)) for w in training.weights]
        self.inputs, self.gold = [], []
        for begin, end in pairwise(training.sequences.starts):
            starts, ids = rows.ids(int(begin), int(end))
            values = rows.weights(int(begin), int(end)).tolist()
            read = list(zip(ids.tolist(), values, strict=True))
            self.inputs.append([read[a:b] for a, b in pairwise(starts)])
            self.gold.append(tuple(training.codes[begin:end].tolist()))

    def features(self, x, labels):
        """How often the labelled input (or its beginning) has each feature."""
        counts = Counter()
        for t, label in enumerate(labels):
            for attribute, value in x[t]:
                counts[attribute, label] += Fraction(value)
            for m in range(0 if self.bias else 1, min(t, self.order) + 1):
                counts["gram", table_row(label_context(labels, t, m), self.k) * self.k + label] += 1
        return counts

    def paths(self, x):
        return product(range(self.k), repeat=len(x))

    def ranked(self, x, w, favour=lambda labels: 0):
        """All paths, best first; of equals the one whose last label is lowest, and so on backwards."""
        return sorted(self.paths(x), key=lambda z: (-(dot(w, self.features(x, z)) + favour(z)), z[::-1]))


def dot(w, features):
    return sum(w.get(name, 0) * count for name, count in features.items())


def added(w, features, amount):
    changed = dict(w)
    for name, count in features.items():
        changed[name] = changed.get(name, 0) + amount * count
    return changed


TIE = Fraction(1, 1024)  # less than weights differ by


def perceptron(problem, order, find=None, batch=1, first=None):
    """Every weight vector from the first on (0 unless given), one more for each example; gold loses ties.

    The paths of a batch of examples are found with the weights before the batch, and count if they are still wrong. An
    epoch is all sequences.
    """
    vectors = [first or {}]
    for n, i in enumerate(order):
        x, y, w = problem.inputs[i], problem.gold[i], vectors[-1]
        before = vectors[n - n % len(problem.gold) % batch]
        z = find(x, y, before) if find else problem.ranked(x, before, lambda z, y=y: TIE * hamming(y, z))[0]
        difference = added(problem.features(x, y[: len(z)]), problem.features(x, z), -1)
        if z != y[: len(z)] and (batch == 1 or dot(w, difference) < TIE * hamming(y, z)):
            w = added(w, difference, problem.weights[i])
        vectors.append(w)
    return vectors


def by_steps(problem):
    """What `ranked` puts first, label by label: for orders 0 and 1, labels too many to enumerate and exact floats."""

    def find(x, y, w):
        k = problem.k
        pairs = np.zeros((1 + k, k))  # a transition table
        for name, value in w.items():
            if name[0] == "gram":
                pairs.flat[name[1]] = float(value)
        best, back = np.zeros(k), []
        for t, attributes in enumerate(x):
            own = [sum(float(w.get((a, label), 0)) * value for a, value in attributes) for label in range(k)]
            own += float(TIE) * (np.arange(k) != y[t])
            steps = best[:, None] + (pairs[1:] if t and problem.order else 0) + own
            back.append(steps.argmax(axis=0))
            best = steps.max(axis=0)
        labels = [int(best.argmax())]
        for pointers in back[:0:-1]:
            labels.append(int(pointers[labels[-1]]))
        return tuple(labels[::-1])

    return find


def beamed(problem, beam, early):
    """What a search finds that keeps `beam` nodes: a whole path, or the one of the moment when gold is lost."""

    def find(x, y, w):
        memory = max(problem.order, 1)
        alive = {(): (0, ())}  # node: (score, labels)
        for t in range(len(x)):
            reached = {}
            for _, (score, labels) in sorted(alive.items(), reverse=True):
                for label in range(problem.k):
                    z = (*labels, label)
                    step = dot(w, added(problem.features(x, z), problem.features(x, labels), -1))
                    step += TIE * (label != y[t])
                    node = z[::-1][:memory]
                    if node not in reached or score + step >= reached[node][0]:
                        reached[node] = (score + step, z)
            kept = sorted(reached, key=lambda node: (-reached[node][0], node))[:beam]
            alive = {node: reached[node] for node in kept}
            if early and y[: t + 1][::-1][:memory] not in alive:
                break
        return min(alive.items(), key=lambda item: (-item[1][0], item[0]))[1][1]

    return find


def pegasos(problem, order, C, loss, batch=1, *, first=None, seen=0, n_all=None):
    """Every weight vector of a structured SVM: shrink, find the most violating path, step.

    The paths of a batch of examples are found with the weights before the batch, which shrink at each example. They
    count if they still violate. Learning begins with the first weights (0 unless given), after `seen` examples in whole
    epochs. The problem may be a part of n_all sequences.
    """
    n, vectors, w, before = len(problem.gold), [], first or {}, {}
    for t, i in enumerate(order, seen + 1):
        x, y = problem.inputs[i], problem.gold[i]
        before = w if (t - 1) % n % batch == 0 else before
        w, before = ({name: (1 - Fraction(1, t)) * value for name, value in v.items()} for v in (w, before))
        z = problem.ranked(x, before, lambda z, y=y: loss(y, z))[0]
        difference = added(problem.features(x, y), problem.features(x, z), -1)
        is_found = loss is hamming or loss(y, z) > dot(before, difference)  # a tie is found with one of the losses
        if z != y and is_found and loss(y, z) > dot(w, difference):
            w = added(w, difference, problem.weights[i] * (n_all or n) * Fraction(C) / (2 * t))
        vectors.append(w)
    return vectors


def mixed_pegasos(problems, epochs, C, loss, batch=1):
    """(weights at the end, mean) of an SVM whose parts learn apart and are mixed after each epoch.

    `epochs` has the orders of the parts for each epoch. A part counts with its share of the sequences. In the mean the
    weights after example t of a part count t times, and an epoch with the sum of all these t.
    """
    sizes = [len(problem.gold) for problem in problems]
    shares = [Fraction(n, sum(sizes)) for n in sizes]
    w, means, counted = {}, [], []
    for epoch, orders in enumerate(epochs):
        last, mean_of_epoch, count = {}, {}, 0
        for problem, order, n, share in zip(problems, orders, sizes, shares, strict=True):
            times = list(range(epoch * n + 1, (epoch + 1) * n + 1))
            vectors = pegasos(problem, order, C, loss, batch, first=w, seen=epoch * n, n_all=sum(sizes))
            last = added(last, vectors[-1], share)
            mean_of_epoch = added(mean_of_epoch, mean(vectors, times), share)
            count += sum(times)
        w = last
        means.append(mean_of_epoch)
        counted.append(count)
    return w, mean(means, counted)


def hamming(y, z):
    return sum(a != b for a, b in zip(y, z, strict=True))


def zero_one(y, z):
    return int(y != z)


def svm_objective(problem, w, C, loss):
    total = sum(value * value for value in w.values()) / 2
    for x, y, weight in zip(problem.inputs, problem.gold, problem.weights, strict=True):
        margins = (loss(y, z) + dot(w, problem.features(x, z)) for z in problem.paths(x))
        total += C / 2 * float(weight) * float(max(margins) - dot(w, problem.features(x, y)))
    return float(total)


def expected(problem, x, w):
    """(log Z, expected features) over all paths."""
    by_path = {z: problem.features(x, z) for z in problem.paths(x)}
    scores = {z: float(dot(w, features)) for z, features in by_path.items()}
    top = max(scores.values())
    log_z = top + math.log(sum(math.exp(score - top) for score in scores.values()))
    means = {}
    for z, features in by_path.items():
        means = added(means, {name: float(count) for name, count in features.items()}, math.exp(scores[z] - log_z))
    return log_z, means


def gradient_steps(problem, order, rate, decay, known):
    """(weights after every step, minus the log-likelihood before it) of stochastic gradient descent."""
    vectors, losses, w = [], [], {}
    for t, i in enumerate(order):
        x, y = problem.inputs[i], problem.gold[i]
        log_z, means = expected(problem, x, w)
        gold = problem.features(x, y)
        losses.append(log_z - float(dot(w, gold)))
        eta = rate / (1 + rate * decay * t)
        w = {name: (1 - eta * decay) * value for name, value in w.items()}
        step = added({name: float(count) for name, count in gold.items()}, means, -1.0)
        step = {name: value for name, value in step.items() if name in known}
        w = added(w, step, eta * float(problem.weights[i]))
        vectors.append(w)
    return vectors, losses


def mean(vectors, weights=None):
    weights = weights or [1] * len(vectors)
    total = {}
    for w, weight in zip(vectors, weights, strict=True):
        total = added(total, w, weight)
    return {name: value / sum(weights) for name, value in total.items()}


def weights_of(potential):
    """A linear potential's weights under the names of features; those of 0 are left out."""
    names = [*zip(potential.state_features.attributes.tolist(), potential.state_features.outputs.tolist(), strict=True)]
    found = dict(zip(names, potential.state_weights.tolist(), strict=True))
    grams = (("gram", cell) for cell in potential.n_grams.cells.tolist())
    found |= dict(zip(grams, potential.n_gram_weights.tolist(), strict=True))
    return {name: value for name, value in found.items() if value}


def assert_same_weights(potential, w, tolerance=1e-6):
    found = weights_of(potential)
    for name in {*found, *w}:
        assert abs(found.get(name, 0.0) - float(w.get(name, 0))) <= tolerance, name
