"""Alphabets of the values that occur in a slice of columns."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow import Sequences
from hedgerow.data.own_alphabets import with_own_alphabet

X = [
    [{"w": "b", "bag": {"y": 1.0, "z": 3.0}, "n": 1.0}, {"w": None, "bag": None, "n": None}],
    [{"w": "c", "bag": {"x": 2.0, "z": 0.5}, "n": 2.0}, {"bag": {}, "n": 3.0}, {"w": "a"}],
]


@pytest.mark.parametrize("x", [*X, "cab", [["p"], ["q", "r"]]])
def test_values_stay_and_alphabets_are_their_own(x: Any) -> None:
    others = X if isinstance(x[0], dict) else ["xyzabc"] if isinstance(x, str) else [[["a", "p", "q", "r", "s"]]]
    part = Sequences([*others, x])[len(others) :]
    narrow = Sequences.trusted(part.starts, tuple(map(with_own_alphabet, part.columns)), None, part.optional_columns)
    assert narrow.tolist() == part.tolist()
    alone = {column.name: column for column in Sequences([x]).columns}
    for column in narrow.columns:
        wanted = getattr(alone[column.name], "alphabet", ())
        assert list(getattr(column, "alphabet", ())) == list(wanted)
        assert type(column) is type(next(one for one in part.columns if one.name == column.name))
