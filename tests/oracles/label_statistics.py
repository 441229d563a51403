"""Label statistics, the slow and obvious way: attributes as Python values, counts in dicts."""

from __future__ import annotations

import math
from collections import Counter


def attributes(sequence, at, columns, offsets):
    """For each (column, offset) the values that it reads at a position; None stands for padding."""
    read = {}
    for column in columns:
        for offset in offsets:
            place = at + offset
            if not 0 <= place < len(sequence):
                read[column, offset] = [None]
                continue
            value = sequence[place][column]
            read[column, offset] = [] if value is None else value if isinstance(value, list) else [value]
    return read


def log_ratios(counted, x, at, *, columns, offsets, families, labels, prior, smoothing):
    """(families, labels + 1): what the attributes of a position say, from the counted (sequence, gold, weight)."""
    pairs, singles = Counter(), Counter()
    for sequence, gold, weight in counted:
        for t, label in enumerate(gold):
            for slot, values in attributes(sequence, t, columns, offsets).items():
                for value in values:
                    pairs[slot, value, label] += weight
                    singles[slot, value] += weight
    sums = [[0.0] * (len(labels) + 1) for _ in range(max(families) + 1)]
    for (slot, values), family in zip(attributes(x, at, columns, offsets).items(), families, strict=True):
        for value in values:
            n = singles[slot, value]
            for i, label in enumerate(labels):
                p = (pairs[slot, value, label] + smoothing * prior[i]) / (n + smoothing)
                sums[family][i] += math.log(p / prior[i])
            sums[family][-1] += math.log(1 + n)
    return sums
