"""Numeric keys that are many and mostly absent become one weighted bag, in training and afterwards."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import Sequences
from hedgerow.data.columns import BagColumn, CategoricalColumn, FoldedBag, NumericColumn
from hedgerow.encoding import Encoder
from hedgerow.errors import InputError
from oracles.encoding import cells, weighted_cells

N_KEYS = 150


def presence_dicts(
    n_sequences: int = 20, seed: int = 0, n_keys: int = N_KEYS, **always: Any
) -> list[list[dict[str, Any]]]:
    """Positions with five of the keys each; about half of them have the weight 1."""
    rng = np.random.default_rng(seed)
    return [
        [
            {f"k={k}": float(rng.choice([1, 1, 0.5, -2])) for k in rng.choice(n_keys, 5, replace=False)} | always
            for _ in range(rng.integers(3, 12))
        ]
        for _ in range(n_sequences)
    ]


def flat(X: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [item for sequence in X for item in sequence]


def test_the_bag_equals_the_dicts() -> None:
    X = presence_dicts()
    (bag,) = Sequences(X).columns
    assert isinstance(bag, FoldedBag)
    assert bag.name == "attributes"
    assert weighted_cells(bag) == flat(X)
    assert list(bag.alphabet) == sorted({key for item in flat(X) for key in item})


def test_presence_equals_a_bag_of_strings() -> None:
    X = [[dict.fromkeys(item, 1.0) for item in sequence] for sequence in presence_dicts()]
    (folded,), (bag,) = Sequences(X).columns, Sequences([[list(item) for item in s] for s in X]).columns
    assert isinstance(folded, BagColumn)
    assert isinstance(bag, BagColumn)
    assert folded.weights is None
    assert folded.alphabet == bag.alphabet
    np.testing.assert_array_equal(folded.ids, bag.ids)
    np.testing.assert_array_equal(folded.starts, bag.starts)


def test_other_columns_stay() -> None:
    X = presence_dicts(bias=1.0, word="a", tags=["x"])
    flat(X)[0]["often missing"] = None
    flat(X)[1]["often missing"] = 2.5
    flat(X)[2] |= {"in": {"k": True, "not": False}}
    columns = {column.name: column for column in Sequences(X).columns}
    assert {name: type(column) for name, column in columns.items()} == {
        "bias": NumericColumn,
        "word": CategoricalColumn,
        "tags": BagColumn,
        "often missing": NumericColumn,
        "in": BagColumn,
        "attributes": FoldedBag,
    }
    assert cells(columns["often missing"])[:3] == [None, 2.5, 0.0]
    assert weighted_cells(columns["in"])[1:4] == [{}, {"k": 1.0}, {}]  # False is absent


@pytest.mark.parametrize(
    ("X", "folds"),
    [
        (presence_dicts(n_keys=100), True),
        (presence_dicts(n_keys=99), False),
        ([[{f"k{i}": 1.0 for i in range(200)}] * 3], False),  # none is absent
        ([[{f"k{i}": 1.0 for i in range(200)}] + [{}] * 2], True),
        ([[{f"k{i}": 1.0 for i in range(200)}, {}]], False),  # half of the positions
        ([[{f"k{i}": float(t == 0) for i in range(200)} for t in range(3)]], True),  # 0 is absent
        ([[{f"k{i}": None for i in range(200)}, {f"k{i}": 1.0 for i in range(200)}, {}]], False),
        ([[{f"k{i}": "1" for i in range(200)}, {}, {}]], False),
    ],
    ids=["100 keys", "99 keys", "dense", "absent", "half", "zeros", "missing", "text"],
)
def test_the_rule(X: Any, folds: bool) -> None:
    assert isinstance(Sequences(X).columns[-1], FoldedBag) == folds


def test_a_key_with_the_name_of_the_bag_is_refused() -> None:
    with pytest.raises(InputError, match="one bag called 'attributes', but there is a key of that name"):
        Sequences(presence_dicts(attributes="x"))


def test_slices_and_copies_stay_folded() -> None:
    X = Sequences(presence_dicts())
    for part in (X[3:5], X[[1, 0]], pickle.loads(pickle.dumps(X))):
        assert isinstance(part.columns[0], FoldedBag)


def encoded_cells(encoder: Encoder, X: list[list[dict[str, Any]]]) -> list[dict[str, list[Any]]]:
    """The cells of each sequence, encoded alone and all together, which must be the same."""
    alone = [encoder.transform(Sequences([sequence])) for sequence in X]
    together = encoder.transform(Sequences(X))
    for i, one in enumerate(alone):
        for a, b in zip(one.columns, together[i].columns, strict=True):
            assert type(a) is type(b)
            assert weighted_cells(a) == weighted_cells(b)
    return [{column.name: weighted_cells(column) for column in one.columns} for one in alone]


@pytest.mark.filterwarnings("ignore::hedgerow.errors.AbsentColumnWarning")
def test_prediction_follows_training() -> None:
    train, X = presence_dicts(bias=1.0), presence_dicts(seed=1, bias=1.0)
    X.append([{"k=1": 1.0}, {"new": 3.0}, {"bias": 2.0, "k=2": False}])  # few keys: columns when they are read
    X.append([{}, {"k=3": True}])
    encoder = Encoder.fit(Sequences(train))
    known = {key for item in flat(train) for key in item} - {"bias"}
    for sequence, found in zip(X, encoded_cells(encoder, X), strict=True):
        assert found["bias"] == [item.get("bias", 0.0) for item in sequence]
        assert found["attributes"] == [{k: float(v) for k, v in item.items() if k in known and v} for item in sequence]
    assert encoder.transform(Sequences(X)).unseen == {"attributes": 1}
    restored = Encoder.from_arrays(*encoder.to_arrays())
    assert restored == encoder
    assert encoded_cells(restored, X) == encoded_cells(encoder, X)


@pytest.mark.filterwarnings("ignore::hedgerow.errors.AbsentColumnWarning")
def test_columns_of_training_stay_columns() -> None:
    train = [[{"k=1": 1.0, "k=2": 0.5}, {"k=2": 1.0, "w": "a"}]]
    encoder = Encoder.fit(Sequences(train))
    X = presence_dicts(w="a")
    for sequence, found in zip(X, encoded_cells(encoder, X), strict=True):
        for name in ("k=1", "k=2"):
            assert found[name] == [item.get(name, 0.0) for item in sequence]


def test_what_cannot_be_an_attribute_is_refused() -> None:
    encoder = Encoder.fit(Sequences(presence_dicts()))
    for X, rule in (
        ([[{"k=1": "text"}]], "column 'k=1' must be numeric, as in training, but it is categorical"),
        ([[{"k=1": 1.0}, {"k=1": None}]], "column 'k=1' must not have missing values"),
    ):
        with pytest.raises(InputError, match=rule):
            encoder.transform(Sequences(X))


def test_a_model_is_that_of_the_bag() -> None:
    X = [[dict.fromkeys(item, True) for item in sequence] for sequence in presence_dicts()]
    y = [[("a", "b")["k=1" in item or "k=2" in item] for item in sequence] for sequence in X]
    for estimator in (hr.LinearCRF(), hr.HMM(), hr.TreeCRF(n_rounds=3, random_state=0)):
        p = estimator.fit(X, y).predict_proba(X)
        bags = [[list(item) for item in sequence] for sequence in X]
        q = estimator.fit(bags, y).predict_proba(bags)
        np.testing.assert_array_equal(np.concatenate(p), np.concatenate(q))
    names = {name for name, _ in hr.LinearCRF().fit(X, y).state_features_}
    assert names <= {key for item in flat(X) for key in item}
