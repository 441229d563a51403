"""The embedded set, and the aligner that made it, against enumeration."""

from __future__ import annotations

import importlib
import math
import re
import sys
from collections import Counter
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.datasets import load
from oracles.datasets import alignment_sums, alignments, chunks

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
align = importlib.import_module("align")
make_pronounce = importlib.import_module("make_pronounce")

N_LETTERS, N_PHONEMES = 3, 3


def random_model(seed: int):
    rng = np.random.default_rng(seed)
    shapes = ((N_LETTERS,), (N_LETTERS, N_PHONEMES), (N_LETTERS, N_PHONEMES, N_PHONEMES))
    return align.Chunks(*(rng.random(shape) * (rng.random(shape) < 0.8) for shape in shapes)).normalised()


def as_table(model) -> dict[tuple[int, ...], float]:
    table: dict[tuple[int, ...], float] = {(letter,): float(p) for letter, p in enumerate(model.silent)}
    table |= {index: float(p) for index, p in np.ndenumerate(model.single)}
    return table | {index: float(p) for index, p in np.ndenumerate(model.double)}


small_words = st.tuples(st.integers(1, 4), st.integers(0, 6)).flatmap(
    lambda shape: st.lists(
        st.tuples(
            st.lists(st.integers(0, N_LETTERS - 1), min_size=shape[0], max_size=shape[0]),
            st.lists(st.integers(0, N_PHONEMES - 1), min_size=shape[1], max_size=shape[1]),
        ),
        min_size=1,
        max_size=4,
    )
)


def as_batch(words):
    letters = np.array([word[0] for word in words], dtype=np.int64)
    phonemes = np.array([word[1] for word in words], dtype=np.int64).reshape(len(words), -1)
    return align.Batch(letters, phonemes)


@given(words=small_words, seed=st.integers(0, 1000))
def test_expected_counts_equal_enumeration(words, seed: int) -> None:
    model = random_model(seed)
    counts, loglik = align.expected_counts(model, as_batch(words))
    table = as_table(model)
    expected: Counter[tuple[int, ...]] = Counter()
    for (letters, phonemes), found in zip(words, loglik, strict=True):
        total, one_word, _ = alignment_sums(table, letters, phonemes)
        expected += one_word
        assert found == (pytest.approx(math.log(total), abs=1e-9) if total else -math.inf)
    assert as_table(counts) == pytest.approx({chunk: expected[chunk] for chunk in table}, abs=1e-9)


@given(words=small_words, seed=st.integers(0, 1000))
def test_best_alignment_equals_enumeration(words, seed: int) -> None:
    model = random_model(seed)
    table = as_table(model)
    spoken, scores = align.best_alignment(model, as_batch(words))
    for (letters, phonemes), sizes, score in zip(words, spoken, scores, strict=True):
        _, _, best = alignment_sums(table, letters, phonemes)
        if best == 0:
            assert score == -math.inf
            continue
        assert score == pytest.approx(math.log(best), abs=1e-9)
        assert tuple(sizes) in set(alignments(len(letters), len(phonemes)))
        own = math.prod(table[chunk] for chunk in chunks(letters, phonemes, tuple(int(s) for s in sizes)))
        assert own == pytest.approx(best, rel=1e-9)


def test_likelihood_never_falls() -> None:
    rng = np.random.default_rng(0)
    batches = [
        align.Batch(rng.integers(0, 5, (20, n_letters)), rng.integers(0, 6, (20, n_phonemes)))
        for n_letters, n_phonemes in ((3, 3), (4, 2), (5, 7), (2, 4))
    ]
    model, log_likelihoods = align.fit(batches, align.Chunks.start(5, 6), 25)
    assert len(log_likelihoods) == 25
    assert all(after >= before - 1e-9 for before, after in pairwise(log_likelihoods))
    assert log_likelihoods[-1] > log_likelihoods[0] + 10
    totals = model.silent + model.single.sum(1) + model.double.sum((1, 2))
    assert totals == pytest.approx(np.ones(5))


