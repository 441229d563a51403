"""Data frames of pandas and of polars."""

from __future__ import annotations

import pickle
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import hedgerow as hr
from hedgerow import Sequences, from_frame, to_frame
from hedgerow.errors import InputError
from oracles.encoding import cells

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


@pytest.fixture(params=list(LIBRARIES))
def frame(request: pytest.FixtureRequest) -> Any:
    return LIBRARIES[request.param]


def table(sequences: Sequences) -> dict[str, list[Any]]:
    return {column.name: cells(column) for column in sequences.columns}


def test_frames_are_columns(frame: Any) -> None:
    a = frame({"w": ["x", None], "n": [1, 2], "f": [0.5, None], "b": [True, False]})
    b = frame({"w": ["y"], "n": [3], "f": [1.5], "b": [True]})
    X = Sequences([a, b])
    assert table(X) == {
        "w": ["x", None, "y"],
        "n": [1.0, 2.0, 3.0],
        "f": [0.5, None, 1.5],
        "b": [1.0, 0.0, 1.0],
    }
    assert X.lengths.tolist() == [2, 1]


def test_frames_may_differ_in_order_and_type(frame: Any) -> None:
    a, b = frame({"w": ["x"], "n": [1]}), frame({"n": [2.5, None], "w": [None, None]})
    assert table(Sequences([a, b])) == {"w": ["x", None, None], "n": [1.0, 2.5, None]}


def test_nan_is_missing_like_null() -> None:
    expected = {"f": [None, 1.0, None]}
    assert table(Sequences([pl.DataFrame({"f": [np.nan, 1.0, None]})])) == expected
    assert table(Sequences([pd.DataFrame({"f": [np.nan, 1.0, None]})])) == expected


def test_types_of_pandas() -> None:
    df = pd.DataFrame(
        {
            "object": pd.Series(["x", np.nan, None], dtype=object),
            "string": pd.Series(["x", pd.NA, "y"], dtype="string"),
            "category": pd.Categorical(["q", None, "p"]),
            "Int64": pd.Series([1, pd.NA, 3], dtype="Int64"),
            "boolean": pd.Series([True, pd.NA, False], dtype="boolean"),
            "numbers": pd.Series([1, 2.5, None], dtype=object),
            "nothing": pd.Series([None, None, None], dtype=object),
        }
    )
    assert table(Sequences([df])) == {
        "object": ["x", None, None],
        "string": ["x", None, "y"],
        "category": ["q", None, "p"],
        "Int64": [1.0, None, 3.0],
        "boolean": [1.0, None, 0.0],
        "numbers": [1.0, 2.5, None],
        "nothing": [None, None, None],
    }


def test_types_of_polars() -> None:
    df = pl.DataFrame(
        {
            "category": pl.Series(["q", None, "p"], dtype=pl.Categorical),
            "enum": pl.Series(["q", None, "p"], dtype=pl.Enum(["q", "p"])),
            "int": pl.Series([1, None, 3], dtype=pl.UInt8),
            "bool": [True, None, False],
            "bag": [["b", "a"], None, []],
            "nothing": [None, None, None],
        }
    )
    assert table(Sequences([df])) == {
        "category": ["q", None, "p"],
        "enum": ["q", None, "p"],
        "int": [1.0, None, 3.0],
        "bool": [1.0, None, 0.0],
        "bag": [["a", "b"], None, []],
        "nothing": [None, None, None],
    }


def test_refuses_bad_frames(frame: Any) -> None:
    good = frame({"a": [1.0], "b": ["x"]})
    for X, rule in (
        (good, "one DataFrame; wrap it in a list if it is one sequence; or use hedgerow.from_frame"),
        (
            [good, frame({"a": [1.0], "c": ["x"]})],
            r"sequence 0 has \['a', 'b'\] and sequence 1 has \['a', 'c'\]",
        ),
        ([good, frame({"a": [1.0]})], "sequence 0 has 2 and sequence 1 has 1"),
        ([good, frame({"a": [], "b": []})], "sequence 1 is empty"),
        (
            [good, frame({"a": [float("inf")], "b": ["x"]})],
            "sequence 1, position 0, column 'a': .* but got inf",
        ),
        (
            [good, frame({"a": ["t"], "b": ["x"]})],
            "sequence 1, position 0, column 'a': .* held numbers before",
        ),
        ([good, ["a"]], "sequence 0 is a data frame and sequence 1 a list"),
        ([frame({"t": [datetime(2020, 1, 1)]})], "column 't' must hold numbers.* but got Datetime"),
    ):
        with pytest.raises(InputError, match=rule):
            Sequences(X)


