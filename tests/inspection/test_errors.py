"""The error analysis against plain loops over spans and positions, and against the metrics."""

from __future__ import annotations

import copy
import math
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.errors import InputError, NotFittedError, UnseenLabelWarning
from hedgerow.inspection.error_analysis import errors_of
from hedgerow.inspection.error_groups import errors_by_frequency, errors_by_length, wilson_interval
from hedgerow.inspection.labelling import Labelling, ScoredSpans
from inspection.test_labelling import ESTIMATORS, X_TEST, Y_TEST, X, Y
from oracles import errors as oracle
from oracles.markup import NASTY, check_html

SCHEMES = {"IOB2": "BIO", "IOBES": "BIESO", "BILOU": "BILUO"}


def spanning_model(scheme: str) -> tuple[hr.HMM, list[str]]:
    """A model whose labels are all those of a scheme with three types, one of them empty."""
    letters = [letter for letter in SCHEMES[scheme] if letter != "O"]
    labels = ["O", *(f"{letter}-{kind}" for letter in letters for kind in "XY"), letters[0]]
    return hr.HMM().fit([["w"] * len(labels)], [labels]), labels


MODELS = {scheme: spanning_model(scheme) for scheme in SCHEMES}


def with_predictions(model: hr.HMM, gold: list[list[str]], predicted: list[list[str]]) -> Labelling:
    """A labelling whose predictions are given."""
    labelling = Labelling.of(model, [["w"] * len(labels) for labels in gold], gold)
    assert labelling.spans is not None
    code = {label: i for i, label in enumerate(model.classes_.tolist())}
    codes = np.array([code[label] for labels in predicted for label in labels], np.int32)
    spans = labelling.spans.rules.spans(codes, labelling.starts)
    scored = ScoredSpans(spans, np.ones(len(spans.firsts)), labelling.spans.rules)
    return replace(labelling, predicted=codes, spans=scored)


@st.composite
def labellings(draw: st.DrawFn) -> tuple[str, list[list[str]], list[list[str]]]:
    """(scheme, gold, predicted): any labels, so that many sequences are ill-formed."""
    scheme = draw(st.sampled_from(sorted(SCHEMES)))
    label = st.sampled_from(MODELS[scheme][1])
    pairs = draw(st.lists(st.lists(st.tuples(label, label, st.booleans()), min_size=1, max_size=9), min_size=1))
    gold = [[one for one, _, _ in sequence] for sequence in pairs]
    return scheme, gold, [[one if same else other for one, other, same in sequence] for sequence in pairs]


@settings(max_examples=150, deadline=None)
@given(labellings())
def test_kinds_are_those_of_plain_loops_and_add_up(case: tuple[str, list[list[str]], list[list[str]]]) -> None:
    scheme, gold, predicted = case
    found = errors_of(with_predictions(MODELS[scheme][0], gold, predicted))
    assert found.spans is not None
    sides = [oracle.span_kinds(one, other, scheme) for one, other in zip(gold, predicted, strict=True)]
    for counts, side in ((found.spans.gold, 0), (found.spans.predicted, 1)):
        listed = [kind for sequence in sides for kind in sequence[side]]
        assert counts == {kind: listed.count(kind) for kind in counts}
    kinds = [kind for pair in zip(gold, predicted, strict=True) for kind in oracle.position_kinds(*pair, scheme)]
    assert [found.kinds[code] for code in found.kinds_by_position] == kinds
    report = hr.metrics.span_report(gold, predicted, scheme=scheme)
    assert (sum(found.spans.gold.values()), sum(found.spans.predicted.values())) == (
        report.micro.support,
        report.micro.found,
    )
    assert found.spans.gold["right"] == found.spans.predicted["right"] == report.micro.right
    assert found.spans.gold["type"] == found.spans.predicted["type"]
    assert found.accuracy == pytest.approx(report.accuracy)
    assert found.confusion == hr.metrics.confusion(gold, predicted)


@settings(max_examples=60, deadline=None)
@given(labellings())
def test_types_are_confused_where_boundaries_agree(case: tuple[str, list[list[str]], list[list[str]]]) -> None:
    scheme, gold, predicted = case
    found = errors_of(with_predictions(MODELS[scheme][0], gold, predicted)).span_confusion
    assert found is not None
    pairs = [
        (one[2], other[2])
        for own, others in zip(gold, predicted, strict=True)
        for one in hr.metrics.spans(own, scheme)
        for other in hr.metrics.spans(others, scheme)
        if one[:2] == other[:2]
    ]
    assert {(a, b): n for a, b, n in found.pairs} == {pair: pairs.count(pair) for pair in pairs}
    assert [n for *_, n in found.pairs] == sorted((n for *_, n in found.pairs), reverse=True)
    assert found.counts.sum() == len(pairs)


