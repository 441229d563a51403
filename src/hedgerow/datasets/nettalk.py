"""NETtalk: English words with a phoneme and a stress mark for each letter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from hedgerow.datasets.dataset import About, Entry, SplitData
from hedgerow.datasets.files import DataFile, bad_line, read_text, verify

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/undocumented/connectionist-bench/nettalk/"
_DERIVED = (
    "the 1,000 training and 1,000 test words that publications use as standard, as rows of nettalk.data "
    f"({_UCI}): word, phonemes, stresses, foreign flag, separated by tabs"
)

_FILES = {
    "train": DataFile(
        "nettalk/train1000.tsv", "06adb2c1c6590e2fca5550bdb574f3a75fde52b35fae486155f3e4177010cce8", _DERIVED
    ),
    "test": DataFile(
        "nettalk/test1000.tsv", "10be5a1f90c3376132a5e8eaa6ae290752b83999a0e092d4996edc69fc431216", _DERIVED
    ),
    "all": DataFile(
        "nettalk/nettalk.data",
        "bf5628ee4368e5348e22189a9e2236bf86853363dd5832d07f6d7223b614f8ab",
        f"the NETtalk corpus in the UCI archive, {_UCI}",
        _UCI + "nettalk.data",
    ),
}
_KNOWN = {
    "train": {"words": 1000, "letters": 7230, "phonemes": 51, "stresses": 5, "joint labels": 126},
    "test": {"words": 1000, "letters": 7242, "phonemes": 51, "stresses": 5, "joint labels": 126},
    "all": {"words": 20007, "letters": 146934, "phonemes": 51, "stresses": 5, "joint labels": 163},
}
_HEADER_LINES = {"train": 0, "test": 0, "all": 10}
_WITHOUT_STRESSES = "gunpowder"  # its row in nettalk.data has a "0" where the nine stresses belong


class _Row(NamedTuple):
    word: str
    phonemes: str
    stresses: str


def _rows(split: str) -> list[_Row]:
    file, header = _FILES[split], _HEADER_LINES[split]
    rows = []
    for number, line in enumerate(read_text(file).splitlines()[header:], start=header + 1):
        fields = line.split("\t")
        if fields[0] == _WITHOUT_STRESSES and len(fields) > 2 and fields[2] == "0":
            continue
        if len(fields) != 4 or not fields[0] or not len(fields[0]) == len(fields[1]) == len(fields[2]):
            rule = "a word, a phoneme and a stress for each letter, and a flag, separated by tabs"
            raise bad_line(file, number, rule, line)
        rows.append(_Row(*fields[:3]))
    counted = {
        "words": len(rows),
        "letters": sum(len(row.word) for row in rows),
        "phonemes": len({p for row in rows for p in row.phonemes}),
        "stresses": len({s for row in rows for s in row.stresses}),
        "joint labels": len({label for row in rows for label in _joint(row)}),
    }
    verify(file, _KNOWN[split], counted)
    return rows


def _joint(row: _Row) -> list[str]:
    return [phoneme + stress for phoneme, stress in zip(row.phonemes, row.stresses, strict=True)]


def _phoneme(row: _Row) -> list[str]:
    return list(row.phonemes)


def _stress(row: _Row) -> list[str]:
    return list(row.stresses)


def _binary(row: _Row) -> list[str]:
    return ["1" if stress in "12" else "0" for stress in row.stresses]


def _read(label: Callable[[_Row], list[str]], split: str) -> SplitData:
    rows = _rows(split)
    return SplitData([row.word for row in rows], [np.array(label(row)) for row in rows])


_ABOUT = About(
    title="letters of English words to phoneme and stress",
    columns="the letter (a word is one string); the papers use window=6",
    labels="",
    source=f"the NETtalk corpus, UCI archive, {_UCI}",
    licence="1988 notice of T. J. Sejnowski: non-commercial research only",
    citation="Sejnowski & Rosenberg, Parallel networks that learn to pronounce English text, 1987",
    note="train and test are the standard 1,000 + 1,000 words (`just` is in both, `vale` twice in test); "
    "all is the whole dictionary without `gunpowder`, which has no stresses",
)
_STRESSES = "at the first vowel of a syllable `1` primary, `2` secondary, `0` no stress; `>` before it, `<` after it"


def _entry(label: Callable[[_Row], list[str]], meaning: str) -> Entry:
    return Entry(replace(_ABOUT, labels=meaning), tuple(_FILES), partial(_read, label), tuple(_FILES.values()))


ENTRIES = {
    "nettalk-stress": _entry(_stress, _STRESSES),
    "nettalk-binary": _entry(_binary, "`1` for stress 1 or 2, `0` for everything else"),
    "nettalk-phoneme": _entry(_phoneme, "the phoneme, `-` for a silent letter"),
    "nettalk": _entry(_joint, "phoneme and stress joined, such as `a1`"),
}
