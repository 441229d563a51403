"""Template files of CRF++: the attributes that their literal expansion gives."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow import Sequences
from hedgerow.data.columns import BagColumn
from hedgerow.encoding import AttributeReader, Encoder
from hedgerow.errors import InputError
from hedgerow.templates.crfpp import is_crfpp, parse_crfpp
from oracles.encoding import weighted_cells

MACRO = r"%x\[(-?\d+),(\d+)\]"


def expand(line: str, sequence: list[tuple[str, ...]], t: int) -> str:
    """The feature of a line at position t, as CRF++ writes it."""

    def value(macro: re.Match[str]) -> str:
        at, column = t + int(macro[1]), int(macro[2])
        if at < 0:
            return f"_B{at}"
        return sequence[at][column] if at < len(sequence) else f"_B+{at - len(sequence) + 1}"

    return re.sub(MACRO, value, line)


def literally(lines: list[str], X: list[list[tuple[str, ...]]]) -> list[Counter[str]]:
    """The features of each position, and how often each occurs."""
    lines = [line for line in lines if line.startswith("U")]
    return [Counter(expand(line, x, t) for line in lines) for x in X for t in range(len(x))]


def derived(lines: list[str], X: list[list[tuple[str, ...]]]) -> list[Counter[str]]:
    """The attributes of each position, written as CRF++ would, and their weights."""
    columns = len(X[0][0])
    names = [f"column{c}" for c in range(columns)]
    sequences = Sequences([[dict(zip(names, p, strict=True)) for p in x] for x in X])
    template: Any = parse_crfpp("\n".join(lines), None)
    encoded = Encoder.fit(sequences, features=template).transform(sequences)
    texts = list(dict.fromkeys(re.sub(MACRO, "\0", line) for line in lines if line.startswith("U")))
    found: list[Counter[str]] = [Counter() for _ in range(encoded.n_positions)]
    for text, column in zip(texts, [encoded.column(name) for name, _ in template.definitions], strict=True):
        for t, cell in enumerate(weighted_cells(column)):
            for value, weight in cell.items() if isinstance(column, BagColumn) else [(cell, 1.0)]:
                values = iter(value.split("|"))
                found[t][re.sub("\0", lambda _: next(values), text)] += int(weight)  # noqa: B023
    return found


WORDS = st.sampled_from(["the", "cat", "_B-1", "<outside>", "é", "1"])
SENTENCES = st.lists(st.lists(st.tuples(WORDS, st.sampled_from("NV")), min_size=1, max_size=5), min_size=1, max_size=3)
MACROS = st.builds("%x[{},{}]".format, st.integers(-3, 3), st.integers(0, 1))
LINES = st.builds(
    lambda name, macros, end: f"U{name}{'/'.join(macros)}{end}",
    st.sampled_from(["", ":", "0:", "1:", "1"]),
    st.lists(MACROS, max_size=4),
    st.sampled_from(["", "", "#"]),
)


@given(st.lists(LINES, min_size=1, max_size=6), SENTENCES)
def test_attributes_are_those_of_the_literal_expansion(lines: list[str], X: Any) -> None:
    assert derived(lines, X) == literally(lines, X)


# The template of CRF++'s example for chunks.
CHUNKS = """# Unigram
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]

U10:%x[-2,1]
U11:%x[-1,1]
U12:%x[0,1]
U13:%x[1,1]
U14:%x[2,1]
U15:%x[-2,1]/%x[-1,1]
U16:%x[-1,1]/%x[0,1]
U17:%x[0,1]/%x[1,1]
U18:%x[1,1]/%x[2,1]

U20:%x[-2,1]/%x[-1,1]/%x[0,1]
U21:%x[-1,1]/%x[0,1]/%x[1,1]
U22:%x[0,1]/%x[1,1]/%x[2,1]

