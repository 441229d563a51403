"""Columns at prediction that are not those of training: an error or a warning, never silence."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hedgerow as hr
from hedgerow import Sequences
from hedgerow.encoding import Encoder
from hedgerow.encoding.column_check import Presence
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
    with pytest.warns(AbsentColumnWarning, match="training had: 'tag'; nothing that"):
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
    with pytest.warns(AbsentColumnWarning, match="training had: 'next'; nothing"):
        encoder.transform(Sequences([[{"word": "a"}] * 500]))
    with pytest.warns(AbsentColumnWarning, match="training had: 'next', 'rare'; nothing"):
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
