"""Slow, obvious twins of the error analysis: plain loops over sequences, positions and spans."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from oracles.metrics import spans as read_spans

Sequences = list[list[Any]]
Span = tuple[int, int, str]


def score(true: Sequences, predicted: Sequences, metric: str, scheme: str) -> float:
    """Accuracy or span F1 of lists of sequences."""
    right = total = 0
    for gold, guess in zip(true, predicted, strict=True):
        if metric == "accuracy":
            right += sum(one == other for one, other in zip(gold, guess, strict=True))
            total += len(gold)
        else:
            gold_spans, guessed = read_spans(gold, scheme), read_spans(guess, scheme)
            right += 2 * len(set(gold_spans) & set(guessed))
            total += len(gold_spans) + len(guessed)
    return right / total if total else 0.0


def bootstrap(
    true: Sequences, a: Sequences, b: Sequences, metric: str, scheme: str, n_resamples: int, seed: int, level: float
) -> tuple[float, float]:
    """The interval of score(b) - score(a), one resample at a time."""
    rng = np.random.default_rng(seed)
    differences = []
    for _ in range(n_resamples):
        drawn = [int(rng.integers(len(true))) for _ in true]
        gold, of_a, of_b = ([labels[i] for i in drawn] for labels in (true, a, b))
        differences.append(score(gold, of_b, metric, scheme) - score(gold, of_a, metric, scheme))
    return percentile(differences, (1 - level) / 2), percentile(differences, (1 + level) / 2)


def percentile(values: list[float], share: float) -> float:
    """The value below which this share lies, by linear interpolation between neighbours."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    before = int(place)
    after = min(before + 1, len(ordered) - 1)
    return ordered[before] + (place - before) * (ordered[after] - ordered[before])


def span_kind(span: Span, others: list[Span], *, lonely: str) -> str:
    """What is wrong with a span, compared with the spans of the other labelling; `lonely` if none overlaps."""
    start, end, kind = span
    if span in others:
        return "right"
    if any((start, end) == other[:2] for other in others):
        return "type"
    overlapping = [other for other in others if other[0] < end and start < other[1]]
    if any(other[2] == kind for other in overlapping):
        return "boundary"
    return "both" if overlapping else lonely


def span_kinds(gold: list[str], predicted: list[str], scheme: str) -> tuple[list[str], list[str]]:
    """The kind of every gold span and of every predicted span of one sequence."""
    of_gold, of_predicted = read_spans(gold, scheme), read_spans(predicted, scheme)
    return (
        [span_kind(span, of_predicted, lonely="missed") for span in of_gold],
        [span_kind(span, of_gold, lonely="spurious") for span in of_predicted],
    )


def position_kinds(gold: list[str], predicted: list[str], scheme: str) -> list[str]:
    """The kind of every position: of its gold span, otherwise of its predicted span, otherwise of its label."""
    gold_kinds, predicted_kinds = span_kinds(gold, predicted, scheme)
    kinds = []
    for t in range(len(gold)):
        kind = "right" if gold[t] == predicted[t] else "label"
        for labels, own in ((predicted, predicted_kinds), (gold, gold_kinds)):
            for (start, end, _), of_span in zip(read_spans(labels, scheme), own, strict=True):
                if start <= t < end and of_span != "right":
                    kind = of_span
        kinds.append(kind)
    return kinds


def wilson(wrong: int, n: int) -> tuple[float, float]:
    """The two shares p with (wrong / n - p)² = z² p (1 - p) / n, by bisection."""
    z, share = 1.959963984540054, wrong / n

    def excess(p: float) -> float:
        return abs(share - p) - z * sqrt(max(p * (1 - p), 0) / n)

    ends = []
    for outside, inside in ((0.0, share), (1.0, share)):
        if excess(outside) <= 0:
            ends.append(outside)
            continue
        for _ in range(200):
            middle = (outside + inside) / 2
            outside, inside = (middle, inside) if excess(middle) > 0 else (outside, middle)
        ends.append(inside)
    return ends[0], ends[1]


def unknown(train: list[list[dict[str, Any]]], x: list[list[dict[str, Any]]], column: str) -> list[bool]:
    """Whether each position has a value of the column that no position of training has."""
    known = {position.get(column) for sequence in train for position in sequence}
    values = [position.get(column) for sequence in x for position in sequence]
    return [value is not None and value not in known for value in values]


def counts_where(marked: list[bool], wrong: list[bool]) -> tuple[int, int]:
    """(positions that are marked, those of them that are wrong)."""
    return sum(marked), sum(one and other for one, other in zip(marked, wrong, strict=True))


def changed(gold: Sequences, a: Sequences, b: Sequences) -> list[tuple[int, str, tuple[int, ...], int, int]]:
    """(sequence, change, positions, gained, lost) of each sequence with different labels."""
    found = []
    for i, (true, of_a, of_b) in enumerate(zip(gold, a, b, strict=True)):
        positions = tuple(t for t in range(len(true)) if of_a[t] != of_b[t])
        gained = sum(of_b[t] == true[t] for t in positions)
        lost = sum(of_a[t] == true[t] for t in positions)
        change = "better" if gained > lost else "worse" if gained < lost else "neither"
        if positions:
            found.append((i, change, positions, gained, lost))
    return found
