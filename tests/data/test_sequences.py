"""The container, and the forms that need no compiled reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import hedgerow
from hedgerow import Sequences, from_padded
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import ABSENT, MISSING, BagColumn, CategoricalColumn, Column, NumericColumn
from hedgerow.errors import InputError
from oracles.encoding import cells

MIXED = [
    [{"w": "a", "n": 1, "b": ["x", "y"]}, {"w": "b", "b": None}],
    [{"w": None, "n": 2.5}],
    [{"w": "c", "b": {"z"}}, {}, {"w": "a", "n": None, "b": []}],
    [{"w": "a"}],
]


def table(sequences: Sequences) -> dict[str, list[Any]]:
    return {column.name: cells(column) for column in sequences.columns}


def parts(sequences: Sequences) -> list[dict[str, list[Any]]]:
    """The cells of each sequence, cut by hand."""
    whole, s = table(sequences), sequences.starts.tolist()
    return [{k: v[s[i] : s[i + 1]] for k, v in whole.items()} for i in range(len(s) - 1)]


def test_says_what_it_holds() -> None:
    X = Sequences(MIXED)
    assert X.starts.tolist() == [0, 2, 3, 6, 7]
    assert X.starts.dtype == np.int64
    assert X.lengths.tolist() == [2, 1, 3, 1]
    assert (len(X), X.shape, X.n_positions) == (4, (4,), 7)
    assert [column.name for column in X.columns] == ["w", "n", "b"]
    assert X.column("n") is X.columns[1]
    assert repr(X) == "Sequences(4 sequences, 7 positions; 'w' categorical, 'n' numeric, 'b' bag)"
    assert repr(Sequences([[{str(i): 1 for i in range(9)}]])).endswith("'5' numeric, ... 3 more)")
    assert repr(Sequences(["a"])) == "Sequences(1 sequence, 1 position; 'symbol' categorical)"
    with pytest.raises(InputError, match=r"no column 'q'; the columns are \['w', 'n', 'b'\]"):
        X.column("q")


def test_is_reused_without_a_copy() -> None:
    X = Sequences(MIXED)
    assert Sequences(X).columns is X.columns
    with pytest.raises(InputError, match="at least one sequence"):
        Sequences(X[:0])


def test_cannot_be_changed() -> None:
    X = Sequences(MIXED)
    for array in (
        X.starts,
        X.columns[0].codes,
        X.columns[1].values,
        X.columns[2].ids,
        X[[1]].columns[0].codes,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


INDICES = [
    2,
    -1,
    np.int64(1),
    slice(None),
    slice(1, 3),
    slice(3, 1),
    slice(None, None, 2),
    slice(None, None, -1),
    [3, 0, 0],
    [-1],
    np.array([1, 2], np.int32),
    np.array([True, False, True, False]),
    [False] * 4,
    [],
    (np.array([2, 1]), ...),
    (slice(0, 2), ...),
]


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_indexing_equals_that_of_an_array(index: Any) -> None:
    X = Sequences(MIXED)
    key = index[0] if isinstance(index, tuple) else index
    if isinstance(key, list) and not key:
        key = np.array([], np.int64)
    chosen = np.atleast_1d(np.arange(4)[key])
    assert parts(X[index]) == [parts(X)[i] for i in chosen]
    assert X[index].starts.tolist() == [0, *np.cumsum(X.lengths[chosen]).tolist()]


def test_iteration_gives_sequences_of_one() -> None:
    X = Sequences(MIXED)
    assert [part for one in X for part in parts(one)] == parts(X)
    assert all(len(one) == 1 for one in X)


@pytest.mark.parametrize("index", [4, -5, [4], [True], (0,), (0, 1), [[0]], 0.5, [0.5], "a"], ids=repr)
def test_refuses_what_is_no_index(index: Any) -> None:
    with pytest.raises(IndexError):
        Sequences(MIXED)[index]


def test_scikit_learn_can_split_it() -> None:
    from sklearn.model_selection import KFold, train_test_split
    from sklearn.utils import check_consistent_length, indexable

    X, y = Sequences(["ab", "c", "def", "g"]), [[1, 2], [3], [4, 5, 6], [7]]
    check_consistent_length(X, y)
    assert indexable(X)[0] is X
    for train, test in KFold(2).split(X):
        assert len(X[train]) == len(X[test]) == 2
    a, b, ya, _ = train_test_split(X, y, random_state=0)
    assert (len(a), len(b)) == (3, 1)
    assert a.lengths.tolist() == [len(labels) for labels in ya]


@given(st.lists(st.text(st.characters(exclude_categories=[]), min_size=1, max_size=6), min_size=1))
def test_text_is_a_column_of_characters(X: list[str]) -> None:
    (column,) = Sequences(X).columns
    assert (column.name, column.kind) == ("symbol", "categorical")
    assert cells(column) == list("".join(X))
    assert list(column.alphabet) == sorted(set("".join(X)))


def test_iterables_of_all_sorts_are_lists() -> None:
    objects = np.empty(2, object)
    objects[:] = [["a", "b"], ["c"]]
    for X in (
        ["ab", "c"],
        iter(["ab", "c"]),
        (("a", "b"), ["c"]),
        (iter(sequence) for sequence in ("ab", "c")),
        objects,
        [np.array(["a", "b"]), np.array(["c"])],
        [np.array(["a", "b"], object), ["c"]],
    ):
        assert table(Sequences(X)) == {"symbol": ["a", "b", "c"]}


def test_arrays_are_numeric_columns() -> None:
    a, b = np.array([[1, 2], [3, 4]]), np.array([[np.nan, 6.5]])
    X = Sequences([a, b])
    assert table(X) == {"x0": [1.0, 3.0, None], "x1": [2.0, 4.0, 6.5]}
    assert X.lengths.tolist() == [2, 1]
    assert table(Sequences([np.array([1, 2]), np.array([True])])) == {"x0": [1.0, 2.0, 1.0]}
    assert table(Sequences(np.arange(4).reshape(2, 2, 1))) == {"x0": [0.0, 1.0, 2.0, 3.0]}


def test_arrays_of_text_and_objects() -> None:
    X = [np.array([["a", "b"]]), np.array([["c", "d"], ["a", "e"]])]
    assert table(Sequences(X)) == {"x0": ["a", "c", "a"], "x1": ["b", "d", "e"]}
    mixed = [np.array([["a", 1], [None, 2.5]], object), np.array([["b", None]], object)]
    assert table(Sequences(mixed)) == {"x0": ["a", None, "b"], "x1": [1.0, 2.5, None]}


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.sampled_from(["csr", "csc", "coo", "lil"]))
def test_sparse_matrices_are_weighted_bags(lengths: list[int], form: str) -> None:
    rng = np.random.default_rng(sum(lengths))
    dense = [rng.integers(-1, 3, (n, 12)) / 2 for n in lengths]
    column = Sequences([scipy.sparse.csr_array(d).asformat(form) for d in dense]).column("bag")
    assert isinstance(column, BagColumn)
    for t, row in enumerate(np.concatenate(dense)):
        held = slice(column.starts[t], column.starts[t + 1])
        found = dict(zip(cells(column)[t], column.weights[held].tolist(), strict=True))
        assert found == {str(j): row[j] for j in np.flatnonzero(row)}


def test_sparse_duplicates_are_summed_and_zeros_dropped() -> None:
    entries = ([1.0, 2.0, 1.0, -1.0, 0.0, 1e-60], ([0, 0, 1, 1, 0, 0], [10, 10, 2, 2, 3, 4]))
    column = Sequences([scipy.sparse.coo_matrix(entries, shape=(2, 11))]).column("bag")
    assert cells(column) == [["10"], []]
    assert column.weights.tolist() == [3.0]


class Proxy(Mapping):  # type: ignore[type-arg]
    def __getitem__(self, key: str) -> str:
        return "v"

    def __iter__(self) -> Any:
        return iter(["k"])

    def __len__(self) -> int:
        return 1


ONES = np.ones((2, 2))
REFUSED = [
    ([], "X must hold at least one sequence, but it is empty"),
    (iter([]), "at least one sequence"),
    ("abc", "X must be a list of sequences, but got one str; wrap it in a list"),
    (b"abc", "one bytes; wrap it"),
    ({"a": 1}, "one dict; wrap it"),
    ({"ab"}, "one set; wrap it"),
    (ONES, "one ndarray; wrap it"),
    (np.array(["a"]), "one ndarray; wrap it"),
    (scipy.sparse.eye(2), "X must be a list of sequences, but got one .*_(matrix|array); wrap it"),
    (3, "X must be a list of sequences, but got int"),
    (None, "X must be a list of sequences, but got None"),
    ([{"a": 1}], "sequence 0 must be a list of positions, but it is a dict, which is one position.* wrap X in a list"),
    (["a", 3], "sequence 1 is of type int; a sequence is a str; a list"),
    (["a", None], "sequence 1 is of type None"),
    (["a", b"b"], "sequence 1 is of type bytes"),
    (from_padded(np.ones((1, 2, 1)), lengths=[1]), r"but got a pair \(X, y\)"),
    ([{"a"}], "sequence 0 is of type set"),
    ([[Proxy()]], "but got Proxy; make it a dict"),
    ([Sequences(["ab"]), [["x", "y"]]], "but got Sequences; if X is what hr.read returns, write X, y = hr.read"),
    (["a", ["b"]], "sequence 0 is a str and sequence 1 a list"),
    ([["b"], ONES], "sequence 0 is a list and sequence 1 a array"),
    (["ab", ""], "sequence 1 is empty; drop it"),
    ([["a"], []], "sequence 1 is empty; drop it"),
    ([ONES, ONES[:0]], "sequence 1 is empty; drop it"),
    ([ONES, np.ones((2, 3))], "sequence 0 has 2 and sequence 1 has 3"),
    ([np.ones((2, 0))], "at least one column, but sequence 0 has none"),
    ([np.ones((1, 1, 1))], "sequence 0 must be an array of 2 dimensions.* but it has 3"),
    ([np.array(1.0)], "sequence 0 must be an array of 2 dimensions.* but it has 0"),
    ([ONES.astype(complex)], "array of numbers or text, but got complex128"),
    ([ONES.astype("M8[s]")], "array of numbers or text, but got datetime64"),
    ([ONES, np.array([[1, 2], [3, np.inf]])], "sequence 1, position 1, column 'x1': .* but got inf"),
    ([ONES * 1e39], r"sequence 0, position 0, column 'x0': .* but got 1e\+39"),
    (
        [np.array([["a"], [1]], object)],
        "sequence 0, position 1, column 'x0': .* held text before, but got numbers",
    ),
    ([scipy.sparse.eye(2), scipy.sparse.eye(3)], "sequence 0 has 2 and sequence 1 has 3"),
    ([scipy.sparse.csr_array(ONES * np.nan)], "sequence 0, position 0: the weights of a bag must be finite"),
    (
        [scipy.sparse.csr_array(ONES), scipy.sparse.csr_array([[0, 0], [0, np.inf]])],
        "sequence 1, position 1: ",
    ),
    ([scipy.sparse.csr_array(ONES.astype(complex))], "sparse matrix of 2 dimensions and of numbers"),
]


@pytest.mark.parametrize(("X", "rule"), REFUSED, ids=[rule[:30] for _, rule in REFUSED])
def test_refuses_bad_input(X: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        Sequences(X)


AB = Alphabet.of("ab")


def int32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def starts(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_of_columns() -> None:
    columns: tuple[Column, ...] = (
        CategoricalColumn("c", int32(0, MISSING, ABSENT), AB),
        NumericColumn("n", np.array([1, np.nan, 0], np.float32)),
        BagColumn("b", starts(0, 2, 3, 3), int32(0, 1, MISSING), np.float32([2, 3, 0]), AB),
    )
    X = Sequences.of_columns(starts(0, 1, 3), columns)
    assert X.columns == columns
    assert [column.missing().tolist() for column in columns] == [[False, True, False]] * 3
    assert X[1:].column("b").weights.tolist() == [0.0]
    for bad, rule in (
        (starts(0), "starts must increase"),
        (starts(0, 0, 3), "no sequence may be empty"),
        (starts(1, 3), "starts must increase"),
        (starts(0, 2), "column 'c' must have 2 values, one for each position, but has 3"),
        (int32(0, 3), "starts must be a 1-D array of int64"),
    ):
        with pytest.raises(InputError, match=rule):
            Sequences.of_columns(bad, columns)
    with pytest.raises(InputError, match="'c' occurs twice"):
        Sequences.of_columns(starts(0, 3), (columns[0], columns[0]))
    with pytest.raises(InputError, match="at least one column"):
        Sequences.of_columns(starts(0, 3), ())


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: CategoricalColumn("c", int32(2), AB), "must lie in its alphabet of 2 values"),
        (lambda: CategoricalColumn("c", int32(-3), AB), "must lie in its alphabet"),
        (lambda: CategoricalColumn("c", starts(0), AB), "codes of column 'c' must be a 1-D array of int32"),
        (lambda: NumericColumn("n", np.float32([np.inf])), "must hold finite numbers"),
        (lambda: NumericColumn("n", np.float64([1])), "values of column 'n' must be a 1-D array of float32"),
        (
            lambda: BagColumn("b", starts(0, 2), int32(0), None, AB),
            "must increase from 0 to its number of ids",
        ),
        (lambda: BagColumn("b", starts(0, 2, 1), int32(0), None, AB), "must increase from 0"),
        (lambda: BagColumn("b", starts(), int32(), None, AB), "must increase from 0"),
        (lambda: BagColumn("b", starts(0, 2), int32(1, 0), None, AB), "must increase strictly within a position"),
        (lambda: BagColumn("b", starts(0, 2), int32(1, 1), None, AB), "must increase strictly within a position"),
        (lambda: BagColumn("b", starts(0, 2), int32(-1, 0), None, AB), "must have no other ids"),
        (lambda: BagColumn("b", starts(0, 1), int32(-2), None, AB), "must lie in its alphabet"),
        (
            lambda: BagColumn("b", starts(0, 1), int32(0), np.float32([1, 2]), AB),
            "one finite weight for each",
        ),
        (lambda: BagColumn("b", starts(0, 1), int32(0), np.float32([np.nan]), AB), "one finite weight"),
    ],
)
def test_columns_refuse_nonsense(make: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        make()


def test_names_of_the_package() -> None:
    assert hedgerow.Sequences is Sequences
    assert hedgerow.from_frame.__module__ == "hedgerow.data.frames"


def test_a_list_of_sequences_is_read_as_one():
    X = Sequences([[{"word": "the", "n": 1.5}, {"word": None, "n": 2.0}], [{"word": "cat", "n": 3.0}]])
    assert Sequences(list(X)).tolist() == X.tolist()
    assert Sequences([X, X[:1]]).tolist() == [*X.tolist(), X.tolist()[0]]
