"""Alphabets against Python's own sorted sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.data.alphabet import Alphabet
from hedgerow.errors import InputError

pytestmark = pytest.mark.kernel

# Lone surrogates, NULs and shared prefixes are where orders and encodings go wrong.
texts = st.one_of(
    st.text(st.characters(exclude_categories=[]), max_size=12),
    st.text("ab\0é\ud800\uffff\U00010000", max_size=12),
)


def parts(strings: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    lengths = [len(string) for string in strings]
    return np.frombuffer(b"".join(strings), np.uint8), np.cumsum([0, *lengths]).astype(np.int64)


class Loud(str):
    """A str that answers nothing about itself."""

    __slots__ = ()

    def __hash__(self) -> int:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError


@given(st.lists(texts))
def test_is_a_sorted_set(values: list[str]) -> None:
    alphabet = Alphabet.of(values)
    twin = sorted(set(values))
    assert list(alphabet) == twin
    assert [alphabet[i] for i in range(len(alphabet))] == twin
    assert len(alphabet) == len(twin)
    assert alphabet.blob.tobytes() == "".join(twin).encode("utf-8", "surrogatepass")
    assert Alphabet(alphabet.blob.copy(), alphabet.offsets.copy()) == alphabet


@given(st.lists(texts), st.lists(texts))
def test_looks_up_as_a_dict_does(known: list[str], asked: list[str]) -> None:
    alphabet = Alphabet.of(known)
    twin = {value: i for i, value in enumerate(sorted(set(known)))}
    assert alphabet.ids(known + asked).tolist() == [twin.get(value, -1) for value in known + asked]
    assert all((value in alphabet) == (value in twin) for value in known + asked)


@given(st.sets(texts), st.sets(texts))
def test_into_another(a: set[str], b: set[str]) -> None:
    mine, other = Alphabet.of(a | {"shared"}), Alphabet.of(b | {"shared"})
    expected = [sorted({*b, "shared"}).index(value) if value in {*b, "shared"} else -1 for value in mine]
    assert mine.into(other).tolist() == expected
    assert mine.into(mine).tolist() == list(range(len(mine)))


@given(st.sets(texts), st.sets(texts))
def test_merged(a: set[str], b: set[str]) -> None:
    merged = Alphabet.of(a).merged(Alphabet.of(b))
    assert merged == Alphabet.of(a | b)
    assert list(merged) == sorted(a | b)


def test_into_gallops_to_the_end() -> None:
    many = Alphabet.of(f"{i:04}" for i in range(3000))
    for few in (["2999"], ["0000", "2998"], ["0001", "1500", "1501", "9"], ["", "3000"]):
        expected = [int(value) if value in many else -1 for value in sorted(few)]
        assert Alphabet.of(few).into(many).tolist() == expected


@given(st.lists(texts, min_size=1), st.data())
def test_subset(values: list[str], data: st.DataObject) -> None:
    alphabet = Alphabet.of(values)
    kept = data.draw(st.lists(st.booleans(), min_size=len(alphabet), max_size=len(alphabet)))
    twin = [value for value, keep in zip(alphabet, kept, strict=True) if keep]
    assert list(alphabet.subset(np.array(kept))) == twin


def test_is_immutable_and_equal_by_content() -> None:
    alphabet = Alphabet.of(["b", "a"])
    assert alphabet == Alphabet.of(["a", "b"])
    assert alphabet != Alphabet.of(["a"])
    assert alphabet != ["a", "b"]
    assert hash(alphabet) == hash(Alphabet.of(["a", "b"]))
    assert repr(alphabet) == "Alphabet(2: 'a', 'b')"
    with pytest.raises(ValueError, match="read-only"):
        alphabet.blob[0] = 0
    with pytest.raises(IndexError):
        alphabet[2]
    assert 3 not in alphabet


def test_a_str_that_overrides_itself_is_read_by_its_content() -> None:
    alphabet = Alphabet.of([Loud("b"), "a", Loud("a"), Loud("é")])
    assert list(alphabet) == ["a", "b", "é"]
    assert alphabet.ids([Loud("é"), Loud("z")]).tolist() == [2, -1]


def test_refuses_what_is_no_str() -> None:
    with pytest.raises(InputError, match="an alphabet holds str, but got int"):
        Alphabet.of(["a", 1])  # type: ignore[list-item]
    with pytest.raises(InputError, match="an alphabet holds str, but got bytes"):
        Alphabet.of(["a"]).ids([b"a"])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("strings", "rule"),
    [
        ([b"b", b"a"], "must rise, but string 1"),
        ([b"a", b"a"], "must rise, but string 1"),
        ([b"a", b"\xff"], "string 1 of an alphabet must be UTF-8"),
        ([b"\xc3"], "UTF-8"),  # cut short
        ([b"\xc0\xaf"], "UTF-8"),  # longer than needed
        ([b"\xe0\x80\xaf"], "UTF-8"),
        ([b"\xf0\x80\x80\xaf"], "UTF-8"),
        ([b"\xf4\x90\x80\x80"], "UTF-8"),  # beyond the last code point
        ([b"\x80"], "UTF-8"),
    ],
)
def test_refuses_damaged_strings(strings: list[bytes], rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        Alphabet(*parts(strings))


@given(st.binary(max_size=6))
def test_utf8_is_judged_as_python_does(text: bytes) -> None:
    try:
        text.decode("utf-8", "surrogatepass")
        good = True
    except UnicodeDecodeError:
        good = False
    if good:
        assert len(Alphabet(*parts([text]))) == 1
    else:
        with pytest.raises(InputError, match="UTF-8"):
            Alphabet(*parts([text]))


@pytest.mark.parametrize("offsets", [[], [1, 3], [0, 2], [0, 4], [0, 5, 3], [0, -1, 3], [-1, 3]])
def test_refuses_damaged_offsets(offsets: list[int]) -> None:
    with pytest.raises(InputError, match="offsets of an alphabet"):
        Alphabet(np.frombuffer(b"abc", np.uint8), np.array(offsets, np.int64))


def test_refuses_other_arrays() -> None:
    blob, offsets = parts([b"a"])
    with pytest.raises(InputError, match="blob of an alphabet must be a 1-D array of uint8"):
        Alphabet(blob.astype(np.int8), offsets)
    with pytest.raises(InputError, match="offsets of an alphabet must be a 1-D array of int64"):
        Alphabet(blob, offsets.astype(np.int32))
