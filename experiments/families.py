"""Which sequences are relatives: they share pieces of text, and belong on the same side of a split.

Of the 111 training proteins 38 have a relative among them, four pairs are the same chain twice or a part of one
another, and no test protein has one: folds that part relatives promise more than a test can keep.
"""

from __future__ import annotations

from collections.abc import Sequence

LENGTH = 6  # of a piece; two unrelated proteins share hardly any
SHARE = 0.05  # of the pieces of the shorter one


def families(texts: Sequence[str]) -> list[int]:
    """A number for each text, the same for relatives and relatives of relatives."""
    pieces = [{text[i : i + LENGTH] for i in range(len(text) - LENGTH + 1)} for text in texts]
    family = list(range(len(texts)))
    for j, mine in enumerate(pieces):
        for i, theirs in enumerate(pieces[:j]):
            if len(mine & theirs) > SHARE * min(len(mine), len(theirs)):
                family = [family[i] if number == family[j] else number for number in family]
    return family
