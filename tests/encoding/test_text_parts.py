"""Parts of texts: the compiled ones are those of the slow twin, for any text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.data.alphabet import Alphabet
from hedgerow.encoding.text_parts import OUTSIDE, WHOLE, part_alphabets, part_codes
from oracles.encoding import GONE
from oracles.features import part

PARTS = [
    "text",
    "lower",
    "shape",
    "outline",
    "constant",
    "prefix1",
    "prefix3",
    "prefix8",
    "suffix1",
    "suffix3",
    "suffix8",
]
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=10)
TEXTS = st.lists(
    st.one_of(ANY_TEXT, st.sampled_from(["", OUTSIDE, "<OUTSIDE>x", "aaBB11--", "İx", "ÀÉ٣", "<outside", "e\ud800f"])),
    min_size=1,
    max_size=20,
)


@given(TEXTS, TEXTS, st.sampled_from(PARTS))
def test_parts_are_those_of_the_slow_twin(texts: list[str], new: list[str], name: str) -> None:
    expected = [part(text, name) for text in texts]
    (alphabet,) = part_alphabets(Alphabet.of(texts), [(name, [])])
    assert list(alphabet) == sorted({value for value in expected if value is not GONE})
    distinct = Alphabet.of(new)
    for _ in range(3):  # the first searches are by halves, the later ones by hash
        found = [GONE if code < 0 else alphabet[code] for code in part_codes(alphabet, distinct, name).tolist()]
        slow = [part(text, name) for text in distinct]
        assert found == [value if value in expected else GONE for value in slow]


@given(TEXTS, st.lists(ANY_TEXT, max_size=3))
def test_alphabets_of_all_parts_on_threads(texts: list[str], more: list[str]) -> None:
    distinct = Alphabet.of(texts)
    expected = [sorted({*more, *(part(text, name) for text in texts)} - {GONE}) for name in PARTS]
    for n_threads in (1, 2, 5):
        found = part_alphabets(distinct, [(name, more) for name in (*PARTS, WHOLE)], n_threads)
        assert [list(alphabet) for alphabet in found] == [*expected, sorted({*more, *texts})]


def test_strings_are_found_by_halves_and_by_hash() -> None:
    strings = [f"{'x' * (i % 20)}{i}" for i in range(1000)]
    alphabet = Alphabet.of(strings)
    for _ in range(5):
        assert [alphabet[code] for code in alphabet.ids(strings[:100]).tolist()] == strings[:100]
        assert alphabet.ids(["", "x", "1000", "xx1"]).tolist() == [-1, -1, -1, -1]
        assert alphabet.codes([None, "0", "other"]).tolist() == [-2, 0, -2]
    assert Alphabet.of([]).ids(["a"] * 3).tolist() == [-1, -1, -1]


@pytest.mark.parametrize("name", ["", "prefix", "prefix0", "prefix10", "suffixx", "tail"])
def test_an_unknown_part_is_refused(name: Any) -> None:
    with pytest.raises(ValueError, match="there is no such part of a text"):
        part_codes(Alphabet.of(["a"]), Alphabet.of(["b"]), name)
    with pytest.raises(ValueError, match="there is no such part of a text"):
        part_alphabets(Alphabet.of(["a"]), [(name, [])])
