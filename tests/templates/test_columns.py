"""Templates that describe their columns one by one: as the slow twin says, in memory and from TOML."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow import Sequences
from hedgerow.encoding import Encoder
from hedgerow.errors import InputError
from hedgerow.templates import columns, letters, numbers, tags, template_from_json, words
from oracles.encoding import weighted_cells
from oracles.features import defined

PARTS = ["text", "lower", "shape", "outline", "constant", "prefix1", "suffix2", "suffix8"]
TEXT = st.fixed_dictionaries(
    {"from": st.sampled_from(["form", "tag"])},
    optional={
        "part": st.sampled_from(PARTS),
        "at": st.integers(-3, 3),
        "outside": st.sampled_from(["same", "distance"]),
    },
)
STATISTIC = st.one_of(
    st.builds(lambda at: {"from": "heat", "statistic": "change", "at": at}, st.integers(-3, 3)),
    st.builds(
        lambda statistic, first, length: {"from": "heat", "statistic": statistic, "at": [first, first + length]},
        st.sampled_from(["mean", "deviation", "lowest", "highest"]),
        st.integers(-3, 3),
        st.integers(0, 3),
    ),
)


@st.composite
def templates(draw: Any) -> dict[str, Any]:
    """Definitions of columns, with joins and bags of some of those before them."""
    bags: dict[str, Any] = {}
    found: dict[str, Any] = {f"text {i}": draw(TEXT) for i in range(draw(st.integers(1, 3)))}
    for i in range(draw(st.integers(0, 3))):
        members = draw(st.lists(st.one_of(st.sampled_from(list(found)), TEXT), min_size=2, max_size=4))
        found[f"join {i}"] = {"join": members}
    for i in range(draw(st.integers(0, 2))):
        one = st.one_of(st.sampled_from(list(found)), TEXT, st.builds(lambda a, b: {"join": [a, b]}, TEXT, TEXT))
        bags[f"bag {i}"] = {"any": draw(st.lists(one, min_size=2, max_size=3))}
    return found | bags | {f"number {i}": draw(STATISTIC) for i in range(draw(st.integers(0, 2)))}


WORD = st.one_of(st.sampled_from(["", "The", "cat", "_B-1", "<outside>", "é9"]), st.none())
POSITION = st.tuples(WORD, st.sampled_from("NV"), st.sampled_from([0.0, 1.5, -2.0, math.nan]))
X = st.lists(st.lists(POSITION, min_size=1, max_size=5), min_size=1, max_size=3)


def rows(encoder: Encoder, sequences: Sequences) -> list[dict[str, Any]]:
    derived = [column for column in encoder.transform(sequences).columns if column.name != "heat"]
    return [
        dict(zip([c.name for c in derived], row, strict=True))
        for row in zip(*map(weighted_cells, derived), strict=True)
    ]


@given(templates(), X)
def test_columns(definitions: dict[str, Any], given_x: list[list[tuple[Any, Any, Any]]]) -> None:
    given_x = [*given_x, [("The", "N", 1.0), ("cat", "V", 2.0)]]
    sequences = Sequences([[dict(zip(("form", "tag", "heat"), p, strict=True)) for p in x] for x in given_x])
    expected = []
    for x in given_x:
        form, tag, heat = (list(values) for values in zip(*x, strict=True))
        expected += [defined(definitions, {"form": form, "tag": tag, "heat": heat}, t) for t in range(len(x))]
    encoder = Encoder.fit(sequences, features=columns(definitions))
    unread = {"form", "tag"} - set(definitions)
    found = [{name: value for name, value in row.items() if name not in unread} for row in rows(encoder, sequences)]
    for row, slow in zip(found, expected, strict=True):
        assert list(row) == list(slow)
        for name, value in slow.items():
            if isinstance(value, float):
                np.testing.assert_allclose(math.nan if row[name] is None else row[name], value, rtol=1e-6)
            else:
                assert row[name] == value, name
    metadata, arrays = encoder.to_arrays()
    again = Encoder.from_arrays(json.loads(json.dumps(metadata)), arrays)
    assert again == encoder
    assert rows(again, sequences) == rows(encoder, sequences)


def read(text: str, folder: Path) -> Any:
    (folder / "t.toml").write_text(text, "utf-8")
    return hr.templates.read(folder / "t.toml")


NAMES = st.text(max_size=5)


@given(st.dictionaries(NAMES, st.one_of(TEXT, STATISTIC, st.builds(lambda name: {"from": name}, NAMES)), min_size=1))
def test_the_text_form_comes_back(tmp_path_factory: Any, definitions: dict[str, Any]) -> None:
    template = columns(definitions)
    assert read(template.to_toml(), tmp_path_factory.getbasetemp()) == template
    assert template_from_json(json.loads(json.dumps(template.to_json()))) == template


EXPLICIT = columns(
    {
        "form": {"from": "form"},
        "form[-1]|form|tag": {"join": [{"from": "form", "at": -1}, "form", {"from": "tag", "outside": "distance"}]},
        "heat mean": {"from": "heat", "statistic": "mean", "at": [-5, 5]},
        "heat change": {"from": "heat", "statistic": "change", "at": -1},
    }
)


def test_the_text_form_is_readable(tmp_path: Path) -> None:
    text = (words("form") + numbers() + EXPLICIT).to_toml()
    assert (
        text
        == """[words]
