"""Columns at prediction that are not those of training: an error or a warning, never silence."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hedgerow as hr
from hedgerow import Sequences
from hedgerow.encoding import Encoder
from hedgerow.encoding.presence import Presence
from hedgerow.errors import AbsentColumnWarning, InputError

WORDS = [[{"word": w, "tag": t} for w, t in zip("abca", "xyyx", strict=True)]] * 30


def silent(encoder: Encoder, X: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.transform(Sequences(X))


def test_no_common_column_is_an_error_that_names_both_sides() -> None:
    encoder = Encoder.fit(Sequences(WORDS))
    for X, names in (([[{"w": "a"}]], "'w'"), (["ab"], "'symbol'"), ([[["a"]]], "'bag'")):
        with pytest.raises(InputError, match=f"it has none of them; training had 'word', 'tag', and X has {names}"):
            encoder.transform(Sequences(X))


@pytest.mark.parametrize(
    "of_width",
    [lambda n: [np.ones((3, n))], lambda n: np.ones((2, 3, n)), lambda n: [[("a",) * n]], lambda n: [[(1.0,) * n]]],
    ids=["array", "3-D array", "tuples of text", "tuples of numbers"],
)
@pytest.mark.parametrize("width", [2, 5])
def test_rows_of_another_width_are_refused(of_width: Any, width: int) -> None:
    encoder = Encoder.fit(Sequences(of_width(4)))
    silent(encoder, of_width(4))
    with pytest.raises(InputError, match=f"the rows of X must have 4 columns, as in training, but they have {width}"):
        encoder.transform(Sequences(of_width(width)))


def test_a_renamed_column_gives_a_warning_with_both_names() -> None:
    encoder = Encoder.fit(Sequences(WORDS))
    renamed = [[{"word": item["word"], "pos": item["tag"]} for item in sequence] for sequence in WORDS]
    rule = "X lacks columns that training had: 'tag'; X has columns that training did not have: 'pos'"
    with pytest.warns(AbsentColumnWarning, match=rule):
        encoder.transform(Sequences(renamed))
    with pytest.warns(AbsentColumnWarning, match=rule):
        encoder.transform(Sequences(renamed[:1])[0])
    with pytest.warns(AbsentColumnWarning, match="training had: 'tag'; 'tag' is read as absent"):
        encoder.transform(Sequences([[{"word": "a"}]]))


def test_columns_that_are_only_new_are_no_reason_to_warn() -> None:
    silent(Encoder.fit(Sequences(WORDS)), [[{"word": "a", "tag": "x", "id": "7"}]])


def test_every_column_of_a_frame_is_expected() -> None:
    df = pd.DataFrame({"a": ["x", "y"], "rare": [0.0, 0.0]})
    encoder = Encoder.fit(Sequences([df]))
    with pytest.warns(AbsentColumnWarning, match="training had: 'rare'"):
        encoder.transform(Sequences([df[["a"]]]))


def test_optional_keys_are_expected_as_often_as_training_has_them() -> None:
    # "next" is absent from the last position of each sequence, "rare" from nine sequences of ten.
    train = [
        [{"word": "a", "next": "b"}, {"word": "b"}] if i % 10 else [{"word": "a", "next": "b", "rare": 1}] * 2
        for i in range(100)
    ]
    encoder = Encoder.fit(Sequences(train))
    assert [spec.presence for spec in encoder.columns] == [Presence(1, 1), Presence(0.55, 1), Presence(0.1, 0.1)]
    silent(encoder, [[{"word": "a"}]])
    silent(encoder, [[{"word": "a"}] * 500, [{"word": "a", "next": "b"}]])  # "rare" comes in few sequences
    with pytest.warns(AbsentColumnWarning, match="training had: 'next'; 'next' is read as absent"):
        encoder.transform(Sequences([[{"word": "a"}] * 500]))
    with pytest.warns(AbsentColumnWarning, match="'next' is read as absent, 'rare' is read as 0"):
        encoder.transform(Sequences([[{"word": "a"}] * 2] * 200))


def test_the_warning_points_at_the_call_and_comes_once() -> None:
    y = [list("pqqp")] * 30
    model = hr.HMM().fit(WORDS, y)
    X = [[{"word": "a"}, {"word": "b"}]]
    for call in (model.predict, model.predict_proba, model.predict_nbest):
        with pytest.warns(AbsentColumnWarning) as caught:
            call(X)
        assert [one.filename for one in caught] == [__file__]


def test_the_expectation_is_saved() -> None:
    encoder = Encoder.fit(Sequences(WORDS))
    assert Encoder.from_arrays(*encoder.to_arrays()) == encoder


def test_no_sequences_need_no_columns() -> None:
    encoder = Encoder.fit(Sequences(WORDS))
    for nothing in (Sequences([], allow_empty=True), Sequences(Sequences(WORDS)[:0], allow_empty=True)):
        encoded = encoder.transform(nothing)
        assert (len(encoded), encoded.n_positions) == (0, 0)
        assert [len(column) for column in encoded.columns] == [0, 0]


NUMBERS = [pd.DataFrame({"size": [3.0, 5.0, 9.0, 5.0], "tag": list("abab")})] * 10


def test_a_column_that_a_frame_lacks_is_missing_not_0() -> None:
    lacking, given_missing = NUMBERS[0][["tag"]], NUMBERS[0].assign(size=np.nan)
    left, filled = Encoder.fit(Sequences(NUMBERS)), Encoder.fit(Sequences(NUMBERS), "impute")
    with pytest.warns(AbsentColumnWarning, match="'size' is treated as missing"):
        assert left.transform(Sequences([lacking])).column("size").missing().all()
    with pytest.warns(AbsentColumnWarning, match="'size' is treated as missing"):
        assert filled.transform(Sequences([lacking])).column("size").values.tolist() == [5.0] * 4  # the median
    y = [list("pqrq")] * 10
    for estimator in (hr.TreeCRF(n_rounds=5), hr.LinearCRF(), hr.MEMM(n_rounds=5)):
        model = estimator.fit(NUMBERS, y)
        with pytest.warns(AbsentColumnWarning):
            found = model.predict_proba([lacking])[0]
        assert np.array_equal(found, model.predict_proba([given_missing])[0])


def test_every_kind_of_column_that_a_frame_lacks_is_missing() -> None:
    df = pd.DataFrame({"a": ["x", "y"], "text": ["p", "q"], "bag": [["p"], ["q", "r"]], "number": [1.0, 2.0]})
    with pytest.warns(AbsentColumnWarning, match="'text', 'bag', 'number' are treated as missing"):
        encoded = Encoder.fit(Sequences([df])).transform(Sequences([df[["a"]]]))
    assert [column.missing().tolist() for column in encoded.columns] == [
        [False] * 2,
        [True] * 2,
        [True] * 2,
        [True] * 2,
    ]


def test_an_absent_key_that_holds_numbers_is_read_as_0_and_the_warning_says_so() -> None:
    encoder = Encoder.fit(Sequences([[{"word": "a", "size": 2.0}, {"word": "b", "size": 1.0}]] * 20))
    with pytest.warns(AbsentColumnWarning, match="'size' is read as 0"):
        encoded = encoder.transform(Sequences([[{"word": "a"}] * 30]))
    assert encoded.column("size").values.tolist() == [0.0] * 30


@pytest.mark.parametrize("n_keys", [3, 300])
def test_unknown_keys_alone_are_accepted_if_every_key_is_optional(n_keys: int) -> None:
    train = [[{f"w={i}": 1.0} for i in range(n_keys)]] * 3
    model = hr.LinearCRF(max_iter=3).fit(train, [["x", "y", "y"] * (n_keys // 3)] * 3)
    batches: list[list[list[dict[str, float]]]] = [[[{"w=zebu": 1.0}]], [[{}]], [[{}, {}], [{}]]]
    for X in batches:
        with warnings.catch_warnings():
            warnings.simplefilter("error" if n_keys == 3 else "ignore")  # of 300, every position of training has one
            assert [len(labels) for labels in model.predict(X)] == [len(x) for x in X]


def test_empty_dicts_lack_the_keys_that_every_position_of_training_had() -> None:
    with pytest.raises(InputError, match=r"it has none of them; .* and X has nothing but empty dicts"):
        Encoder.fit(Sequences(WORDS)).transform(Sequences([[{}]]))
    with pytest.raises(InputError, match="nothing but empty dicts; give at least one attribute"):
        hr.LinearCRF().fit([[{}, {}]], [["a", "b"]])


def test_str_is_refused_after_lists_of_words() -> None:
    """Both become the column `symbol`; letters would be labelled instead of words."""
    model = hr.HMM().fit([["the", "cat"], ["a", "dog"]], [["D", "N"], ["D", "N"]])
    rule = r"training had lists of strings, such as 'cat', but the sequences of X are str.*\"the cat\".split\(\)"
    for X in (["the", "cat"], Sequences(["the", "cat"])[1:], pickle.loads(pickle.dumps(Sequences(["cat"])))):
        with pytest.raises(InputError, match=rule):
            model.predict(X)
    with pytest.raises(InputError, match=rule):
        model.predict_single("the cat")
    assert model.predict_single(["the", "cat"]).tolist() == ["D", "N"]


def test_str_and_lists_of_single_characters_are_the_same() -> None:
    letters, text = [list("ab"), list("ba")], ["ab", "ba"]
    silent(Encoder.fit(Sequences(letters)), text)
    silent(Encoder.fit(Sequences(text)), letters)


def test_longer_strings_are_refused_after_str() -> None:
    encoder = Encoder.fit(Sequences(["ab", "ba"]))
    for known in (encoder, Encoder.from_arrays(*encoder.to_arrays())):
        silent(known, ["ax"])
        with pytest.raises(InputError, match=r"training were str, .* lists with longer strings, such as 'bab'"):
            known.transform(Sequences([["a", "bab"]]))


def test_lists_of_attributes_are_refused_after_dicts() -> None:
    dicts = [[{f"w={t % 150}": 1.0} for t in range(300)]]
    lists = [[list(position) for position in dicts[0]] + [[]]]
    with pytest.raises(InputError, match="training read dicts of attributes, but X holds lists of strings"):
        Encoder.fit(Sequences(dicts)).transform(Sequences(lists))
    silent(Encoder.fit(Sequences([[{"bag": ["a"]}, {}]])), [[{"other": 1.0}]])  # a key called "bag" is a key


def test_dicts_are_read_as_attributes_after_lists() -> None:
    lists = [[["word:the", "title"], ["in:deep:x", "in:set:s", "n", "word:cat"]]]
    dicts = [
        [{"word": "the", "title": True, "n": 0}, {"in": {"deep": {"x": 1.0}, "set": ["s"]}, "n": 1, "word": "cat"}]
    ]
    encoder = Encoder.fit(Sequences(lists))
    (expected,), (found,) = (encoder.transform(Sequences(X)).columns for X in (lists, dicts))
    assert found.starts.tolist() == expected.starts.tolist()
    assert found.ids.tolist() == expected.ids.tolist()
    assert found.weights is None or (found.weights == 1).all()
    weighted = encoder.transform(Sequences([[{"n": 2.5, "new": 1.0}]]))
    assert weighted.column("bag").weights.tolist() == [2.5]
    assert weighted.unseen == {"bag": 1}
    with pytest.raises(InputError, match="X must have columns of training, but it has none of them"):
        encoder.transform(Sequences([[{"other": 1.0}]]))
    with pytest.raises(InputError, match="column 'n' must not have missing values, because training read lists"):
        encoder.transform(Sequences([[{"n": None, "word": "the"}, {"n": 1.0}]]))


def test_a_number_that_is_never_0_is_always_expected_and_0_counts_as_absent() -> None:
    def numbers(values: list[float]) -> Sequences:
        return Sequences([[{"word": "a", "size": value} for value in values]] * 300)

    with pytest.warns(AbsentColumnWarning, match="'size' is read as 0"):
        Encoder.fit(numbers([3.0, 1.0, 2.0])).transform(Sequences([[{"word": "a"}]]))
    often_0 = Encoder.fit(numbers([0.0, 1.0, 2.0]))
    zeros, lacking = [[{"word": "a", "size": 0.0}] * 6], [[{"word": "a"}] * 6]
    silent(often_0, lacking)  # six zeros in a row are not unlikely enough: (1/3)^6 > 0.001
    with pytest.warns(AbsentColumnWarning, match="'size' is read as 0"):
        encoded = often_0.transform(Sequences([[{"word": "a"}] * 7]))
    assert encoded.column("size").values.tolist() == [0.0] * 7
    assert often_0.transform(Sequences(zeros)).column("size").values.tolist() == [0.0] * 6
