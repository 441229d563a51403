"""The strongest weights by label, against the sorted dict of all weights in the units of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.errors import InputError, NotFittedError
from hedgerow.inspection import weights_by_label
from hedgerow.inspection.weights import strongest_features
from oracles.markup import NASTY, check_html

RNG = np.random.default_rng(0)
WORDS = ["the", "cat", "sat", "on", "a", "mat"]
X: list[list[dict[str, Any]]] = [
    [{"word": str(RNG.choice(WORDS)), "size": float(RNG.integers(9))} for _ in range(n)] for n in (4, 3, 5, 1, 6)
]
Y = [[str(RNG.choice(["D", "N", "V"])) if p["size"] < 6 else p["word"][0].upper() for p in x] for x in X]


def standardised(model):
    """The weights of `state_features_` for a size that is standardised: w (x - mean) / deviation."""
    sizes, weights = [p["size"] for x in X for p in x], model.state_features_
    mean, deviation = (np.mean(sizes), np.std(sizes)) if getattr(model, "scale", True) else (0.0, 1.0)
    found = {}
    for (name, label), weight in weights.items():
        if name.startswith("size"):
            number = name.removesuffix(" outside")
            weight = weight * deviation if number == name else weight - mean * weights.get((number, label), 0.0)
        if abs(weight) > 1e-9:  # otherwise it only cancelled the mean
            found[name, label] = weight
    return found


def by_hand(weights, label, n, sign):
    rows = [(sign * w, name, w) for (name, k), w in weights.items() if k == label and sign * w > 0]
    return sorted((w for _, _, w in rows), key=lambda w: -sign * w)[:n]


@pytest.mark.parametrize(
    "estimator",
    [
        hr.LinearCRF(window=1, max_iter=20, tol=1.0),
        hr.LinearCRF(window=1, max_iter=20, tol=1.0, scale=False),
        hr.StructuredPerceptron(window=1, epochs=3, random_state=0),
        hr.StructuredSVM(epochs=3, random_state=0),
        hr.SearchTagger(epochs=3, random_state=0),
        hr.MEMM(learner="linear", max_iter=20),
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize("n", [1, 3, 1000])
def test_weights_are_those_of_all_features_sorted(estimator, n):
    model = estimator.fit(X, Y)
    found, weights = weights_by_label(model, n=n), standardised(model)
    assert found.labels == tuple(model.classes_.tolist())
    for label in found.labels:
        for side, sign in ((found.top, 1), (found.bottom, -1)):
            assert [w for _, w in side[label]] == pytest.approx(by_hand(weights, label, n, sign), abs=1e-6)
            assert all(weights[name, label] == pytest.approx(w, abs=1e-6) for name, w in side[label])


@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_weights_do_not_depend_on_the_units_of_a_column(factor):
    model = hr.LinearCRF(window=1, solver="lbfgs", n_jobs=1)
    expected = weights_by_label(model.fit(X, Y), n=100)
    other = [[{**p, "size": factor * (p["size"] + 50)} for p in x] for x in X]
    found = weights_by_label(model.fit(other, Y), n=100)
    for side, expected_side in ((found.top, expected.top), (found.bottom, expected.bottom)):
        for label in found.labels:
            weights = dict(expected_side[label])
            assert {name: pytest.approx(w, abs=0.01) for name, w in side[label] if abs(w) > 0.02} == {
                name: w for name, w in weights.items() if abs(w) > 0.02
            }
    strongest = strongest_features(model.model_, 1)
    assert [*strongest.values()] == [max((w for rows in found.top.values() for _, w in rows), key=abs)]


def test_a_note_says_what_weights_of_numbers_mean():
    noted = weights_by_label(hr.LinearCRF(max_iter=5, tol=1.0).fit(X, Y))
    assert str(noted).splitlines()[-1] == "note: weights of numbers are for one standard deviation"
    assert noted.note in noted._repr_html_()
    plain = [hr.LinearCRF(max_iter=5, scale=False).fit(X, Y), hr.LinearCRF(max_iter=5).fit(["ab"], [["P", "Q"]])]
    for model in plain:
        assert weights_by_label(model).note is None


def test_conjunctions_are_named():
    x, y = ["ab", "ba", "aa", "bb"] * 5, [list("PQ"), list("QP"), list("QQ"), list("PP")] * 5
    model = hr.LinearCRF(window=1, induce="mccallum", max_iter=60).fit(x, y)
    names = {name for label in "PQ" for name, _ in weights_by_label(model, n=100).top[label]}
    assert any(" & " in name for name in names)
    assert names <= {name for name, _ in model.state_features_}


def test_models_without_weights_say_so():
    for estimator in (hr.HMM(), hr.TreeCRF(n_rounds=1)):
        with pytest.raises(InputError, match="has no weights; fit a LinearCRF"):
            weights_by_label(estimator.fit(X, Y))
    code = hr.OutputCode(base=hr.LinearCRF(), n_jobs=1).fit(X, Y)
    with pytest.raises(InputError, match="no weights of labels, because each bit of the code words has a model of its"):
        weights_by_label(code)
    voted = hr.StructuredPerceptron(averaging="vote", epochs=1).fit(X, Y)
    with pytest.raises(InputError, match="with averaging='vote' has no single set of weights"):
        weights_by_label(voted)
    with pytest.raises(NotFittedError):
        weights_by_label(hr.LinearCRF())
    model = hr.LinearCRF(max_iter=3, tol=1.0).fit(X, Y)
    with pytest.raises(InputError, match="must be a fitted estimator, but got Model"):
        weights_by_label(model.model_)
    with pytest.raises(InputError, match=r"n must be an integer of at least 1; it is 1\.5"):
        weights_by_label(model, n=1.5)


def test_the_result_is_shown_as_text_html_and_frame():
    model = hr.LinearCRF(max_iter=9, tol=1.0).fit(
        [[{NASTY: p["word"]} for p in x] for x in X], [[f"{k}{NASTY}" for k in labels] for labels in Y]
    )
    found = weights_by_label(model, n=2)
    check_html(found._repr_html_())
    n_rows = sum(len(found.top[k]) + len(found.bottom[k]) for k in found.labels)
    assert len([line for line in str(found).splitlines() if line]) == len(found.labels) + n_rows
    frame = found.to_frame()
    assert len(frame) == n_rows
    for label, own in frame.groupby("label"):
        expected = [w for _, w in (*found.top[label], *found.bottom[label][::-1])]
        assert own["weight"].tolist() == expected == sorted(expected, reverse=True)


def test_many_labels_are_shown_in_part():
    words = [f"w{i}" for i in range(50)]
    model = hr.StructuredPerceptron(epochs=2, random_state=0).fit([words], [[f"L{i}" for i in range(50)]])
    found = weights_by_label(model)
    assert len(found.top) == 50
    assert str(found).splitlines()[-1] == "… 30 more labels"


@pytest.mark.parametrize("scale", [True, False])
def test_nothing_is_outside_at_the_position_itself(scale):
    x = [[{"size": 5.0 + i, "w": "ab"[i % 2]} for i in range(4)], [{"size": 9.0 - i, "w": "a"} for i in range(3)]]
    y = [["P", "Q", "P", "Q"], ["Q", "Q", "P"]]
    model = hr.LinearCRF(window=1, scale=scale, max_iter=20, tol=1.0).fit(x, y)
    shown = weights_by_label(model, n=100)
    names = {name for side in (shown.top, shown.bottom) for rows in side.values() for name, _ in rows}
    for found in (names, {name for name, _ in model.state_features_}):
        assert "size" in found
        assert {name for name in found if "outside" in name} <= {
            f"{column}[{offset}] outside" for column in ("size", "w") for offset in ("-1", "+1")
        }
