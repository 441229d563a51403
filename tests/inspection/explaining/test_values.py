"""The values of the positions that are explained, which headlines show."""

from __future__ import annotations

import pytest

import hedgerow as hr
from builders.explanations import fitted
from hedgerow.inspection.explaining.entry import explain_many

WORDS, Y = [["the", "cat"], ["a", "dog"]], [["D", "N"], ["D", "N"]]
UNSEEN = ["the", "zebra"]


@pytest.mark.parametrize(
    ("X", "x", "values"),
    [
        (WORDS, UNSEEN, ("the", "zebra")),
        (
            [[{"n": 1.0, "v": "x", "w": "a"}, {"n": 2.0, "v": "y", "w": "b"}]] * 2,
            [{"n": 0.0, "v": "z"}, {"n": 1.0, "w": "b"}],
            ("z", None),
        ),
        ([[{"n": 1.0}, {"n": 2.0}]] * 2, [{"n": 3.0}, {"n": 1.0}], ()),
        ([[["p"], ["q"]]] * 2, [["p"], ["q", "r"]], ()),
        (["ab", "cd"], "xa", ("x", "a")),
    ],
    ids=["words", "dicts", "numbers", "bags", "str"],
)
def test_values_are_those_of_the_first_categorical_column(X, x, values):
    model = hr.LinearCRF(max_iter=5).fit(X, Y)
    found = model.explain(x)
    assert tuple(value for one in found for value in one.values) == values
    assert model.explain(x, (0, 2)).values == values
    header = 'position</th><th style="text-align:left">value<'
    assert (header in found._repr_html_()) is bool(values)


@pytest.mark.parametrize("features", [None, hr.templates.words()], ids=["plain", "template"])
def test_values_of_encoded_sequences_are_those_that_training_saw(features):
    model = hr.LinearCRF(features=features, max_iter=5).fit(WORDS, Y)
    assert [one.values for one in model.explain(UNSEEN)] == [("the",), ("zebra",)]
    encoded = model.model_.encode([UNSEEN])
    found = explain_many(model, encoded, model._predicted_codes(encoded), range(2))
    assert [one.values for one in found] == [("the",), (None,)]


@pytest.mark.parametrize("name", ["LinearCRF", "HMM", "StructuredPerceptron", "SearchTagger"])
def test_members_of_bags_are_shown_with_their_weights(name):
    X, y = [[{"tags": {"red": 2.5, "blue": 1.0}}, {"tags": {"green": 0.5}}]] * 3, [["A", "B"]] * 3
    options = {"random_state": 0} if name in ("StructuredPerceptron", "SearchTagger") else {}
    found = getattr(hr, name)(n_jobs=1, **options).fit(X, y).explain(X[0], 0)
    shown = {str(one): one.value for one in found.contributions if one.column == "tags"}
    assert shown == {"tags = red × 2.5": "red", "tags = blue": "blue"}
    assert {type(value) for value in shown.values()} == {str}


@pytest.mark.parametrize(
    "X", [[["a", "b"], [None], ["b", "a"]], [[["p", "q"], []], [None], [["r"], ["p"]]], ["ab", "c", "a"]]
)
def test_sequences_of_a_slice_are_explained_like_lists(X):
    """The slice has the values of all sequences in its alphabet; a list of one sequence has its own."""
    y = [["A", "B"][: len(x)] for x in X]
    model = hr.LinearCRF(max_iter=5, missing="indicator").fit(X * 2, y * 2)
    raw = hr.Sequences(X)
    encoded = model.model_.encode(raw)
    codes, positions = model._predicted_codes(encoded), range(raw.n_positions)
    found = [str(one) for one in explain_many(model, encoded, codes, positions, raw)]
    wanted = [str(model.explain(raw[i : i + 1], t)) for i, x in enumerate(X) for t in range(len(x))]
    assert found == wanted
    assert found[:2] == [str(model.explain(X[0], t)) for t in range(2)]


def test_indicators_are_no_values():
    X = [[{"n": 1.0}, {"n": None}], [{"n": None}, {"n": 2.0}]]
    model = hr.LinearCRF(missing="indicator", max_iter=5).fit(X, Y)
    assert model.explain(X[0], 0).values == ()


def test_the_note_of_a_search_says_that_paths_are_compared():
    model, X = fitted("SearchTagger")
    assert "compare the best label sequences" in str(model.explain(X[0], 0))
    model, X = fitted("LinearCRF")
    assert model.explain(X[0], 0).note is None
