"""Imputation: the fill value of a column replaces missing values, as in the slow twin."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import Sequences
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import MISSING, BagColumn
from hedgerow.data.ragged import starts_of
from hedgerow.encoding import Encoder
from hedgerow.errors import InputError
from oracles.encoding import GONE, filled_cells, marked_cells, weighted_cells

numbers = st.floats(allow_nan=False, allow_infinity=False, width=32) | st.sampled_from([0.0, 1.0, 2.0])
items = st.lists(
    st.fixed_dictionaries(
        {"k": st.just("k")},
        optional={
            "w": st.sampled_from([*"abc", None]),
            "b": st.none() | st.sets(st.sampled_from("abc")),
            "n": st.none() | numbers,
        },
    ),
    min_size=1,
    max_size=12,
)
bags = st.lists(st.none() | st.dictionaries(st.sampled_from("abc"), numbers), min_size=1, max_size=12)


def weighted(cells: list[dict[str, float] | None], with_weights: bool = True) -> Sequences:
    """One sequence with one bag; a dict cannot be given as one from outside."""
    alphabet = Alphabet.of(value for bag in cells for value in bag or ())
    ids: list[int] = []
    weights: list[float] = []
    for bag in cells:
        ids += [MISSING] if bag is None else alphabet.ids(sorted(bag)).tolist()
        weights += [9.0] if bag is None else [bag[value] for value in sorted(bag)]
    starts = starts_of([1 if bag is None else len(bag) for bag in cells])
    given_weights = np.array(weights, np.float32) if with_weights else None
    column = BagColumn("b", starts, np.array(ids, np.int32), given_weights, alphabet)
    return Sequences.of_columns(np.array([0, len(cells)]), (column,))


def expected(train: Sequences, given: Sequences, treatment: str) -> dict[str, list[Any]]:
    """Every column filled in by the slow twin; those with missing values in training also marked."""
    found = {}
    for column in train.columns:
        cells, new = weighted_cells(column), weighted_cells(given.column(column.name))
        if treatment == "published-indicator":
            cells = []  # zeros are what fills a column of which nothing is known
        found[column.name] = filled_cells(column.kind, cells, new)
    for column in train.columns:
        if treatment != "impute" and None in weighted_cells(column):
            found[f"{column.name} missing"] = marked_cells(weighted_cells(given.column(column.name)))
    return found


def found(encoder: Encoder, sequences: Sequences) -> dict[str, list[Any]]:
    return {column.name: weighted_cells(column) for column in encoder.transform(sequences).columns}


def again(encoder: Encoder) -> Encoder:
    metadata, arrays = encoder.to_arrays()
    return Encoder.from_arrays(json.loads(json.dumps(metadata)), arrays)


@pytest.mark.filterwarnings("ignore::hedgerow.errors.AbsentColumnWarning")
@pytest.mark.parametrize("treatment", ["impute", "indicator", "published-indicator"])
@given(train=items, new=items)
def test_filling_equals_its_slow_twin(treatment: Any, train: list[Any], new: list[Any]) -> None:
    raw = Sequences([train])
    encoder = Encoder.fit(raw, treatment)
    assert encoder.fills_missing
    assert found(encoder, raw) == expected(raw, raw, treatment)
    for here in (encoder, again(encoder)):
        untreated = Encoder.fit(raw).transform(Sequences([new]))
        assert found(here, Sequences([new])) == expected(raw, untreated, treatment)
    assert again(encoder) == encoder


@pytest.mark.parametrize("treatment", ["impute", "indicator", "published-indicator"])
@given(train=bags, new=bags, with_weights=st.tuples(st.booleans(), st.booleans()))
def test_weighted_bags_equal_their_slow_twin(treatment: Any, train: Any, new: Any, with_weights: Any) -> None:
    raw, other = weighted(train, with_weights[0]), weighted(new, with_weights[1])
    encoder = again(Encoder.fit(raw, treatment))
    assert found(encoder, raw) == expected(raw, raw, treatment)
    assert found(encoder, other) == expected(raw, Encoder.fit(raw).transform(other), treatment)
    if not with_weights[0]:
        assert encoder.transform(raw).columns[0].weights is None


def test_ties_go_to_absence_and_then_to_the_first_value() -> None:
    raw = Sequences([[{"w": "b", "o": 1}, {"w": "a", "o": 1}, {"w": None, "o": 1}]])
    assert found(Encoder.fit(raw, "impute"), raw)["w"] == ["b", "a", "a"]
    raw = Sequences([[{"w": "a", "o": 1}, {"o": 1}, {"w": None, "o": 1}]])
    assert found(Encoder.fit(raw, "impute"), raw)["w"] == ["a", GONE, GONE]


def test_a_fold_fills_in_by_its_own_values() -> None:
    X = Sequences([[{"w": "a", "b": ["a"]}], [{"w": "c", "b": ["c"]}], [{"w": None, "b": None}]])[[1, 2]]
    assert found(Encoder.fit(X, "impute"), X) == {"w": ["c", "c"], "b": [{"c": 1.0}, {"c": 1.0}]}


def test_the_median_of_huge_numbers_is_finite() -> None:
    raw = Sequences([np.array([[3e38], [3.2e38], [np.nan]])])
    assert found(Encoder.fit(raw, "impute"), raw)["x0"][2] == pytest.approx(3.1e38)


def test_a_treatment_leaves_no_missing_value() -> None:
    raw = Sequences([[{"w": "a", "n": 1.0}, {"w": None, "n": None}], [{"w": "b", "n": 2.0}]])
    for treatment in ("impute", "indicator", "published-indicator"):
        encoder = Encoder.fit(raw, treatment)
        treated = encoder.transform(raw)
        assert not any(column.missing().any() for column in treated.columns)


def test_data_without_missing_values_come_back_as_they_are() -> None:
    raw = Sequences([[{"w": "a", "n": 1.0}]])
    for treatment in ("impute", "indicator", "published-indicator"):
        assert Encoder.fit(raw, treatment).transform(raw).columns is raw.columns


def test_a_column_missing_at_prediction_alone_is_filled_in_and_not_marked() -> None:
    encoder = Encoder.fit(Sequences([[{"w": "a", "n": 3.0}]]), "indicator")
    assert found(encoder, Sequences([[{"w": None, "n": None}]])) == {"w": ["a"], "n": [3.0]}


def test_columns_without_values_are_filled_with_nothing() -> None:
    nothing = Sequences([np.full((2, 1), np.nan)]).columns
    bag = BagColumn("b", np.array([0, 1, 2]), np.full(2, MISSING, np.int32), None, Alphabet.of([]))
    text = Sequences([[{"w": None, "o": 1}, {"w": None, "o": 1}]]).columns
    raw = Sequences.of_columns(np.array([0, 2]), (*nothing, bag, *text))
    filled = found(Encoder.fit(raw, "indicator"), raw)
    assert filled.pop("o") == [1.0, 1.0]
    marks = {name: ["missing", "missing"] for name in ("x0 missing", "b missing", "w missing")}
    assert filled == {"x0": [0.0, 0.0], "b": [{}, {}], "w": [GONE, GONE]} | marks


@pytest.mark.parametrize("value", [3.0, "x", ["x", "y"]], ids=["number", "text", "bag"])
def test_values_of_a_column_that_had_none_are_unseen_whatever_their_kind(value: Any) -> None:
    encoder = Encoder.fit(Sequences([[{"w": None, "o": 1}]]), "indicator")
    X = encoder.transform(Sequences([[{"w": value, "o": 1}, {"w": None, "o": 1}]]))
    assert X.unseen == {"w": 2 if isinstance(value, list) else 1}
    assert weighted_cells(X.column("w")) == [GONE, GONE]
    assert weighted_cells(X.column("w missing")) == [GONE, "missing"]


def test_a_name_that_is_taken_is_refused_only_if_it_is_needed() -> None:
    taken = [[{"w": "a", "w missing": "no"}, {"w": None, "w missing": "yes"}]]
    rule = "missing values of column 'w' are marked in a column 'w missing', but X already has a column"
    with pytest.raises(InputError, match=rule):
        Encoder.fit(Sequences(taken), "indicator")
    Encoder.fit(Sequences(taken), "impute")
    Encoder.fit(Sequences([taken[0][:1]]), "indicator")


def test_a_new_column_of_that_name_is_unseen_and_no_mark() -> None:
    encoder = Encoder.fit(Sequences([[{"w": "a"}, {"w": None}]]), "indicator")
    X = encoder.transform(Sequences([[{"w": "a", "w missing": "missing"}]]))
    assert weighted_cells(X.column("w missing")) == [GONE]
    assert X.unseen == {"w missing": 1}


@pytest.mark.parametrize(
    ("column", "change"),
    [
        (0, {"fill_value": 2}),
        (0, {"fill_value": -1}),
        (0, {"fill_value": True}),
        (0, {"fill_value": 1.0}),
        (0, {"fill_value": None}),
        (0, {"indicates": "n"}),
        (0, {"indicates": 3}),
        (1, {"fill_value": 1}),
        (1, {"fill_value": 1e39}),
        (1, {"fill_value": "1"}),
        (2, {"fill_value": {"ids": [0]}}),
        (2, {"fill_value": {"ids": [0], "weights": [1]}}),
        (2, {"fill_value": {"ids": [0], "weights": [1e300]}}),
        (2, {"fill_value": {"ids": [1, 0], "weights": [1.0, 1.0]}}),
        (2, {"fill_value": {"ids": [7], "weights": [1.0]}}),
        (2, {"fill_value": {"ids": [0, 1], "weights": [1.0]}}),
        (3, {"indicates": "nobody"}),
        (3, {"indicates": "w missing"}),
        (3, {"fill_value": 0}),
        (4, {"indicates": None}),
    ],
    ids=str,
)
def test_a_strange_description_is_refused(column: int, change: dict[str, Any]) -> None:
    raw = Sequences([[{"w": "a", "n": 1.0, "b": ["x", "y"]}, {"w": None, "n": None, "b": None}, {"w": "b"}]])
    metadata, arrays = Encoder.fit(raw, "indicator").to_arrays()
    Encoder.from_arrays(metadata, arrays)
    metadata["columns"][column] |= change
    with pytest.raises(InputError):
        Encoder.from_arrays(metadata, arrays)


def test_a_description_with_half_a_treatment_is_refused() -> None:
    metadata, arrays = Encoder.fit(Sequences([[{"w": "a", "n": 1.0}, {"w": None}]]), "indicator").to_arrays()
    for at in (0, 1):
        broken = json.loads(json.dumps(metadata))
        del broken["columns"][at]["fill_value"]
        with pytest.raises(InputError, match="does not match the treatment"):
            Encoder.from_arrays(broken, arrays)
    del metadata["columns"][0]["fill_value"], metadata["columns"][1]["fill_value"]
    with pytest.raises(InputError, match="does not match the treatment"):
        Encoder.from_arrays(metadata, arrays)
