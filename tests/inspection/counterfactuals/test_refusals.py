"""What the function refuses: each message has the subject, the rule, what was given and the cure."""

from __future__ import annotations

import re

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.errors import InputError, NotFittedError
from hedgerow.inspection import counterfactual

X, Y = ["cat", "dog"], [["-", "a", "-"], ["-", "o", "-"]]
MODEL = hr.HMM(order=0).fit(X, Y)


def refused(message, *arguments, model=MODEL):
    with pytest.raises(InputError, match=re.escape(message)):
        counterfactual(model, *arguments)


def test_the_model():
    with pytest.raises(NotFittedError, match="this HMM is not fitted yet"):
        counterfactual(hr.HMM(), "cat", 0)
    refused(
        "counterfactual: the model must be a fitted estimator, but got Model; pass the estimator",
        "cat",
        0,
        model=MODEL.model_,
    )
    refused("counterfactual: the model must be a fitted estimator, but got str", "cat", 0, model="model")


@pytest.mark.parametrize("position", [3, -1, True, np.True_, 1.0, "1", None, (0, 1), 10**30, np.array(1)])
def test_the_position(position):
    rule = "position must be an integer from 0 to 2, because the sequence has 3 positions; it is "
    refused(f"counterfactual: {rule}{position!r}", "cat", position)


def test_a_sequence_of_one_position():
    refused("integer from 0 to 0, because the sequence has 1 position; it is 1", "c", 1)


@pytest.mark.parametrize("to", ["z", 1, 0, True, b"o", ["o"], np.array(["o", "a"]), float("nan"), {}])
def test_the_label(to):
    refused(f"counterfactual: to must be a label of the model ('-', 'a', 'o'), but it is {to!r}", "cat", 1, to)


def test_labels_of_other_types():
    numbers = hr.HMM(order=0).fit(X, [[0, 1, 0], [0, 2, 0]])
    refused("to must be a label of the model (0, 1, 2), but it is True", "cat", 1, True, model=numbers)
    refused("to must be a label of the model (0, 1, 2), but it is 2.0", "cat", 1, 2.0, model=numbers)
    assert counterfactual(numbers, "cat", 1, np.int32(2)).new_label == 2
    bools = hr.HMM(order=0).fit(X, [[False, True, False]] * 2)
    refused("to must be a label of the model (False, True), but it is 0", "cat", 1, 0, model=bools)
    assert counterfactual(bools, "cat", np.int64(1), np.False_).new_label is False
    many = hr.HMM(order=0).fit(["abcdefghijkl"], [[f"label {i:02}" for i in range(12)]])
    refused("'label 09', ...), but it is 'label'", "a", 0, "label", model=many)


def test_the_predicted_label():
    refused(
        "counterfactual: to must differ from what the model predicts at position 1, which is 'a'; leave it out to flip "
        "the label to any other",
        *("cat", 1, "a"),
    )


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (["cat", "dog"], "counterfactual takes one sequence, but x is a list of 2 sequences; change them one by one"),
        (hr.Sequences(X), "counterfactual takes one sequence, but there are 2; change them one by one"),
        ({"symbol": "c"}, "counterfactual takes a list of positions, but x is a dict, which is one position"),
        ("", "sequence 0 is empty"),
        ([], "sequence 0 is empty"),
        (None, "sequence 0 is of type None"),
        ([{"other": "c"}], "X must have columns of training, but it has none of them"),
        (np.zeros((2, 2)), "X must have columns of training, but it has none of them"),
        ([1.0, 2.0], "position"),
    ],
    ids=range(9),
)
def test_the_sequence(x, message):
    with pytest.raises(InputError, match=re.escape(message)):
        counterfactual(MODEL, x, 0)


def test_a_corpus(tmp_path):
    corpus = hr.encode(list(zip(X, Y, strict=True)), tmp_path / "corpus")
    for some in (corpus, corpus[0], corpus[1:2]):
        refused("counterfactual: x must be a raw sequence, but it is encoded; give the sequence before", some, 0)


def test_missing_values_are_refused_as_in_prediction(tmp_path):
    rows = [[{"word": letter} for letter in word] for word in X]
    corpus = hr.encode(list(zip(rows, Y, strict=True)), tmp_path / "corpus")
    model = hr.LinearCRF(max_iter=5).fit(corpus, corpus.y)
    refused("1 missing value in column 'word'", [{"word": None}], 0, model=model)
