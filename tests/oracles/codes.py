"""Naive output codes: their rules, distances and cascades, and training and prediction as printed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

Words = list[list[int]]


def broken_rules(words: Words) -> list[str]:
    """What is wrong with a code."""
    columns = [list(column) for column in zip(*words, strict=True)]
    found = ["constant column" for column in columns if len(set(column)) == 1]
    for a, b in combinations(columns, 2):
        if a == b:
            found.append("equal columns")
        if a == [1 - bit for bit in b]:
            found.append("complementary columns")
    for a, b in combinations(words, 2):
        if a == b:
            found.append("equal words")
    if any(bit not in (0, 1) for word in words for bit in word):
        found.append("other values")
    return found


def least_distance(words: Words) -> int:
    return min(sum(a != b for a, b in zip(*pair, strict=True)) for pair in combinations(words, 2))


def score(p: Sequence[float], word: Sequence[int], distance: str) -> float:
    """How near the probabilities of bits are to a word: higher is nearer."""
    total = 0.0
    for probability, bit in zip(p, word, strict=True):
        if distance == "l1":
            total -= 2 * abs(probability - bit)
        elif distance == "hamming":
            total -= 2 * abs((probability > 0.5) - bit)
        else:
            right = probability if bit == 1 else 1 - probability
            total += math.log(min(max(right, 2**-20), 1 - 2**-20))
    return total


def nearest(p: Sequence[float], words: Words, distance: str) -> int:
    scores = [score(p, word, distance) for word in words]
    return scores.index(max(scores))


def divergence(p: Sequence[float], q: Sequence[float], words: Words) -> float:
    """Of what a distribution of labels says of the bits from what the bits say of themselves."""
    total = 0.0
    for b, said in enumerate(p):
        r = sum(q[y] for y, word in enumerate(words) if word[b])
        for ours, theirs in ((said, r), (1 - said, 1 - r)):
            ours, theirs = (min(max(value, 2**-20), 1 - 2**-20) for value in (ours, theirs))
            total += ours * math.log(ours / theirs)
    return total


def coupled(p: Sequence[float], words: Words, steps: int = 1000) -> list[float]:
    """The probabilities of labels with the least divergence, slowly: by expectation maximisation."""
    ones = np.array(words, float)
    said = np.clip(np.array(p, float), 2**-20, 1 - 2**-20)
    q = np.full(len(words), 1 / len(words))
    for _ in range(steps):
        r = np.clip(q @ ones, 2**-20, 1 - 2**-20)
        q = q * (ones @ (said / r) + (1 - ones) @ ((1 - said) / (1 - r)))
        q /= q.sum()
    return q.tolist()


def path_log_probabilities(state: np.ndarray, table: np.ndarray) -> dict[tuple[int, ...], float]:
    """log P of every label sequence of one input, transitions of order 1 in a table whose first row is `start`."""
    n, k = state.shape
    scores = {}
    for path in product(range(k), repeat=n):
        rows = [0, *(label + 1 for label in path[:-1])]
        scores[path] = sum(state[t, y] + table[rows[t], y] for t, y in enumerate(path))
    log_z = math.log(sum(math.exp(s) for s in scores.values()))
    return {path: s - log_z for path, s in scores.items()}


def around(predicted: Sequence[int], t: int, left: int, right: int) -> list[str]:
    """What one earlier bit predicts at t - left .. t + right, but not at t."""
    found = []
    for offset in [*range(-left, 0), *range(1, right + 1)]:
        inside = 0 <= t + offset < len(predicted)
        found.append(str(predicted[t + offset]) if inside else "outside")
    return found


def window_dicts(x: Sequence[str], window: int) -> list[dict[str, str]]:
    """A sequence of symbols with a column for each offset of the window, `~` outside."""
    return [
        {f"w{o:+d}": x[t + o] if 0 <= t + o < len(x) else "~" for o in range(-window, window + 1)}
        for t in range(len(x))
    ]


def extended(X: list[Any], predictions: list[list[list[int]]], left: int, right: int) -> list[Any]:
    """Every position with the predictions of the given bits, the nearest bit first."""
    return [
        [
            position
            | {
                f"bit {b} {i}": value
                for b, predicted in enumerate(predictions)
                for i, value in enumerate(around(predicted[s], t, left, right))
            }
            for t, position in enumerate(x)
        ]
        for s, x in enumerate(X)
    ]


def seen(predictions: list[Any], bit: int, cascade: int) -> list[Any]:
    """Those of bits k - 1, k - 2, ..., k - h."""
    return [predictions[j] for j in range(bit - 1, -1, -1)][:cascade]


def hard(probabilities: list[np.ndarray]) -> list[list[int]]:
    return [[int(p > 0.5) for p in of[:, 1]] for of in probabilities]


def train_and_test(
    make: Callable[[], Any], X: list[Any], codes: list[list[int]], asked: list[Any], words: Words, cascade: int,
    left: int = 1, right: int = 1, folds: int | None = None,
) -> list[np.ndarray]:  # fmt: skip
    """TRAINSECOC and TESTSECOC with cascades: for each asked sequence P(bit is 1), (positions, bits).

    X and asked are sequences of dicts. With folds, later bits learn from predictions out of fold.
    """
    train_predictions: list[list[list[int]]] = []
    test_predictions: list[list[list[int]]] = []
    found = []
    for k in range(len(words[0])):
        here = extended(X, seen(train_predictions, k, cascade), left, right)
        there = extended(asked, seen(test_predictions, k, cascade), left, right)
        bits = [[words[label][k] for label in y] for y in codes]
        model = make().fit(here, bits)
        probabilities = model.predict_proba(there)
        found.append([p[:, 1] for p in probabilities])
        test_predictions.append(hard(probabilities))
        if folds is None:
            train_predictions.append(hard(model.predict_proba(here)))
            continue
        own: list[Any] = [None] * len(X)
        for fold in range(folds):
            rest = [i for i in range(len(X)) if i % folds != fold]
            left_out = [i for i in range(len(X)) if i % folds == fold]
            part = make().fit([here[i] for i in rest], [bits[i] for i in rest])
            for i, predicted in zip(left_out, hard(part.predict_proba([here[i] for i in left_out])), strict=True):
                own[i] = predicted
        train_predictions.append(own)
    return [np.stack(of, axis=1) for of in zip(*found, strict=True)]
