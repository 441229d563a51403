"""The encoder: unseen values and columns, kinds, and its state."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import Sequences
from hedgerow.encoding import Encoder
from hedgerow.errors import AbsentColumnWarning, InputError
from oracles.encoding import GONE, cells

TRAIN = [[{"w": "a", "n": 1, "b": ["x", "y"]}, {"w": "c", "b": None}]]


def table(sequences: Sequences) -> dict[str, list[Any]]:
    return {column.name: cells(column) for column in sequences.columns}


def is_aligned(sequences: Sequences, encoder: Encoder) -> bool:
    return all(
        getattr(column, "alphabet", None) is spec.alphabet
        for column, spec in zip(sequences.columns, encoder.columns, strict=True)
    )


def test_training_data_come_back_as_they_are() -> None:
    X = Sequences(TRAIN)
    encoder = Encoder.fit(X)
    assert encoder.transform(X).columns is X.columns
    again = encoder.transform(Sequences(TRAIN))
    assert table(again) == table(X)
    assert is_aligned(again, encoder)
    with pytest.raises(InputError, match="encoded already"):
        Sequences(again)


def test_the_unseen_is_left_out_and_counted() -> None:
    encoder = Encoder.fit(Sequences(TRAIN))
    new = [
        [{"w": "b", "b": ["x", "z", "q"]}, {"w": "a", "other": "v", "m": 2}],
        [{"w": None, "b": None, "other": None, "m": None, "s": ["1", "2"]}, {"w": "b", "s": ["1"]}],
    ]
    X = encoder.transform(Sequences(new))
    assert table(X) == {
        "w": [GONE, "a", None, GONE],
        "n": [0.0, 0.0, 0.0, 0.0],
        "b": [["x"], [], None, []],
    }
    assert X.unseen == {"w": 2, "b": 2, "other": 1, "m": 1, "s": 3}
    assert is_aligned(X, encoder)
    assert X.lengths.tolist() == [2, 2]


def test_columns_that_are_not_there_are_absent() -> None:
    encoder = Encoder.fit(Sequences(TRAIN))
    with pytest.warns(AbsentColumnWarning, match="X lacks columns that training had: 'w', 'b'; .* not have: 'q'; "):
        X = encoder.transform(Sequences([[{"q": 1, "n": 2}, {"q": 0}]]))
    assert table(X) == {"w": [GONE, GONE], "n": [2.0, 0.0], "b": [[], []]}
    assert X.unseen == {"q": 1}


def test_weights_follow_their_bags() -> None:
    encoder = Encoder.fit(Sequences([scipy.sparse.csr_array([[0, 1.0, 0, 2]])]))
    X = encoder.transform(Sequences([scipy.sparse.csr_array([[5, 0, 6, 7.0], [8, 9, 0, 0]])]))
    assert table(X) == {"bag": [["3"], ["1"]]}
    assert X.column("bag").weights.tolist() == [7.0, 9.0]
    assert X.unseen == {"bag": 3}


def test_a_fold_knows_only_its_own_values() -> None:
    X = Sequences([[{"w": w, "b": [w]}] for w in "abc"])
    encoder = Encoder.fit(X[[0, 2]])
    assert [list(spec.alphabet) for spec in encoder.columns] == [["a", "c"], ["a", "c"]]
    assert encoder.transform(X).unseen == {"w": 1, "b": 1}
    assert encoder == Encoder.fit(Sequences([[{"w": w, "b": [w]}] for w in "ac"]))


@pytest.mark.parametrize(
    ("value", "kind"), [("x", "categorical"), (1.0, "numeric"), (["x"], "bag")], ids=["text", "number", "bag"]
)
def test_kinds_must_agree(value: Any, kind: str) -> None:
    for other, other_kind in (("x", "categorical"), (1.0, "numeric"), (["x"], "bag")):
        encoder, X = Encoder.fit(Sequences([[{"a": value}]])), Sequences([[{"a": other}]])
        if kind == other_kind:
            assert table(encoder.transform(X)) == table(X)
        else:
            rule = f"column 'a' must be {kind}, as in training, but it is {other_kind}"
            with pytest.raises(InputError, match=rule):
                encoder.transform(X)


@pytest.mark.parametrize("value", ["x", 1.0, ["x"]])
def test_a_column_without_values_takes_the_kind_of_training(value: Any) -> None:
    encoder = Encoder.fit(Sequences([[{"a": value, "o": 1}]]))
    X = encoder.transform(Sequences([[{"a": None}, {"o": 1}]]))
    absent = {"x": GONE, 1.0: 0.0}.get(value if not isinstance(value, list) else None, [])
    assert table(X)["a"] == [None, absent]
    assert X.unseen == {}


def test_numbers_that_are_all_missing_fit_every_kind() -> None:
    for value in ("x", ["x"]):
        encoder = Encoder.fit(Sequences([[{"x0": value}]]))
        assert table(encoder.transform(Sequences([np.full((2, 1), np.nan)])))["x0"] == [None, None]


items = st.lists(
    st.fixed_dictionaries(
        {"k": st.just("k")},
        optional={
            "w": st.sampled_from([*"abcdef", None]),
            "b": st.sets(st.sampled_from("abcdef")),
            "n": st.integers(0, 3),
        },
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.filterwarnings("ignore::hedgerow.errors.AbsentColumnWarning")
@given(items, items)
def test_transform_equals_filtering_by_hand(train: list[Any], test: list[Any]) -> None:
    encoder = Encoder.fit(Sequences([train]))
    X = encoder.transform(Sequences([test]))
    known_w = {item.get("w") for item in train}
    known_b = set().union(*(item.get("b", set()) for item in train))
    by_hand, unseen = [], {"w": 0, "b": 0, "n": 0}
    for item in test:
        kept = dict(item)
        if "w" in item and item["w"] is not None and item["w"] not in known_w:
            del kept["w"]
            unseen["w"] += 1
        if "b" in item:
            kept["b"] = item["b"] & known_b
            unseen["b"] += len(item["b"] - known_b)
        if "n" in item and not any("n" in other for other in train):
            unseen["n"] += item["n"] != 0
        by_hand.append(kept)
    expected = table(Sequences([by_hand]))
    for name, column in table(X).items():
        blank = {"w": GONE, "b": [], "n": 0.0}.get(name)
        assert column == expected.get(name, [blank] * len(test))
    assert X.unseen == {name: count for name, count in unseen.items() if count}


def test_state_survives_json() -> None:
    encoder = Encoder.fit(Sequences(TRAIN))
    metadata, arrays = encoder.to_arrays()
    restored = Encoder.from_arrays(json.loads(json.dumps(metadata)), {k: v.copy() for k, v in arrays.items()})
    assert restored == encoder
    assert table(restored.transform(Sequences(TRAIN))) == table(Sequences(TRAIN))


GOOD, ARRAYS = Encoder.fit(Sequences(TRAIN)).to_arrays()
NUMERIC = {"name": "n", "kind": "numeric", "presence": [1.0, 1.0]}


@pytest.mark.parametrize(
    ("metadata", "arrays", "rule"),
    [
        ({}, ARRAYS, "must have a list of columns"),
        ([], ARRAYS, "must have a list of columns"),
        ({"columns": []}, ARRAYS, "must have a list of columns"),
        ({"columns": ["w"]}, ARRAYS, "column 0 of an encoder must have a name and a known kind"),
        ({"columns": [{"name": 1, "kind": "bag"}]}, ARRAYS, "column 0 of an encoder must have a name"),
        ({"columns": [{"name": "w", "kind": "odd"}]}, ARRAYS, "known kind"),
        ({"columns": [{"name": "w", "kind": ["bag"]}]}, ARRAYS, "known kind"),
        ({"columns": [NUMERIC | {"presence": None}]}, ARRAYS, "column 0 of an encoder must have"),
        ({"columns": [NUMERIC | {"presence": [1.0, 1.5]}]}, ARRAYS, "column 0 of an encoder must have"),
        ({"columns": [NUMERIC, NUMERIC]}, ARRAYS, "distinct names, but 'n' occurs twice"),
        (GOOD, {}, "column 0 of an encoder must have an alphabet"),
        (GOOD, ARRAYS | {"0.offsets": np.array([0, 9, 2])}, "offsets of an alphabet"),
        (GOOD, ARRAYS | {"0.blob": np.array([255, 255], np.uint8)}, "UTF-8"),
        (GOOD, ARRAYS | {"2.blob": "xy"}, "blob of an alphabet must be a 1-D array"),
    ],
)
def test_state_that_is_damaged_is_refused(metadata: Any, arrays: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        Encoder.from_arrays(metadata, arrays)
