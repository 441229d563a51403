"""Scores by position and by sequence, the confusion table, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.errors import InputError
from oracles.markup import NASTY, check_html

TRUE = [["a", "b", "b"], ["c"], ["a", "a"]]
PRED = [["a", "b", "a"], ["c"], ["b", "a"]]


def test_hand_case() -> None:
    assert hr.metrics.accuracy(TRUE, PRED) == 4 / 6
    assert hr.metrics.sequence_accuracy(TRUE, PRED) == 1 / 3
    confusion = hr.metrics.confusion(TRUE, PRED)
    assert confusion.labels == ("a", "b", "c")
    assert confusion.counts.tolist() == [[2, 1, 0], [1, 1, 0], [0, 0, 1]]


def test_confusion_reads_as_a_table() -> None:
    assert str(hr.metrics.confusion(TRUE, PRED, labels=["c", "b", "a"])).splitlines() == [
        "true \\ predicted  c  b  a  all",
        "c                 1  0  0    1",
        "b                 0  1  1    2",
        "a                 0  1  2    3",
        "all               1  2  3    6",
    ]
    many = hr.metrics.confusion([["a"] * 1234], [["b"] * 1234])
    assert str(many).splitlines()[-1].split() == ["all", "0", "1,234", "1,234"]


def test_confusion_has_an_html_form() -> None:
    found = hr.metrics.confusion([["a", NASTY]], [["a", "a"]])
    check_html(found._repr_html_())
    assert found._repr_html_().count("<tr>") == 4
    labels = [f"{i:03}" for i in range(200)]
    many = hr.metrics.confusion([labels], [labels])
    assert many._repr_html_().count("<tr>") == 51
    assert "… 150 more" in many._repr_html_()


@pytest.mark.parametrize("form", [list, tuple, np.array, lambda labels: np.array(labels, dtype=object)])
def test_every_form_of_sequence(form) -> None:  # type: ignore[no-untyped-def]
    true, pred = [form(y) for y in TRUE], [form(y) for y in PRED]
    assert hr.metrics.accuracy(true, PRED) == hr.metrics.accuracy(TRUE, pred) == 4 / 6
    assert hr.metrics.sequence_accuracy(true, pred) == 1 / 3
    assert hr.metrics.confusion(true, pred).counts.sum() == 6


labellings = st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=6), min_size=1, max_size=5)


@settings(deadline=None)
@given(labellings)
def test_equals_scikit_learn(pairs: list[list[tuple[int, int]]]) -> None:
    true = [np.array([t for t, _ in sequence], dtype=int) for sequence in pairs]
    pred = [np.array([p for _, p in sequence], dtype=int) for sequence in pairs]
    flat = [pair for sequence in pairs for pair in sequence]
    if not flat:
        assert hr.metrics.accuracy(true, pred) == 0.0
        return
    flat_true, flat_pred = zip(*flat, strict=True)
    assert hr.metrics.accuracy(true, pred) == pytest.approx(sklearn.metrics.accuracy_score(flat_true, flat_pred))
    expected = sklearn.metrics.confusion_matrix(flat_true, flat_pred, labels=range(4))
    assert hr.metrics.confusion(true, pred, labels=range(4)).counts.tolist() == expected.tolist()
    whole = [t.tolist() == p.tolist() for t, p in zip(true, pred, strict=True)]
    assert hr.metrics.sequence_accuracy(true, pred) == pytest.approx(np.mean(whole))


def test_nothing_to_score_is_zero() -> None:
    assert hr.metrics.accuracy([], []) == 0.0
    assert hr.metrics.accuracy([[]], [[]]) == 0.0
    assert hr.metrics.sequence_accuracy([], []) == 0.0
    assert hr.metrics.sequence_accuracy([[]], [[]]) == 1.0
    assert hr.metrics.confusion([[]], [[]]).counts.shape == (0, 0)


METRICS = [
    hr.metrics.accuracy,
    hr.metrics.sequence_accuracy,
    hr.metrics.confusion,
    hr.metrics.span_f1,
    hr.metrics.span_report,
]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        ([["O"], ["O", "O"]], [["O"], ["O"]], "sequence 1 has 2 labels in y_true but 1 in y_pred"),
        ([["O"]], [["O"], ["O"]], "y_true has 1 sequence but y_pred has 2"),
        (["O", "O"], ["O", "O"], "y_true: sequence 0 is 'O' of type str"),
        ([["O"]], ["O"], "y_pred: sequence 0 is 'O' of type str"),
        ([1, 2], [1, 2], "y_true: sequence 0 is 1 of type int"),
        (3, [["O"]], "y_true is of type int"),
        ([np.array([["O"]])], [["O"]], "y_true: sequence 0 is .* of type ndarray"),
        (
            [["O"], [], ["O", None]],
            [["O"], [], ["O", "O"]],
            "y_true: sequence 2, position 1: the label is None",
        ),
        ([["O"]], [[["O"]]], "y_pred: sequence 0, position 0: the label is .* of type list"),
        ([[1]], [["1"]], "labels are integers in y_true but strings in y_pred"),
    ],
)
def test_refusals(metric, y_true, y_pred, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=message):
        metric(y_true, y_pred)


def test_confusion_wants_every_label_once() -> None:
    with pytest.raises(InputError, match=r"lacks 1 labels that occur \('c'\)"):
        hr.metrics.confusion(TRUE, PRED, labels=["a", "b"])
    with pytest.raises(InputError, match="4 entries but 3 distinct"):
        hr.metrics.confusion(TRUE, PRED, labels=["a", "b", "c", "a"])


def test_confusion_pairs_are_those_that_occur() -> None:
    pairs = hr.metrics.confusion(TRUE, PRED).pairs
    assert pairs == (("a", "a", 2), ("a", "b", 1), ("b", "a", 1), ("b", "b", 1), ("c", "c", 1))


def test_confusion_of_many_labels_needs_little_memory() -> None:
    true = [[f"{i:06}" for i in range(60_000)]]  # a matrix would have 29 GB
    confusion = hr.metrics.confusion(true, [["000001"] * 60_000])
    assert len(confusion.pairs) == 60_000
    assert str(confusion).splitlines()[:2] == ["true    predicted  positions", "000000     000001          1"]
