"""CoNLL-2000 text chunking, and joint labels of part of speech and noun phrase derived from it."""

from __future__ import annotations

from functools import partial
from io import StringIO

import numpy as np

from hedgerow.datasets.dataset import About, Entry, SplitData
from hedgerow.datasets.files import DataFile, bad_line, read_text, verify

_PAGE = "https://www.clips.uantwerpen.be/conll2000/chunking/"
_ORIGIN = f"train.txt.gz and test.txt.gz of the CoNLL-2000 shared task, {_PAGE}, unpacked"


def _file(split: str, sha256: str) -> DataFile:
    return DataFile(f"conll2000/{split}.txt", sha256, _ORIGIN, f"{_PAGE}{split}.txt.gz")


_FILES = {
    "train": _file("train", "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea"),
    "test": _file("test", "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628"),
}
_KNOWN = {
    "train": {"sentences": 8936, "tokens": 211727, "chunk tags": 22, "POS tags": 44},
    "test": {"sentences": 2012, "tokens": 47377, "chunk tags": 19, "POS tags": 43},
}

_Sentence = tuple[list[str], list[str], list[str]]  # words, POS tags, chunk tags


def _sentences(split: str) -> list[_Sentence]:
    """Equal texts are one object, and no line is kept: that halves the memory of a process which loads the data."""
    file = _FILES[split]
    sentences: list[_Sentence] = [([], [], [])]
    shared: dict[str, str] = {}
    for number, line in enumerate(StringIO(read_text(file)), start=1):
        match line.split():
            case []:
                sentences.append(([], [], []))
            case [_, _, _] as token:
                for column, text in zip(sentences[-1], token, strict=True):
                    column.append(shared.setdefault(text, text))
            case _:
                raise bad_line(file, number, "word, POS tag and chunk tag, or a blank line", line.rstrip("\n"))
    sentences = [sentence for sentence in sentences if sentence[0]]
    counted = {
        "sentences": len(sentences),
        "tokens": sum(len(words) for words, _, _ in sentences),
        "chunk tags": len({chunk for _, _, chunks in sentences for chunk in chunks}),
        "POS tags": len({tag for _, tags, _ in sentences for tag in tags}),
    }
    verify(file, _KNOWN[split], counted)
    return sentences


def _read_chunks(split: str) -> SplitData:
    sentences = _sentences(split)
    X = [[{"word": word, "pos": pos} for word, pos in zip(*both, strict=True)] for *both, _ in sentences]
    return SplitData(X, [np.array(chunks) for _, _, chunks in sentences])


def _read_joint(split: str) -> SplitData:
    sentences = _sentences(split)
    X = [[{"word": word} for word in words] for words, _, _ in sentences]
    return SplitData(X, [np.array(list(map(_joint, tags, chunks))) for _, tags, chunks in sentences])


def _joint(pos: str, chunk: str) -> str:
    """`NN+B-NP`: only noun phrases count as chunks, as in published noun phrase chunking."""
    return f"{pos}+{chunk if chunk.endswith('-NP') else 'O'}"


_about = partial(
    About,
    source=_ORIGIN,
    licence="Wall Street Journal text (Linguistic Data Consortium); never bundled",
    citation="Tjong Kim Sang & Buchholz, Introduction to the CoNLL-2000 shared task: chunking, 2000",
)

ENTRIES = {
    "conll2000": Entry(
        _about(
            title="words of newspaper sentences to chunks",
            columns="`word`, `pos`",
            labels="chunk tags in IOB2, such as `B-NP`; 22 in train, and test adds a 23rd (`I-LST`)",
        ),
        tuple(_FILES),
        _read_chunks,
        tuple(_FILES.values()),
    ),
    "conll2000-joint": Entry(
        _about(
            title="words of newspaper sentences to part of speech and noun phrase at once",
            columns="`word` (not `pos`, which is a part of the label)",
            labels="POS tag + `B-NP`, `I-NP` or `O`, such as `NN+B-NP`; 121 over both splits, 118 in train",
        ),
        tuple(_FILES),
        _read_joint,
        tuple(_FILES.values()),
    ),
}
