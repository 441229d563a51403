"""Padded arrays: cutting, and the warning about labels that look like padding."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.data.padded import warn_of_padding
from hedgerow.data.read_y import read_labels
from hedgerow.errors import InputError, PaddingWarning

LENGTHS = [2, 4, 1]
MASK = np.array([[1, 1, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0]])
NUMBERS = np.arange(24, dtype=np.float32).reshape(3, 4, 2)
LABELS = np.where(MASK, np.arange(12).reshape(3, 4) % 2, -1)


@pytest.mark.parametrize("real", [{"lengths": LENGTHS}, {"mask": MASK}, {"mask": MASK > 0}], ids=repr)
def test_padding_is_cut(real: Any) -> None:
    X, y = hr.from_padded(NUMBERS, LABELS, **real)
    for i, n in enumerate(LENGTHS):
        np.testing.assert_array_equal(X[i], NUMBERS[i, :n])
        np.testing.assert_array_equal(y[i], LABELS[i, :n])
    assert hr.from_padded(NUMBERS.tolist(), **real)[1] is None


def test_the_model_is_that_of_the_sequences_themselves() -> None:
    X, y = hr.from_padded(NUMBERS, LABELS, lengths=LENGTHS)
    model = hr.HMM().fit(X, y)
    assert model.classes_.tolist() == [0, 1]
    assert hr.Sequences(X).lengths.tolist() == LENGTHS


def test_a_mask_may_leave_out_any_position() -> None:
    X, y = hr.from_padded([["a", "b", "c"]], [[1, 2, 3]], mask=[[0, 1, 1]])
    assert (X[0].tolist(), y[0].tolist()) == (["b", "c"], [2, 3])


def test_integer_codes_are_categories() -> None:
    X, _ = hr.from_padded([[7, 3, 0], [3, 0, 0]], lengths=[2, 1])
    (column,) = hr.Sequences(X).columns
    assert (column.name, column.kind, list(column.alphabet)) == ("symbol", "categorical", ["3", "7"])
    X, _ = hr.from_padded([[7.5, 3, 0], [3, 0, 0]], lengths=[2, 1])
    assert hr.Sequences(X).columns[0].kind == "numeric"


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"X": np.zeros(3), "lengths": [1]}, "but it has 1 dimensions"),
        ({"X": NUMBERS}, "padding is found by mask or by lengths; give exactly one of them"),
        ({"X": NUMBERS, "mask": MASK, "lengths": LENGTHS}, "found by mask or by lengths; give exactly one of them"),
        ({"X": NUMBERS, "mask": MASK[1:]}, r"mask must be an array of shape \(3, 4\), as X, but its shape is \(2, 4\)"),
        ({"X": NUMBERS, "lengths": [1, 2]}, "lengths must be 3 integers"),
        ({"X": NUMBERS, "lengths": [1.0, 2, 3]}, "lengths must be 3 integers"),
        ({"X": NUMBERS, "lengths": [1, 5, 3]}, "sequence 1 has 4 positions, but its length is given as 5"),
        ({"X": NUMBERS, "lengths": [1, 0, 3]}, "sequence 1 has no real position"),
        ({"X": NUMBERS, "lengths": [1, -1, 3]}, "sequence 1 has no real position"),
        ({"X": NUMBERS, "y": LABELS[:, 1:], "lengths": LENGTHS}, r"y must be an array of shape \(3, 4\), as X"),
    ],
)
def test_refuses(arguments: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        hr.from_padded(**arguments)


def test_fit_warns_of_padding_among_the_labels() -> None:
    rule = "label -1 stands at the ends of 2 of 3 sequences, which all have 4 positions: .* hedgerow.from_padded"
    with pytest.warns(PaddingWarning, match=rule) as caught:
        hr.HMM().fit(list(NUMBERS), list(LABELS))
    assert [one.filename for one in caught] == [__file__]


@pytest.mark.parametrize(
    "y",
    [
        [[0, 1, -1], [1, 0, 1]],
        [[0, 1, -1]] * 4,
        [[-1, 1, 0], [1, 0, 1]],
        [[0, 1, -100], [1, 0, 1]],
        [[-100, 1, -100, -100], [-100, 0, -100, 1]],  # word pieces, too
        [[-100, 1, -100], [0, 1]],  # also of different lengths
        [[0, -100, 1], [1, 1, 1]],
    ],
)
def test_padding_is_noticed(y: Any) -> None:
    with pytest.warns(PaddingWarning):
        warn_of_padding(read_labels(y, None))


@pytest.mark.parametrize(
    "y",
    [
        [[0, 1, 0], [1, 0, 1]],
        [[0, 1, -1], [1, 0]],  # of different lengths
        [[1, -1, 1], [1, 1, -1]],  # a class, which stands anywhere
        [["a", "-1"], ["b", "a"]],
        [[-1, 1, 0]],  # one sequence is not padded
        [[-1], [1]],
    ],
)
def test_other_labels_are_no_padding(y: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_padding(read_labels(y, None))


def test_ragged_lists_lose_their_masked_positions() -> None:
    words, labels, mask = [["[CLS]", "a", "##b"], ["[CLS]", "c"]], [[-100, 1, -100], [-100, 0]], [[0, 1, 0], [0, 1]]
    X, y = hr.from_padded(words, labels, mask=mask)
    assert (X, [row.tolist() for row in y]) == ([["a"], ["c"]], [[1], [0]])
    assert hr.from_padded([[7, 8, 9], [7, 6]], mask=mask)[0] == [["8"], ["6"]]
    arrays, _ = hr.from_padded([np.arange(6.0).reshape(3, 2), np.ones((2, 2))], mask=mask)
    assert [one.tolist() for one in arrays] == [[[2.0, 3.0]], [[1.0, 1.0]]]
    assert hr.from_padded([[{"w": 1}, {"w": 2}, {}], [{"w": 3}, {"w": 4}]], mask=mask)[0] == [[{"w": 2}], [{"w": 4}]]
    for arguments, rule in (
        ({"mask": [[0, 1, 0]]}, "mask must have 2 rows, one for each sequence of X, but it has 1"),
        ({"mask": [[0, 1, 0], [1]]}, "sequence 1 has 2 positions, but row 1 of mask has 1"),
        ({"mask": mask, "y": [[0, 1, 0], [1]]}, "sequence 1 has 2 positions, but row 1 of y has 1"),
        ({"mask": [[0, 1, 0], [0, 0]]}, "sequence 1 has no real position"),
        ({"lengths": [1, 1]}, "need a list of masks"),
    ):
        with pytest.raises(InputError, match=rule):
            hr.from_padded(words, **arguments)
