"""Hyphenation: may a word be broken between these two letters?"""

from __future__ import annotations

import numpy as np

from hedgerow.datasets.dataset import About, Entry, Labels, SplitData
from hedgerow.datasets.files import DataFile, bad_line, read_text, verify

_ORIGIN = (
    "the words of the hyphenation set among the test data of the SMILE library (sparse.hyphen.6 in "
    "https://github.com/haifengl/smile), one on each line with `-` at the break points"
)
_FILES = {
    "train": DataFile("hyphen/train.txt", "81a3a5925babc9d1079c8e41048f72ff43e719df0219f6f7e4a66ef58565166a", _ORIGIN),
    "test": DataFile("hyphen/test.txt", "237d427d33f90df0664f1709ebd55b3472a17e3ceaad3f7119347ad0831bd74e", _ORIGIN),
}
_KNOWN = {
    "train": {"words": 1951, "gaps": 12049, "breaks": 2682},
    "test": {"words": 908, "gaps": 5836, "breaks": 1311},
}
_REACH = 3
_PADDING = "_"


def _gaps(word: str) -> list[dict[str, str]]:
    """One position for each gap between two letters: `l3 l2 l1 | r1 r2 r3`, padding outside the word."""
    padded = _PADDING * _REACH + word + _PADDING * _REACH
    positions = []
    for gap in range(_REACH + 1, _REACH + len(word)):
        left = {f"l{k}": padded[gap - k] for k in range(_REACH, 0, -1)}
        right = {f"r{k}": padded[gap + k - 1] for k in range(1, _REACH + 1)}
        positions.append(left | right)
    return positions


def _labels(pieces: list[str]) -> Labels:
    """`break` after each piece but the last, `join` at the other gaps."""
    inside = [["join"] * (len(piece) - 1) for piece in pieces]
    return np.array([label for piece in inside for label in [*piece, "break"]][:-1])


def _read(split: str) -> SplitData:
    file = _FILES[split]
    words = []
    for number, line in enumerate(read_text(file).splitlines(), start=1):
        pieces = line.split("-")
        if not all(piece.isalpha() for piece in pieces) or len("".join(pieces)) < 2:
            rule = "a word of two letters or more with - at its break points"
            raise bad_line(file, number, rule, line)
        words.append(pieces)
    y = [_labels(pieces) for pieces in words]
    breaks = sum(int((labels == "break").sum()) for labels in y)
    verify(file, _KNOWN[split], {"words": len(words), "gaps": sum(map(len, y)), "breaks": breaks})
    return SplitData([_gaps("".join(pieces)) for pieces in words], y)


ENTRIES = {
    "hyphen": Entry(
        About(
            title="gaps between the letters of English words to hyphenation points",
            columns="`l3 l2 l1 r1 r2 r3`: three letters on either side of the gap, `_` outside the word; "
            "no window needed",
            labels="`break` where a hyphen may stand, `join` elsewhere",
            source=_ORIGIN,
            licence="from the test data of a GPL/commercial library: research use",
            citation="Dietterich, Hao & Ashenfelter, Gradient tree boosting for training conditional random "
            "fields, 2008",
        ),
        tuple(_FILES),
        _read,
        tuple(_FILES.values()),
    )
}
