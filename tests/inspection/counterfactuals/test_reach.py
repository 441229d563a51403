"""How far from a position values are tried: as far as a potential reads, and further where labels are linked."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.inspection import counterfactual
from hedgerow.inspection.counterfactuals.readings import whole_reading

RNG = np.random.default_rng(0)
X = [RNG.choice(list("ab"), size=12).tolist() for _ in range(40)]


EVERY_PAIR = [(one, other) for one in (None, "a", "b", "outside") for other in ("a", "b", "outside")]


def labels_of(offset):
    """Each label is the letter at an offset, and "outside" at the ends."""
    return [[x[t + offset] if 0 <= t + offset < len(x) else "outside" for t in range(len(x))] for x in X]


@pytest.mark.parametrize(
    ("estimator", "offset"),
    [
        (hr.LinearCRF(order=0, window=[-3, 0], max_iter=30, n_jobs=1), -3),
        (hr.LinearCRF(order=0, features=hr.templates.words(), max_iter=30, n_jobs=1), 2),
        (hr.LinearCRF(order=0, window=2, induce="mccallum", max_iter=30, n_jobs=1), 2),
        (hr.StructuredPerceptron(order=0, window=2, averaging="vote", n_jobs=1, random_state=0), -2),
        (hr.SearchTagger(order=0, window=(0, 2), n_jobs=1, random_state=0), 2),
        (hr.TreeCRF(order=0, window=3, n_rounds=10, n_jobs=1), 3),
        (hr.TreeCRF(order=0, window=3, linear=True, n_rounds=3, n_jobs=1, random_state=0), -3),
        (hr.MEMM(order=0, window=2, n_rounds=10, n_jobs=1), -2),
        (hr.OutputCode(base=hr.TreeCRF(window=2, n_rounds=10, order=0), order=0, n_jobs=1, random_state=0), -2),
    ],
)
def test_the_only_value_that_matters_is_found(estimator, offset):
    model = estimator.fit(X, labels_of(offset))
    assert whole_reading(model.model_).reach == abs(offset)
    found = counterfactual(model, list("aaaaaaaa"), 4)
    assert (found.offset, found.new_value, found.new_label) == (offset, "b", "b")


def test_label_statistics():
    words = [[letter + str(RNG.integers(0, 40)) for letter in x] for x in X]
    model = hr.TreeCRF(order=0, window=2, n_rounds=10, n_jobs=1, random_state=0).fit(words, labels_of(2))
    assert model.model_.potential.columns.statistics is not None
    found = counterfactual(model, ["a1", "a2", "a3", "a4", "a5"], 1, to="b")
    assert (found.offset, found.new_value[0]) == (2, "b")


def test_numbers_of_a_window():
    X = [RNG.normal(size=(12, 1)) for _ in range(40)]
    y = [["up" if t and x[t] > x[t - 1] else "down" for t in range(len(x))] for x in X]
    model = hr.TreeCRF(order=0, features=hr.templates.numbers(), n_rounds=10, n_jobs=1).fit(X, y)
    x = np.zeros((6, 1))
    x[2], x[3] = 2.4, 2.5  # no other number is as large, so that the one before must change
    found = counterfactual(model, x, 3)
    assert found is not None
    assert whole_reading(model.model_).reach == 5  # the widest change that the template derives


@pytest.mark.parametrize(("bag", "reach"), [(2, 2), (3, 3)])
def test_instance_bags(bag, reach):
    y = [["soon" if "b" in x[t + 1 : t + 1 + bag] else "late" for t in range(len(x))] for x in X]
    estimator = hr.FutureMEMM(order=0, bag=bag, bag_side="after", n_rounds=20, n_jobs=1, random_state=0)
    model = estimator.fit(X, y)
    x = ["a"] * 4 + ["b"] + ["a"] * 4
    assert model.predict_single(x).tolist() == ["late"] * (4 - bag) + ["soon"] * bag + ["late"] * 5
    found = counterfactual(model, x, 4 - bag)  # only the last position of the bag has a b
    assert (found.offset, found.value, found.new_label) == (bag, "b", "late")
    assert whole_reading(model.model_).reach == reach


@pytest.mark.parametrize(
    ("estimator", "reach"),
    [
        (hr.HMM(order=0), 0),
        (hr.HMM(order=1), 5),
        (hr.LinearCRF(order=1, window=2, max_iter=5, n_jobs=1), 7),
        (hr.SearchTagger(epochs=1, random_state=0), 5),
        (hr.TreeCRF(n_rounds=1, features=hr.templates.words(), n_jobs=1), 7),
        (hr.OutputCode(base=hr.TreeCRF(n_rounds=1, order=0), order=0, cascade=1, n_jobs=1, random_state=0), 5),
        (hr.OutputCode(base=hr.TreeCRF(n_rounds=1, order=1), order=0, n_jobs=1, random_state=0), 5),
        (hr.OutputCode(base=hr.TreeCRF(n_rounds=1, order=0), order=0, n_jobs=1, random_state=0), 0),
        (hr.LinearCRF(order=0, constraints=EVERY_PAIR, max_iter=5, n_jobs=1), 5),
    ],
)
def test_linked_labels_add_five_positions(estimator, reach):
    assert whole_reading(estimator.fit(X, labels_of(-1)).model_).reach == reach
