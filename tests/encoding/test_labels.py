"""Labels into codes and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import Sequences
from hedgerow.encoding import Labels
from hedgerow.errors import InputError


def shaped(y: list[Any]) -> Sequences:
    """Sequences of the lengths of y."""
    return Sequences(["." * len(labels) for labels in y])


def rows(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[list[Any]]]:
    return st.lists(st.lists(values, min_size=1, max_size=5), min_size=1, max_size=5)


any_labels = st.one_of(
    rows(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=3)),
    rows(st.integers(-(2**63), 2**63 - 1)),
    rows(st.integers(-3, 3)),
    rows(st.booleans()),
)


@given(any_labels, any_labels)
def test_codes_equal_ranks(train: list[list[Any]], test: list[list[Any]]) -> None:
    flat = [label for row in train for label in row]
    if len(set(flat)) < 2:
        return
    labels = Labels.fit(train, shaped(train))
    twin = sorted(set(flat))
    assert labels.classes.tolist() == twin
    assert labels.classes.dtype == {str: labels.classes.dtype, int: np.int64, bool: np.bool_}[type(twin[0])]
    assert labels.classes.dtype != object
    codes = labels.codes(train, shaped(train))
    assert codes.dtype == np.int32
    assert codes.tolist() == [twin.index(label) for label in flat]
    assert labels.decode(codes).tolist() == flat
    if type(test[0][0]) is type(twin[0]):
        asked = [label for row in test for label in row]
        expected = [twin.index(label) if label in twin else -1 for label in asked]
        assert labels.codes(test, shaped(test)).tolist() == expected
        assert labels.unseen(test) == sorted(set(asked) - set(twin))
    else:
        with pytest.raises(InputError, match="as in training"):
            labels.codes(test, shaped(test))


@pytest.mark.parametrize(
    "y",
    [
        [["a", "b"], ["a"]],
        (("a", "b"), ("a",)),
        [np.array(["a", "b"]), np.array(["a"])],
        [np.array(["a", "b"], object), ["a"]],
        [[np.str_("a"), "b"], ["a"]],
    ],
)
def test_forms_of_strings(y: Any) -> None:
    labels = Labels.fit(y, Sequences(["..", "."]))
    assert labels.classes.tolist() == ["a", "b"]
    assert labels.classes.dtype.kind == "U"
    assert labels.codes(y, Sequences(["..", "."])).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "y",
    [
        [[3, 5], [3]],
        [np.array([3, 5], np.uint8), np.array([3], np.int16)],
        [np.array([3, 5]), [np.int32(3)]],
        np.array([[3], [5], [3]]),
    ],
)
def test_forms_of_integers(y: Any) -> None:
    X = Sequences(["." * len(row) for row in y])
    labels = Labels.fit(y, X)
    assert labels.classes.tolist() == [3, 5]
    assert labels.classes.dtype == np.int64
    assert labels.codes(y, X).tolist() == [0, 1, 0]


def test_iterators_are_read_once() -> None:
    labels = Labels.fit((iter(row) for row in ("ab", "a")), Sequences(["..", "."]))
    assert labels.classes.tolist() == ["a", "b"]


def test_from_classes() -> None:
    for classes in (np.array(["a", "b"]), np.array([1, 5], np.int64), np.array([False, True])):
        assert Labels(classes).classes.tolist() == classes.tolist()
        with pytest.raises(ValueError, match="read-only"):
            Labels(classes).classes[0] = classes[1]
    for nonsense in (
        ["a", "b"],
        np.array(["a", "a"]),
        np.array([1.0, 2.0]),
        np.ones((2, 2), int),
    ):
        with pytest.raises(InputError, match="classes must be"):
            Labels(nonsense)  # type: ignore[arg-type]


@pytest.mark.parametrize("classes", [["c", "a", "b"], [7, -2, 5], [True, False]], ids=str)
def test_codes_are_places_in_classes_of_any_order(classes: list[Any]) -> None:
    labels = Labels(np.array(classes))
    y = [[classes[-1], classes[0], classes[1]], [classes[1]]]
    X = Sequences(["...", "."])
    codes = [len(classes) - 1, 0, 1, 1]
    assert labels.codes(y, X).tolist() == codes
    assert labels.decode(np.array(codes)).tolist() == y[0] + y[1]
    if classes[0] is not True:
        unseen = "bb" if isinstance(classes[0], str) else 6
        assert labels.codes([[unseen, classes[0], unseen], [classes[1]]], X).tolist() == [-1, 0, -1, 1]
        assert labels.unseen([[unseen, classes[0]]]) == [unseen]


X = Sequences(["abc", "de"])
NAN = float("nan")


@pytest.mark.parametrize(
    ("y", "rule"),
    [
        ([["a", "b", "c"]], "X has 2 sequences and y has 1 list"),
        (
            [["a", "b", "c"], ["a"]],
            "sequence 1 has 2 positions but 1 label; give one label for each position",
        ),
        (["abc", ["a", "b"]], r"the labels of sequence 0 must be a list, but got the str 'abc'.* use list\(\.\.\.\)"),
        ([["a", "b", "c"], "de"], "the labels of sequence 1 must be a list, but got the str 'de'"),
        ([["a", "b", "c"], 7], "the labels of sequence 1 must be a list, but got int"),
        ([["a", "b", "c"], {"a", "b"}], "the labels of sequence 1 must be a list, but got set"),
        ("ab", "y must be a list with a list of labels for each sequence, but got str"),
        (None, "y must be a list .* but got None"),
        ({"a": 1}, "y must be a list .* but got dict"),
        (
            [["a", "b", "c"], ["a", None]],
            r"sequence 1, position 1 has no label \(None\); partial labels are not",
        ),
        (
            [["a", "b", "c"], ["a", NAN]],
            r"sequence 1, position 1 has no label \(nan\); partial labels are not",
        ),
        ([[None] * 3, ["a", "b"]], r"sequence 0, position 0 has no label"),
        (
            [[1, 2, 3], np.array([1.0, NAN])],
            r"sequence 1, position 1 has no label \(nan\); partial labels are not supported yet",
        ),
        ([[1, 2, 3], [1, 2.0]], "sequence 1, position 1: labels must be strings, integers or bools, but got float"),
        ([["a", "b", "c"], ["a", b"b"]], "sequence 1, position 1: .* but got bytes"),
        (
            [["a", "b", "c"], ["a", 1]],
            "sequence 1, position 1: .* all strings, all integers or all bools, but got 1 after 'a'",
        ),
        ([[True, 0, 1], [0, 1]], "sequence 0, position 1: .* but got 0 after True"),
        ([["a", "a", "a"], ["a", "a"]], r"at least 2 distinct labels, but it holds only \['a'\]"),
        ([[1, 2, 3], [2**63, 1]], "must fit 64 bits"),
        ([np.array([1, 2, 3], np.uint64), np.array([2**63, 1], np.uint64)], "must fit 64 bits"),
        ([["a", "b", "c\0"], ["a", "b"]], "must not end in a NUL"),
        (
            [np.ones((3, 1), int), np.ones(2, int)],
            "labels of sequence 0 must have 1 dimension, but they have 2",
        ),
        ([["a", "b", "c"], []], "sequence 1 has 2 positions but 0 labels"),
    ],
)
def test_refuses(y: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        Labels.fit(y, X)


def test_decode_refuses_codes_without_a_label() -> None:
    labels = Labels(np.array(["a", "b"]))
    assert labels.decode(np.array([[0, 1], [1, 1]])).tolist() == [["a", "b"], ["b", "b"]]
    assert labels.decode(np.array([], np.int32)).tolist() == []
    for codes in ([-1], [0, 2]):
        with pytest.raises(InputError, match=r"codes of labels must lie in 0\.\.1"):
            labels.decode(np.array(codes))


def test_unseen_refuses_nothing_at_all() -> None:
    with pytest.raises(InputError, match="at least one label"):
        Labels(np.array(["a", "b"])).unseen([])