def test_refuses_names_that_are_not_distinct_str() -> None:
    with pytest.raises(InputError, match="sequence 0 must have distinct column names, but 'a' occurs twice"):
        Sequences([pd.DataFrame([[1, 2]], columns=["a", "a"])])
    with pytest.raises(InputError, match="sequence 0 must have str as column names, but got 0"):
        Sequences([pd.DataFrame([[1, 2]])])


def test_refuses_frames_of_two_libraries() -> None:
    with pytest.raises(InputError, match="frames must all come from one library"):
        Sequences([pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})])


def test_refuses_lazy_frames() -> None:
    with pytest.raises(InputError, match="LazyFrame"):
        Sequences([pl.LazyFrame({"a": [1]})])


LONG = {
    "id": ["s2", "s1", "s2", "s1", "s1"],
    "w": ["a", "b", "c", "d", "e"],
    "n": [1, 2, 3, 4, 5],
    "tag": ["X", "Y", "Z", "X", "Y"],
}


def test_the_pair_of_from_frame_must_be_unpacked(frame: Any) -> None:
    model = hr.HMM().fit(*from_frame(frame(LONG), sequence="id", label="tag"))
    rule = r"X must be a list of sequences, but got a pair \(X, y\): .* write X, y = hedgerow.from_frame\(...\)"
    for pair in (from_frame(frame(LONG), sequence="id"), from_frame(frame(LONG), sequence="id", label="tag")):
        with pytest.raises(InputError, match=rule):
            model.predict(pair)


def test_from_frame_groups_rows(frame: Any) -> None:
    X, y = from_frame(frame(LONG), sequence="id", label="tag")
    assert X.lengths.tolist() == [2, 3]
    assert table(X) == {"w": ["a", "c", "b", "d", "e"], "n": [1.0, 3.0, 2.0, 4.0, 5.0]}
    assert [labels.tolist() for labels in y] == [["X", "Z"], ["Y", "X", "Y"]]
    assert all(labels.dtype.kind == "U" for labels in y)
    X, no_labels = from_frame(frame(LONG), sequence="id")
    assert no_labels is None
    assert [column.name for column in X.columns] == ["w", "n", "tag"]


@pytest.mark.parametrize(
    ("labels", "kind"), [([1, 2, 3, 1, 2], "i"), ([True, False, True, True, True], "b"), (list("abcde"), "U")]
)
def test_from_frame_keeps_the_kind_of_labels(frame: Any, labels: list[Any], kind: str) -> None:
    _, y = from_frame(frame({**LONG, "tag": labels}), sequence="n", label="tag")
    assert [row.tolist() for row in y] == [[label] for label in labels]
    assert {row.dtype.kind for row in y} == {kind}


def test_from_frame_takes_groups_of_any_type() -> None:
    categories = pd.DataFrame({**LONG, "id": pd.Categorical(LONG["id"]), "tag": pd.Categorical(LONG["tag"])})
    X, y = from_frame(categories, sequence="id", label="tag")
    assert X.lengths.tolist() == [2, 3]
    assert [labels.tolist() for labels in y] == [["X", "Z"], ["Y", "X", "Y"]]


def test_from_frame_refuses(frame: Any) -> None:
    good = frame(LONG)
    listed = r"its columns are \['id', 'w', 'n', 'tag'\]"
    for df, arguments, rule in (
        (good, {"sequence": "q"}, f"df has no column 'q' for `sequence`; {listed}"),
        (good, {"sequence": "id", "label": "q"}, f"df has no column 'q' for `label`; {listed}"),
        (
            frame({**LONG, "id": ["a", None] * 2 + ["a"]}),
            {"sequence": "id"},
            "'id' must not hold nulls, but it holds 2",
        ),
        (frame({**LONG, "n": [0.5, float("nan")] * 2 + [1]}), {"sequence": "n"}, "'n' must not hold nulls"),
        (
            frame({**LONG, "tag": ["a", None] * 2 + ["a"]}),
            {"sequence": "id", "label": "tag"},
            "'tag' must not hold nulls, but it holds 2; partial labels are not supported",
        ),
        (
            frame({**LONG, "tag": [0.5] * 5}),
            {"sequence": "id", "label": "tag"},
            "labels must be strings, integers or bools, but column 'tag' holds Float64",
        ),
        (frame({"id": [1]}), {"sequence": "id"}, "no columns beside"),
        (frame({"id": [], "w": []}), {"sequence": "id"}, "at least one row"),
        (good, {"sequence": ["id", "q"]}, f"df has no column 'q' for `sequence`; {listed}"),
        (good, {"sequence": []}, "`sequence` must name at least one column"),
        ([LONG], {"sequence": "id"}, "df must be a data frame, but got list"),
    ):
        with pytest.raises(InputError, match=rule):
            from_frame(df, **arguments)


