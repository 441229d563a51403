"""Explanations as text, rich tables and HTML: nothing of the data is markup, and long lists and texts are cut."""

from __future__ import annotations

import io
import math
import pickle
from html.parser import HTMLParser

import pytest

import hedgerow as hr
from builders.explanations import fitted
from hedgerow.inspection.explaining.explanation import SHOWN, Contribution, Explanation, Explanations
from oracles.markup import NASTY, check_html


class Cells(HTMLParser):
    """The texts of the cells of a table, row by row."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.caption, self._in = [], "", None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self._in = tag
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self._in in ("td", "th"):
            self.rows[-1][-1] += data
        elif self._in == "caption":
            self.caption += data


def explanation(*contributions, **changes):
    made = [Contribution("word", 0, value, amount, 0) for value, amount in contributions]
    fields = {"start": 0, "end": 1, "labels": ("A",), "against": ("B",), "log_odds": 1.0, "probability": 0.5}
    return Explanation(**fields | changes, contributions=tuple(made))


def rich_text(value, width=200):
    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(value)
    return console.file.getvalue()


def test_text_has_a_line_for_each_contribution():
    shown = str(explanation(("the", 1.25), (None, -0.25)))
    assert shown.splitlines() == [
        "position 0: A (probability 0.500) rather than B, log-odds +1.000",
        "  +1.250  word = the",
        "  -0.250  word",
    ]


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (("w", -1, "the", 0.0, 0), "w[-1] = the"),
        (("w", 2, None, 0.0, 0, "(outside)"), "w[+2] (outside)"),
        (("bias", 0, None, 0.0, 0, "(missing)"), "bias (missing)"),  # a column of the user
        (("w", 0, "elk", 0.0, 0, "elk (unknown)"), "w = elk (unknown)"),
        (("n", 0, 0.30000001, 0.0, 0), "n = 0.3"),
        (("n", 0, -1e-9, 0.0, 0), "n = -1e-09"),
        (("bit 1", 0, 1, 0.0, 0), "bit 1 = 1"),
        (("a & b", 0, ("x", "-", 2.5), 0.0, 0), "a & b = x, -, 2.5"),
        (("a & b", 0, ("-", None), 0.0, 0, "-, (outside)"), "a & b = -, (outside)"),
        (("bias", 0, None, 0.0, 0), "bias"),
        (("left context", 0, None, 0.0, 0), "left context"),
        (("bias", 0, "x", 0.0, 0), "bias = x"),  # a column of the user
    ],
    ids=[
        "offset",
        "outside",
        "missing",
        "unknown",
        "number",
        "small",
        "integer",
        "several",
        "joined",
        "bias",
        "context",
        "column",
    ],
)
def test_contributions_in_words(one, words):
    assert str(Contribution(*one)) == words


@pytest.mark.parametrize(
    ("fields", "headline"),
    [
        ({"values": ("the",)}, "position 0 (the): A (probability 0.500) rather than B, log-odds +1.000"),
        ({"values": (None,)}, "position 0: A (probability 0.500) rather than B, log-odds +1.000"),
        (
            {"start": 2, "end": 4, "values": ("the", "cat"), "labels": ("A", "A"), "against": ("B", "A")},
            "positions 2 to 3 (the cat): A A rather than B A, log-odds +1.000",
        ),
        ({"values": ("a\nb",)}, "position 0 (a\\nb): A (probability 0.500) rather than B, log-odds +1.000"),
    ],
    ids=["value", "none", "span", "newline"],
)
def test_headlines(fields, headline):
    assert explanation(**fields).headline == headline


def test_many_values_of_a_span_are_cut():
    one = explanation(start=0, end=50, values=("word",) * 50, labels=("A",) * 50, against=("B",) * 50)
    assert one.headline.startswith("positions 0 to 49 (word word")
    assert "word…): A A" in one.headline


def test_notes_are_part_of_every_form():
    note = "what to know"
    one = explanation(("the", 1.25), note=note)
    assert str(one).splitlines()[-1] == "  note: what to know"
    assert "<p>Note: what to know.</p>" in one._repr_html_()
    assert Cells(one._repr_html_()).caption == one.headline
    assert note in rich_text(one)
    assert "note" not in str(explanation(("the", 1.25)))


@pytest.mark.parametrize("n", [0, 1, SHOWN, SHOWN + 1, SHOWN + 40])
def test_others_are_added_up(n):
    amounts = [(f"w{i}", (-1) ** i * (100 - i) / 100) for i in range(n)]
    one = explanation(*amounts)
    lines = str(one).splitlines()[1:]
    assert len(lines) == min(n, SHOWN + 1)
    assert sum(float(line.split()[0]) for line in lines) == pytest.approx(sum(a for _, a in amounts), abs=0.01)
    others = n - SHOWN
    if others > 0:
        assert lines[-1].endswith("  1 other contribution" if others == 1 else f"  {others} other contributions")
    cells = Cells(one._repr_html_())
    assert cells.rows[1:] == [[line[:8].strip(), line[10:]] for line in lines]
    assert cells.caption == one.headline


def test_spans_name_the_positions():
    model, X = fitted("LinearCRF")
    x = max(X, key=len)
    one = model.explain(x, (1, 3))
    lines = str(one).splitlines()
    assert lines[0].startswith(f"positions 1 to 2 ({x[1]['w']} {x[2]['w']}): ")
    assert f"{one.labels[0]} {one.labels[1]} rather than {one.against[0]} {one.against[1]}" in lines[0]
    for line in lines[1:]:
        named = line.split("  ", 2)[2]
        assert (
            named.startswith(("position 1: ", "position 2: "))
            or "context" in named
            or "other" in named
            or named == "labels inside"
        )
    assert one.label == one.labels
    assert model.explain(x, 1).label == model.explain(x, 1).labels[0]


def test_all_positions_are_a_table():
    model, X = fitted("LinearCRF")
    found = model.explain(max(X, key=len))
    assert isinstance(found, Explanations)
    assert isinstance(found, tuple)
    lines = str(found).splitlines()
    assert len(lines) == len(found)
    for line, one in zip(lines, found, strict=True):
        assert line.startswith(one.headline + "; ")
        assert line.endswith(str(one.contributions[0]))
    rows = Cells(found._repr_html_()).rows
    assert rows[0] == ["position", "value", "label", "probability", "against", "log-odds", "largest contribution"]
    assert [row[:6] for row in rows[1:]] == [
        [str(one.start), *one.values, one.label, f"{one.probability:.3f}", one.against[0], f"{one.log_odds:+.3f}"]
        for one in found
    ]
    shown = rich_text(found).splitlines()
    assert [cell.strip() for cell in shown[1].strip("┃").split("┃")] == rows[0]
    body = [[cell.strip() for cell in line.strip("│").split("│")] for line in shown if line.startswith("│")]
    assert [[*row[:6], " ".join(row[6].split())] for row in body] == [
        [*row[:6], " ".join(row[6].split())] for row in rows[1:]
    ]
    assert repr(found[0]) == f"<Explanation: {found[0].headline}>"


@pytest.mark.parametrize("text", [NASTY, "<b>", "&amp;", "{x}", "%s", "\\"], ids=ascii)
def test_nothing_of_the_data_is_markup(text):
    X = [[{text: text}, {text: "b"}], [{text: "b"}, {text: text}]]
    model = hr.HMM().fit(X, [[text, "other"], ["other", text]])
    found = model.explain(X[0], 0)
    for shown in (found._repr_html_(), model.explain(X[0])._repr_html_()):
        check_html(shown)
        assert len(Cells(shown).rows) >= 3
    lines = str(found).splitlines()
    assert len(lines) == 1 + len(found.contributions)
    assert not any(ord(c) < 32 for line in lines for c in line)
    assert len(rich_text(found).splitlines()) >= len(lines)
    assert repr(found)


def test_markup_of_rich_is_text():
    X = [[{"[bold]w[/]": "[red]x"}, {"[bold]w[/]": "[/]"}]]
    model = hr.HMM().fit(X, [["[i]A", "B[/]"]])
    shown = rich_text(model.explain(X[0], 0))
    for text in ("[bold]w[/]", "[red]x", "[i]A", "B[/]"):
        assert text in shown


@pytest.mark.parametrize(
    "word", ["שלום", "مرحبا", "\u202eabc", "שלום\u202c [x]"], ids=["hebrew", "arabic", "override", "pop"]
)
def test_right_to_left_text_stays_in_its_line(word):
    X, y = [[word, "b"], ["b", word]], [["A", "B"], ["B", "A"]]
    found = hr.HMM().fit(X, y).explain([word, "b"], 0)
    assert any(c.value == word for c in found.contributions)
    shown = word.replace("\u202e", r"\u202e").replace("\u202c", r"\u202c")  # marks that would turn other text
    assert found.headline == str(found).splitlines()[0]
    assert f"position 0 ({shown}): " in found.headline
    lines = [line for line in str(found).splitlines()[1:] if shown in line]
    assert len(lines) == 1
    assert lines[0].endswith(shown)
    assert shown in found._repr_html_()
    assert shown in rich_text(found)


def test_long_words_are_cut():
    word = "a" * 10_000
    X, y = [[{word: word}, {word: "b"}]] * 2, [[word, "B"]] * 2
    model = hr.HMM().fit(X, y)
    for position in (0, None, (0, 2)):
        found = model.explain(X[0], position)
        for shown in (str(found), found._repr_html_()):
            assert len(shown) < 1500
    one = model.explain(X[0], 0)
    assert len(rich_text(one, width=80)) < 3000
    assert len(repr(one)) < 300
    assert {c.value for c in one.contributions if c.column == word} == {word}  # the record has all of it


def test_many_columns_of_a_family_are_cut():
    conjunction = Contribution(" & ".join(f"column{i}" for i in range(500)), 0, tuple("abc" * 200), 1.0, 0)
    assert len(str(conjunction)) < 250


@pytest.mark.parametrize("amount", [math.inf, -math.inf], ids=str)
def test_infinite_amounts(amount):
    one = explanation(("a", amount), log_odds=amount)
    for shown in (str(one), one._repr_html_(), rich_text(one)):
        assert f"{amount:+.3f}" in shown


def test_explanations_can_be_copied_to_other_processes():
    model, X = fitted("TreeCRF mixed")
    found = model.explain(X[0])
    copied = pickle.loads(pickle.dumps(found))
    assert str(copied) == str(found)
    assert [one.contributions for one in copied] == [one.contributions for one in found]