def test_em_finds_the_chunks_that_made_the_words() -> None:
    """Letter 0 always says phoneme 0, letter 1 is silent, letter 2 says phonemes 1 and 2."""
    spelling = {0: [0], 1: [], 2: [1, 2]}
    rng = np.random.default_rng(1)
    words = [rng.integers(0, 3, 5).tolist() for _ in range(60)]
    batches = [as_batch([(word, [p for letter in word for p in spelling[letter]])]) for word in words]
    model, _ = align.fit(batches, align.Chunks.start(3, 3), 20)
    assert model.single[0, 0] == pytest.approx(1, abs=1e-3)
    assert model.silent[1] == pytest.approx(1, abs=1e-3)
    assert model.double[2, 1, 2] == pytest.approx(1, abs=1e-3)


def test_the_tool_reads_and_joins_as_documented() -> None:
    text = "box B AA1 K S\nbox(2) B AO1 K S\na's EY1 Z\naalen AE1 L AH0 N # place, german\nab AE1 B\n"
    dictionary = make_pronounce.parse(text)
    assert dictionary == {"box": ("B", "AA1", "K", "S"), "aalen": ("AE1", "L", "AH0", "N")}
    labels = make_pronounce.join_labels(dictionary["box"], np.array([1, 1, 2]))
    assert labels == ("B", "AA1", "K+S")
    assert make_pronounce.join_labels(("N", "AY1", "T"), np.array([0, 1, 1, 0, 0, 1])) == (
        *("_", "N", "AY1", "_", "_", "T"),
    )


def test_the_tool_keeps_words_with_families_only() -> None:
    sounds = {"hunt": "h", "hunte": "h", "hunted": "hd", "hunting": "hg", "smith": "s", "smithing": "sg"}
    dictionary = {word: tuple(sound) for word, sound in sounds.items()}
    assert make_pronounce.ordinary_words(dictionary) == {"hunt", "hunted", "hunting"}


VOWELS = ["AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW"]
CONSONANTS = [
    *("B", "CH", "D", "DH", "F", "G", "HH", "JH", "K", "L", "M", "N"),
    *("NG", "P", "R", "S", "SH", "T", "TH", "V", "W", "Y", "Z", "ZH"),
]
PHONEMES = {*CONSONANTS, *(vowel + stress for vowel in VOWELS for stress in "012")}


def test_embedded_rows_are_whole() -> None:
    data = load("pronounce", "all")
    assert len(data) == 4000
    assert len(set(data.X)) == 4000
    for word, labels in zip(data.X, data.y, strict=True):
        assert re.fullmatch("[a-z]{3,12}", word)
        assert len(labels) == len(word)
        spoken = [phoneme for label in labels if label != "_" for phoneme in label.split("+")]
        assert PHONEMES.issuperset(spoken)
        assert any(phoneme[-1] in "012" for phoneme in spoken), word
        assert all(label.count("+") <= 1 for label in labels)


def test_embedded_split_is_fixed_and_test_labels_are_trained() -> None:
    train, test, whole = (load("pronounce", split) for split in ("train", "test", "all"))
    assert (len(train), len(test)) == (3000, 1000)
    assert train.X + test.X == whole.X
    words_with = Counter(label for labels in train.y for label in set(labels.tolist()))
    assert min(words_with.values()) >= 5
    assert {label for labels in test.y for label in labels.tolist()} <= set(words_with)
    assert len(words_with) == 62


@pytest.mark.parametrize(
    ("word", "labels"),
    [
        ("thoughtful", "TH _ AO1 _ _ _ T F AH0 L"),
        ("mixed", "M IH1 K+S _ T"),
        ("laughed", "L AE1 _ F _ _ T"),
        ("quick", "K+W _ IH1 _ K"),
    ],
)
def test_embedded_words_are_aligned_as_a_reader_would(word: str, labels: str) -> None:
    data = load("pronounce", "all")
    assert " ".join(data.y[data.X.index(word)]) == labels


def test_embedded_files_are_small_and_carry_their_notice() -> None:
    folder = files("hedgerow.datasets").joinpath("embedded")
    assert len(folder.joinpath("pronounce.tsv").read_bytes()) <= 250_000
    assert "Carnegie Mellon University" in folder.joinpath("NOTICE").read_text(encoding="utf-8")
