"""Letters of English words to phonemes with stress: the data set that is part of the package."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from hedgerow.datasets.dataset import About, Entry, SplitData

_SPLITS = {"train": slice(0, 3000), "test": slice(3000, None), "all": slice(None)}


def _read(split: str) -> SplitData:
    text = files("hedgerow.datasets").joinpath("embedded/pronounce.tsv").read_text(encoding="ascii")
    rows = [line.split("\t") for line in text.splitlines()[_SPLITS[split]]]
    return SplitData([word for word, _ in rows], [np.array(labels.split(" ")) for _, labels in rows])


ENTRIES = {
    "pronounce": Entry(
        About(
            title="letters of English words to phonemes with stress",
            columns="the letter (a word is one string)",
            labels="ARPAbet phoneme, vowels with stress 0 1 2; `_` silent; `K+S` two phonemes on one letter",
            source="the CMU Pronouncing Dictionary, aligned letter by letter with tools/make_pronounce.py",
            licence="BSD, Carnegie Mellon University; see datasets/embedded/NOTICE",
            citation="The CMU Pronouncing Dictionary, Carnegie Mellon University, 1993-2015",
            note="3,000 words to train and 1,000 to test, ordinary words sampled from the dictionary",
        ),
        tuple(_SPLITS),
        _read,
    )
}
