"""Small data of every kind of column, and comparison of encoded sequences array by array."""

from __future__ import annotations

from typing import Any

import numpy as np

import hedgerow as hr
from hedgerow.data.columns import BagColumn, CategoricalColumn, NumericColumn
from hedgerow.encoding import Encoder
from hedgerow.encoding.encoded import Encoded

_RANDOM = np.random.default_rng(7)


def _pick(values: list[Any], n: int) -> list[Any]:
    return [values[i] for i in _RANDOM.integers(len(values), size=n)]


def _dicts(n: int) -> list[dict[str, Any]]:
    """Positions with text, numbers, bags and weighted bags, some of them absent and some missing."""
    found = []
    for word, number in zip(
        _pick(["the", "cat", "Cats", "é", None], n), _pick([1.5, 0.0, None, 2.0, 7.0], n), strict=True
    ):
        one: dict[str, Any] = {"word": word, "number": number}
        if _RANDOM.random() < 0.5:
            one["bag"] = _pick(["a", "b", "c"], 2) if _RANDOM.random() < 0.8 else None
        if _RANDOM.random() < 0.6:
            one["weighted"] = {key: float(_RANDOM.integers(1, 4)) for key in _pick(["x", "y", "z"], 2)}
        if _RANDOM.random() < 0.2:
            one["seldom"] = "yes"
        found.append(one)
    return found


def _sparse_keys(n: int) -> list[dict[str, Any]]:
    """Positions with many numeric keys that are mostly absent, which are folded, and one that is always there."""
    return [{f"k{i}": float(i % 3) for i in _RANDOM.integers(160, size=8)} | {"dense": 1.0} for _ in range(n)]


WORDS = [
    _pick(["the", "cat", "sat", "on", "Mats", "2nd", "<outside>x", "ß"], int(n)) for n in _RANDOM.integers(1, 9, 40)
]
ROWS = [list(zip(words, _pick(["D", "N", "V"], len(words)), strict=True)) for words in WORDS]
DATA: dict[str, list[Any]] = {
    "characters": ["".join(_pick(list("abcé"), int(n))) for n in _RANDOM.integers(1, 12, 30)],
    "words": WORDS,
    "missing words": [[None if w == "on" else w for w in words] for words in WORDS],
    "tuples": ROWS,
    "bags": [[_pick(["a", "b", "c", "d"], 2) for _ in words] for words in WORDS],
    "arrays": [np.round(_RANDOM.normal(size=(int(n), 2)), 1) for n in _RANDOM.integers(1, 9, 30)],
    "dicts": [_dicts(int(n)) for n in _RANDOM.integers(1, 9, 40)],
    "folded": [_sparse_keys(int(n)) for n in _RANDOM.integers(1, 9, 40)],
}


def labels_of(X: list[Any]) -> list[list[str]]:
    """Labels for each sequence."""
    return [["AB"[(i + t) % 2] for t in range(len(x))] for i, x in enumerate(X)]


def arrays_of(encoded: Encoded) -> dict[str, Any]:
    """Every array of encoded sequences, by name."""
    found: dict[str, Any] = {"starts": encoded.starts}
    for column in encoded.columns:
        if isinstance(column, CategoricalColumn):
            found[f"{column.name} codes"] = column.codes
        elif isinstance(column, NumericColumn):
            found[f"{column.name} values"] = column.values
        else:
            assert isinstance(column, BagColumn)
            found[f"{column.name} starts"], found[f"{column.name} ids"] = column.starts, column.ids
            found[f"{column.name} weights"] = column.weights
    return found


def assert_same_encoded(found: Encoded, expected: Encoded) -> None:
    """Fail unless both have the same columns with equal arrays and alphabets."""
    assert [c.name for c in found.columns] == [c.name for c in expected.columns]
    assert [c.kind for c in found.columns] == [c.kind for c in expected.columns]
    mine, theirs = arrays_of(found), arrays_of(expected)
    for name in theirs:
        if theirs[name] is None:
            assert mine[name] is None, name
        else:
            np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)
            assert mine[name].dtype == theirs[name].dtype, name
    for a, b in zip(found.columns, expected.columns, strict=True):
        if not isinstance(a, NumericColumn) and not isinstance(b, NumericColumn):
            assert a.alphabet == b.alphabet, a.name


def assert_same_encoder(found: Encoder, expected: Encoder) -> None:
    """Fail unless both encoders store the same."""
    mine, theirs = found.to_arrays(), expected.to_arrays()
    assert mine[0] == theirs[0]
    assert set(mine[1]) == set(theirs[1])
    for name, array in theirs[1].items():
        np.testing.assert_array_equal(mine[1][name], array, err_msg=name)


def in_memory(X: list[Any], missing: Any = None, features: Any = None) -> tuple[Encoder, Encoded]:
    """What one read of everything gives."""
    raw = hr.Sequences(X)
    encoder = Encoder.fit(raw, missing, features)
    return encoder, encoder.transform(raw)
