"""Contributions of beam searches against the best of all label sequences."""

from __future__ import annotations

import math
from itertools import product

import pytest

import hedgerow as hr
from builders.explanations import ONLINE, data

CONTEXTS = ("left context", "labels inside", "right context")
DIRECTIONS = ["left-to-right", "right-to-left"]


def model_of(direction, order, *, kinds=("w", "number"), **options):
    (X, y), dev = data(kinds, n=25), data(kinds, seed=2, n=10)
    given = ONLINE | {"beam": 1000, "order": order, "direction": direction, "epochs": 4} | options
    return hr.SearchTagger(**given).fit(X, y, *dev), data(kinds, seed=1, n=4)[0]


def attribute_score(model, x, t, label):
    """The weights that users see times the values, and the bias."""
    shown, total = model.state_features_, model.intercept_[label]
    for column, offset in product(x[t], (-1, 0, 1)):
        place = column + (f"[{offset:+d}]" if offset else "")
        if not 0 <= t + offset < len(x):
            total += shown.get((f"{place} outside", label), 0.0)
            continue
        value = x[t + offset][column]
        is_text = isinstance(value, str)
        total += shown.get((f"{place}:{value}" if is_text else place, label), 0.0) * (1.0 if is_text else value)
    return total


def gram_score(model, path, t):
    """The weights of the label n-grams that the search adds at position t."""
    total, shown = 0.0, model.transition_features_
    for n in range(1, model.order + 1):
        around = range(t - n, t + 1) if model.direction == "left-to-right" else range(t, t + n + 1)
        total += shown.get(tuple(path[s] if 0 <= s < len(path) else None for s in around), 0.0)
    return total


def best(model, x, start, labels, allowed=lambda path: True):
    """(score of the best label sequence with these labels, [attributes, n-grams] by position)."""
    found = []
    for path in product(model.classes_.tolist(), repeat=len(x)):
        if path[start : start + len(labels)] == labels and allowed(path):
            parts = [(attribute_score(model, x, t, path[t]), gram_score(model, path, t)) for t in range(len(x))]
            found.append((sum(map(sum, parts)), parts))
    return max(found, default=(-math.inf, []))


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_parts_are_those_of_the_best_label_sequences(direction, order):
    model, X = model_of(direction, order)
    n_contexts = 0
    for x in [x[:4] for x in X]:
        for start, end in [(s, e) for s in range(len(x)) for e in (s + 1, s + 2) if e <= len(x)]:
            explanation = model.explain(x, (start, end))
            one, one_parts = best(model, x, start, explanation.labels)
            other, other_parts = best(model, x, start, explanation.against)
            scale = model.temperature_
            assert scale != 1
            assert explanation.log_odds == pytest.approx((one - other) / scale, abs=1e-4)
            differences = [
                [(a - b) / scale for a, b in zip(*pair, strict=True)]
                for pair in zip(one_parts, other_parts, strict=True)
            ]
            sums = [sum(pair) for pair in differences]
            attributes = sum(differences[t][0] for t in range(start, end))
            grams = [differences[t][1] for t in range(start, end)]
            left, right = sum(sums[:start]), sum(sums[end:])
            if direction == "left-to-right":
                left, inside = left + grams[0], sum(grams[1:])
            else:
                right, inside = right + grams[-1], sum(grams[:-1])
            found = {c.column: c.contribution for c in explanation.contributions if c.column in CONTEXTS}
            own = sum(c.contribution for c in explanation.contributions if c.column not in CONTEXTS)
            assert own == pytest.approx(attributes, abs=1e-4)
            assert found["left context"] == pytest.approx(left, abs=1e-4)
            assert found["right context"] == pytest.approx(right, abs=1e-4)
            assert found.get("labels inside", 0.0) == pytest.approx(inside, abs=1e-4)
            n_contexts += abs(left) > 0.01 or abs(right) > 0.01
    assert (n_contexts > 0) is (order > 0)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_first_and_last_positions_have_labels_on_one_side_only(direction):
    model, X = model_of(direction, 2)
    for x in X:
        for t, side in ((0, "left context"), (len(x) - 1, "right context")):
            found = next(c for c in model.explain(x, t).contributions if c.column == side)
            starts_there = (t == 0) is (direction == "left-to-right")
            if not starts_there:  # where a search starts, n-grams know the start
                assert found.contribution == pytest.approx(0.0, abs=1e-6)


def test_a_temperature_divides_all_parts():
    model, X = model_of("left-to-right", 1)
    calibrated = hr.calibrate(model, *data(("w", "number"), seed=3, n=20))
    factor = model.temperature_ / calibrated.temperature_
    assert factor != 1
    for x in X:
        for t in range(len(x)):
            plain = model.explain(x, t)
            found = calibrated.explain(x, t, plain.against[0])
            assert found.log_odds == pytest.approx(plain.log_odds * factor, abs=1e-5)
            assert {c[:3]: c.contribution for c in found.contributions} == pytest.approx(
                {c[:3]: c.contribution * factor for c in plain.contributions}, abs=1e-5
            )


def test_a_label_that_the_beam_never_finds_has_infinite_log_odds():
    pairs = [(None, "A"), ("A", "A"), ("A", "B"), ("B", "C"), ("C", "A")]
    X = [[{"w": w} for w in word] for word in ("abc", "aabc", "abca", "aab")]
    y = [[c["w"].upper() for c in x] for x in X]
    model = hr.SearchTagger(order=1, constraints=pairs, **ONLINE).fit(X, y)
    x = X[0]
    assert model.explain(x, 0, "C").log_odds == math.inf
    assert model.explain(x, (0, 2), ["A", "C"]).log_odds == math.inf
    explanation = model.explain(x, 1)
    assert math.isfinite(explanation.log_odds)
    assert explanation.against == ("A",)


def test_forbidden_neighbours_in_a_span_are_inside_of_it():
    X = [["a", "b", "c", "d"], ["b", "c", "d", "a"]] * 5
    y = [["B-X", "I-X", "O", "B-X"], ["B-X", "I-X", "I-X", "O"]] * 5
    model = hr.SearchTagger(constraints="IOB2", **ONLINE).fit(X, y)
    for against, column in ((["O", "I-X"], "labels inside"), (["I-X", "I-X"], "left context")):
        found = model.explain(X[1], (0, 2), against)
        assert {c.column: c.contribution for c in found.contributions if math.isinf(c.contribution)} == {
            column: math.inf
        }


def test_the_explanations_of_a_sequence_have_the_note_once():
    model, X = model_of("left-to-right", 1)
    found = model.explain(X[0])
    for shown in (str(found), found._repr_html_()):
        assert shown.count("the log-odds compare the best label sequences") == 1
    assert str(found).endswith(f"note: {found[0].note}")


def test_values_of_future_features_are_shown():
    X = ["abz", "bab", "zab", "baz"] * 5
    y = [["+" if "z" in x[t + 1 :] else "-" for t in range(3)] for x in X]
    future = hr.FutureMEMM(order=0, random_state=0)
    model = hr.SearchTagger(future=future, order=1, random_state=0).fit(X, y)
    encoded = model.model_.encode(["abbz"])
    values = model.model_.potential.future.values(encoded)
    for t in range(4):
        for c in model.explain("abbz", t).contributions:
            if c.column == "future feature 1":
                assert (c.offset, c.value) == (0, pytest.approx(values[0][t], abs=1e-6))
    assert any(c.column == "future feature 1" for c in model.explain("abbz", 0).contributions)
