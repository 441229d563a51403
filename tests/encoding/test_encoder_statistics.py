"""Statistics of parts of the data give the encoder of all data, in whatever order they are merged."""

from __future__ import annotations

import pickle
from functools import reduce
from typing import Any

import pytest

import hedgerow as hr
from builders.corpora import DATA, assert_same_encoder, in_memory
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.encoder_statistics import EncoderStatistics
from hedgerow.encoding.pair_statistics import merge_pairs, pair_groups
from hedgerow.encoding.rules import Pair
from hedgerow.errors import InputError

TEMPLATES = {
    "none": None,
    "words": hr.templates.words(),
    "tags": hr.templates.tags(),
    "bag": hr.templates.columns(
        {
            "near": {"any": [{"from": "symbol", "at": -1}, {"from": "symbol", "at": 1}]},
            "both": {
                "join": [{"from": "symbol", "part": "suffix2"}, {"from": "symbol", "at": -1, "outside": "distance"}]
            },
        }
    ),
    "letters": hr.templates.letters(2),
    "numbers": hr.templates.numbers(),
}
CASES = [
    *((kind, "none") for kind in DATA),
    ("words", "words"), ("words", "tags"), ("words", "bag"), ("missing words", "words"), ("missing words", "bag"),
    ("tuples", "words"), ("tuples", "tags"), ("characters", "letters"), ("arrays", "numbers"),
]  # fmt: skip


def parts_of(X: list[Any], n: int = 5) -> list[Sequences]:
    size = -(-len(X) // n)
    parts = [hr.Sequences(X[i : i + size]) for i in range(0, len(X), size)]
    optional = any(part.optional_columns for part in parts)
    return [Sequences.trusted(part.starts, part.columns, None, optional) for part in parts]


def encoder_of(parts: list[Sequences], missing: Any, features: Any, order: int = 1, min_freq: int = 1) -> Any:
    found = [EncoderStatistics.of(part, missing, place=(i, 0)) for i, part in enumerate(parts)][::order]
    merged = reduce(EncoderStatistics.merge, pickle.loads(pickle.dumps(found)))
    draft = merged.draft(features, missing, min_freq=min_freq)
    pairs = merge_pairs([draft.pairs(part) for part in parts][::order]) if draft.needs_pairs else None
    return draft.encoder(pairs), draft


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("missing", [None, "impute", "indicator", "published-indicator"])
@pytest.mark.parametrize(("kind", "template"), CASES)
def test_merged_statistics_give_the_encoder_of_all_data(kind: str, template: str, missing: Any, order: int) -> None:
    X, features = DATA[kind], TEMPLATES[template]
    expected, _ = in_memory(X, missing, features)
    found, draft = encoder_of(parts_of(X), missing, features, order)
    if draft.approximate:  # bags of dicts: their presence is counted with the codes
        names = {
            name: spec.presence for spec in expected.raw_columns for name in [spec.name] if name in draft.approximate
        }
        found = found.with_presence(names)
    assert_same_encoder(found, expected)
    assert found.digest == expected.digest


def test_a_column_of_two_kinds_is_refused() -> None:
    a = EncoderStatistics.of(hr.Sequences([[{"k": "text"}]]))
    b = EncoderStatistics.of(hr.Sequences([[{"k": 1.0}]]))
    with pytest.raises(InputError, match="column 'k' must be of one kind, but it is categorical in one part"):
        a.merge(b)


def test_str_and_lists_of_words_do_not_mix() -> None:
    a, b = EncoderStatistics.of(hr.Sequences(["cat"])), EncoderStatistics.of(hr.Sequences([["cat"]]))
    with pytest.raises(InputError, match="must all have one form"):
        a.merge(b)


def test_other_columns_are_refused_unless_they_are_keys() -> None:
    a, b = EncoderStatistics.of(hr.Sequences([[("a", "b")]])), EncoderStatistics.of(hr.Sequences([[("a",)]]))
    with pytest.raises(InputError, match="all sequences must have the same columns"):
        a.merge(b)


@pytest.mark.parametrize(
    "X",
    [
        [[{"n": None}], [{"n": None}], [{"n": 2.0}], [{"n": 0.0}], [{}]],
        [[{"o": {"a": 1.0}}], [{"o": {"a": None, "b": 1.0}}], [{"o": {"b": 2.0}}], [{"t": "x"}], [{}]],
        [[{"w": ["a", "b"], "w:last": "x"}], [{"w": ["b"]}], [{"w": ["c"], "w:last": None}], [{"w": []}], [{}]],
        [[{"o": {"a": 1.0}}], [{"o:a": 3.0}], [{"o": {"a": 2.0, "b": 1.0}}], [{"t": "x"}], [{}]],
    ],
    ids=["first missing", "a nested dict with a missing value", "a bag beside a key", "a key of a bag"],
)
def test_keys_are_where_the_whole_of_the_data_puts_them(X: list[Any]) -> None:
    expected, _ = in_memory(X)
    found, draft = encoder_of(parts_of(X), None, None)
    presence = {spec.name: spec.presence for spec in expected.columns if spec.name in draft.approximate}
    assert_same_encoder(found.with_presence(presence), expected)


def test_pairs_that_read_each_other_are_merged_together() -> None:
    rules = [("ab", Pair("a", "b")), ("cd", Pair("c", "d")), ("abc", Pair("ab", "c")), ("all", Pair("abc", "cd"))]
    assert pair_groups(rules[:3]) == [{"cd"}, {"ab", "abc"}]
    assert pair_groups(rules) == [{"ab", "abc", "cd", "all"}]
