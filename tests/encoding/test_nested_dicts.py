"""A nested dict of numbers is a weighted bag; prediction stores its keys where training stored them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow import Sequences
from hedgerow.encoding import Encoder
from hedgerow.errors import AbsentColumnWarning, InputError
from oracles.encoding import GONE, weighted_cells

pytestmark = pytest.mark.filterwarnings("ignore::hedgerow.errors.AbsentColumnWarning")


def table(X: Any) -> dict[str, list[Any]]:
    return {column.name: weighted_cells(column) for column in X.columns}


def test_the_weights_are_the_numbers() -> None:
    X = [[{"word": "the", "emb": {"d7": -1, "d1": 0.5}}, {"word": "cat", "emb": {}}, {"word": "sat"}]]
    assert table(Sequences(X)) == {"word": ["the", "cat", "sat"], "emb": [{"d1": 0.5, "d7": -1.0}, {}, {}]}
    presence = Sequences([[{"tags": {"x": True, "y": False}}, {"tags": {"y": 1}}]]).column("tags")
    assert weighted_cells(presence) == [{"x": 1.0}, {"y": 1.0}]
    assert presence.weights is None


def test_the_innermost_dict_is_the_bag() -> None:
    X = [[{"a": {"b": {"c": 2.0}, "d": 1.0}}, {"a": {"w": {"x": "text", "n": 3.0}}}]]
    assert table(Sequences(X)) == {
        "a:b": [{"c": 2.0}, {}],
        "a": [{"d": 1.0}, {}],
        "a:w:x": [GONE, "text"],
        "a:w:n": [0.0, 3.0],
    }


@pytest.mark.parametrize(
    ("X", "columns"),
    [
        ([[{"a": {"n": 1.0}}, {"a": {"w": "x"}}]], {"a:n": [1.0, 0.0], "a:w": [GONE, "x"]}),
        ([[{"a": {"n": 1.0}}, {"a": {"b": ["x"]}}]], {"a:n": [1.0, 0.0], "a:b": [{}, {"x": 1.0}]}),
        ([[{"a": {"n": 1.0}}, {"a": {"n": None}}]], {"a:n": [1.0, None]}),
        ([[{"a": {"n": 1.0}}, {"a": {"m": float("nan")}}]], {"a:n": [1.0, 0.0], "a:m": [GONE, None]}),
        ([[{"a": {"n": 1.0}}, {"a": 2.0}]], {"a:n": [1.0, 0.0], "a": [0.0, 2.0]}),
        ([[{"a": {"n": 1.0}}, {"a": "x"}]], {"a:n": [1.0, 0.0], "a": [GONE, "x"]}),
        ([[{"a": {"n": 1.0}}, {"a": ["n"]}]], {"a:n": [1.0, 0.0], "a": [{}, {"n": 1.0}]}),
        ([[{"a": {"n": 1.0}}, {"a": None}]], {"a": [{"n": 1.0}, None]}),
        ([[{"a": None}, {}, {"a": {"n": 1.0}}]], {"a": [None, {}, {"n": 1.0}]}),
        ([[{"a": {"n": 1.0}}, {"a:n": 2.0, "a:m": 3.0}]], {"a": [{"n": 1.0}, {"n": 2.0}], "a:m": [0.0, 3.0]}),
        ([[{"a:n": 2.0}, {"a": {"n": 1.0}}]], {"a": [{"n": 2.0}, {"n": 1.0}]}),
        ([[{"a": None, "a:n": 2.0}, {"a": {"n": 1.0}}]], {"a": [{"n": 2.0}, {"n": 1.0}]}),
    ],
    ids=[
        "text",
        "list",
        "missing",
        "another key missing",
        "a number instead",
        "text instead",
        "a list instead",
        "None instead",
        "None before",
        "a flat key of the same name",
        "a flat key before",
        "a flat key and None",
    ],
)
def test_mixed_dicts(X: Any, columns: dict[str, list[Any]]) -> None:
    assert table(Sequences(X)) == columns


def test_a_name_from_two_dicts_is_refused() -> None:
    with pytest.raises(InputError, match="position 1, column 'a:b:c': column names must differ"):
        Sequences([[{"a": {"b:c": 1.0}}, {"a:b": {"c": 1.0}}]])


def encoded(encoder: Encoder, X: list[list[dict[str, Any]]]) -> dict[str, list[Any]]:
    """The cells of X. Each sequence encoded alone must be the same as in X."""
    together = encoder.transform(Sequences(X))
    for i, sequence in enumerate(X):
        alone = encoder.transform(Sequences([sequence]))
        assert table(alone) == table(together[i])
        assert [type(column) for column in alone.columns] == [type(column) for column in together.columns]
    restored = Encoder.from_arrays(*encoder.to_arrays())
    assert table(restored.transform(Sequences(X))) == table(together)
    return table(together)


TRAIN: list[list[dict[str, Any]]] = [[{"w": "a", "emb": {"d1": 0.5, "d2": 1.0}}, {"w": "b"}, {"w": "a"}]]


@pytest.mark.parametrize(
    ("item", "cell"),
    [
        ({}, {}),
        ({"emb": {}}, {}),
        ({"emb": None}, None),
        ({"emb": {"d1": 2.0}}, {"d1": 2.0}),
        ({"emb": {"d1": 2.0, "d2": 0.0, "new": 3.0}}, {"d1": 2.0}),
        ({"emb": {"new": 3.0}}, {}),
        ({"emb": {"d1": 2.0, "new": "text"}}, {"d1": 2.0}),
        ({"emb": {"d1": 2.0, "new": None}}, {"d1": 2.0}),
        ({"emb": ["d1", "new"]}, {"d1": 1.0}),
        ({"emb:d1": 2.0, "emb:new": 1.0}, {"d1": 2.0}),
        ({"emb:d1": 2.0, "emb": {"d2": 3.0}}, {"d1": 2.0, "d2": 3.0}),
        ({"emb:d1": 2.0, "emb": None}, {"d1": 2.0}),
        ({"emb:d1": 2.0, "emb": ["d2"]}, {"d1": 2.0, "d2": 1.0}),
        ({"emb": {f"d{i}": 1.0 for i in range(150)} | {"new": "text"}}, {"d1": 1.0, "d2": 1.0}),
        ({f"emb:d{i}": 1.0 for i in range(150)}, {"d1": 1.0, "d2": 1.0}),
    ],
    ids=str,
)
@pytest.mark.parametrize("n_more", [0, 2])
def test_a_bag_of_training_stays_a_bag(item: dict[str, Any], cell: Any, n_more: int) -> None:
    encoder = Encoder.fit(Sequences(TRAIN))
    found = encoded(encoder, [[{"w": "a"} | item] + [{"w": "b"}] * n_more])
    assert found == {"w": ["a"] + ["b"] * n_more, "emb": [cell] + [{}] * n_more}


def test_what_cannot_be_a_member_is_refused() -> None:
    encoder = Encoder.fit(Sequences(TRAIN))
    for value, rule in (
        ({"d1": None}, "column 'emb:d1' must not have missing values, because training stored .* the bag 'emb'"),
        ({"d1": float("nan"), "d2": 1.0}, "column 'emb:d1' must not have missing values"),
        ({"d1": "text"}, "column 'emb:d1' must be numeric, as in training, but it is categorical"),
        ("text", "column 'emb' must be bag, as in training, but it is categorical"),
        (1.0, "column 'emb' must be bag, as in training, but it is numeric"),
    ):
        with pytest.raises(InputError, match=rule):
            encoder.transform(Sequences([[{"w": "a", "emb": value}]]))
    with pytest.raises(InputError, match="'d1' is in the bag 'emb' and in the key 'emb:d1'; leave one of them out"):
        encoder.transform(Sequences([[{"w": "a", "emb": ["d1"], "emb:d1": 2.0}]]))
    with pytest.raises(InputError, match="column 'emb' must be bag, as in training, but it is categorical"):
        encoder.transform(Sequences([[{"w": "a", "emb": "text"}, {"emb": {"d1": 1.0}}]]))


@pytest.mark.parametrize("mixed", [{"n": 1.0, "m": 2.0, "t": "x"}, {"n": None, "m": 2.0, "t": 1.0}], ids=str)
def test_columns_of_training_stay_columns(mixed: dict[str, Any]) -> None:
    train = [[{"w": "a", "in": mixed}, {"w": "a", "in": {"n": 1.0}}]]
    encoder = Encoder.fit(Sequences(train))
    found = encoded(encoder, [[{"w": "a", "in": {"n": 5.0, "new": 1.0}}, {"w": "a", "in": {}}], [{"w": "a"}]])
    absent = GONE if mixed["t"] == "x" else 0.0
    assert found == {"w": ["a"] * 3, "in:n": [5.0, 0.0, 0.0], "in:m": [0.0] * 3, "in:t": [absent] * 3}
    assert encoder.transform(Sequences([[{"w": "a", "in": {"n": 5.0, "new": 1.0}}]])).unseen == {"in": 1}
    if mixed["t"] == "x":
        with pytest.raises(InputError, match="column 'in:t' must be categorical, as in training, but it is numeric"):
            encoder.transform(Sequences([[{"w": "a", "in": {"t": 1.0}}]]))


def test_folded_keys_of_training_stay_folded() -> None:
    rng = np.random.default_rng(0)
    train = [[{"in": {f"k{k}": 1.0 for k in rng.choice(150, 5)}} for _ in range(200)] + [{"in": {"t": "x"}}]]
    encoder = Encoder.fit(Sequences(train))
    assert [column.name for column in Sequences(train).columns] == ["in:t", "attributes"]
    found = encoded(encoder, [[{"in": {"k1": 2.0}}], [{"in": {"k1": 3.0, "t": "x"}}], [{"in:k2": 4.0}]])
    assert found == {"in:t": [GONE, "x", GONE], "attributes": [{"in:k1": 2.0}, {"in:k1": 3.0}, {"in:k2": 4.0}]}


members = st.dictionaries(st.sampled_from("abcd"), st.integers(-2, 2).map(float), max_size=3)
nested_items = st.fixed_dictionaries({"w": st.just("w")}, optional={"in": members | st.none(), "e": members})


@given(st.lists(nested_items, min_size=1, max_size=5), st.lists(nested_items, min_size=1, max_size=5))
def test_prediction_reads_known_members(train: list[Any], new: list[Any]) -> None:
    train = [*train, {"w": "w", "in": {"a": 1.0}, "e": {"b": 1.0}}]
    found = encoded(Encoder.fit(Sequences([train])), [new, [{"w": "w", "in": {"a": 1.0, "x": "text"}}]])
    for name in ("in", "e"):
        known = {key for item in train for key, value in (item.get(name) or {}).items() if value}
        for item, cell in zip(new, found[name], strict=False):
            members = item.get(name, {})
            assert cell == (None if members is None else {k: v for k, v in members.items() if v and k in known})
    assert found["in"][-1] == {"a": 1.0}


def test_an_absent_bag_gives_a_warning() -> None:
    encoder = Encoder.fit(Sequences([[{"w": "a", "emb": {"d1": 0.5}}] * 30]))
    with pytest.warns(AbsentColumnWarning, match="training had: 'emb'; 'emb' is read as absent"):
        encoder.transform(Sequences([[{"w": "a"}]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.transform(Sequences([[{"w": "a", "emb": {"new": 1.0}}]]))


def test_linear_models_use_the_weights_and_trees_the_presence(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    weights = [[float(v) for v in rng.choice([-1.0, 1.0], 6)] for _ in range(40)]
    X = [[{"emb": {"d": v}} for v in row] for row in weights]
    y = [["+" if v > 0 else "-" for v in row] for row in weights]
    linear = hr.LinearCRF().fit(X, y)
    assert linear.score(X, y) == 1.0
    assert {name for name, _ in linear.state_features_} == {"emb:d"}
    linear.save(tmp_path / "m")
    assert hr.load(tmp_path / "m").score(X, y) == 1.0
    assert hr.TreeCRF(n_rounds=5).fit(X, y).score(X, y) < 0.8
    flat = [[{"emb": v} for v in row] for row in weights]
    assert hr.TreeCRF(n_rounds=5).fit(flat, y).score(flat, y) == 1.0
