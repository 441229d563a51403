"""Templates are values: they compare, add up, and come back from JSON."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest

from hedgerow import Sequences
from hedgerow.encoding import Encoder
from hedgerow.errors import InputError
from hedgerow.templates import columns, letters, numbers, parse_template, tags, template_from_json, words

TEMPLATES = [words(), words("form"), tags(), tags(["tag"]), letters(3), numbers(), words() + numbers()]


def test_templates_print_as_they_are_written() -> None:
    assert [repr(template) for template in TEMPLATES] == [
        "words()",
        "words(column='form')",
        "tags()",
        "tags(columns=['tag'])",
        "letters(n=3)",
        "numbers()",
        "words() + numbers()",
    ]
    few = columns({"a": {"from": "b"}})
    assert repr(few) == "columns({'a': {'from': 'b'}})"
    assert repr(columns({str(i): {"from": "b"} for i in range(9)})) == "columns(<9: '0', '1', '2', '3', '4', ...>)"


@pytest.mark.parametrize("template", TEMPLATES, ids=repr)
def test_templates_are_values(template: Any) -> None:
    again = template_from_json(json.loads(json.dumps(template.to_json())))
    assert again == template
    assert hash(again) == hash(template)
    assert pickle.loads(pickle.dumps(template)) == template
    assert [other for other in TEMPLATES if other == template] == [template]
    assert letters(np.int64(3)) == letters(3)


def test_sums() -> None:
    assert words() + (numbers() + tags()) == (words() + numbers()) + tags()
    assert words() + words() == words()
    with pytest.raises(InputError, match=r"a template may have words only once, but got words\(\) \+ words\(column="):
        words() + words("form")
    with pytest.raises(TypeError):
        words() + 1  # type: ignore[operator]


def derived(template: Any, X: Any) -> list[str]:
    return [spec.name for spec in Encoder.fit(Sequences(X), features=template).columns]


def test_a_sum_derives_the_columns_of_all_each_once() -> None:
    X = [[{"form": "The", "tag": "D", "n": 1.0}]]
    both = derived(words("form") + numbers(), X)
    assert both == ["n", *derived(words("form"), X)[1:], *derived(numbers(), X)[-6:]]
    assert derived(words("form") + tags(), X) == [
        *derived(words("form"), X),
        "form[-2]|form[-1]",
        "form[1]|form[2]",
        "form[-2]|form[-1]|form",
        "form[-1]|form|form[1]",
        "form|form[1]|form[2]",
    ]


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("words", words()),
        ("words:form", words("form")),
        ("letters:3", letters(3)),
        ("tags+numbers", tags() + numbers()),
        ("words:a+b+numbers", words("a+b") + numbers()),
    ],
)
def test_flags(text: str, template: Any) -> None:
    assert parse_template(text) == template


@pytest.mark.parametrize("text", ["", "word", "letters", "letters:x", "numbers:1", "words+", "tags:x"])
def test_a_flag_must_name_a_template(text: str) -> None:
    with pytest.raises(InputError, match="features must be words, words:COLUMN, tags, letters:N or numbers"):
        parse_template(text)


@pytest.mark.parametrize("n", [0, -1, 2.0, "2", True, None, 10**6])
def test_letters_needs_a_count(n: Any) -> None:
    with pytest.raises(InputError, match="letters: n must be an integer from 1 to 10000, but got"):
        letters(n)


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ({}, "features must be the description of a template"),
        ("words", "features must be the description of a template"),
        ({"other": {}}, "a template has no section 'other'; the sections are "),
        ({"letters": {}}, "letters needs the parameter 'n'"),
        ({"letters": 3}, r"letters must be a section with parameters, but got 3; write \[letters\]"),
        ({"words": {"n": 1}}, "words has no parameter 'n'; it has column"),
        ({"numbers": {"n": 1}}, "numbers has no parameter 'n'; it has none"),
        ({"tags": {"columns": "tag"}}, "tags: columns must be a list of names or None, but got str"),
        ({"tags": {"columns": [1]}}, "tags: columns must be a list of names or None, but got list"),
    ],
)
def test_a_damaged_template_is_refused(stored: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        template_from_json(stored)


def test_words_column_must_be_a_name() -> None:
    with pytest.raises(InputError, match="words: column must be the name of a column or None, but got int"):
        words(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (tags(["tag"]), r"tags: X must have a column 'tag' of text, but it has none; the columns are \['x0'\]"),
        (tags(), r"tags: X must have a column of text, but it has none; the columns are \['x0'\]"),
        (tags() + numbers(), r"tags: X must have a column of text"),
    ],
)
def test_columns_that_are_not_there(template: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        template.describe([np.ones((2, 1))])