TWO_KEYS = {
    "doc": ["d", "e", "d", "d", "e"],
    "sent": [1, 1, 2, 1, 1],
    "w": ["a", "b", "c", "d", "e"],
    "tag": ["A", "B", "C", "D", "E"],
}


def test_from_frame_groups_by_several_columns(frame: Any) -> None:
    X, y = from_frame(frame(TWO_KEYS), sequence=["doc", "sent"], label="tag")
    assert X.rows is not None
    assert X.rows.tolist() == [0, 3, 1, 4, 2]
    assert table(X) == {"w": ["a", "d", "b", "e", "c"]}
    assert [labels.tolist() for labels in y] == [["A", "D"], ["B", "E"], ["C"]]


def test_from_frame_takes_the_levels_of_an_index() -> None:
    X, y = from_frame(pd.DataFrame(TWO_KEYS), sequence=["doc", "sent"], label="tag")
    for index in (["doc", "sent"], ["sent", "doc"], ["doc"], ["doc", "sent", "w"]):
        df = pd.DataFrame(TWO_KEYS | {"x": TWO_KEYS["w"]}).set_index(index)
        if "w" in df:
            df = df.drop(columns="x")
        found, labels = from_frame(df, sequence=["doc", "sent"], label="tag")
        assert found.rows.tolist() == X.rows.tolist()
        assert list(table(found).values()) == list(table(X).values())  # a level that is not named is not a column
        assert [row.tolist() for row in labels] == [row.tolist() for row in y]
    by_name, _ = from_frame(pd.DataFrame(TWO_KEYS).set_index("doc"), sequence="doc")
    assert by_name.lengths.tolist() == [3, 2]


def test_rows_travel_with_the_sequences() -> None:
    X, _ = from_frame(pd.DataFrame(TWO_KEYS), sequence=["doc", "sent"])
    assert X[1:].rows.tolist() == [1, 4, 2]
    assert X[[2, 0]].rows.tolist() == [2, 0, 3]
    assert X[1].rows.tolist() == [1, 4]
    assert Sequences(X).rows is X.rows
    assert pickle.loads(pickle.dumps(X)).rows.tolist() == X.rows.tolist()
    assert Sequences(["ab"]).rows is None


def test_to_frame_aligns_interleaved_groups(frame: Any) -> None:
    df = frame(TWO_KEYS)
    X, y = from_frame(df, sequence=["doc", "sent"], label="tag")
    assert to_frame(df, y, X, name="again")["again"].to_list() == TWO_KEYS["tag"]
    assert to_frame(df, [row.tolist() for row in y], X)["prediction"].to_list() == TWO_KEYS["tag"]
    assert list(df.columns) == list(TWO_KEYS)  # the frame itself is not changed
    some = to_frame(df, [y[2], y[0]], X[[2, 0]])["prediction"].to_list()
    assert [value if isinstance(value, str) else None for value in some] == ["A", None, "C", "D", None]


def test_to_frame_aligns_predictions_of_a_model(frame: Any) -> None:
    df = frame({**TWO_KEYS, "tag": ["a", "b", "a", "b", "a"]})
    X, y = from_frame(df, sequence=["doc", "sent"], label="tag")
    model = hr.HMM().fit(X, y)
    X, _ = from_frame(df, sequence=["doc", "sent"], label="tag")
    p = model.predict_proba(X)
    with_p = to_frame(df, p, X, name="p", classes=model.classes_)
    assert list(with_p.columns) == [*TWO_KEYS, "p_a", "p_b"]
    np.testing.assert_array_equal(with_p["p_b"].to_numpy()[X.rows], np.concatenate(p)[:, 1])
    assert to_frame(with_p, model.predict(X), X)["prediction"].to_list()[3] == model.predict(X)[0][1]


