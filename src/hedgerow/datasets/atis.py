"""Universal Dependencies English-Atis: parts of speech of spoken requests for flights."""

from __future__ import annotations

import numpy as np

from hedgerow.datasets.dataset import About, Entry, SplitData
from hedgerow.datasets.files import DataFile, bad_line, read_text, verify

_ORIGIN = "the treebank UD_English-Atis of a Universal Dependencies release, https://universaldependencies.org"


def _file(split: str, sha256: str) -> DataFile:
    return DataFile(f"atis/en_atis-ud-{split}.conllu", sha256, _ORIGIN)


_FILES = {
    "train": _file("train", "bf34cac75bf90593720fb7e06fcecb4f3fbaf325e7a2ceefbcca10771f56ac72"),
    "dev": _file("dev", "ba9ed59a6cf862c695043b64053194277023270ac46ad7b5182b90baee7cfee0"),
    "test": _file("test", "5d076b73ee57d30170f8e43434e14012f472d3af323b4f04d49a57d44c38b59a"),
}
_KNOWN = {
    "train": {"sentences": 4274, "words": 48655, "tags": 13},
    "dev": {"sentences": 572, "words": 6644, "tags": 14},
    "test": {"sentences": 586, "words": 6580, "tags": 13},
}


def _read(split: str) -> SplitData:
    file = _FILES[split]
    sentences: list[list[tuple[str, str]]] = [[]]
    for number, line in enumerate(read_text(file).splitlines(), start=1):
        if not line:
            sentences.append([])
        elif not line.startswith("#"):
            fields = line.split("\t")
            if len(fields) != 10:
                raise bad_line(file, number, "ten fields separated by tabs", line)
            if fields[0].isdigit():  # "1-2" spans several words and "1.1" is no word of the text
                sentences[-1].append((fields[1], fields[3]))
    sentences = [sentence for sentence in sentences if sentence]
    counted = {
        "sentences": len(sentences),
        "words": sum(map(len, sentences)),
        "tags": len({tag for sentence in sentences for _, tag in sentence}),
    }
    verify(file, _KNOWN[split], counted)
    X = [[{"word": word} for word, _ in sentence] for sentence in sentences]
    return SplitData(X, [np.array([tag for _, tag in sentence]) for sentence in sentences])


ENTRIES = {
    "atis": Entry(
        About(
            title="words of spoken flight requests to parts of speech",
            columns="`word`",
            labels="universal POS tags; 13 in train and test, dev has a 14th (`SYM`, twice)",
            source=_ORIGIN,
            licence="CC BY-SA 4.0",
            citation="Universal Dependencies, UD English-Atis",
        ),
        tuple(_FILES),
        _read,
        tuple(_FILES.values()),
    )
}