column = "form"

[numbers]

[columns]
form = { from = "form" }
"form[-1]|form|tag" = { join = [{ from = "form", at = -1 }, "form", { from = "tag", outside = "distance" }] }
"heat mean" = { from = "heat", statistic = "mean", at = [-5, 5] }
"heat change" = { from = "heat", statistic = "change", at = -1 }
"""
    )
    assert read("\ufeff# with a comment\n" + text, tmp_path) == words("form") + numbers() + EXPLICIT
    for template in (words(), tags(["a", "b"]), letters(3), numbers()):
        assert read(template.to_toml(), tmp_path) == template


TAGGED = [[{"form": "The", "tag": "D", "heat": 1.0}, {"form": "cat", "tag": "N", "heat": 2.0}]]


@pytest.mark.parametrize(
    ("template", "given_x"),
    [
        (words("form") + numbers(), TAGGED),
        (EXPLICIT, TAGGED),
        (EXPLICIT + tags(["tag"]), TAGGED),
        (letters(2), ["cat"]),
    ],
)
def test_a_template_can_be_expanded(template: Any, given_x: Any, tmp_path: Path) -> None:
    expanded = read(template.expand(given_x).to_toml(), tmp_path)
    sequences = Sequences(given_x)
    assert Encoder.fit(sequences, features=expanded) == Encoder.fit(sequences, features=template)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[words\n", r"t.toml must be a template in TOML: .*line 1, column 7"),
        ("", "t.toml: features must be the description of a template"),
        ("[wods]\n", "t.toml: a template has no section 'wods'; the sections are"),
        ("words = 1\n", r"t.toml: words must be a section with parameters, but got 1; write \[words\]"),
        ("[words]\nn = 1\n", "t.toml: words has no parameter 'n'; it has column"),
        ("[words]\ncolumn = 1\n", "t.toml: words: column must be the name of a column or None, but got int"),
        ("[columns]\n", "t.toml: columns: a template must define at least one column"),
        ("[columns]\na = 1\n", r"t.toml: columns.'a' must be a table such as \{ from = \"form\", part = .* but got 1"),
        ("[columns]\na = {}\n", "t.toml: columns.'a' must have a key 'from' with the name of a column of X, or a"),
        ('[columns]\na = { from = "f", part = "tail" }\n', "columns.'a'.part must be text, lower, .* but got 'tail'"),
        ('[columns]\na = { from = "f", part = "suffix9" }\n', "columns.'a'.part must be text, .* but got 'suffix9'"),
        ('[columns]\na = { from = "f", at = 1.5 }\n', "columns.'a'.at must be an integer from -10000 to 10000, but"),
        ('[columns]\na = { from = "f", at = true }\n', "columns.'a'.at must be an integer"),
        ('[columns]\na = { from = "f", outside = "x" }\n', 'columns.\'a\'.outside must be "same" or "distance", but'),
        (
            '[columns]\na = { from = "f", offset = 1 }\n',
            "columns.'a' must have no key 'offset'; it may have from",
        ),
        ('[columns]\na = { from = "f", statistic = "x" }\n', "columns.'a'.statistic must be change, mean, .* got 'x'"),
        ('[columns]\na = { from = "f", statistic = "change" }\n', "columns.'a'.at must be the offset from which"),
        ('[columns]\na = { from = "f", statistic = "mean", at = [2, 1] }\n', "columns.'a'.at must be the first and"),
        ('[columns]\na = { join = ["b"] }\n', "columns.'a'.join must be a list of two or more columns, but got"),
        ('[columns]\na = { join = ["b", 1] }\n', r"columns.'a'.join\[1\] must be the name of a column of the template"),
        (
            '[columns]\na = { join = ["b", "c"] }\n',
            "columns.'a' must name columns of text .* got 'b': those before",
        ),
        (
            '[columns]\nn = { from = "n", statistic = "change", at = 1 }\na = { join = ["n", "n"] }\n',
            "columns.'a' must name columns of text that the template defines before it, but got 'n': it holds no",
        ),
        ('[columns]\na = { from = "b" }\na = { from = "c" }\n', r"t.toml must be a template in TOML: .*line 3"),
    ],
)
def test_a_bad_file_is_refused_by_file_and_key(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(text, tmp_path)


def test_what_is_no_text_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_bytes(b"# \xff")
    with pytest.raises(InputError, match=r"t.toml must be in UTF-8, but byte 2 is not"):
        hr.templates.read(tmp_path / "t.toml")
    with pytest.raises(InputError, match=r"must be a template, but it is a directory"):
        hr.templates.read(tmp_path)
    with pytest.raises(FileNotFoundError):
        hr.templates.read(tmp_path / "other.toml")
    with pytest.raises(InputError, match="TOML holds text of UTF-8 only, but the template names"):
        columns({"a\ud800": {"from": "b"}}).to_toml()


@pytest.mark.parametrize("definitions", [3, {1: {}}, [("a", {})]])
def test_columns_takes_a_dict(definitions: Any) -> None:
    with pytest.raises(InputError, match="columns: definitions must be a dict from names to descriptions, but got"):
        columns(definitions)


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (
            {"from": "lemma"},
            r"columns.'a': X must have a column 'lemma' of text, but the columns are \['form', '",
        ),
        ({"from": "heat"}, "columns.'a': X must have a column 'heat' of text, but it holds no text; name a column of"),
        ({"from": "tag", "statistic": "change", "at": 1}, "X must have a column 'tag' of numbers, but it holds no num"),
        ({"join": [{"from": "form"}, {"from": "x"}]}, "columns.'a': X must have a column 'x' of text, but the columns"),
    ],
)
def test_a_column_that_x_lacks_is_named(definition: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        hr.LinearCRF(features=columns({"a": definition})).fit(TAGGED, [["x", "y"]])


def test_a_model_with_columns_is_stored(tmp_path: Path) -> None:
    y = [["x", "y"]]
    model = hr.LinearCRF(features=EXPLICIT).fit(TAGGED, y)
    model.save(tmp_path / "m.hedgerow")
    loaded: Any = hr.load(tmp_path / "m.hedgerow")
    assert loaded.features == EXPLICIT
    assert ("form[-1]|form|tag:The|cat|N", "y") in loaded.state_features_
    assert not any(name.startswith("<") for name, _ in loaded.state_features_)
    np.testing.assert_array_equal(loaded.predict_proba(TAGGED)[0], model.predict_proba(TAGGED)[0])
    with pytest.raises(InputError, match="X must have the columns 'form', 'tag', which the template of the model"):
        loaded.predict([[{"heat": 1.0}]])
    assert EXPLICIT.describe(TAGGED) == "columns: 4 derived from 'form', 'tag', 'heat'"


def test_numbers_that_were_read_as_text():
    X = hr.Sequences([[{"light": "1.5", "word": "a"}, {"light": "2", "word": "b"}]])
    with pytest.raises(hr.errors.InputError, match="'light' holds numbers as text: read them from CSV, TSV or JSON"):
        hr.HMM(features=hr.templates.numbers()).fit(X, [["x", "y"]])
