"""Sums without rounding, in fractions, and roundings by their definition."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np


def whole_residuals(probabilities, gold, factors):
    """factor * (probability - 1 if gold) in single precision, then rounded to whole numbers, halves away from 0."""
    found = np.empty(probabilities.shape, np.int32)
    for (t, y), p in np.ndenumerate(probabilities):
        exact = float((p - np.float32(gold[t] == y)) * np.float32(factors[t]))
        found[t, y] = math.copysign(math.floor(abs(Fraction(exact)) + Fraction(1, 2)), exact)
    return found


def rounded_products(values, residuals, largest, value_unit):
    """value * residual as multiples of value_unit times the least power of two that is not below `largest`."""
    bound = Fraction(2) ** math.ceil(math.log2(largest))
    unit = Fraction(value_unit) * bound
    rows = [
        [round(Fraction(float(value)) * int(residual) / unit) * unit for residual in row]
        for value, row in zip(values, residuals, strict=True)
    ]
    return np.array(rows, object)


def exact_sums(values, of_sum, n):
    """The sum of the numbers of each of n groups."""
    sums = [Fraction(0)] * n
    for value, i in zip(values.tolist(), of_sum.tolist(), strict=True):
        sums[i] += Fraction(value)
    return sums


def fractions_of(sums):
    """What ExactSums stand for."""
    totals, bits = sums.whole_totals()
    return [Fraction(total, 2**bits) for total in totals]


def feature_counts(starts, ids, outputs):
    """How often each (attribute, output) occurs."""
    return Counter(
        (attribute, output)
        for (begin, end), output in zip(pairwise(starts.tolist()), outputs.tolist(), strict=True)
        for attribute in ids[begin:end].tolist()
    )