def test_predictions_remember_their_rows(frame: Any) -> None:
    df = frame({**TWO_KEYS, "tag": ["a", "b", "a", "b", "a"]})
    X, y = from_frame(df, sequence=["doc", "sent"], label="tag")
    model = hr.HMM().fit(X, y)
    for some in (X, X[[2, 0]]):
        for predictions in (model.predict(some), pickle.loads(pickle.dumps(model.predict(some)))):
            one, other = to_frame(df, predictions), to_frame(df, list(predictions), some)
            assert str(one["prediction"].to_list()) == str(other["prediction"].to_list())
    p = to_frame(df, model.predict_proba(X), name="p", classes=model.classes_)
    np.testing.assert_array_equal(p["p_b"].to_numpy()[X.rows], np.concatenate(model.predict_proba(X))[:, 1])
    with pytest.raises(InputError, match="do not say which sequences they belong to; give X as well"):
        to_frame(df, model.predict(X)[:2])


def test_to_frame_keeps_the_index_of_pandas() -> None:
    df = pd.DataFrame(TWO_KEYS).set_index(["doc", "sent"])
    X, y = from_frame(df, sequence=["doc", "sent"], label="tag")
    after = to_frame(df, y, X)
    assert after.index.equals(df.index)
    assert after["prediction"].tolist() == TWO_KEYS["tag"]
    integers = to_frame(df, [np.arange(len(row)) for row in y], X)["prediction"]
    assert integers.dtype == np.int64


def test_to_frame_refuses(frame: Any) -> None:
    df = frame(TWO_KEYS)
    X, y = from_frame(df, sequence=["doc", "sent"], label="tag")
    p = [np.ones((len(row), 2)) for row in y]
    for arguments, rule in (
        (([1], y, X), "df must be a data frame, but got list"),
        ((df, y, Sequences(["ab"])), "X must be the sequences that from_frame returned"),
        ((df, y, [["a"]]), "X must be the sequences that from_frame returned"),
        ((df[:3], y, X), "X was read from row 4, but df has 3 rows"),
        ((df, y[1:], X), "one entry for each position of the 3 sequences"),
        ((df, [1, 2, 3], X), "one entry for each position"),
        ((df[::-1], y, X), "column 'w' differs at row 0; give that frame, with its rows in the same order"),
        ((df[[1, 0, 2, 3, 4]] if frame is pl.DataFrame else df.iloc[[1, 0, 2, 3, 4]], y, X), "differs at row 0"),
        ((df, p, X), "probabilities of 2 classes need their names, but `classes` has 0; give classes=model.classes_"),
        ((df, [q[..., None] for q in p], X), "labels or rows of probabilities, but they have 3 dimensions"),
    ):
        with pytest.raises(InputError, match=rule):
            to_frame(*arguments)


def test_to_frame_refuses_a_name_that_is_taken(frame: Any) -> None:
    df = frame(TWO_KEYS)
    X, y = from_frame(df, sequence=["doc", "sent"], label="tag")
    with pytest.raises(InputError, match="df has a column 'tag' already; choose another `name`"):
        to_frame(df, y, X, name="tag")


def test_to_frame_compares_columns_of_every_kind(frame: Any) -> None:
    columns = {
        "text": ["p", None, "q", "p"],
        "bag": [["a"], ["b", "c"], [], ["c"]],
        "number": [1.0, float("nan"), 3.0, 4.0],
        "nothing": [None, None, None, None],
    }
    for name, values in columns.items():
        df = frame({"id": [1, 1, 2, 2], "other": list("xxxx"), name: values})
        X, _ = from_frame(df, sequence="id")
        assert to_frame(df, [[0, 1], [2, 3]], X)["prediction"].to_list() == [0, 1, 2, 3]
        assert to_frame(df, [[2, 3]], X[[1]])["prediction"].to_list()[2:] == [2, 3]
        if name != "nothing":
            with pytest.raises(InputError, match=f"column '{name}' differs at row"):
                to_frame(df[::-1], [[0, 1], [2, 3]], X)
