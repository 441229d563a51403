"""Derived columns agree with slow twins, are stored in the model, and bad templates are refused."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow import Sequences, _core
from hedgerow.data.alphabet import Alphabet, PairAlphabet
from hedgerow.data.columns import is_local
from hedgerow.encoding import Encoder
from hedgerow.encoding.rules import Part
from hedgerow.errors import AbsentColumnWarning, InputError
from oracles.encoding import GONE, cells
from oracles.features import letter_attributes, number_attributes, tag_attributes, word_attributes

TEXTS = st.one_of(
    st.sampled_from(["", "the", "The", "co-op", "<outside>", "<outside>'", "A|B", "|", "ÉTÉ", "ǅ", "1984", "x2", "ß"]),
    st.text(max_size=6),
    st.none(),
)
SENTENCES = st.lists(st.lists(TEXTS, min_size=1, max_size=6), min_size=1, max_size=4)
Rows = list[dict[str, Any]]


def rows(encoder: Encoder, sequences: Sequences, n_threads: int = 1) -> Rows:
    """The attributes that the encoder derives, by position."""
    encoded = encoder.transform(sequences, n_threads)
    derived = {spec.name for spec in encoder.columns if spec.rule is not None}
    columns = {column.name: cells(column) for column in encoded.columns if column.name in derived}
    return [{name: column[t] for name, column in columns.items()} for t in range(encoded.n_positions)]


def known(training: Rows, new: Rows, encoder: Encoder) -> Rows:
    """The attributes without values that training never saw. Columns of a part share their values."""
    parts = {s.name: (s.rule.source, s.rule.part) for s in encoder.columns if isinstance(s.rule, Part)}
    seen: dict[Any, set[Any]] = {}

    def found(row: dict[str, Any], name: str) -> Any:
        """The value, or the values that are joined: "|" and "" are joined to the same text as "" and "|"."""
        names = name.split("|")
        return row[name] if len(names) == 1 else tuple(row[one] for one in names)

    for row in training:
        for name in row:
            seen.setdefault(parts.get(name, name), set()).add(found(row, name))
    kept = [
        {n: v if v is None or found(row, n) in seen[parts.get(n, n)] else GONE for n, v in row.items()} for row in new
    ]
    return [dict(row) for row in kept]


def word_rows(X: list[list[Any]]) -> Rows:
    return [word_attributes(x, t) for x in X for t in range(len(x))]


@given(SENTENCES, SENTENCES)
def test_words(train: list[list[Any]], new: list[list[Any]]) -> None:
    if not any(isinstance(word, str) for sentence in train for word in sentence):
        train = [*train, ["the"]]
    X = Sequences(train)
    encoder = Encoder.fit(X, features=hr.templates.words())
    assert rows(encoder, X) == word_rows(train)
    assert all(is_local(column) for column in encoder.transform(X).columns)
    if any(isinstance(word, str) for sentence in new for word in sentence):
        assert rows(encoder, Sequences(new)) == known(word_rows(train), word_rows(new), encoder)


def test_words_on_threads() -> None:
    """More texts and positions than a thread takes at a time."""
    rng = np.random.default_rng(0)
    texts = [f"{'Aü' * (i % 3)}{i}" for i in range(3000)]
    flat = [texts[i] for i in rng.integers(0, len(texts), 18_000).tolist()]
    X = [flat[t : t + 30] for t in range(0, len(flat), 30)]
    expected = word_rows(X)
    for n_threads in (1, 2, 5):
        encoder = Encoder.fit(Sequences(X), features=hr.templates.words(), n_threads=n_threads)
        assert rows(encoder, Sequences(X), n_threads) == expected


def tagged_rows(X: list[list[tuple[Any, Any]]]) -> Rows:
    return [
        word_attributes([word for word, _ in x], t, "x0") | tag_attributes([tag for _, tag in x], t, "x1")
        for x in X
        for t in range(len(x))
    ]


@given(st.lists(st.lists(st.tuples(TEXTS, st.sampled_from("NVD")), min_size=1, max_size=5), min_size=1, max_size=4))
def test_words_with_tags(X: list[list[tuple[Any, Any]]]) -> None:
    X = [*X, [("the", "N"), ("a", "N"), ("b", "N"), ("c", "V")]]
    encoder = Encoder.fit(Sequences(X), features=hr.templates.words())
    assert rows(encoder, Sequences(X)) == tagged_rows(X)


@given(st.lists(st.text("abcé", min_size=1, max_size=7), min_size=1, max_size=4), st.integers(1, 3))
def test_letters(X: list[str], n: int) -> None:
    expected = [letter_attributes(list(x), t, n) for x in X for t in range(len(x))]
    for sequences in (Sequences(X), Sequences([list(x) for x in X])):
        encoder = Encoder.fit(sequences, features=hr.templates.letters(n))
        assert rows(encoder, sequences) == expected


FLOATS = st.one_of(st.floats(-1e6, 1e6, width=32), st.just(math.nan))


@given(st.lists(st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=9), min_size=1, max_size=3))
def test_numbers(X: list[list[tuple[float, float]]]) -> None:
    sequences = Sequences([np.array(x, np.float32) for x in X])
    encoder = Encoder.fit(sequences, features=hr.templates.numbers())
    found = rows(encoder, sequences)
    expected = [
        number_attributes([a for a, _ in x], t, "x0") | number_attributes([b for _, b in x], t, "x1")
        for x in X
        for t in range(len(x))
    ]
    assert [list(row) for row in found] == [list(row) for row in expected]
    for row, slow in zip(found, expected, strict=True):
        for name, value in slow.items():
            got = math.nan if row[name] is None else row[name]
            np.testing.assert_allclose(got, value, rtol=1e-6, atol=1e-6)
    kept = encoder.transform(sequences)
    assert [column.name for column in kept.columns][:2] == ["x0", "x1"]
    assert [is_local(column) for column in kept.columns][:3] == [False, False, True]


def test_a_change_too_large_for_single_precision_is_the_largest() -> None:
    encoder = Encoder.fit(X := Sequences([np.array([[3e38], [-3e38]], np.float32)]), features=hr.templates.numbers())
    assert encoder.transform(X).column("x0 change[-1]").values.tolist() == [0, -np.finfo(np.float32).max]


SENTENCE = ["The", None, "cat", "sat"]


@pytest.mark.parametrize("treatment", ["impute", "indicator"])
def test_missing_words_are_filled_in_before_columns_are_derived(treatment: Any) -> None:
    X = [SENTENCE, ["cat", "ran"]]
    encoder = Encoder.fit(Sequences(X), treatment, hr.templates.words())
    filled = [["The", "cat", "cat", "sat"], ["cat", "ran"]]
    assert rows(encoder, Sequences(X)) == word_rows(filled)
    new = [["dog", None]]
    assert rows(encoder, Sequences(new)) == known(word_rows(filled), word_rows([["dog", "cat"]]), encoder)
    indicators = [spec.name for spec in encoder.columns if spec.indicates is not None]
    assert indicators == (["symbol missing"] if treatment == "indicator" else [])


def test_other_columns_pass_through() -> None:
    X = [[{"word": "the", "n": 1.5, "has": ["a"]}, {"word": "cat", "n": None, "has": ["b"]}]]
    encoder = Encoder.fit(Sequences(X), features=hr.templates.words())
    encoded = encoder.transform(Sequences(X))
    assert [spec.name for spec in encoder.columns if spec.rule is None] == ["n", "has"]
    assert cells(encoded.column("n")) == [1.5, None]
    assert cells(encoded.column("has")) == [["a"], ["b"]]
    assert encoder.transform(Sequences([[{"word": "dog", "n": 0.0, "has": ["c"]}]])).unseen == {"word": 1, "has": 1}


def test_a_column_that_the_template_reads_is_needed() -> None:
    encoder = Encoder.fit(Sequences([[{"word": "the", "n": 1.5}]]), features=hr.templates.words())
    with pytest.raises(InputError, match="X must have the column 'word', which the template of the model reads, but"):
        encoder.transform(Sequences([[{"n": 1.0}]]))
    with pytest.warns(AbsentColumnWarning, match="X lacks columns that training had: 'n'; 'n' is read as 0"):
        encoder.transform(Sequences([[{"word": "the"}]]))


def test_a_file_without_a_column_of_the_template_is_refused() -> None:
    X = Sequences([[{"form": "the", "tag": "D", "n": 1.5}] * 2])
    encoder = Encoder.fit(X, features=hr.templates.words("form"))
    form, tag, n = X.columns
    with pytest.raises(InputError, match=r"X must have the column 'tag', .* but its columns are 'form', 'n'; name the"):
        encoder.transform(Sequences.of_columns(X.starts, (form, n)))
    with pytest.warns(AbsentColumnWarning, match="X lacks columns that training had: 'n'; 'n' is treated as missing"):
        encoder.transform(Sequences.of_columns(X.starts, (form, tag)))


def test_an_optional_column_may_be_absent_by_chance() -> None:
    training = [[{"word": "the", "tag": "D"}, {"word": "cat"}], [{"word": "sat"}] * 8]
    encoder = Encoder.fit(Sequences(training), features=hr.templates.words("word"))
    assert cells(encoder.transform(Sequences([[{"word": "cat"}]])).column("tag")) == [GONE]
    with pytest.raises(InputError, match="X must have the column 'tag', which the template of the model reads"):
        encoder.transform(Sequences([[{"word": "cat"}]] * 100))
    with pytest.raises(InputError, match=r"X must have the column 'word', .* its columns are 'tag'; name"):
        encoder.transform(Sequences([[{"tag": "D"}]]))


def test_a_slice_has_no_values_of_the_rest() -> None:
    X = Sequences([["the", "cat"], ["a", "dog", "ran"], ["dogs"]])
    encoder = Encoder.fit(X[1:], features=hr.templates.words())
    assert encoder == Encoder.fit(Sequences([["a", "dog", "ran"], ["dogs"]]), features=hr.templates.words())
    assert rows(encoder, X[:1]) == known(
        word_rows([["a", "dog", "ran"], ["dogs"]]), word_rows([["the", "cat"]]), encoder
    )


@pytest.mark.parametrize("treatment", [None, "impute", "indicator"])
def test_an_encoder_comes_back_from_its_arrays(treatment: Any) -> None:
    X = Sequences(
        [[{"word": w, "tag": t, "n": n} for w, t, n in [("The", "D", 1), (None, "N", 2), ("cat", "N", None)]]]
    )
    encoder = Encoder.fit(X, treatment, hr.templates.words("word"))
    metadata, arrays = encoder.to_arrays()
    again = Encoder.from_arrays(json.loads(json.dumps(metadata)), arrays)
    assert again == encoder
    assert rows(again, X) == rows(encoder, X)
    for name in arrays:
        with pytest.raises(InputError):
            Encoder.from_arrays(metadata, {other: array for other, array in arrays.items() if other != name})


@pytest.mark.parametrize(
    "change",
    [
        {"derived": {"source": "word", "part": "suffix99", "offset": 0}},
        {"derived": {"source": "nothing", "part": "lower", "offset": 0}},
        {"derived": {"source": "word", "part": "lower", "offset": 1.5}},
        {"derived": {"source": "word", "part": "lower", "offset": 10**9}},
        {"derived": {"left": "nothing", "right": "lower"}},
        {"derived": {"source": "word", "statistic": "mean", "first": 0, "last": 1}},
        {"derived": {"source": "n", "statistic": "median", "first": 0, "last": 1}},
        {"derived": None},
        {"name": "word"},
    ],
)
def test_a_damaged_rule_is_refused(change: dict[str, Any]) -> None:
    encoder = Encoder.fit(Sequences([[{"word": "The", "n": 1.0}]]), features=hr.templates.words())
    metadata, arrays = encoder.to_arrays()
    at = next(i for i, entry in enumerate(metadata["columns"]) if entry["name"] == "lower")
    metadata["columns"][at] = metadata["columns"][at] | change
    with pytest.raises(InputError):
        Encoder.from_arrays(metadata, arrays)


def test_a_pair_alphabet() -> None:
    left, right = Alphabet.of(["a", "b", "c"]), Alphabet.of(["x", "y"])
    codes = np.array([2, 0, 2, -1, 0, -2], np.int32), np.array([1, 0, 1, 0, 1, -1], np.int32)
    pairs = PairAlphabet.fit(left, right, *codes)
    assert list(pairs) == [pairs[i] for i in range(len(pairs))] == ["a|x", "a|y", "c|y"]
    assert pairs.codes(*codes).tolist() == [2, 0, 2, -1, 1, -1]
    assert pairs.codes(np.array([1, 2], np.int32), np.array([0, 0], np.int32)).tolist() == [-2, -2]
    again = pickle.loads(pickle.dumps(pairs))
    assert again == pairs
    assert hash(again) == hash(pairs)
    assert repr(pairs).startswith("PairAlphabet(3 pairs of ")
    for starts, rights in [
        ([0, 2, 2], [0, 1]),
        ([0, 2, 2, 3], [1, 0, 1]),
        ([0, 2, 2, 3], [0, 2, 1]),
        ([0, 2, 1, 3], [0, 1, 1]),
    ]:
        with pytest.raises(InputError):
            PairAlphabet(left, right, np.array(starts), np.array(rights, np.int32))


@pytest.mark.parametrize("n_values", [(1, 1), (3, 1000), (255, 7), (256, 2), (257, 50), (2000, 2000), (100_000, 3)])
def test_pairs_on_threads(n_values: tuple[int, int]) -> None:
    """Few and many left codes, and more positions than a thread takes at a time."""
    rng = np.random.default_rng(0)
    for n in (0, 1, 100, 30_000):
        left, right = ((n_codes * rng.random(n) ** 3).astype(np.int32) for n_codes in n_values)
        for codes in (left, right):
            codes[rng.random(n) < 0.05] = -1
            codes[rng.random(n) < 0.05] = -2
        occurring = set(zip(left.tolist(), right.tolist(), strict=True))
        pairs = sorted(pair for pair in occurring if min(pair) >= 0)
        for n_threads in (1, 2, 5):
            starts, rights = _core.distinct_pairs(left, right, *n_values, n_threads)
            lefts = np.repeat(np.arange(n_values[0]), np.diff(starts))
            assert list(zip(lefts.tolist(), rights.tolist(), strict=True)) == pairs


@pytest.mark.parametrize("right", [[2, 0], [0, -3]])
def test_pairs_of_unknown_codes_are_refused(right: list[int]) -> None:
    known, unknown = np.array([0, 1], np.int32), np.array(right, np.int32)
    with pytest.raises(ValueError, match="a code lies outside its alphabet"):
        _core.distinct_pairs(known, unknown, 2, 2)
    with pytest.raises(ValueError, match="a code lies outside its alphabet"):
        _core.distinct_pairs(unknown, known, 2, 2)


DICTS = [[{"word": "the", "n": 1.0}]]


@pytest.mark.parametrize(
    ("X", "template", "message"),
    [
        (DICTS, hr.templates.words("form"), r"words: X must have a column 'form' of text, .* \['word', 'n'\]"),
        (DICTS, hr.templates.words("n"), "words: X must have a column 'n' of text, but it holds no text; use words"),
        (
            [["the", "cat"]],
            hr.templates.words("word"),
            r"'word' of text, but the columns are \['symbol'\] \(the .* lists of str\); use words\(\), .* 'symbol', or",
        ),
        (["the cat"], hr.templates.words("word"), "words: X must hold lists of words, but its sequences are str"),
        ([np.ones((2, 2))], hr.templates.words(), r"words: X must have a column of text, .* \['x0', 'x1'\]"),
        (["the cat"], hr.templates.words(), "words: X must hold lists of words, but its sequences are str"),
        ([np.ones((2, 2))], hr.templates.letters(2), r"letters: X must have a column of letters, .* \['x0', 'x1'\]"),
        ([["the", "c"]], hr.templates.letters(2), "letters: .* column 'symbol' has 'the'; pass str"),
        (["the cat"], hr.templates.numbers(), r"numbers: X must have a numeric column, .* \['symbol'\]"),
        (
            [[{"a": float("nan")}, {"a": None}]],
            hr.templates.numbers(),
            r"numeric column, but .* are \['a'\]; 'a' may be of any kind: all values are missing",
        ),
        ([[{"word": "the", "lower": 1.0}]], hr.templates.words(), "must have names of their own, but 'lower' occurs"),
        ([[{"word": "the", "lower": "x"}]], hr.templates.words("word"), "but 'lower.*' occurs twice; rename"),
    ],
)
def test_bad_input(X: Any, template: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Encoder.fit(Sequences(X), features=template)


def test_words_column_must_be_a_name() -> None:
    with pytest.raises(InputError, match="words: column must be the name of a column or None, but got int"):
        hr.templates.words(3)  # type: ignore[arg-type]