def test_kinds_by_hand() -> None:
    gold = [["B-X", "I-X", "O", "B-X", "O", "B-Y", "I-Y", "O", "B-X", "O"]]
    predicted = [["B-X", "O", "O", "B-Y", "O", "O", "B-X", "O", "O", "B-Y"]]
    found = errors_of(with_predictions(MODELS["IOB2"][0], gold, predicted))
    assert found.spans is not None
    assert found.spans.gold == {"right": 0, "boundary": 1, "type": 1, "both": 1, "missed": 1}
    assert found.spans.predicted == {"right": 0, "boundary": 1, "type": 1, "both": 1, "spurious": 1}
    names = ["boundary", "boundary", "right", "type", "right", "both", "both", "right", "missed", "spurious"]
    assert [found.kinds[code] for code in found.kinds_by_position] == names
    assert found.span_confusion is not None
    assert found.span_confusion.pairs == (("X", "Y", 1),)


def test_an_ill_formed_label_in_a_right_span_is_a_wrong_label() -> None:
    found = errors_of(with_predictions(MODELS["IOB2"][0], [["O", "B-X"]], [["O", "I-X"]]))
    assert found.spans is not None
    assert found.spans.gold["right"] == 1
    assert [found.kinds[code] for code in found.kinds_by_position] == ["right", "label"]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator(name: str) -> None:
    model = copy.deepcopy(ESTIMATORS[name]).fit(X, Y)
    found = hr.inspection.errors(model, X_TEST, Y_TEST)
    predicted = model.predict(X_TEST)
    assert found.accuracy == pytest.approx(model.score(X_TEST, Y_TEST))
    report = hr.metrics.span_report(Y_TEST, predicted)
    assert found.spans is not None
    assert sum(found.spans.gold.values()) == report.micro.support
    assert sum(found.spans.predicted.values()) == report.micro.found
    check_html(found._repr_html_())


def test_worst_sequences() -> None:
    model = hr.HMM().fit(X, Y)
    found = hr.inspection.errors(model, X_TEST, Y_TEST)
    expected = []
    for i, (gold, predicted) in enumerate(zip(Y_TEST, model.predict(X_TEST), strict=True)):
        wrong = tuple(t for t in range(len(gold)) if gold[t] != predicted[t])
        if wrong:
            expected.append((i, len(gold), wrong))
    expected.sort(key=lambda one: (-len(one[2]), one[0]))
    assert found.worst(1000) == expected
    assert found.worst(2) == expected[:2]
    assert found.worst(0) == []
    with pytest.raises(InputError, match="n must be an integer of at least 0"):
        found.worst(-1)


def table(found: Any) -> dict[str, tuple[int, int]]:
    assert found is not None
    return {row.group: (row.positions, row.wrong) for row in found.rows}


def random_dicts(seed: int, n: int, words: str) -> list[list[dict[str, Any]]]:
    """Positions with a word and a shape that may be missing or absent, a number that may be missing, and a bag."""
    rng = np.random.default_rng(seed)

    def position() -> dict[str, Any]:
        values: dict[str, Any] = {"word": str(rng.choice(list(words))), "size": float(rng.integers(3))}
        values["tags"] = [str(tag) for tag in sorted(set(rng.choice(list(words), 2).tolist()))]
        values["shape"] = str(rng.choice(list(words)))
        for name in ("shape", "size", "tags"):
            if rng.random() < 0.2:
                values[name] = None
        if rng.random() < 0.2:
            del values["shape"]
        return values

    return [[position() for _ in range(rng.integers(1, 6))] for _ in range(n)]


