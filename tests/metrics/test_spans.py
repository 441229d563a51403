"""Spans and their scores: hand cases, a naive version of conlleval's rules, and seqeval."""

from __future__ import annotations

import json
import os
import pickle
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import seqeval.metrics
import seqeval.scheme
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

import hedgerow as hr
from hedgerow.errors import InputError
from oracles import metrics as oracle

SCHEMES = ["IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU"]
CONLLEVAL = ["IOB1", "IOB2", "IOE1", "IOE2"]
LETTERS = {**dict.fromkeys(CONLLEVAL, "BIEO"), "IOBES": "BIESO", "BILOU": "BILUO"}
STRICT = {"IOB1": "BIO", "IOB2": "BIO", "IOE1": "IEO", "IOE2": "IEO", "IOBES": "BIESO", "BILOU": "BILUO"}
TYPES = ["X", "Y", "Y-Z", ""]
random_cases = settings(max_examples=30, deadline=None)


def any_labels(letters: str, types: list[str] = TYPES) -> st.SearchStrategy[list[str]]:
    """Label sequences of these letters, mostly ill-formed."""
    label = st.builds(
        lambda letter, kind: letter if letter == "O" or not kind else f"{letter}-{kind}",
        st.sampled_from(letters),
        st.sampled_from(types),
    )
    return st.lists(label, max_size=12)


@st.composite
def labellings(draw: st.DrawFn, letters: str, types: list[str] = TYPES) -> tuple[list[list[str]], list[list[str]]]:
    """True and predicted sequences that agree in length, and often in labels."""
    true = draw(st.lists(any_labels(letters, types), min_size=1, max_size=4))
    other = any_labels(letters, types).filter(bool)
    pred = []
    for labels in true:
        noise = draw(other)
        changed = draw(st.lists(st.booleans(), min_size=len(labels), max_size=len(labels)))
        pred.append([noise[t % len(noise)] if c else y for t, (y, c) in enumerate(zip(labels, changed, strict=True))])
    return true, pred


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("", []),
        ("O O", []),
        ("B-X I-X O B-X", [(0, 2, "X"), (3, 4, "X")]),
        ("B-X B-X", [(0, 1, "X"), (1, 2, "X")]),
        ("O I-X I-X", [(1, 3, "X")]),  # I after O starts
        ("B-X I-Y I-Y", [(0, 1, "X"), (1, 3, "Y")]),  # so does another type
        ("I-X B-X I-X", [(0, 1, "X"), (1, 3, "X")]),
        ("I-X E-X E-X I-X", [(0, 2, "X"), (2, 3, "X"), (3, 4, "X")]),
        ("B-X E-X I-X", [(0, 2, "X"), (2, 3, "X")]),
        ("I-X E-X B-X I-X", [(0, 4, "X")]),  # conlleval runs on from E to B
        ("B I O I", [(0, 2, ""), (3, 4, "")]),  # no type
        ("B I-X", [(0, 1, ""), (1, 2, "X")]),
        ("B-X-1 I-X-1 I-X-2", [(0, 2, "X-1"), (2, 3, "X-2")]),  # a dash in the type
        ("B-X O-X I-X", [(0, 1, "X"), (2, 3, "X")]),  # O with a type is outside all the same
    ],
)
@pytest.mark.parametrize("scheme", CONLLEVAL)
def test_spans_by_hand_conlleval(labels: str, expected: list[tuple[int, int, str]], scheme: str) -> None:
    assert hr.metrics.spans(labels.split(), scheme) == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("B-X I-X E-X B-X E-X S-X", [(0, 3, "X"), (3, 5, "X"), (5, 6, "X")]),
        ("S-X S-X I-X", [(0, 1, "X"), (1, 2, "X"), (2, 3, "X")]),
        ("B-X B-X O E-X", [(0, 1, "X"), (1, 2, "X"), (3, 4, "X")]),
        ("B-X I-X S-X", [(0, 2, "X"), (2, 3, "X")]),
        ("B-X E-Y", [(0, 1, "X"), (1, 2, "Y")]),
        ("I-X E-X E-X", [(0, 2, "X"), (2, 3, "X")]),
    ],
)
def test_spans_by_hand_one_position_letters(labels: str, expected: list[tuple[int, int, str]]) -> None:
    assert hr.metrics.spans(labels.split(), "IOBES") == expected
    renamed = labels.replace("E-", "L-").replace("S-", "U-").split()
    assert hr.metrics.spans(np.array(renamed), "BILOU") == expected


