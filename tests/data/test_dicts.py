"""Dicts, lists and bags through the compiled reader, against a twin in plain Python."""

from __future__ import annotations

import gc
import signal
import sys
from collections import OrderedDict, defaultdict
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import Sequences, _core
from hedgerow.errors import InputError
from oracles.encoding import GONE, cells, cells_of_dicts, weighted_cells

pytestmark = pytest.mark.kernel

words = st.text("abé\ud800😀", max_size=3)
numbers = st.one_of(
    st.integers(-(2**40), 2**40),
    st.booleans(),
    st.floats(width=32, allow_infinity=False),
    st.floats(-10, 10, width=32).map(np.float32),
    st.integers(-5, 5).map(np.int16),
    st.booleans().map(np.bool_),
)
bags = st.one_of(
    st.lists(words, max_size=4),
    st.sets(words, max_size=4),
    st.frozensets(words, max_size=4),
)


NUMBERS = "give each number a key of its own, {'d0': 0.1, 'd1': 0.2}, or give each sequence as an array"


def optional(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), st.just(float("nan")), values)


leaves: dict[str, Any] = {"text": optional(words), "number": optional(numbers), "bag": optional(bags)}
weights = st.dictionaries(words, numbers.filter(lambda value: value == value), max_size=3)  # no NaN
inner = leaves | {"in": st.just({"x": 1})}
nested = {"in": st.fixed_dictionaries({}, optional=inner), "weights": optional(weights), "mixed": optional(weights)}
items = st.fixed_dictionaries({}, optional=leaves | nested | {"mixed:text": st.just("text")}).flatmap(
    lambda item: st.permutations(list(item.items())).map(dict)
)
dict_sequences = st.lists(st.lists(items, min_size=1, max_size=4), min_size=1, max_size=4)


@given(dict_sequences.filter(lambda X: cells_of_dicts(X)))
def test_dicts_equal_their_twin(X: list[list[dict[str, Any]]]) -> None:
    sequences = Sequences(X)
    twin = cells_of_dicts(X)
    assert [column.name for column in sequences.columns] == list(twin)
    for column in sequences.columns:
        assert (column.kind, weighted_cells(column)) == twin[column.name]
    assert sequences.lengths.tolist() == [len(sequence) for sequence in X]


@given(st.lists(st.lists(optional(words), min_size=1, max_size=5), min_size=1, max_size=4))
def test_lists_of_str_equal_dicts(X: list[list[Any]]) -> None:
    if not any(isinstance(value, str) for sequence in X for value in sequence):
        return
    X = [[None if value != value else value for value in sequence] for sequence in X]
    column = Sequences(X).column("symbol")
    assert cells(column) == [value for sequence in X for value in sequence]
    assert list(column.alphabet) == sorted({value for s in X for value in s if value is not None})


@given(st.lists(st.lists(bags, min_size=1, max_size=5), min_size=1, max_size=4))
def test_bags_equal_sets(X: list[list[Any]]) -> None:
    column = Sequences(X).column("bag")
    assert column.kind == "bag"
    assert cells(column) == [sorted(set(bag)) for sequence in X for bag in sequence]


@given(
    st.lists(st.lists(st.tuples(optional(words), optional(numbers)), min_size=1, max_size=5), min_size=1, max_size=4)
)
def test_tuples_equal_dicts(X: list[list[tuple[Any, Any]]]) -> None:
    twin = cells_of_dicts([[{"x0": word, "x1": number} for word, number in sequence] for sequence in X])
    columns = Sequences(X).columns
    assert [column.name for column in columns] == ["x0", "x1"]
    for column in columns:
        assert (column.kind, weighted_cells(column)) == twin[column.name]


def test_named_tuples_name_the_columns() -> None:
    class Token(NamedTuple):
        word: str
        length: int

    X = Sequences([[None, Token("the", 3), Token("cat", 3)]])
    assert [(column.name, column.kind) for column in X.columns] == [("word", "categorical"), ("length", "numeric")]


def test_a_position_that_is_none_among_tuples_is_missing_in_every_column() -> None:
    X = Sequences([[None, ("the", 3)], [("dog", None)]])
    assert {column.name: cells(column) for column in X.columns} == {"x0": [None, "the", "dog"], "x1": [None, 3.0, None]}


def test_many_distinct_values_and_changing_keys() -> None:
    rng = np.random.default_rng(0)
    X = [[{f"k{k}": f"v{rng.integers(3000)}" for k in rng.permutation(9)[:6]} for _ in range(50)] for _ in range(200)]
    twin = cells_of_dicts(X)
    for column in Sequences(X).columns:
        assert cells(column) == twin[column.name][1]


