"""Families of sequences that share substrings, and belong into the same fold.

38 of the 111 training proteins have a relative among them; four pairs are the same chain twice, or one contains the
other. No test protein has a relative in training. Folds that separate relatives therefore promise too much.
"""

from __future__ import annotations

from collections.abc import Sequence

LENGTH = 6  # of a substring; two unrelated proteins share hardly any
SHARE = 0.05  # of the substrings of the shorter sequence


def families(texts: Sequence[str]) -> list[int]:
    """Return a number for each text, the same for relatives and relatives of relatives."""
    substrings = [{text[i : i + LENGTH] for i in range(len(text) - LENGTH + 1)} for text in texts]
    family = list(range(len(texts)))
    for j, mine in enumerate(substrings):
        for i, theirs in enumerate(substrings[:j]):
            if len(mine & theirs) > SHARE * min(len(mine), len(theirs)):
                family = [family[i] if number == family[j] else number for number in family]
    return family
