"""Data of the benchmarks: the sets in HEDGEROW_DATA, or with --quick small stand-ins that need no files."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Callable, Iterator
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

import numpy as np

import hedgerow as hr

QUICK = "--quick" in sys.argv  # read here, so that jobs in other processes see it too
N_QUICK = 30  # sequences of a stand-in

Sentence = tuple[list[str], list[str], list[str]]

OFFSETS = (-2, -1, 0, 1, 2)
TEMPLATES = {
    **{f"w[{i}]": [("word", i)] for i in OFFSETS},
    **{f"w[{i}]|w[{i + 1}]": [("word", i), ("word", i + 1)] for i in (-1, 0)},
    **{f"p[{i}]": [("pos", i)] for i in OFFSETS},
    **{f"p[{i}]|p[{i + 1}]": [("pos", i), ("pos", i + 1)] for i in OFFSETS[:-1]},
    **{f"p[{i}]|p[{i + 1}]|p[{i + 2}]": [("pos", i), ("pos", i + 1), ("pos", i + 2)] for i in OFFSETS[:-2]},
}


def load(name: str, split: str) -> Any:
    """The data set, or a stand-in whose positions and labels have the same types."""
    return _stand_in(name, split) if QUICK else hr.datasets.load(name, split)


def _stand_in(name: str, split: str) -> Any:
    """Words with their sounds; "letters" are arrays of pixels, CoNLL-2000 has dicts and labels like its own."""
    words = hr.datasets.load("pronounce", split)
    X: Any = words.X[:N_QUICK]
    y: Any = [np.asarray(labels) for labels in words.y[:N_QUICK]]
    if name == "letters":
        X = [np.array([[ord(letter) >> bit & 1 for bit in range(7)] for letter in x], dtype=np.float32) for x in X]
    if name.startswith("conll2000"):
        X = [[{"word": letter, "pos": "V" if letter in "aeiou" else "C"} for letter in x] for x in X]
        y = [np.where(labels == "_", "O", "B-NP") for labels in y]
    if name == "conll2000-joint":
        y = [
            np.array([f"{p['pos']}+{c}" for p, c in zip(x, labels, strict=True)])
            for x, labels in zip(X, y, strict=True)
        ]
    if name == "nettalk-binary":
        y = [np.where(labels == "_", "0", "1") for labels in y]
    return dataclasses.replace(words, X=X, y=y)


def sentences(split: str = "train") -> list[Sentence]:
    """Words, parts of speech and chunk labels of each sentence of CoNLL-2000."""
    return list(_sentences(load("conll2000", split)))


def _sentences(data: Any) -> Iterator[Sentence]:
    for x, y in zip(data.X, data.y, strict=True):
        yield [p["word"] for p in x], [p["pos"] for p in x], [str(label) for label in y]


def attributes(words: list[str], tags: list[str]) -> list[dict[str, str]]:
    """A dict for each position: the words and tags around it, alone and joined; none that reach outside."""
    sources = {"word": words, "pos": tags}
    items = []
    for t in range(len(words)):
        item = {}
        for name, parts in TEMPLATES.items():
            if all(0 <= t + offset < len(words) for _, offset in parts):
                item[name] = "|".join(sources[source][t + offset] for source, offset in parts)
        items.append(item)
    return items


OUTSIDE = "<outside>"
SHAPES = str.maketrans(
    ascii_uppercase + ascii_lowercase + digits, "X" * len(ascii_uppercase) + "x" * len(ascii_lowercase) + "d" * 10
)
REPEATED = re.compile(r"(.)\1+")
AFFIXES = [(n, f"prefix{n}", f"suffix{n}") for n in range(1, 5)]


def word_attributes(words: list[str]) -> list[dict[str, str]]:
    """A dict for each word: the columns that `hr.templates.words()` derives from lists of words in ASCII."""
    shapes = [word.translate(SHAPES) for word in words]
    outlines = [OUTSIDE, *(REPEATED.sub(r"\1", shape) for shape in shapes), OUTSIDE]
    around = [OUTSIDE, OUTSIDE, *words, OUTSIDE, OUTSIDE]
    items = []
    for t, word in enumerate(words):
        before, after = around[t + 1], around[t + 3]
        item = {
            "word": word,
            "lower": word.lower(),
            "shape": shapes[t],
            "outline": outlines[t + 1],
            "word[-2]": around[t],
            "word[-1]": before,
            "word[1]": after,
            "word[2]": around[t + 4],
            "outline[-1]": outlines[t],
            "outline[1]": outlines[t + 2],
            "word[-1]|word": f"{before}|{word}",
            "word|word[1]": f"{word}|{after}",
        }
        for n, prefix, suffix in AFFIXES[: len(word)]:
            item[prefix] = word[:n]
            item[suffix] = word[-n:]
        items.append(item)
    return items


def to_bags(items: list[dict[str, str]]) -> list[list[str]]:
    """The same attributes as lists of strings."""
    return [[f"{name}:{value}" for name, value in item.items()] for item in items]


def chunking(split: str) -> tuple[list[list[dict[str, str]]], list[list[str]]]:
    """The attributes and the chunk labels of CoNLL-2000."""
    data = sentences(split)
    return [attributes(words, tags) for words, tags, _ in data], [chunks for _, _, chunks in data]


def few(number: int, quick: int) -> int:
    """The number, or with --quick the other one."""
    return quick if QUICK else number


def repeated(work: Callable[[], float], times: int) -> float:
    """The smallest of several measurements: the one least disturbed. With --quick there is one."""
    return min(work() for _ in range(few(times, 1)))