def test_values_of_all_kinds() -> None:
    X = [[{"w": "a", "n": 1, "b": ["y", "x", "y"], "d": {"e": {"f": True}}}, {"w": None, "b": None}, {}]]
    sequences = Sequences(X)
    assert {column.name: cells(column) for column in sequences.columns} == {
        "w": ["a", None, GONE],
        "n": [1.0, 0.0, 0.0],
        "b": [["x", "y"], None, []],
        "d:e": [["f"], [], []],
    }
    assert sequences.column("b").missing().tolist() == [False, True, False]
    assert sequences.column("w").missing().tolist() == [False, True, False]


def test_a_column_without_values_is_an_empty_categorical_one() -> None:
    column = Sequences([[{"a": None, "b": 1}, {"a": float("nan")}]]).column("a")
    assert column.kind == "categorical"
    assert cells(column) == [None, None]


def test_subclasses_are_read_by_their_content() -> None:
    class Word(str):
        __slots__ = ()
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            raise RuntimeError

    default = defaultdict(str, {"a": Word("x")})
    X = [[OrderedDict(a=np.str_("x")), default]]
    assert cells(Sequences(X).column("a")) == ["x", "x"]
    assert type(Sequences([[{np.str_("a"): "x"}]]).columns[0].name) is str


BAD = [
    ({"a": b"x"}, "column 'a': text must be str, but got bytes; decode them"),
    ({"a": 1.0, "b": object()}, "column 'b': a value is str, a number.* but got object"),
    ({"a": 1 + 2j}, "column 'a': .* but got complex"),
    ({"a": np.datetime64("2020")}, r"column 'a': .* but got numpy.datetime64"),
    ({"a": float("inf")}, "column 'a': numbers must be finite, but got an infinity"),
    ({"a": np.float32("-inf")}, "column 'a': numbers must be finite"),
    ({"a": 1e39}, "column 'a': numbers must fit a 32-bit float"),
    ({"a": 10**400}, "column 'a': numbers must fit a 32-bit float"),
    ({"a": ["x", 3]}, "column 'a': a bag holds str, but got int"),
    ({"a": {"x", None}}, "column 'a': a bag holds str, but got None"),
    ({"n": "x"}, "column 'n': a column has one kind, and this one held numbers before, but got text"),
    ({"w": 1}, "column 'w': a column has one kind, and this one held text before, but got numbers"),
    ({"w": ["x"]}, "column 'w': .* held text before, but got bags"),
    ({1: "x"}, "keys must be str, but got int"),
    ({"a": {None: "x"}}, "keys must be str, but got None"),
    ({"a": {"b": 1}, "a:b": 2}, "column 'a:b': column names must differ, but this one occurs twice"),
    ("word", "the positions before are dicts, but got str; use one form throughout"),
    (None, "the positions before are dicts, but got None"),
]


@pytest.mark.parametrize(("item", "rule"), BAD)
def test_refuses_bad_positions_by_name(item: Any, rule: str) -> None:
    good = {"w": "a", "n": 1}
    with pytest.raises(InputError, match=f"^sequence 1, position 2(, |: ).*{rule}"):
        Sequences([[good], [good, good, item, good]])


def test_refuses_dicts_that_hold_themselves() -> None:
    item: dict[str, Any] = {}
    item["a"] = item
    with pytest.raises(InputError, match="sequence 0, position 0: dicts may be nested 32 deep"):
        Sequences([[item]])


