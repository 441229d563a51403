"""Texts that are looked up in the alphabets of training as they are read, against reading first and then encoding."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow import Sequences
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import ABSENT
from hedgerow.encoding import Encoder
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from oracles.encoding import weighted_cells

pytestmark = pytest.mark.kernel

words = st.text("abé\ud800😀", max_size=3) | st.sampled_from(["a" * 7, "a" * 8, "b" + "a" * 16, "é" * 9, "a\0"])
texts = st.none() | words
numbers = st.integers(-3, 3) | st.floats(-2, 2, width=32) | st.integers(0, 2).map(np.int8) | st.booleans()
bags = st.none() | st.lists(words, max_size=4) | st.sets(words, max_size=4)
weights = st.dictionaries(words, numbers, max_size=3)
keys: dict[str, Any] = {"text": texts, "other": texts, "number": st.none() | numbers, "bag": bags, "in": weights}
changed = keys | {"other": bags, "number": texts, "new": texts}  # columns of other kinds
items = st.fixed_dictionaries({}, optional=keys)
positions: dict[str, Any] = {
    "dicts": items,
    "dicts of other kinds": items | st.fixed_dictionaries({}, optional=changed),
    "words": texts,
    "bags": bags,
    "tuples": st.tuples(texts, texts, st.none() | numbers),
}


def sequences_of(position: st.SearchStrategy[Any]) -> st.SearchStrategy[list[list[Any]]]:
    return st.lists(st.lists(position, min_size=1, max_size=5), min_size=1, max_size=4)


def outcome(encode: Callable[[], Encoded]) -> Any:
    """Cells, alphabets and counts of values that training lacks; or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            encoded = encode()
        except InputError as error:
            return str(error)
    columns = [(type(c), c.name, weighted_cells(c), getattr(c, "alphabet", None)) for c in encoded.columns]
    return columns, dict(encoded.unseen), encoded.starts.tolist()


@pytest.mark.parametrize("form", positions)
@given(data=st.data())
def test_looking_up_equals_reading_then_encoding(form: str, data: st.DataObject) -> None:
    X = data.draw(sequences_of(positions[form.removesuffix(" of other kinds")]))
    new = data.draw(sequences_of(positions[form]))
    treatment = data.draw(st.sampled_from([None, "impute", "indicator", "published-indicator"]))
    try:
        encoder = Encoder.fit(Sequences(X), treatment)
    except InputError:
        return
    expected = outcome(lambda: encoder.transform(Sequences(new)))
    for n_threads in (1, 3):
        assert outcome(lambda n=n_threads: encoder.encode(new, n_threads=n)) == expected  # type: ignore[misc]


@given(sequences_of(words), sequences_of(texts))
def test_texts_of_which_others_are_made_are_kept(X: list[list[str]], new: list[list[str | None]]) -> None:
    template = hr.templates.words()
    encoder = Encoder.fit(Sequences(X), features=template)
    expected = outcome(lambda: encoder.transform(Sequences(new)))
    assert outcome(lambda: encoder.encode(new, n_threads=2)) == expected


def test_letters_and_words_are_not_confused() -> None:
    letters = Encoder.fit(Sequences(["ab", "ba"]))
    assert letters.encode([["a", "b"]]).columns[0].codes.tolist() == [0, 1]  # type: ignore[union-attr]
    with pytest.raises(InputError, match="such as 'ab'"):
        letters.encode([["ab"]])


def many(rng: np.random.Generator, n: int) -> list[list[dict[str, Any]]]:
    """More texts than are encoded at once, each of them a new object; keys come and go."""
    draws = rng.integers(0, 3000, (n, 3)).tolist()
    flat: list[dict[str, Any]] = [
        {"a": f"a{i}", "b": f"{'ü' * (j % 3)}{j}", "bag": [f"{i % 50}", f"x{k % 70}", f"{j}"]} for i, j, k in draws
    ]
    for t in range(0, n, 7):
        del flat[t]["a"]
        flat[t // 2]["b"] = None
        flat[t]["number"] = float(t)
    return [flat[t : t + 10] for t in range(0, n, 10)]


def test_batches_and_threads_change_nothing() -> None:
    rng = np.random.default_rng(0)
    encoder = Encoder.fit(Sequences(many(rng, 2000)))
    X = many(rng, 6000)
    expected = outcome(lambda: encoder.transform(Sequences(X)))
    assert expected[1]["a"] > 100
    for n_threads in (1, 2, 5):
        assert outcome(lambda n=n_threads: encoder.encode(X, n_threads=n)) == expected  # type: ignore[misc]


def test_threads_change_no_code_of_another_alphabet() -> None:
    rng = np.random.default_rng(0)
    ours, theirs = (Alphabet.of(f"{i}" for i in rng.integers(0, 20_000, 12_000).tolist()) for _ in range(2))
    codes = rng.integers(-2, len(ours), 50_000).astype(np.int32)
    index = {text: i for i, text in enumerate(theirs)}
    expected = [code if code < 0 else index.get(ours[code], ABSENT) for code in codes.tolist()]
    left_out = sum(code >= 0 and found == ABSENT for code, found in zip(codes.tolist(), expected, strict=True))
    for n_threads in (1, 2, 5):
        found, n_left_out = ours.recode(codes, theirs, n_threads)
        assert found.tolist() == expected
        assert n_left_out == left_out


@pytest.mark.filterwarnings("ignore::hedgerow.errors.AbsentColumnWarning")
@pytest.mark.parametrize("n_threads", [1, 2])
def test_texts_may_be_freed_by_python_code_that_reading_runs(n_threads: int) -> None:
    class Number(np.float32):
        def __float__(self) -> float:
            for item in X[0][: len(freed) + 1]:
                item.clear()
            freed.append("".join(["z"] * len(freed)))
            return 1.0

    class Bag(set):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            for item in X[0]:
                item.pop("text", None)
            return (f"value {i}" for i in range(20))

    training = [[{"text": f"value {i}", "bag": [f"value {i}"], "number": 1.0} for i in range(20)]]
    encoder = Encoder.fit(Sequences(training))
    freed: list[str] = []
    X: list[list[dict[str, Any]]] = [[{"text": f"value {i % 20}", "number": Number(1)} for i in range(200)]]
    column = encoder.encode(X, n_threads=n_threads).columns[0]
    assert weighted_cells(column)[:20] == weighted_cells(encoder.encode(training).columns[0])
    X = [[{"text": f"value {i % 20}", "bag": Bag()} for i in range(200)]]
    encoded = encoder.encode(X, n_threads=n_threads)
    assert weighted_cells(encoded.column("text"))[0] == "value 0"
    assert len(weighted_cells(encoded.column("bag"))[199]) == 20