@pytest.mark.parametrize("scheme", SCHEMES)
@random_cases
@given(data=st.data())
def test_spans_equal_the_slow_twin(scheme: str, data: st.DataObject) -> None:
    labels = data.draw(any_labels(LETTERS[scheme]))
    assert hr.metrics.spans(labels, scheme) == oracle.spans(labels, scheme)


@pytest.mark.parametrize(
    ("scheme", "letters"),
    [("IOB1", "BIO"), ("IOB2", "BIO"), ("IOE1", "IEO"), ("IOE2", "IEO"), ("IOBES", "BIESO")],
)
@random_cases
@given(data=st.data())
def test_spans_equal_seqeval_on_any_labels(scheme: str, letters: str, data: st.DataObject) -> None:
    labels = data.draw(any_labels(letters, ["X", "Y", "Y-Z"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [(start, last + 1, kind) for kind, start, last in get_entities(labels)]
    assert hr.metrics.spans(labels, scheme) == expected


@pytest.mark.parametrize("scheme", SCHEMES)
@random_cases
@given(data=st.data())
def test_strict_spans_equal_the_slow_twin(scheme: str, data: st.DataObject) -> None:
    labels = data.draw(any_labels(STRICT[scheme]))
    assert hr.metrics.spans(labels, scheme, strict=True) == oracle.strict_spans(labels, scheme)


@pytest.mark.parametrize("scheme", ["IOB2", "IOE2", "IOBES", "BILOU"])
@random_cases
@given(data=st.data())
def test_strict_report_equals_seqeval(scheme: str, data: st.DataObject) -> None:
    true, pred = data.draw(labellings(STRICT[scheme], ["X", "Y", "Y-Z"]))
    report = hr.metrics.span_report(true, pred, scheme=scheme, strict=True)
    assert hr.metrics.span_f1(true, pred, scheme=scheme, strict=True) == report.micro.f1
    if not report.by_type:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = seqeval.metrics.classification_report(
            true, pred, mode="strict", scheme=getattr(seqeval.scheme, scheme), output_dict=True, zero_division=0
        )
    found = {**report.by_type, "micro avg": report.micro, "macro avg": report.macro}
    assert {*found, "weighted avg"} == set(expected)
    for name, scores in found.items():
        other = expected[name]
        assert scores.support == other["support"]
        assert (scores.precision, scores.recall, scores.f1) == pytest.approx(
            (other["precision"], other["recall"], other["f1-score"])
        )


@random_cases
@given(labels=any_labels("BIO", ["X", "Y"]))
def test_strict_iob1_equals_seqeval_on_what_it_knows(labels: str) -> None:
    """seqeval starts a span at an I behind a misplaced B, and never ends one between B-X and B-Y: not compared."""
    pairs = list(pairwise(["O", *labels, "O"]))
    if any(b[0] == "B" and (a == "O" or a[1:] != b[1:]) for a, b in pairs):
        return
    strict = seqeval.scheme.Entities([labels], seqeval.scheme.IOB1).entities[0]
    assert hr.metrics.spans(labels, "IOB1", strict=True) == [(one.start, one.end, one.tag) for one in strict]


@pytest.mark.parametrize("scheme", SCHEMES)
@random_cases
@given(pieces=st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["", "X", "Y"])), max_size=6))
def test_well_formed_labels_give_their_spans_back(scheme: str, pieces: list[tuple[int, str]]) -> None:
    labels = oracle.write(pieces, scheme)
    ends = np.cumsum([length for length, _ in pieces])
    expected = [(int(end) - n, int(end), kind) for end, (n, kind) in zip(ends, pieces, strict=True) if kind]
    assert hr.metrics.spans(labels, scheme) == expected
    assert hr.metrics.spans(labels, scheme, strict=True) == expected
    # seqeval's strict IOE1 loses the first chunk of E-Y I-Y, so it is no peer there.
    if scheme != "IOE1":
        strict = seqeval.scheme.Entities([labels], getattr(seqeval.scheme, scheme)).entities[0]
        assert expected == [(entity.start, entity.end, entity.tag) for entity in strict]