@pytest.mark.parametrize("missing", ["impute", "indicator"])
@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_plain_loops(seed: int, missing: str) -> None:
    train, test = random_dicts(seed, 12, "bcd"), random_dicts(100 + seed, 10, "abcde")
    rng = np.random.default_rng(seed)
    y, y_test = ([rng.choice(["P", "Q", "R"], len(x)).tolist() for x in some] for some in (train, test))
    model = hr.LinearCRF(n_jobs=1, missing=missing).fit(train, y)
    found = hr.inspection.errors(model, test, y_test)
    predicted = model.predict(test)
    wrong = [a != b for own, other in zip(y_test, predicted, strict=True) for a, b in zip(own, other, strict=True)]
    positions = [position for x in test for position in x]

    known_tags = {tag for x in train for position in x for tag in position["tags"] or []}
    unknown = {name: oracle.unknown(train, test, name) for name in ("word", "shape")}
    unknown["tags"] = [any(tag not in known_tags for tag in position["tags"] or []) for position in positions]
    lost = {name: [position.get(name, 0) is None for position in positions] for name in ("shape", "size", "tags")}
    for marked, given_table in ((unknown, found.by_unknown), (lost, found.by_missing)):
        anywhere = [any(one) for one in zip(*marked.values(), strict=True)]
        expected = {"(no column)": [not one for one in anywhere], **marked}
        if sum(map(any, marked.values())) > 1:
            expected["(some column)"] = anywhere
        counts = {name: oracle.counts_where(mask, wrong) for name, mask in expected.items()}
        assert table(given_table) == {name: pair for name, pair in counts.items() if pair[0]}
        first = [name for name in ("(no column)", "(some column)") if counts.get(name, (0, 0))[0]]
        columns = [column.name for column in hr.Sequences(test).columns if counts.get(column.name, (0, 0))[0]]
        rest = sorted(columns, key=lambda name: (-counts[name][1], columns.index(name)))
        assert [row.group for row in given_table.rows] == [*first, *rest]

    assert table(found.by_label) == {
        label: oracle.counts_where([own == label for labels in y_test for own in labels], wrong) for label in "PQR"
    }
    words = [position["word"] for position in positions]
    frequent = {"1": (1, 1), "2 to 3": (2, 3), "4 to 10": (4, 10), "11 to 100": (11, 100)}
    counts = {
        name: oracle.counts_where([low <= words.count(word) <= high for word in words], wrong)
        for name, (low, high) in frequent.items()
    }
    assert table(found.by_frequency["word"]) == {name: pair for name, pair in counts.items() if pair[0]}
    assert sorted(found.by_frequency) == ["shape", "word"]


def test_columns_that_others_are_derived_from() -> None:
    words, y = [["the", "cat", "sat"], ["a", "dog"]], [["D", "N", "V"], ["D", "N"]]
    model = hr.LinearCRF(features=hr.templates.words(), n_jobs=1).fit(words, y)
    found = hr.inspection.errors(model, [["the", "bird"]], [["D", "V"]])
    assert {name: pair[0] for name, pair in table(found.by_unknown).items()} == {
        "(no column)": 1,
        "symbol": 1,
    }


@given(st.integers(0, 60), st.integers(1, 60))
def test_wilson_intervals_solve_their_equation(wrong: int, positions: int) -> None:
    wrong = min(wrong, positions)
    assert wilson_interval(wrong, positions) == pytest.approx(oracle.wilson(wrong, positions), abs=1e-9)
    low, high = wilson_interval(wrong, positions)
    assert 0 <= low <= wrong / positions <= high <= 1


def test_wilson_interval_by_the_textbook() -> None:
    assert wilson_interval(1, 10) == pytest.approx((0.0179, 0.4042), abs=1e-4)
    assert all(map(math.isnan, wilson_interval(0, 0)))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_lengths_fall_into_groups_of_their_names(lengths: list[int], random: Any) -> None:
    starts = np.concatenate([[0], np.cumsum(lengths)])
    wrong = np.array([random.random() < 0.5 for _ in range(starts[-1])], np.bool_)
    found = errors_by_length(starts, wrong)
    length_of = np.repeat(lengths, lengths)
    for row in found.rows:
        low, _, high = row.group.partition(" to ")
        own = (length_of >= int(low)) & (length_of <= int(high or low))
        assert (row.positions, row.wrong) == (own.sum(), (own & wrong).sum())
    assert sum(row.positions for row in found.rows) == starts[-1]
    assert len(found) <= 5


def test_lengths_are_in_groups_of_equally_many_sequences() -> None:
    lengths = list(range(1, 11))
    found = errors_by_length(np.concatenate([[0], np.cumsum(lengths)]), np.zeros(55, np.bool_))
    assert [row.group for row in found.rows] == ["1 to 2", "3 to 4", "5 to 6", "7 to 8", "9 to 10"]


def test_frequencies_have_a_last_group() -> None:
    codes = np.array([0] * 1001 + [1] * 1000 + [-1, -2], np.int32)
    found = errors_by_frequency(codes, 2, np.zeros(len(codes), np.bool_))
    assert table(found) == {"101 to 1,000": (1000, 0), "1,001 or more": (1001, 0)}


