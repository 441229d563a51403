"""The buttons in the tables of the report: every button has an option that finds its sequences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hedgerow as hr
from hedgerow.inspection.report import content
from inspection.report.pages import Page, page_of

pytestmark = pytest.mark.filterwarnings("ignore::hedgerow.errors.UnseenLabelWarning")

# A predicted span of kind "both" lies inside of a gold span of kind "boundary".
X = [["a", "b", "c", "d"], ["e", "f"], ["a", "e"]]
Y = [["B-A", "B-B", "I-B", "O"], ["O", "O"], ["B-A", "O"]]
GOLD = [["B-A", "I-A", "I-A", "O"], ["O", "O"], ["B-A", "O"]]


def buttons_of(page: Page, key: str) -> list[str]:
    return [str(attributes[key]) for tag, attributes in page.elements if tag == "button" and key in attributes]


def options_of(page: Page) -> set[str | None]:
    return {attributes.get("value") for tag, attributes in page.elements if tag == "option"}


def test_a_position_in_two_wrong_spans_has_both_kinds(tmp_path: Path) -> None:
    page = page_of(tmp_path, hr.HMM(order=0, smoothing=0.01).fit(X, Y), X, GOLD)
    names = page.data["kinds"]["names"]
    kinds = {place: [names[kind] for kind in kinds] for place, *kinds in page.data["kinds"]["at"]}
    assert kinds == {0: ["boundary"], 1: ["boundary", "both"], 2: ["boundary", "both"]}
    assert [names[int(kind[5:])] for kind in buttons_of(page, "data-kind")] == ["boundary", "both"]


def test_every_button_of_a_kind_has_an_option(tmp_path: Path) -> None:
    for gold in (GOLD, [["O"] * 4, ["B-A", "I-A"], ["B-B", "O"]]):
        page = page_of(tmp_path, hr.HMM(order=0, smoothing=0.01).fit(X, Y), X, gold)
        assert buttons_of(page, "data-kind")
        assert set(buttons_of(page, "data-kind")) <= options_of(page)


def test_sequences_that_are_left_out_have_no_button(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = hr.HMM(order=0, smoothing=0.01).fit(X, Y)
    x, gold = [*X, ["e", "f"], ["c"]], [*GOLD, ["B-A", "B-A"], ["O"]]
    assert buttons_of(page_of(tmp_path, model, x, gold), "data-search") == ["#0", "#3", "#4"]
    monkeypatch.setattr(content, "MOST_POSITIONS", 4)
    page = page_of(tmp_path, model, x, gold, compare=hr.HMM(order=0).fit(X[1:], [["O", "B-B"], ["O", "O"]]))
    assert page.data["sequences"] == [0]
    assert buttons_of(page, "data-search") == ["#0"]
    assert "left out</td>" in page.text
    assert set(buttons_of(page, "data-kind")) <= options_of(page)
    pairs = zip(buttons_of(page, "data-gold"), buttons_of(page, "data-predicted"), strict=True)
    there = {(str(gold), str(page.data["predicted"][place])) for place, gold in page.data["gold"]}
    assert set(pairs) == there


def test_labels_with_the_same_beginning_have_their_own_buttons(tmp_path: Path) -> None:
    one, other, third = ("L" * 150 + end for end in "abc")
    model = hr.HMM(order=0, smoothing=0.01).fit(["xy", "z"], [[one, other], [third]])
    rival = hr.HMM(order=0, smoothing=0.01).fit(["xy", "z"], [[other, other], [third]])
    page = page_of(tmp_path, model, ["xyz"], [[other, other, one]], compare=rival)
    data = page.data
    assert len(data["labels"]) == 3
    assert data["predicted"][0] != data["predicted"][1] != data["predicted"][2]
    assert data["changes"]["other"] == [[0, data["predicted"][1]]]
    for _, against, *_ in data["explanations"]["at"]:
        assert against in range(3)
    pairs = zip(buttons_of(page, "data-gold"), buttons_of(page, "data-predicted"), strict=True)
    own, theirs, last = map(str, data["predicted"])
    assert sorted(pairs) == sorted([(theirs, own), (own, last)])


def test_rare_confusions_are_folded_away(tmp_path: Path) -> None:
    n = 15
    x, y = [[f"w{i}"] for i in range(n)], [[f"L{i}"] for i in range(n)]
    model: Any = hr.HMM(order=0, smoothing=0.01).fit(x, y)
    page = page_of(tmp_path, model, x, [*y[1:], y[0]])
    section = page.text.split('id="confusions"')[1].split("</section>")[0]
    shown, folded = section.split("<details>")
    assert [part.count("data-gold") for part in (shown, folded)] == [10, 5]
    assert "<summary>5 more pairs</summary>" in folded


def test_numbers_of_the_comparison_are_in_a_sentence(tmp_path: Path) -> None:
    model, other = (hr.HMM(order=0, smoothing=0.01).fit(X, y) for y in (Y, [["B-A"] * 4, ["O", "O"], ["O", "O"]]))
    text = page_of(tmp_path, model, X, GOLD, compare=other).text
    own, theirs = ([label for y in one.predict(X) for label in y] for one in (model, other))
    rows = list(zip(own, theirs, [label for y in GOLD for label in y], strict=True))
    here, there = (sum(row[i] == row[2] != row[1 - i] for row in rows) for i in (0, 1))
    assert f"At {here} position{'' if here == 1 else 's'} only this model is right, at {there} only the other" in text


def test_the_data_are_described_in_words(tmp_path: Path) -> None:
    x = [[{"word": "a", "tag": "N"}] * 3] * 500
    model = hr.HMM().fit([[{"word": "a", "tag": "N"}] * 2], [["A", "B"]])
    text = page_of(tmp_path, model, x).text
    assert "500 sequences, 1,500 positions; columns: word, tag" in text