@pytest.mark.parametrize("scheme", SCHEMES)
@random_cases
@given(data=st.data())
def test_report_equals_the_slow_twin(scheme: str, data: st.DataObject) -> None:
    true, pred = data.draw(labellings(LETTERS[scheme]))
    report = hr.metrics.span_report(true, pred, scheme=scheme)
    expected = oracle.conlleval(true, pred, scheme)
    counts = {name: (s.support, s.found, s.right) for name, s in report.by_type.items()}
    assert counts == expected
    assert list(counts) == sorted(counts)
    total = tuple(map(sum, zip(*expected.values(), strict=True))) if expected else (0, 0, 0)
    assert (report.micro.support, report.micro.found, report.micro.right) == total
    assert report.accuracy == hr.metrics.accuracy(true, pred)
    for scores in [*report.by_type.values(), report.micro]:
        assert scores.precision == (scores.right / scores.found if scores.found else 0)
        assert scores.recall == (scores.right / scores.support if scores.support else 0)
        both = scores.precision + scores.recall
        assert scores.f1 == pytest.approx(2 * scores.precision * scores.recall / both if both else 0)


@random_cases
@given(labellings("BIO", ["X", "Y"]))
def test_report_equals_seqeval(y: tuple[list[list[str]], list[list[str]]]) -> None:
    true, pred = y
    report = hr.metrics.span_report(true, pred)
    assert hr.metrics.span_f1(true, pred) == report.micro.f1
    for average, scores in [("micro", report.micro), ("macro", report.macro)]:
        if not report.by_type:
            assert scores == hr.metrics.SpanScores(0.0, 0.0, 0.0, 0, 0, 0)
            continue
        p, r, f, _ = seqeval.metrics.sequence_labeling.precision_recall_fscore_support(
            true, pred, average=average, zero_division=0
        )
        assert (scores.precision, scores.recall, scores.f1) == pytest.approx((p, r, f))


TRUE = [["B-NP", "I-NP", "B-VP", "O"], ["B-NP", "B-NP", "O", "B-PP"]]
PRED = [["B-NP", "I-NP", "I-VP", "O"], ["B-NP", "I-NP", "B-ADVP", "B-PP"]]


def test_report_by_hand() -> None:
    # True: NP 3, VP 1, PP 1. Found: NP 2, VP 1, ADVP 1, PP 1. Right: one NP, the VP (I starts it) and the PP.
    report = hr.metrics.span_report(TRUE, PRED)
    assert report.micro == hr.metrics.SpanScores(3 / 5, 3 / 5, 3 / 5, 5, 5, 3)
    assert report.by_type["NP"] == hr.metrics.SpanScores(1 / 2, 1 / 3, 2 / 5, 3, 2, 1)
    assert report.by_type["ADVP"] == hr.metrics.SpanScores(0.0, 0.0, 0.0, 0, 1, 0)
    assert report.macro.precision == pytest.approx((1 / 2 + 1 + 1 + 0) / 4)
    assert report.macro.recall == pytest.approx((1 / 3 + 1 + 1 + 0) / 4)
    assert report.macro.f1 == pytest.approx((2 / 5 + 1 + 1 + 0) / 4)
    assert report.accuracy == 5 / 8
    assert hr.metrics.span_f1(TRUE, PRED) == 3 / 5


def test_report_reads_as_a_table_and_as_json() -> None:
    report = hr.metrics.span_report(TRUE, PRED)
    assert str(report).splitlines() == [
        "8 positions, accuracy 62.50%; 5 spans, 5 found, 3 right",
        "type   precision   recall       F1  spans  found  right",
        "ADVP       0.00%    0.00%    0.00%      0      1      0",
        "NP        50.00%   33.33%   40.00%      3      2      1",
        "PP       100.00%  100.00%  100.00%      1      1      1",
        "VP       100.00%  100.00%  100.00%      1      1      1",
        "micro     60.00%   60.00%   60.00%      5      5      3",
        "macro     62.50%   58.33%   60.00%      5      5      3",
    ]
    again = json.loads(json.dumps(report.as_dict()))
    assert again["micro"] == {
        "precision": 0.6,
        "recall": 0.6,
        "f1": 0.6,
        "support": 5,
        "found": 5,
        "right": 3,
    }
    assert again["by_type"]["NP"]["support"] == 3
    assert pickle.loads(pickle.dumps(report)) == report


