"""Windows and rows against naive shifted reads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import Sequences, _core
from hedgerow.data.columns import LocalColumn, trusted
from hedgerow.encoding import PADDING, AttributeReader, Binning, Window
from hedgerow.errors import InputError
from oracles.encoding import GONE, cells, names_at

pytestmark = pytest.mark.kernel

items = st.fixed_dictionaries(
    {"k": st.sampled_from("uv")},
    optional={
        "w": st.sampled_from([*"abc", None]),
        "b": st.one_of(st.none(), st.sets(st.sampled_from("xyz"))),
        "n": st.sampled_from([1, 2, 3.5, None]),
    },
)
inputs = st.lists(st.lists(items, min_size=1, max_size=5), min_size=1, max_size=4)
windows = st.one_of(
    st.integers(0, 3),
    st.tuples(st.integers(0, 2), st.integers(0, 2)),
    st.lists(st.integers(-3, 3), min_size=1, max_size=4, unique=True),
)


def rows_of(X: Sequences, spec: Any) -> AttributeReader:
    binnings = {column.name: Binning.fit(column.values) for column in X.columns if column.kind == "numeric"}
    return AttributeReader(X, Window.of(spec), binnings)


def shown(X: Sequences) -> list[list[dict[str, Any]]]:
    """Each sequence as dicts of cells, numbers as bins."""
    columns = {}
    for column in X.columns:
        columns[column.name] = cells(column)
        if column.kind == "numeric":
            bins = Binning.fit(column.values).transform(column.values).tolist()
            columns[column.name] = [None if b == 255 else b for b in bins]
    positions = [{name: cell[t] for name, cell in columns.items()} for t in range(X.n_positions)]
    return [positions[a:b] for a, b in pairwise(X.starts)]


@given(inputs, windows, st.data())
def test_ids_equal_naive_shifted_reads(X: Any, spec: Any, data: st.DataObject) -> None:
    sequences = Sequences(X)
    rows = rows_of(sequences, spec)
    offsets = rows.window.offsets
    twin = names_at(shown(sequences), offsets, PADDING)
    first = data.draw(st.integers(0, sequences.n_positions))
    last = data.draw(st.integers(first, sequences.n_positions))
    starts, ids = rows.ids(first, last)
    found = [[rows.name(i) for i in ids[a:b]] for a, b in pairwise(starts)]
    assert found == twin[first:last]
    assert rows.weights(first, last).tolist() == [1.0] * len(ids)


@given(inputs, windows)
def test_local_columns_are_read_at_the_position_itself(X: Any, spec: Any) -> None:
    given_columns = Sequences(X)
    columns = tuple(
        trusted(LocalColumn, c.name, c.codes, c.alphabet) if c.name == "k" else c for c in given_columns.columns
    )
    sequences = Sequences.of_columns(given_columns.starts, columns)
    rows = rows_of(sequences, spec)
    starts, ids = rows.ids(0, sequences.n_positions)
    found = [[rows.name(i) for i in ids[a:b]] for a, b in pairwise(starts)]
    assert found == names_at(shown(sequences), rows.window.offsets, PADDING, frozenset("k"))
    names = [rows.name(i) for i in range(rows.n_ids)]
    assert len(set(names)) == len(names)
    part = sequences[:1]
    assert isinstance(part.column("k"), LocalColumn)


@given(inputs, windows)
def test_ids_are_numbered_without_gaps(X: Any, spec: Any) -> None:
    rows = rows_of(Sequences(X), spec)
    names = [rows.name(i) for i in range(rows.n_ids)]
    assert len(set(names)) == len(names)
    offsets = rows.window.offsets
    columns = [column.name for column in rows.sequences.columns]
    assert [columns.index(name) * len(offsets) + offsets.index(o) for name, o, _ in names] == sorted(
        columns.index(name) * len(offsets) + offsets.index(o) for name, o, _ in names
    )
    assert (PADDING in [value for *_, value in names]) == (offsets != (0,))
    with pytest.raises(IndexError):
        rows.name(rows.n_ids)


@given(inputs, windows)
def test_missing_equals_naive_shifted_reads(X: Any, spec: Any) -> None:
    sequences = Sequences(X)
    rows = rows_of(sequences, spec)
    expected = [
        [
            0 <= t + offset < len(sequence) and sequence[t + offset][name] is None
            for name in sequence[0]
            for offset in rows.window.offsets
        ]
        for sequence in shown(sequences)
        for t in range(len(sequence))
    ]
    mask = rows.missing(0, sequences.n_positions)
    assert mask.dtype == np.bool_
    assert mask.tolist() == expected


def test_absent_is_neither_an_id_nor_missing() -> None:
    rows = rows_of(Sequences([[{"w": "a"}, {"k": "b"}, {"w": None}]]), 0)
    assert cells(rows.sequences.column("w")) == ["a", GONE, None]
    starts, ids = rows.ids(0, 3)
    assert [rows.name(i) for i in ids] == [("w", 0, "a"), ("k", 0, "b")]
    assert starts.tolist() == [0, 1, 2, 2]
    assert rows.missing(0, 3).tolist() == [[False, False], [False, False], [True, False]]


@pytest.mark.parametrize(("n_letters", "window", "n_ids"), [(26, 6, 351), (20, 5, 231), (26, 0, 26)])
def test_the_papers_count_padding_at_every_offset(n_letters: int, window: int, n_ids: int) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"[:n_letters]
    assert AttributeReader(Sequences([letters]), Window.of(window)).n_ids == n_ids


def test_weights_of_bags() -> None:
    matrix = scipy.sparse.csr_array([[0, 2.0, 3.0], [0, 0, 0], [4.0, 0, 0]])
    rows = AttributeReader(Sequences([matrix]), Window.of((1, 0)))
    starts, ids = rows.ids(0, 3)
    found = [(rows.name(i), w) for i, w in zip(ids, rows.weights(0, 3).tolist(), strict=True)]
    assert found == [
        (("bag", -1, PADDING), 1.0),
        (("bag", 0, "1"), 2.0),
        (("bag", 0, "2"), 3.0),
        (("bag", -1, "1"), 2.0),
        (("bag", -1, "2"), 3.0),
        (("bag", 0, "0"), 4.0),
    ]
    assert starts.tolist() == [0, 3, 5, 6]


def test_a_window_longer_than_everything_reads_padding() -> None:
    rows = AttributeReader(Sequences(["ab", "c"]), Window.of((2, 3)))
    _, ids = rows.ids(2, 3)
    assert [rows.name(i)[2] for i in ids] == [PADDING, PADDING, "c", PADDING, PADDING, PADDING]
    wide = AttributeReader(Sequences(["ab"]), Window.of(9))
    assert [wide.name(i)[1:] for i in wide.ids(0, 1)[1]][9:11] == [(0, "a"), (1, "b")]


def test_rows_refuse() -> None:
    X = Sequences([[{"n": 1.0}, {"n": 2.0}]])
    with pytest.raises(InputError, match="numeric column 'n' must have a Binning or a Scaling"):
        AttributeReader(X, Window.of(0))
    rows = rows_of(X, 1)
    for first, last in ((-1, 1), (1, 0), (0, 3), (3, 3)):
        for method in (rows.ids, rows.weights, rows.missing):
            with pytest.raises(InputError, match=r"positions must lie in 0\.\.2"):
                method(first, last)


def int64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def int32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def test_the_reader_checks_every_array() -> None:
    for starts, offsets, rule in (
        (int64(), int64(0), "starts of the sequences must rise"),
        (int64(1, 2), int64(0), "starts of the sequences must rise"),
        (int64(0, 2, 1), int64(0), "starts of the sequences must rise"),
        (int64(0, 2), int64(), "at least one offset"),
        (int64(0, 2), int64(2**62), "must not reach further"),
    ):
        with pytest.raises(InputError, match=rule):
            _core.AttributeReader(starts, offsets)
    reader = _core.AttributeReader(int64(0, 2), int64(-1, 0))
    bins = np.array([0, 3], np.uint8)
    for call, rule in (
        (lambda: reader.add_categorical(int32(0), 2), "one value for each of the 2 positions, but has 1"),
        (lambda: reader.add_categorical(int32(0, 2), 2), "code lies outside"),
        (lambda: reader.add_categorical(int32(0, -3), 2), "code lies outside"),
        (lambda: reader.add_bins(bins, 3), "bin lies beyond"),
        (lambda: reader.add_categorical(int32(-2, -2), -1), "must not be negative"),
        (lambda: reader.add_categorical(int32(0, 0), 2**31 - 1), "more than 2147483647 attributes"),
        (lambda: reader.add_bag(int64(0, 1), int32(0), None, 2), "one value for each of the 2 positions"),
        (lambda: reader.add_bag(int64(), int32(), None, 2), "starts of a bag must rise"),
        (lambda: reader.add_bag(int64(0, 2, 1), int32(0), None, 2), "starts of a bag must rise"),
        (lambda: reader.add_bag(int64(0, 1, 2), int32(0), None, 2), "must end at the number of its ids"),
        (lambda: reader.add_bag(int64(0, 0, 1), int32(2), None, 2), "id of a bag lies outside"),
        (
            lambda: reader.add_bag(int64(0, 0, 1), int32(0), np.ones(2, np.float32), 2),
            "one weight for each id",
        ),
    ):
        with pytest.raises(InputError, match=rule):
            call()
    with pytest.raises(TypeError):
        reader.add_categorical(int64(0, 0), 2)
    assert reader.n_ids == 0


@pytest.mark.parametrize(
    ("spec", "offsets"),
    [
        (0, [0]),
        (2, [-2, -1, 0, 1, 2]),
        (np.int8(1), [-1, 0, 1]),
        ((1, 0), [-1, 0]),
        ((0, 2), [0, 1, 2]),
        ((-2, 1), [-2, -1, 0, 1]),
        ((-3, -2), [-3, -2]),
        ([0, 2], [0, 2]),
        ([1, -2, 0], [-2, 0, 1]),
        (np.array([-1, 4]), [-1, 4]),
        (range(-1, 2), [-1, 0, 1]),
    ],
)
def test_windows(spec: Any, offsets: list[int]) -> None:
    assert list(Window.of(spec).offsets) == offsets
    assert Window.of(Window.of(spec)) == Window.of(spec)
    assert Window.of(spec).is_trivial == (offsets == [0])


@pytest.mark.parametrize(
    "spec",
    [-1, 1.0, 1.5, "1", None, True, (1,), (1, 2, 3), (1, -1), (1, 0.5), 10**6 + 1, {1, 2}, [], [1, 1], [0.5], (-1, -2)],
)
def test_windows_refuse(spec: Any) -> None:
    with pytest.raises(InputError, match="window must be a"):
        Window.of(spec)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_rows_of_a_matrix_are_local_columns_of_bins(n_threads: int) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(5, 70)).astype(np.float32)
    numbers[1, 3] = np.nan
    binnings = [Binning.fit(row, max_bins) for row, max_bins in zip(numbers, (255, 3, 1, 40, 7), strict=True)]
    codes = rng.integers(4, size=70).astype(np.int32)
    starts, offsets = np.array([0, 30, 70]), np.array([-1, 0, 2])
    one_by_one, together = (_core.AttributeReader(starts, offsets) for _ in range(2))
    for reader in (one_by_one, together):
        reader.add_categorical(codes, 4)
    for row, binning in zip(numbers, binnings, strict=True):
        one_by_one.add_bins(binning.transform(row), binning.n_bins, True)
    together.add_rows(numbers, _core.BinEdges([binning.edges for binning in binnings]), n_threads)
    assert together.n_ids == one_by_one.n_ids
    for got, expected in zip(together.ids(0, 70), one_by_one.ids(0, 70), strict=True):
        np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(together.missing(0, 70), one_by_one.missing(0, 70))


def test_rows_that_do_not_fit_are_refused() -> None:
    reader = _core.AttributeReader(np.array([0, 3]), np.array([0]))
    edges = _core.BinEdges([np.array([0.5], np.float32)])
    with pytest.raises(InputError, match="every row must have edges"):
        reader.add_rows(np.zeros((2, 3), np.float32), edges, 1)
    with pytest.raises(InputError, match="one value for each of the 3 positions"):
        reader.add_rows(np.zeros((1, 2), np.float32), edges, 1)
    with pytest.raises(ValueError, match="at least one thread"):
        reader.add_rows(np.zeros((1, 3), np.float32), edges, 0)
    for wrong in ([0.5, 0.5], [1.0, 0.0], [np.nan, 1.0], np.arange(255)):
        with pytest.raises(ValueError, match=r"must rise|at most 254"):
            _core.BinEdges([np.array(wrong, np.float32)])
    assert reader.n_ids == 0
