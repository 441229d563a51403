"""Why a contribution has no value: outside of the sequence, missing, absent, or a value that training never saw."""

from __future__ import annotations

import pytest

import hedgerow as hr
from builders.explanations import LABELS, WORDS, fitted
from hedgerow.inspection.explaining.attributions import Part
from hedgerow.inspection.explaining.entry import explain_many
from hedgerow.inspection.explaining.explanation import contribution_of
from hedgerow.inspection.explaining.shown_values import NoValue, RawValues, Unknown, value_at

X = [
    {"number": 0.5, "bag": ["p"]} | row
    for row in (
        {"w": "yak", "v": "x"},
        {"w": "cat"},
        {"w": None, "v": "-"},
        {"v": "y", "w": "dog"},
        {"w": "elk", "v": None},
        {"w": "-", "v": "z"},
    )
]
KNOWN = {"w": WORDS, "v": ["x", "y", "z"]}


def expected(x, column, at):
    """(value, text) of a contribution, from the sequence itself."""
    if not 0 <= at < len(x):
        return None, "(outside)"
    if column not in x[at]:
        return None, "(absent)"
    value = x[at][column]
    if value is None:
        return None, "(missing)"
    return (value, None) if value in KNOWN[column] else (value, f"{value} (unknown)")


@pytest.mark.parametrize("name", ["TreeCRF missing weighting", "TreeCRF missing learned", "MEMM missing"])
@pytest.mark.parametrize("read", [list, hr.Sequences, iter], ids=["list", "sequences", "iterator"])
def test_texts_are_those_of_the_raw_sequence(name, read):
    model, _ = fitted(name)
    seen = set()
    for t in range(len(X)):
        for one in model.explain(hr.Sequences([X]) if read is hr.Sequences else read(X), t).contributions:
            if one.column in KNOWN:
                value, text = expected(X, one.column, t + one.offset)
                assert (one.value, one.text) == (value, text)
                assert type(one.value) in (str, type(None))
                shown = str(one).removeprefix(one.column + (f"[{one.offset:+d}]" if one.offset else ""))
                assert shown == (f" = {value}" if text is None else f" {text}" if value is None else f" = {text}")
                seen.add(text)
    assert seen >= {None, "(outside)", "(missing)", "(absent)", "yak (unknown)"}


def test_without_the_raw_sequence_an_unknown_value_may_be_absent():
    model, _ = fitted("TreeCRF missing weighting")
    encoded = model.model_.encode([X])
    codes = model._predicted_codes(encoded)
    for t, one in enumerate(explain_many(model, encoded, codes, range(len(X)))):
        for c in one.contributions:
            if c.column in KNOWN:
                value, text = expected(X, c.column, t + c.offset)
                lost = text == "(absent)" or "unknown" in (text or "")
                assert (c.value, c.text) == ((None, "(absent or unknown)") if lost else (value, text))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("word", Unknown("q-")),
        ("prefix1", Unknown("q")),
        ("suffix1", Unknown("-")),
        ("prefix3", NoValue.ABSENT),  # a word of two letters
        ("word[1]", Unknown("-")),
        ("word[-1]", "aa3"),
        ("word[2]", "<outside>"),  # a value that training saw
        ("word[-1]|word", Unknown("aa3|q-")),
    ],
)
def test_derived_columns_have_what_the_raw_sequence_derives(column, value):
    X = [["aa3", "bb4", "aa3"], ["bb4", "aa3"]]
    encoder = hr.HMM(features=hr.templates.words()).fit(X, [LABELS[:3], LABELS[:2]]).model_.encoder
    x = ["aa3", "q-", "-"]
    found = value_at(encoder.encode([x]), column, 1, 0, RawValues(encoder, x))
    assert found == value
    assert type(found) is type(value)


def test_columns_together_say_why_each_has_no_value():
    part = Part("a & b & c & d", 0, ("-", NoValue.OUTSIDE, Unknown("-"), 2.5), 1.0)
    one = contribution_of(part, 0)
    assert one.value == ("-", None, "-", 2.5)
    assert str(one) == "a & b & c & d = -, (outside), - (unknown), 2.5"
    many = contribution_of(Part("a", 0, (Unknown("x" * 100),) * 500, 1.0), 0)
    assert len(str(many)) < 150


def test_conjunctions_say_where_they_are_outside():
    model, X = fitted("LinearCRF induced")
    outside = [
        c
        for x in X
        for e in model.explain(x)
        for c in e.contributions
        if isinstance(c.value, tuple) and None in c.value
    ]
    assert outside
    assert all(c.text is not None and "(outside)" in c.text for c in outside)
