"""Sequences and tables as HTML for notebooks: every text is escaped, and what is long is cut."""

from __future__ import annotations

import pickle
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import Sequences
from hedgerow.data.html_repr import MOST_IN_BAG, escape, html_table, shortened, visible, without_middle
from oracles.markup import NASTY, check_html


def rows(sequences: Sequences) -> list[list[str]]:
    """The texts of the cells, row by row; the header first."""
    text = sequences._repr_html_()
    check_html(text)
    table = ElementTree.fromstring(text).find("table")
    assert table is not None
    return [[cell.text or "" for cell in row] for row in table.iter("tr")]


def test_the_first_positions_are_shown() -> None:
    X = Sequences(
        [
            [{"w": "a", "n": 1, "b": ["x", "y"]}, {"w": "b", "b": None}],
            [{"w": None, "n": 2.5}],
            [{"w": "c"}],
        ]
    )
    assert rows(X) == [
        ["sequence", "position", "w", "n", "b"],
        ["0", "0", "a", "1", "{x, y}"],
        ["0", "1", "b", "0", "(missing)"],
        ["1", "0", "(missing)", "2.5", "{}"],
    ]
    assert "… 1 more sequence</p>" in X._repr_html_()
    assert escape(repr(X)) in X._repr_html_()


def test_absent_values_and_weights_have_words() -> None:
    X = Sequences([[{"w": "a", "b": {"x": 0.5, "y": 2.0}}, {"n": 1.0}]])
    header, first, second = rows(X)
    assert dict(zip(header, first, strict=True))["b"] == "{x: 0.5, y: 2}"
    assert dict(zip(header, second, strict=True))["w"] == "(absent)"


def test_what_is_long_is_cut() -> None:
    X = Sequences(["abcdefgh", "ab"])
    assert rows(X)[-3] == ["0", "… 2 more", ""]
    wide = rows(Sequences([[{f"c{i}": "x" for i in range(20)}]]))
    assert wide[0][-2:] == ["c7", "…"]
    assert wide[1][-1] == "…"
    (_, (*_, bag)) = rows(Sequences([[{"b": [f"v{i}" for i in range(MOST_IN_BAG + 1)]}]]))
    assert bag == "{v0, v1, v2, v3, v4, …}"
    (_, (*_, word)) = rows(Sequences([["x" * 1000]]))
    assert word == "x" * 59 + "…"
    assert len(Sequences([["x" * 1000] * 1000] * 1000)._repr_html_()) < 10_000


@pytest.mark.parametrize("X", [[[NASTY, "b"]], [[{NASTY: NASTY, "b": [NASTY]}]], [[{NASTY: 1.0}]]], ids=str)
def test_markup_and_controls_are_escaped(X: list[list[object]]) -> None:
    text = Sequences(X)._repr_html_()
    check_html(text)
    assert "&lt;script&gt;" in text


def test_no_sequence_is_shown_as_an_empty_table() -> None:
    assert rows(Sequences(["ab"])[:0]) == [["sequence", "position", "symbol"]]


def test_columns_of_numbers_are_flush_right_with_their_heads() -> None:
    rows = [["a", "1", "+1.5", "10%"], ["b", "2,000", "-2e+05", ""], ["c", "", "inf", "0.5%"]]
    sides = re.findall("text-align:(left|right)", html_table(list("nxyz"), rows))
    assert sides == ["left", "right", "right", "right"] * 4
    assert re.findall("text-align:(left|right)", html_table(["x"], [])) == ["left"]


def test_texts_are_visible_and_escaped() -> None:
    assert visible("a\nb\x7f\x85\ud800\u202e") == r"a\nb\x7f\x85\ud800\u202e"
    assert escape('<a href="x">\'&') == "&lt;a href=&quot;x&quot;&gt;&#x27;&amp;"
    assert shortened("abc", 3) == "abc"
    assert shortened("abcd", 3) == "ab…"


def test_a_long_name_keeps_its_beginning_and_its_end() -> None:
    assert without_middle("abcd", 4) == "abcd"
    assert without_middle("abcde", 4) == "ab…e"
    assert without_middle("abcdef", 5) == "ab…ef"
    assert without_middle("abc", 2) == "a…"
    table = html_table([NASTY, *"abcd"], [[1, 0.123456, np.float32(2), "x", True]], NASTY)
    check_html(table)
    assert '<td style="text-align:right">0.1235</td>' in table
    assert '<td style="text-align:left">True</td>' in table


def test_predictions_show_values_and_labels():
    X = hr.Sequences([["the", "<b>", *"abcdefgh"], ["a"], ["b"]])
    model = hr.HMM(n_jobs=1).fit(X, [["D", "N", *"NNNNNNNN"], ["D"], ["N"]])
    page = model.predict(X)._repr_html_()
    assert "predictions for 3 sequences" in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "… 4 more" in page
    assert "… 1 more sequence<" in page
    assert page.count("<tr>") == 1 + 6 + 1 + 1
    labels_alone = model.predict([["the"]])._repr_html_()
    assert ">D<" in labels_alone
    assert ">the<" not in labels_alone


def test_predictions_without_labels_have_no_table():
    model = hr.HMM(n_jobs=1).fit([["a", "b"]], [["x", "y"]])
    assert model.predict_proba([["a"]])._repr_html_() is None


def test_predictions_are_lists_that_can_be_copied():
    model = hr.HMM(n_jobs=1).fit([["a", "b"]], [["x", "y"]])
    found = model.predict(hr.Sequences([["a", "b"]]))
    copied = pickle.loads(pickle.dumps(found))
    assert isinstance(copied, list)
    assert [one.tolist() for one in copied] == [["x", "y"]]
    assert len(copied.sequences) == 1