def test_labels_that_training_never_saw_are_wrong() -> None:
    model = hr.HMM().fit([["the", "cat"], ["it"]], [["B-NP", "I-NP"], ["O"]])
    with pytest.warns(UnseenLabelWarning):
        found = hr.inspection.errors(model, [["the", "cat"], ["it"]], [["B-VP", "I-VP"], ["?"]])
    assert found.accuracy == 0
    assert table(found.by_label) == {"B-VP": (1, 1), "I-VP": (1, 1), "?": (1, 1)}
    assert found.spans is not None
    assert found.spans.gold["type"] == 1
    assert found.span_confusion is not None
    assert found.span_confusion.pairs == (("VP", "NP", 1),)
    assert [found.kinds[code] for code in found.kinds_by_position] == ["type", "type", "label"]


def test_labels_without_spans() -> None:
    X, y = ["ab", "b"], [[1, 2], [2]]
    found = hr.inspection.errors(hr.HMM().fit(X, y), X, [[1, 1], [2]])
    assert (found.spans, found.span_confusion) == (None, None)
    assert found.kinds_by_position.tolist() == [0, 1, 0]
    assert found.kinds_by_position.dtype == np.uint8
    assert "1 wrong, accuracy 66.67%" in str(found)


def test_gold_labels_that_are_all_the_same() -> None:
    found = hr.inspection.errors(hr.HMM().fit(["ab"], [["A", "B"]]), ["aa"], [["A", "A"]])
    assert table(found.by_label) == {"A": (2, int(found.wrong.sum()))}


def test_no_sequences() -> None:
    model = hr.HMM().fit(X, Y)
    with pytest.raises(InputError, match="errors needs at least one sequence, but X is empty; pass sequences"):
        hr.inspection.errors(model, [], [])
    found = errors_of(Labelling.of(model, [], []))  # as the report calls it
    assert (found.accuracy, found.worst(), found.confusion.pairs) == (0.0, [], ())
    assert [
        len(part) for part in (found.by_label, found.by_length, found.by_unknown or (), found.by_missing or ())
    ] == [
        0,
        0,
        0,
        0,
    ]
    assert "0 positions" in str(found)
    check_html(found._repr_html_())


def test_iterators_are_read_once() -> None:
    model = hr.HMM().fit(X, Y)
    assert str(hr.inspection.errors(model, iter(X_TEST), iter(Y_TEST))) == str(
        hr.inspection.errors(model, X_TEST, Y_TEST)
    )


def test_encoded_sequences_have_no_unknown_values(tmp_path: Any) -> None:
    encoded = hr.encode(zip(X, Y, strict=True), tmp_path / "words.corpus")
    model = hr.HMM().fit(encoded, encoded.y)
    found, expected = hr.inspection.errors(model, encoded, encoded.y), hr.inspection.errors(model, X, Y)
    assert found.by_unknown is None
    assert found.by_label == expected.by_label
    assert found.by_frequency == expected.by_frequency
    assert str(found) == str(expected)


def test_many_labels_need_no_square_matrix() -> None:
    model, n = hr.HMM().fit(["ab"], [[0, 1]]), 10_000
    with pytest.warns(UnseenLabelWarning):
        labelling = Labelling.of(model, ["ab" * (n // 2)], [list(range(n))])
    tracemalloc.start()
    found = errors_of(labelling)
    text = str(found)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n / 4
    assert (len(found.confusion.pairs), len(found.by_label)) == (n, n)
    assert len(text) < 4000


def test_texts_are_escaped() -> None:
    X, y = [[{NASTY: "a", "b": None}, {NASTY: NASTY, "b": "c"}]], [[f"B-{NASTY}", "O"]]
    model = hr.LinearCRF(n_jobs=1, missing="impute").fit(X, y)
    found = hr.inspection.errors(model, [[{NASTY: "new", "b": None}, {NASTY: "a", "b": "c"}]], y)
    check_html(found._repr_html_())
    for part in (found.by_label, found.by_unknown, found.by_missing, found.spans):
        assert part is not None
        check_html(part._repr_html_())
    assert "\x1b" not in str(found)


def test_frames() -> None:
    found = hr.inspection.errors(hr.HMM().fit(X, Y), X_TEST, Y_TEST)
    frame = found.by_label.to_frame()
    assert frame["wrong"].sum() == found.wrong.sum()
    assert frame["positions"].sum() == len(found.wrong)
    assert found.spans is not None
    assert found.spans.to_frame()["kind"].tolist()[-1] == "all"


def test_bad_input() -> None:
    model = hr.HMM().fit(X, Y)
    with pytest.raises(InputError, match="pass y"):
        hr.inspection.errors(model, X, None)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        hr.inspection.errors(model, X, Y[:-1])
    with pytest.raises(InputError, match="not its model_"):
        hr.inspection.errors(model.model_, X, Y)  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        hr.inspection.errors(hr.HMM(), X, Y)
    with pytest.raises(InputError, match="X has no sequence, but y has"):
        hr.inspection.errors(model, [], Y)
