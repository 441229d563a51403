"""The result as text, HTML and a rich table."""

from __future__ import annotations

import dataclasses
import io

import pytest
from rich.console import Console

import hedgerow as hr
from hedgerow.inspection import Counterfactual, counterfactual
from oracles.markup import NASTY, check_html

NUMBER = Counterfactual(
    position=3,
    label="A",
    new_label="B",
    column="size",
    kind="numeric",
    offset=-1,
    value=2,
    new_value=2.0499997,
    probability=0.75,
    new_probability=0.5,
)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "size[-1] changes from 2 to 2.0499997"),
        ({"offset": 0}, "size changes from 2 to 2.0499997"),
        ({"value": None, "offset": 2}, "size[+2] changes from (no value) to 2.0499997"),
        ({"new_value": None}, "size[-1] changes from 2 to (no value)"),
        ({"kind": "bag", "value": None, "new_value": "wet"}, 'size[-1] gains "wet"'),
        ({"kind": "bag", "value": "wet", "new_value": None}, 'size[-1] loses "wet"'),
        ({"kind": "categorical", "value": "2", "new_value": ""}, 'size[-1] changes from "2" to ""'),
    ],
)
def test_the_sentence(changes, text):
    sentence = str(dataclasses.replace(NUMBER, **changes))
    assert sentence == f"position 3: A (probability 0.750) becomes B (probability 0.500) if {text}"


def rich_text(value):
    console = Console(file=io.StringIO(), width=500, force_terminal=False)
    console.print(value)
    return console.file.getvalue()


def test_a_note_is_in_every_form():
    noted = dataclasses.replace(NUMBER, note="what to know")
    assert str(noted).splitlines()[1] == "  note: what to know"
    assert "what to know" in rich_text(noted)
    check_html(noted._repr_html_())
    assert "what to know" in noted._repr_html_()


def test_scores_that_are_not_calibrated_are_noted():
    X, y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
    model = hr.StructuredPerceptron(random_state=0).fit(X, y)
    assert "not calibrated probabilities" in counterfactual(model, "cat", 1).note
    assert "not calibrated probabilities" in model.explain("cat", 1).note
    calibrated = hr.calibrate(model, ["cat", "dot"], [["-", "a", "-"], ["-", "a", "-"]])
    assert counterfactual(calibrated, "cat", 1).note is None
    assert calibrated.explain("cat", 1).note is None


def test_tables():
    table = NUMBER._repr_html_()
    check_html(table)
    for cell in ("position 3", "before", "after", "0.750", "0.500", "size[-1]", "2.0499997"):
        assert f">{cell}<" in table
        assert cell in rich_text(NUMBER)


def test_markup_and_controls_are_escaped():
    nasty = f"[bold]{NASTY}[/]"
    X, y = [[{nasty: "a"}, {nasty: nasty}]], [["A", nasty]]
    found = counterfactual(hr.HMM(order=0).fit(X, y), [{nasty: "a"}], 0)
    assert (found.column, found.new_value, found.new_label) == (nasty, nasty, nasty)
    check_html(found._repr_html_())
    for text in (str(found), rich_text(found), found._repr_html_()):
        assert not set(text) & {"\x01", "\x1b"}
        assert "[bold]" in text
    assert "\n" not in str(found)
    assert "<script>" not in found._repr_html_()
    nasty_bag = dataclasses.replace(found, kind="bag", value=None)
    assert "\x1b" not in str(nasty_bag)


def test_labels_that_are_numbers():
    found = counterfactual(hr.HMM(order=0).fit(["cat", "dog"], [[0, 1, 0], [0, 2, 0]]), "cat", 1)
    assert str(found).startswith("position 1: 1 (probability")
    assert isinstance(found.new_label, int)
    check_html(found._repr_html_())