# Bigram
B
"""
BAG = "U:%x[-1,0]\r\nU:%x[0,0]\r\nU:%x[1,0]\r\nU\r\nUtag=%x[0,1]\r\nB\r\n"
TAGGED = [[("The", "D"), ("cat", "N"), ("sat", "V")], [("The", "D"), ("The", "D")], [("a", "D")]]


@pytest.mark.parametrize("text", [CHUNKS, BAG], ids=["chunks", "bag"])
def test_whole_files(text: str, tmp_path: Path) -> None:
    assert derived(text.splitlines(), TAGGED) == literally(text.splitlines(), TAGGED)
    (tmp_path / "template").write_bytes(text.encode())
    template = hr.templates.read(tmp_path / "template", columns=["form", "tag"])
    (tmp_path / "template.toml").write_text(template.to_toml())
    assert hr.templates.read(tmp_path / "template.toml") == template
    X = [[{"form": form, "tag": tag} for form, tag in x] for x in TAGGED]
    y = [["B", "I", "O"], ["O", "O"], ["B"]]
    for estimator in (hr.LinearCRF(window=1), hr.StructuredPerceptron(random_state=0), hr.TreeCRF(n_rounds=2)):
        model = estimator.set_params(features=template).fit(X, y)
        model.save(tmp_path / "m.hedgerow")
        loaded = hr.load(tmp_path / "m.hedgerow")
        assert [p.tolist() for p in loaded.predict(X)] == [p.tolist() for p in model.predict(X)]


def test_weights_are_those_of_shared_attributes() -> None:
    X = [[{"column0": form, "column1": tag} for form, tag in x] for x in TAGGED]
    model = hr.LinearCRF(features=parse_crfpp(BAG, None), window=1).fit(X, [["B", "I", "O"], ["O", "O"], ["B"]])
    names = {name for name, _ in model.state_features_}
    assert {"U:The", "U:_B-1", "U:_B+1", "Utag=:D"} <= names
    assert not any("outside" in name for name in names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("U00:%x[0,0]\nX:%x[0,0]\n", "t: line 2: a line must begin with U or B, but got 'X:%x.* not pat"),
        ("*:%x[0,0]\n", r"t: line 1: a line must begin with U or B, but got '\*:%x\[0,0\]'; only templates of CRF"),
        ("# c\n\nU1:%t[0,0,\"^A\"]\n", "t: line 3: % must begin a macro such as .* not %t and %m of Wapiti"),
        ("U1:%x[0]\n", r"t: line 1: % must begin a macro such as %x\[-1,0\], but got 'U1:%x\[0\]'"),
        ("U1:%x[+1,0]\n", "t: line 1: % must begin a macro"),
        ("U1:%x[-99999,0]\n", "t: line 1: a row must be from -10000 to 10000, but got -99999"),
        ("U1:%x[0,2]\n", "t: line 1: column 2 must be one of 2 columns, counted from 0; they are 'form', 'tag'"),
        ("B\n", "t: a template of CRF.. must have a line that begins with U, but it has none"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_by_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_text(text)
    with pytest.raises(InputError, match=message):
        hr.templates.read(tmp_path / "t", columns=["form", "tag"])


EDGES = """U0:%x[0,0]
U1:%x[0,1]
B
B0:%x[0,1]
B1:%x[-1,1]/%x[0,1]
"""


def test_lines_for_two_labels(tmp_path: Path) -> None:
    template = parse_crfpp(EDGES, None)
    (tmp_path / "t.toml").write_text(template.to_toml())
    assert hr.templates.read(tmp_path / "t.toml") == template
    X = [[{"column0": form, "column1": tag} for form, tag in x] for x in TAGGED]
    y = [["B", "I", "O"], ["O", "O"], ["B"]]
    model = hr.LinearCRF(features=template, edge_features=True).fit(X, y)
    assert {name.partition(":")[0] for name, _ in model.state_features_} == {"U0", "U1"}
    potential: Any = model.model_.potential
    reader = AttributeReader(model.model_.encode(X), potential.window)
    named = {reader.name(i)[0] for i in potential.edge_features.attributes.tolist()}
    assert named == {"B0", "B1"}
    for estimator in (hr.LinearCRF(), hr.HMM(), hr.LinearCRF(edge_features=True, induce="mccallum")):
        with pytest.raises(InputError, match=r"features has columns for weights of two labels, 'B0', 'B1', but these"):
            estimator.set_params(features=template).fit(X, y)
    assert template.describe(X).endswith("; edges: 2 derived from 'column1'")
    assert hr.templates.read(tmp_path / "t.toml").expand(X) == template


def test_columns_for_two_labels_have_names_of_their_own() -> None:
    both = hr.templates.words() + hr.templates.edges({"word": {"from": "symbol"}})
    with pytest.raises(InputError, match="two sections derive a column 'word' in different ways; rename one"):
        both.describe([["the", "cat"]])


def test_columns_are_named_by_number() -> None:
    template = parse_crfpp("U1:%x[0,3]\nB\n", None)
    with pytest.raises(InputError, match=r"columns.'U1': X must have a column 'column3' of text, .* \['symbol'\]"):
        template.describe([["the"]])


@pytest.mark.parametrize(
    ("text", "crfpp"),
    [
        ("U00:%x[0,0]", True),
        ("# comment\n\nB\nU0:%x[0,0]", True),
        ("u:wrd=%x[0,0]", True),
        ("U=%x[0,0]", True),
        ("*", True),
        ("[words]", False),
        ("# comment\nwords = {}", False),
        ("", False),
    ],
)
def test_files_are_told_apart_by_content(text: str, crfpp: bool) -> None:
    assert is_crfpp(text) == crfpp


@pytest.mark.parametrize("text", ["  U00:%x[0,0]\nB\n", "U00:%x[0,0]\n\tB\n"])
def test_blanks_before_a_line_are_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "template").write_text(text)
    with pytest.raises(InputError, match=r"line \d: a line must begin with U or B, .*; remove the blanks before it"):
        hr.templates.read(tmp_path / "template")
