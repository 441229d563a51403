"""Attributes are read as python-crfsuite reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.compat import read_items
from hedgerow.errors import InputError

names = st.text("ab:=é ", min_size=1, max_size=3)
numbers = st.one_of(st.booleans(), st.integers(-3, 3), st.floats(-2, 2, width=16))
lists = st.lists(names, max_size=3)
values = st.recursive(st.one_of(names, numbers, lists, st.sets(names, max_size=2)), lambda v: st.dictionaries(names, v))
items = st.one_of(st.dictionaries(names, values, max_size=4), lists, names)


def as_dicts(X: hr.Sequences) -> list[list[dict[str, float]]]:
    (column,) = X.columns
    weights = np.ones(len(column.ids)) if column.weights is None else column.weights
    flat = [
        {column.alphabet[int(column.ids[i])]: float(weights[i]) for i in range(begin, end)}
        for begin, end in zip(column.starts[:-1], column.starts[1:], strict=True)
    ]
    return [flat[begin:end] for begin, end in zip(X.starts[:-1], X.starts[1:], strict=True)]


def slow(item: Any) -> dict[str, float]:
    """The attributes of a position with the sums of their values; recursion instead of one pass."""
    if not isinstance(item, dict):
        pairs = [(name, 1.0) for name in item]
    else:
        pairs = []
        for key, value in item.items():
            if isinstance(value, (dict, list, set)):
                inner = [value] if isinstance(value, dict) else [[member] for member in value]
                pairs += [(f"{key}:{name}", v) for one in inner for name, v in slow(one).items()]
            else:
                pairs.append((f"{key}:{value}", 1.0) if isinstance(value, str) else (key, float(value)))
    sums: dict[str, float] = {}
    for name, value in pairs:
        sums[name] = sums.get(name, 0.0) + value
    return sums


@given(st.lists(st.lists(items, min_size=1, max_size=3), min_size=1, max_size=3))
def test_attributes_have_the_names_and_sums_of_the_slow_reader(X: list[list[Any]]) -> None:
    assert as_dicts(read_items(X)) == [[slow(item) for item in sequence] for sequence in X]


@given(st.lists(st.one_of(st.dictionaries(names, st.one_of(names, numbers), max_size=3)), min_size=1, max_size=3))
def test_attributes_are_those_of_python_crfsuite(sequence: list[Any]) -> None:
    pycrfsuite = pytest.importorskip("pycrfsuite")
    ours = as_dicts(read_items([sequence]))[0]
    theirs = pycrfsuite.ItemSequence(sequence).items()
    assert [set(position) for position in ours] == [set(position) for position in theirs]
    for mine, position, item in zip(ours, theirs, sequence, strict=True):
        unique = {name for name in position if sum(name in (key, f"{key}:{v}") for key, v in item.items()) == 1}
        assert {name: mine[name] for name in unique} == {name: position[name] for name in unique}


def test_other_types_of_keys_and_values() -> None:
    X = [[{b"k": b"v", "n": np.float32(2), "b": np.True_, "t": np.str_("x"), "f": frozenset(["a"])}, ("a", "a")]]
    assert as_dicts(read_items(X)) == [[{"k:v": 1, "n": 2, "b": 1, "t:x": 1, "f:a": 1}, {"a": 2}]]
    assert read_items(read_items(X)) is not None


def test_item_sequences_of_python_crfsuite() -> None:
    sequence = [{"a": 0.5, "b": "x"}, ["c"]]
    (read,) = as_dicts(read_items([pytest.importorskip("pycrfsuite").ItemSequence(sequence)]))
    assert [read] == as_dicts(read_items([sequence]))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[{"a": None}]], r"sequence 0, position 0: the value of 'a' must be text, .* got None"),
        ([[{"a": 1}], [{}, {"a": (1,)}]], r"sequence 1, position 1: the value of 'a' .* got tuple"),
        ([[{"a": float("nan")}]], r"the value of attribute 'a' must be finite .* nan"),
        ([[{"a": 1e300}]], r"the value of attribute 'a' must be finite .* 1e\+300"),
        ([[{1: "x"}]], r"sequence 0, position 0: attributes must have names that are strings, but got int 1"),
        ([[["a", 1]]], r"names that are strings, but got int 1"),
        ([[3]], r"sequence 0, position 0: the attributes must be a dict or a list of strings, but got int"),
        ([{"a": 1}], r"sequence 0 must be a list of positions, but it is a dict"),
        ([[{"a": 1}], []], r"sequence 1 must have at least one position"),
    ],
)
def test_what_crfsuite_cannot_read_is_refused(X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_items(X)