@pytest.mark.parametrize(
    ("X", "rule"),
    [
        ([["a", 1]], "sequence 0, position 1, column 'symbol': .* held text before, but got numbers"),
        ([["a"], ["b", ["c"]]], "sequence 1, position 1, column 'symbol': .* held text before, but got bags"),
        ([["a", {"b": 1}]], "sequence 0, position 1: the positions before are not dicts, but got a dict"),
        ([["a", b"b"]], "column 'symbol': text must be str, but got bytes"),
        ([[["a"], [b"b"]]], "column 'bag': a bag holds str, but got bytes"),
        ([[["a"], "b"]], "column 'bag': .* but got text"),
        (
            [[("a", "b")], [("a", "b"), ("a",)]],
            "position 1: every position must be a tuple of 2 items, like the first one, but .* a tuple of 1",
        ),
        ([[("a", "b"), ["a", "b"]]], "sequence 0, position 1: every position must be a tuple of 2 .* but .* is a list"),
        ([[[1, 2], [3, 4]]], f"column 'bag': a bag holds str, but got int; {NUMBERS}"),
        ([[{"emb": [0.1, 0.2]}]], f"column 'emb': a bag holds str, but got float; {NUMBERS}"),
        ([[{"emb": {np.float32(1)}}]], f"column 'emb': a bag holds str, but got numpy.float32; {NUMBERS}"),
        ([[{"emb": np.ones(2)}]], f"column 'emb': .* but got numpy.ndarray; {NUMBERS}"),
        ([[{"emb": np.array(["a"])}]], "column 'emb': .* but got numpy.ndarray; convert it"),
        ([[["a", None]]], "column 'bag': a bag holds str, but got None; turn its members into str"),
        ([[["a"], ("a",)]], "sequence 0, position 1, column 'bag': a value must not be a tuple"),
        ([[{"a": ("x", "y")}]], "sequence 0, position 0, column 'a': a value must not be a tuple; use a list or set"),
        ([[()]], "the tuples of X must have at least one item"),
        ([[None]], "nothing but None"),
        ([[b"a"]], "sequence 0, position 0: .* but got bytes; decode it"),
        ([[1, 2]], "sequence 0, position 0: .* but got int; give numbers as an array"),
    ],
)
def test_refuses_mixed_lists(X: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        Sequences(X)


def test_too_many_columns_are_meant_to_be_a_bag() -> None:
    item = {f"w={i}": "text" for i in range(1100)}
    with pytest.raises(InputError, match="put rare attributes into one bag"):
        Sequences([[item] + [{}] * 600_000])


def test_no_reference_is_lost_or_kept() -> None:
    word, key, member = "".join(["wo", "rd"]), "".join(["ke", "y"]), "".join(["mem", "ber"])
    good: dict[str, Any] = {key: word, "bag": [member], "in": {key: word}}
    bad: dict[str, Any] = {key: word, "bag": {member, 3}}

    def counts() -> list[int]:
        gc.collect()
        return [sys.getrefcount(thing) for thing in (word, key, member, good, bad, None.__class__)]

    before = counts()
    for _ in range(20):
        Sequences([[good, good]])
        with pytest.raises(InputError):
            Sequences([[good, bad]])
    assert counts() == before


def test_input_that_changes_while_it_is_read_does_not_crash() -> None:
    class Number(np.float32):
        def __float__(self) -> float:
            item.clear()
            item.update({f"{len(item)}{i}": i for i in range(100)})
            sequence.clear()
            return 1.0

    item: dict[str, Any] = {"a": Number(1), "b": ["".join(["x", "y"])], "c": "".join(["u", "v"])}
    sequence = [item, {"a": 2.0}]

    class Bag(set):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            other.clear()
            return iter(["".join(["p", "q"])])

    other: dict[str, Any] = {"a": 1, "b": Bag(["z"]), "c": "".join(["r", "s"])}
    with pytest.raises(InputError, match="X changed while it was read"):
        Sequences([sequence])
    assert Sequences([[other, {"a": 2}]]).n_positions == 2


def test_a_value_that_leaves_its_list_while_it_is_read_does_not_crash() -> None:
    class Bag(set):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            values.clear()
            gc.collect()
            yield from ["".join(["x", str(i)]) for i in range(100)]

    values: list[Any] = [Bag(["y"]), ["z"]]
    with pytest.raises(InputError, match="X changed while it was read"):
        _core.ingest_values([values], np.array([0, 2]), "a")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an interval timer")
def test_signals_are_handled_on_the_way() -> None:
    positions = [{"a": "x"}] * 3_000_000
    starts = np.array([0, len(positions)])
    # a handler that ran only at the end would change nothing
    previous = signal.signal(signal.SIGVTALRM, lambda *_: positions.clear())
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.01)
    try:
        with pytest.raises(InputError, match="X changed while it was read"):
            _core.ingest_dicts([positions], starts)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an interval timer")
def test_an_interrupt_is_let_through() -> None:
    positions = [{"a": "x"}] * 3_000_000
    previous = signal.signal(signal.SIGVTALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.01)
    try:
        with pytest.raises(KeyboardInterrupt):
            _core.ingest_dicts([positions], np.array([0, len(positions)]))
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


def test_the_reader_checks_its_own_arguments() -> None:
    for starts in ([], [0], [0, 2], [1, 1], [0, 2, 1]):
        with pytest.raises(InputError, match="starts must rise"):
            _core.ingest_dicts([[{"a": 1}]], np.array(starts, np.int64))
        with pytest.raises(InputError, match="starts must rise"):
            _core.ingest_values([["a"]], np.array(starts, np.int64), "a")
    with pytest.raises(InputError, match="must be lists or tuples, but got str"):
        _core.ingest_values([["a"], "b"], np.array([0, 2]), "a")
