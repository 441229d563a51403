"""Columns of variants keep the rules of columns, which are checked when a column is built."""

from __future__ import annotations

import pytest

import hedgerow as hr
from hedgerow.encoding import Encoder
from hedgerow.inspection.counterfactuals.variants import Change, RawSequence

X = [{"tags": {"red"}, "word": "cat"}, {"tags": None, "word": None}, {"tags": {"red", "wet"}, "word": "dog"}]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (Change(0, 0, None, "wet"), {"tags": ["red", "wet"]}),
        (Change(0, 1, None, "wet"), {"tags": ["wet"]}),
        (Change(0, 2, "red", None), {"tags": ["wet"]}),
        (Change(0, 0, "red", None), {"tags": []}),
        (Change(1, 0, "cat", "eel"), {"word": "eel"}),
        (Change(1, 0, "cat", None), {"word": None}),
    ],
)
def test_a_variant_has_one_value_changed(change, expected):
    sequences = hr.Sequences([X])
    raw = RawSequence.of(Encoder.fit(sequences), sequences).with_texts({"tags": ["wet"], "word": ["eel"]})
    variants = raw.variants([change, Change(1, 2, "dog", "cat")])
    for column in variants.columns:
        type(column)(*(getattr(column, field) for field in column.__match_args__))  # raises if it breaks a rule
    (before,), (first, second) = sequences.tolist(), variants.tolist()
    before[change.place] |= expected
    assert first == before
    assert [position["word"] for position in second] == ["cat", None, "cat"]