@pytest.mark.skipif("HEDGEROW_DATA" not in os.environ, reason="needs HEDGEROW_DATA with conll2000")
def test_published_counts_of_conll2000() -> None:
    """The shared task's test section has 47,377 tokens and 23,852 phrases, 12,422 of them NP."""
    path = Path(os.environ["HEDGEROW_DATA"]) / "conll2000" / "test.txt"
    if not path.exists():
        pytest.skip(f"{path.name} of conll2000 is not in HEDGEROW_DATA")
    sentences = path.read_text(encoding="utf-8").strip().split("\n\n")
    labels = [[line.split()[2] for line in sentence.splitlines()] for sentence in sentences]
    report = hr.metrics.span_report(labels, labels)
    assert (report.positions, report.micro.support, report.by_type["NP"].support) == (47_377, 23_852, 12_422)
    assert report.micro.f1 == report.accuracy == 1.0


def test_a_sequence_ends_its_spans() -> None:
    split = hr.metrics.span_report([["B-X"], ["I-X"]], [["B-X"], ["I-X"]])
    assert split.micro.support == 2
    assert hr.metrics.span_report([["B-X", "I-X"]], [["B-X", "I-X"]]).micro.support == 1


def test_the_same_place_in_another_sequence_is_no_match() -> None:
    assert hr.metrics.span_f1([["B-X"], ["O"]], [["O"], ["B-X"]]) == 0.0


def test_no_spans_is_zero() -> None:
    assert hr.metrics.span_f1([["O"]], [["O"]]) == 0.0
    assert hr.metrics.span_f1([], []) == 0.0
    assert "(no type)" in str(hr.metrics.span_report([["B"]], [["O"]]))


@pytest.mark.parametrize(
    ("scheme", "label"),
    [("IOB2", "S-X"), ("IOE1", "U"), ("IOBES", "L-X"), ("BILOU", "E-X"), ("IOB2", "NP-B"), ("IOB2", "NN")],
)
def test_a_letter_of_another_scheme_is_refused(scheme: str, label: str) -> None:
    with pytest.raises(
        InputError,
        match=f"y_pred: sequence 1, position 1: label '{label}' does not begin with a letter of {scheme}",
    ):
        hr.metrics.span_f1([["O"], ["O", "O"]], [["O"], ["O", label]], scheme=scheme)


def test_spans_refuse_what_they_cannot_read() -> None:
    with pytest.raises(InputError, match="scheme is 'IOB'; choose one of IOB1, IOB2"):
        hr.metrics.spans(["O"], "IOB")
    with pytest.raises(InputError, match="scheme is 3; choose one of"):
        hr.metrics.spans(["O"], 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="y_true: labels are integers; spans need strings"):
        hr.metrics.span_f1([[1, 2]], [[1, 2]])
    with pytest.raises(InputError, match="labels: sequence 0 is 'B-X' of type str"):
        hr.metrics.spans("B-X")


@pytest.mark.parametrize(
    ("name", "meant"), [("BIO", "IOB2"), ("bio", "IOB2"), ("BIOES", "IOBES"), ("iobes", "IOBES"), ("BILUO", "BILOU")]
)
def test_other_names_of_schemes_are_refused_with_ours(name: str, meant: str) -> None:
    with pytest.raises(InputError, match=f"scheme is '{name}'; write '{meant}'$"):
        hr.metrics.span_report([["O"]], [["O"]], scheme=name)


@pytest.mark.parametrize(
    ("labels", "cure"),
    [
        (["O", "S-X", "B-X", "E-X"], r"letter of IOB2 \(B, I, O\) and a dash; .*: they have the letters of IOBES$"),
        (["U-X", "L-X"], r"name the scheme the labels are written in: they have the letters of BILOU$"),
        (["U-X", "E-X"], r"no scheme has the letters of all labels$"),
        (["NN", "DT"], r"labels such as 'NN' mark no spans; labels that do are written 'B-NP', 'I-NP', 'O'$"),
    ],
)
def test_a_wrong_label_is_refused_with_the_scheme_that_fits(labels: list[str], cure: str) -> None:
    with pytest.raises(InputError, match=cure):
        hr.metrics.spans(labels)


def test_strict_reading_refuses_letters_of_other_schemes() -> None:
    assert hr.metrics.spans(["B-X", "E-X"]) == [(0, 2, "X")]
    with pytest.raises(InputError, match=r"label 'E-X' does not begin with a letter of IOB2 \(B, I, O\)"):
        hr.metrics.spans(["B-X", "E-X"], strict=True)
    assert hr.metrics.span_f1([["B-PER", "O"]], [["I-PER", "O"]], strict=True) == 0.0
