"""Data with missing values, and the comparison of two fitted models."""

from __future__ import annotations

import numpy as np

import hedgerow as hr
from hedgerow.encoding import AttributeReader, Binning, Window

NAMES = ("word", "size", "has")


def damaged(n, seed):
    """Dicts of all kinds of column with missing and absent values; the second position has nothing but missing ones."""
    rng = np.random.default_rng(seed)
    X = []
    for _ in range(n):
        sequence = []
        for _ in range(rng.integers(2, 7)):
            has = [value for value, share in (("x", 0.7), ("y", 0.6), ("z", 0.2)) if rng.random() < share]
            whole = {"word": "abc"[rng.integers(3)], "size": float(rng.normal()), "has": has}
            kept = {name: value for name, value in whole.items() if rng.random() < 0.85}
            sequence.append({name: None if rng.random() < 0.25 else value for name, value in kept.items()})
        X.append(sequence)
    X[0][:2] = [{"word": "a", "size": 1.0, "has": ["x"]}, dict.fromkeys(NAMES)]
    y = [[f"{p.get('word') == 'a'}" if rng.random() < 0.8 else "other" for p in x] for x in X]
    return X, y


TRAIN, Y = damaged(40, 1)

NEW, _ = damaged(15, 2)


def learned(model):
    """Everything that was learned beside the encoder."""
    return {name: array for name, array in model.model_._to_arrays()[1].items() if name.startswith("potential.")}


def assert_same(one, other, X, X_other):
    first, second = learned(one), learned(other)
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)
    for a, b in zip(one.predict(X), other.predict(X_other), strict=True):
        np.testing.assert_array_equal(a, b)


def damaged_rows(rng, lengths, window, rate=0.3, columns=("letter", "number", "flag", "bag")):
    def position():
        made = {
            "letter": str(rng.choice(list("abc"))),
            "number": float(rng.integers(0, 5)),
            "flag": bool(rng.random() < 0.8),
            "bag": [v for v in "pqr" if rng.random() < 0.5],
        }
        return {name: None if rng.random() < rate else made[name] for name in columns if rng.random() < 0.95}

    whole = {"letter": "a", "number": 1.0, "flag": True, "bag": ["p"]}
    X = [[position() for _ in range(n)] for n in lengths]
    X[0][0] = {name: whole[name] for name in columns}
    sequences = hr.Sequences(X)
    binnings = {c.name: Binning.fit(c.values) for c in sequences.columns if c.kind == "numeric"}
    return AttributeReader(sequences, Window.of(window), binnings)
