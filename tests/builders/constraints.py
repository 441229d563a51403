"""Constraints that training data keep."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from hedgerow.constraints import Constraints


def pairs_and_ends(training, seed=0, share=0.3):
    """(allowed pairs, labels that may be last): those of gold, and a share of all others."""
    rng, k, pairs, last = np.random.default_rng(seed), len(training.labels), set(), set()
    for begin, end in pairwise(training.sequences.starts.tolist()):
        codes = training.codes[begin:end].tolist()
        pairs |= set(pairwise([None, *codes]))
        last.add(codes[-1])
    pairs |= {(a, b) for a in (None, *range(k)) for b in range(k) if rng.random() < share}
    return pairs, last | {y for y in range(k) if rng.random() < share}


def constrained(training, pairs, last):
    k = len(training.labels)
    follows = np.array([[(a, b) in pairs for b in range(k)] for a in (None, *range(k))], bool)
    return replace(training, constraints=Constraints(follows, np.array([y in last for y in range(k)], bool)))
