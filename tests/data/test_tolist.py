"""Sequences.tolist gives what a user would have written, and reading that gives the same sequences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from builders.formats import rows

WRITTEN = [
    ["cat", "it"],
    [["the", "cat"], ["it"]],
    [["the", None]],
    [[["a", "b"], []], [["c"]]],
    [[{"word": "the", "n": 3}, {"word": None, "n": None}]],
    [[{"word": "the"}, {"tags": ["x"]}], [{"word": "it", "tags": []}]],
    [[{"bag": {"a": 0.5}}, {"bag": {"b": 2}}]],
    [[{"bag": None}, {"bag": ["a"]}]],
    [[{"n": 0.1}, {"n": 16777216}]],
]


@pytest.mark.parametrize("X", WRITTEN)
def test_what_was_written(X):
    found = hr.Sequences(X).tolist()
    if WRITTEN[5] == X:  # an absent bag is empty
        X = [[{"word": "the", "tags": []}, {"tags": ["x"]}], [{"word": "it", "tags": []}]]
    assert found == X
    assert rows(hr.Sequences(found)) == rows(hr.Sequences(X))


@given(
    st.lists(
        st.lists(
            st.fixed_dictionaries(
                {"n": st.floats(width=32, allow_nan=False, allow_infinity=False) | st.none()},
                optional={"w": st.text(max_size=2) | st.none(), "b": st.lists(st.sampled_from("abc"), unique=True)},
            ),
            min_size=1,
            max_size=3,
        ),
        min_size=1,
        max_size=3,
    )
)
def test_round_trip(X):
    sequences = hr.Sequences(X)
    again = hr.Sequences(sequences.tolist())
    assert rows(again) == rows(sequences)
    assert {c.name: c.kind for c in again.columns} == {c.name: c.kind for c in sequences.columns}


def test_mostly_absent_numbers_are_keys_again():
    X = hr.Sequences([[{f"k{i}": 2.0} for i in range(200)]])
    assert X.columns[0].kind == "bag"
    assert X.tolist() == [[{f"k{i}": 2} for i in range(200)]]
