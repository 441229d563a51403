"""`choose` gives each kind of column the template made for it, and templates say what they derive."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.templates import choose, letters, numbers, tags, words

WORDS = [["The", "cat", "sat"], ["A", "dog", "ran"]]
TAGGED = [[{"form": word, "tag": "N"} for word in x] for x in WORDS]
SENSORS = [[{"mode": "idle", "heat": 1.5}, {"mode": "busy", "heat": 2.5}] * 30]


@pytest.mark.parametrize(
    ("X", "template"),
    [
        (WORDS, words()),
        (TAGGED, words("form")),
        ([[("the", "D"), ("cat", "N")]], words("x0")),
        (["cat", "dog"], letters(5)),
        ([["c", "a", "t"], ["d", None]], letters(5)),
        ([[{"sky": "clear"}] * 30 + [{"sky": "grey"}] * 30], tags()),
        ([["idle", "busy"] * 20], tags()),
        ([np.full((3, 2), 0.5)], numbers()),
        ([np.eye(3)], None),
        ([np.array([[1.0], [np.nan]])], None),
        ([np.array([[1.0, np.nan], [0.0, 2.0]])], numbers()),
        ([np.random.default_rng(0).normal(size=(2, 100))], numbers()),
        ([np.random.default_rng(0).normal(size=(2, 101))], None),
        ([[{"form": "The", "upper": True}, {"form": "cat", "upper": False}]], words("form")),
        (SENSORS, tags() + numbers()),
        ([[{"mode": "a", "heat": 1.5}] * 20], tags() + numbers()),
        ([[{"form": word, "length": len(word)} for word in x] for x in WORDS], words("form") + numbers()),
        ([[{"form": "cat", "lists": ["animals"]}, {"form": "Rome", "lists": ["towns"]}]], words("form")),
        ([[["w=cat", "s=at"], ["w=dog"]]], None),
        ([[{"w": "cat", "before": "the"}, {"w": "sat"}]], None),
        ([[{f"attribute {i}": 1.0} for i in range(400)]], None),
        ([[{"a": None, "b": ["c"]}]], None),
    ],
)
def test_choose(X: Any, template: Any) -> None:
    assert choose(X) == template
    assert choose(hr.Sequences(X)) == template


def test_two_hundred_values_are_words_in_any_file() -> None:
    few = [[f"word{i}" for i in range(199)] * 20]
    assert choose(few) == tags()
    assert choose([[*few[0], "another"]]) == words()


@pytest.mark.parametrize(
    ("X", "line"),
    [
        (WORDS, "words(): word, beginnings, endings, shapes, neighbours at -2..2, pairs"),
        (
            TAGGED,
            "words(column='form'): word, beginnings, endings, shapes, neighbours at -2..2, pairs; tag 'tag' at -2..2",
        ),
        (["cat"], "letters(n=5): letters at -5..5, strings of 2 to 5"),
        (
            SENSORS,
            "tags(): 'mode' at -2..2, pairs, triples; numbers(): changes, means and deviations over -5..5 of 'heat'",
        ),
    ],
)
def test_templates_say_what_they_derive(X: Any, line: str) -> None:
    template = choose(X)
    assert template is not None
    assert template.describe(X) == line


@pytest.mark.parametrize("X", [WORDS, TAGGED, SENSORS], ids=["words", "tagged", "sensors"])
def test_a_chosen_template_learns_and_is_stored(X: Any, tmp_path: Any) -> None:
    y = [["a" if t % 2 else "b" for t in range(len(x))] for x in X]
    model = hr.LinearCRF(features=choose(X)).fit(X, y)
    model.save(tmp_path / "m.hedgerow")
    loaded = hr.load(tmp_path / "m.hedgerow")
    assert loaded.features == choose(X)
    assert [p.tolist() for p in loaded.predict(X)] == [p.tolist() for p in model.predict(X)]
