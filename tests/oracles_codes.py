"""Output codes, slowly: their rules, their distances, what a cascade reads, and the printed training and testing."""

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


def coupled(p: Sequence[float], words: Words, steps: int = 50, stretch: float = 1.8) -> list[float]:
    """Probabilities of labels that agree with those of the bits, step by step."""
    k, n = len(words), len(words[0])
    p = [min(max(value, 2**-20), 1 - 2**-20) for value in p]
    q = [1 / k] * k
    for _ in range(steps):
        r = [min(max(sum(q[y] for y in range(k) if words[y][b]), 2**-20), 1 - 2**-20) for b in range(n)]
        said = [[p[b] / r[b] if word[b] else (1 - p[b]) / (1 - r[b]) for b in range(n)] for word in words]
        q = [q[y] * max(sum(said[y]) / n, 2**-20) ** stretch for y in range(k)]
        q = [value / sum(q) for value in q]
    return q


def label_log_probabilities(p: Sequence[float], words: Words) -> list[float]:
    """With a hundredth for all labels alike."""
    return [math.log(0.99 * value + 0.01 / len(words)) for value in coupled(p, words)]


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
