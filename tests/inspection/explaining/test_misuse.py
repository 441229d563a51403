"""Wrong calls of `explain`: each error names the subject, the rule, what came and the cure."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from builders.explanations import ALL, fitted
from hedgerow.errors import AbsentColumnWarning, InputError, NotFittedError
from hedgerow.estimators.registry import REGISTRY

X = ["cat", "dog", "cog", "at", "dot", "tact"] * 2
Y = [[c if c in "ao" else "-" for c in x] for x in X]
NUMBER = "position must be a number, a pair (start, end), a Span of predict_spans, or None for all; it is "
RANGE = "position must be from 0 to 2, because the sequence has 3 positions; it is "
SPAN = "a span must start before its end and lie in 0 to 3, because the sequence has 3 positions; it is "
LABEL = "against must be a label of the model ('-', 'a', 'o'), but it is "


@pytest.fixture(scope="module")
def model():
    return hr.HMM().fit(X, Y)


def message(call):
    with pytest.raises(InputError) as error:
        call()
    return str(error.value)


@pytest.mark.parametrize(
    ("position", "words"),
    [
        (-1, RANGE + "-1"),
        (3, RANGE + "3"),
        (np.int64(3), RANGE + "3"),
        (10**30, NUMBER + str(10**30)),
        (True, NUMBER + "True"),
        (np.bool_(True), NUMBER + repr(np.bool_(True))),
        (1.0, NUMBER + "1.0"),
        (float("nan"), NUMBER + "nan"),
        ("1", NUMBER + "'1'"),
        ("ab", NUMBER + "'ab'"),
        ((0, 1, 2), NUMBER + "(0, 1, 2)"),
        ((0,), NUMBER + "(0,)"),
        ((0, 1.0), NUMBER + "(0, 1.0)"),
        ((False, True), NUMBER + "(False, True)"),
        ({0, 1}, NUMBER + "{0, 1}"),
        (slice(0, 2), NUMBER + "slice(0, 2, None)"),
        ((1, 1), SPAN + "(1, 1)"),
        ((2, 1), SPAN + "(2, 1)"),
        ((0, 4), SPAN + "(0, 4)"),
        ((-1, 2), SPAN + "(-1, 2)"),
        ((np.int64(1), np.int32(9)), SPAN + "(1, 9)"),
        (hr.Span(2, 2, "X", 0.5), SPAN + "(2, 2)"),
        (hr.Span(0, 9, "X", 0.5), SPAN + "(0, 9)"),
    ],
    ids=str,
)
def test_positions(model, position, words):
    assert message(lambda: model.explain("cat", position)) == words


@pytest.mark.parametrize(
    ("position", "against", "words"),
    [
        (1, "x", LABEL + "'x'"),
        (1, "", LABEL + "''"),
        (1, 3, LABEL + "3"),
        (1, 1.5, LABEL + "1.5"),
        (1, {"o"}, LABEL + "{'o'}"),
        (1, {"o": 1}, LABEL + "{'o': 1}"),
        (1, [["o"]], LABEL + "['o']"),
        (1, [None], LABEL + "None"),
        (None, "x", LABEL + "'x'"),
        ((0, 2), ["o", "x"], LABEL + "'x'"),
        (1, [], "against must be one label; it has 0"),
        (1, ["o", "a"], "against must be one label; it has 2"),
        (None, ["o", "a", "o"], "against must be one label; it has 3"),
        ((0, 2), ["o"], "against must be one label, or one for each of the 2 positions; it has 1"),
        ((0, 2), ["o"] * 3, "against must be one label, or one for each of the 2 positions; it has 3"),
        (
            1,
            "a",
            "against must differ from what the model predicts there, which is a; leave it out to compare with the "
            "runner-up",
        ),
        (
            (0, 2),
            ("-", "a"),
            "against must differ from what the model predicts there, which is -, a; leave it out to compare with the "
            "runner-up",
        ),
    ],
    ids=str,
)
def test_labels_to_compare_with(model, position, against, words):
    assert message(lambda: model.explain("cat", position, against)) == words


def test_true_is_no_label_of_numbers():
    model = hr.HMM().fit(["cat", "dog"], [[0, 1, 0], [0, 2, 0]])
    found = message(lambda: model.explain("cot", 1, against=True))
    assert found == "against must be a label of the model (0, 1, 2), but it is True"


def test_many_labels_are_not_all_listed():
    labels = [f"label{i:02d}" for i in range(30)]
    model = hr.HMM(order=0).fit(["ab"] * 15, [labels[2 * i : 2 * i + 2] for i in range(15)])
    found = message(lambda: model.explain("ab", 0, "x"))
    assert found.startswith("against must be a label of the model ('label00', ")
    assert "'label09', ...), but it is 'x'" in found


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ("", "sequence 0 is empty"),
        ([], "sequence 0 is empty"),
        (["cat", "dog"], "explain takes one sequence, but x is a list of 2 sequences; explain them one by one"),
        (hr.Sequences(X), "explain takes one sequence, but there are 12; explain them one by one"),
        ({"symbol": "c"}, "explain takes a list of positions, but x is a dict, which is one position; pass [x]"),
        (None, "sequence 0 is of type None; a sequence is a str; a list of str"),
        (3, "sequence 0 is of type int; a sequence is a str; a list of str"),
    ],
    ids=["text", "list", "several", "Sequences", "dict", "None", "number"],
)
def test_sequences(model, x, words):
    assert message(lambda: model.explain(x, 0)).startswith(words)
    assert message(lambda: model.explain(x)).startswith(words)


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_models_that_are_not_fitted(name):
    with pytest.raises(NotFittedError, match=f"this {name} is not fitted yet; call fit"):
        REGISTRY[name]().explain("cat", 0)


def test_columns_that_are_missing():
    model, X = fitted("LinearCRF")
    with pytest.warns(AbsentColumnWarning, match="X lacks columns that training had: 'v'"):
        explanation = model.explain([{"w": row["w"]} for row in X[0]], 0)
    assert "v" not in {c.column for c in explanation.contributions if c.value is not None}
    with pytest.raises(InputError):
        model.explain([{"other": "x"}], 0)


def test_labels_that_no_sequence_can_have():
    """Marginal decoding chooses A and D, the most probable labels of the two positions; D never follows A."""
    x, y = ["s", "s"], [list(labels) for labels in ("AB", "AC", "BD", "CD", "ED")]
    model = hr.HMM(smoothing=0, decode="marginal").fit([x] * 5, y)
    assert model.predict_single(x).tolist() == ["A", "D"]
    for against in (None, ["B", "D"], ["A", "B"]):
        found = model.explain(x, (0, 2), against)
        assert found.log_odds == -np.inf
        assert sum(c.contribution for c in found.contributions) == -np.inf
    for against in (["B", "B"], ["A", "A"], ["D", "D"]):
        words = message(lambda against=against: model.explain(x, (0, 2), against))
        assert words.startswith("the predicted labels of these positions and the labels of against are both impossible")
        assert words.endswith("explain fewer positions, or leave out against")
    assert np.isfinite([one.log_odds for one in model.explain(x)]).all()


@pytest.mark.parametrize("position", [np.int64(1), np.int32(1), np.uint8(1), np.int64(1).reshape(())[()]], ids=repr)
def test_numpy_integers_are_positions(model, position):
    assert model.explain("cat", position).contributions == model.explain("cat", 1).contributions


@pytest.mark.parametrize(
    "against",
    ["o", np.str_("o"), ["o"], ("o",), np.array(["o"]), np.array("o"), np.array(["o"], object)],
    ids=["str", "numpy", "list", "tuple", "array", "scalar array", "objects"],
)
def test_forms_of_a_label(model, against):
    assert model.explain("cat", 1, against).against == ("o",)


@pytest.mark.parametrize(
    "position",
    [(0, 2), [0, 2], (np.int64(0), np.int64(2)), hr.Span(0, 2, "X", 0.5)],
    ids=["pair", "list", "numpy", "Span"],
)
def test_forms_of_a_span(model, position):
    found = model.explain("cat", position)
    assert (found.start, found.end) == (0, 2)
    assert found.contributions == model.explain("cat", (0, 2)).contributions


@pytest.mark.parametrize("name", [name for name in ALL if "order" not in name and "missing" not in name])
def test_a_sequence_of_one_position(name):
    model, X = fitted(name)
    (explanation,) = model.explain(X[0][:1])
    right = next(c for c in explanation.contributions if c.column == "right context")
    if "Search" not in name:
        assert right.contribution == pytest.approx(0.0, abs=1e-6)
    assert sum(c.contribution for c in explanation.contributions) == pytest.approx(explanation.log_odds, abs=1e-6)


def test_a_range_is_no_span():
    model = hr.HMM().fit(["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]])
    with pytest.raises(InputError, match=r"position must be a number, a pair \(start, end\), .*; it is range\(0, 2\)"):
        model.explain("cat", range(2))
    assert str(model.explain("cat", np.array([0, 2]))) == str(model.explain("cat", (0, 2)))
