"""Changes of numbers: exact thresholds of trees, and the nearest flip where scores change continuously."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import hedgerow as hr
from builders.counterfactuals import animals, tried
from hedgerow.inspection import counterfactual
from hedgerow.inspection.counterfactuals import readings
from hedgerow.inspection.counterfactuals.readings import whole_reading
from oracles.counterfactuals import nearest_number, smallest_change, variants

X, Y = animals(60, seed=0)
X_NEW, _ = animals(4, seed=1)


def with_number(x, place, column, value):
    changed = copy.deepcopy(x)
    changed[place][column] = value
    return changed


@pytest.fixture(scope="module")
def waves():
    """A number with 200 distinct values, whose label depends on it in bands."""
    rng = np.random.default_rng(0)
    X = [[{"v": float(np.float32(v))} for v in rng.normal(0, 3, 10)] for _ in range(20)]
    return X, [["AB"[int(p["v"]) % 2] for p in x] for x in X]


def test_the_flip_of_a_tree_is_at_the_nearest_of_many_thresholds(waves):
    x, y = waves
    model = hr.TreeCRF(n_rounds=10, order=0, n_jobs=1).fit(x, y)
    (binning,) = model.model_.potential.binnings.values()
    assert len(binning.edges) > 150
    single = [x[0][3:4]]
    (label,) = model.predict_single(single[0])
    found = variants(model, single[0], tried(model, ["v"], missing=True))
    variant, probability = smallest_change(model, found, 0, label)
    result = counterfactual(model, single[0], 0)
    assert result.new_value == float(str(np.float32(variant.new_value)))
    assert result.new_probability == probability
    step = np.float32(result.new_value)
    assert step in binning.edges or np.nextafter(step, np.float32(np.inf)) in binning.edges
    nearer = np.nextafter(step, np.float32(single[0][0]["v"]))
    assert model.predict_single([{"v": float(nearer)}])[0] == label


@pytest.mark.parametrize(
    "estimator",
    [
        hr.HMM(),
        hr.LinearCRF(max_iter=30, n_jobs=1),
        hr.LinearCRF(max_iter=30, scale=False, window=1, n_jobs=1),
        hr.LinearCRF(max_iter=30, features=hr.templates.numbers(), n_jobs=1),
        hr.TreeCRF(n_rounds=5, features=hr.templates.numbers(), n_jobs=1),
        hr.TreeCRF(n_rounds=3, linear=True, n_jobs=1, random_state=0),
        hr.StructuredPerceptron(epochs=3, n_jobs=1, random_state=0),
        hr.StructuredSVM(epochs=3, n_jobs=1, random_state=0),
        hr.MEMM(learner="linear", max_iter=30, n_jobs=1),
        hr.SearchTagger(epochs=2, n_jobs=1, random_state=0),
        hr.OutputCode(base=hr.LinearCRF(max_iter=20), n_jobs=1, random_state=0),
    ],
    ids=str,
)
def test_the_new_number_flips_and_nearer_ones_do_not(estimator):
    numbers = [[{"size": p["size"]} for p in x] for x in X]
    model = estimator.fit(numbers, Y)
    n_flips = 0
    for x in ([{"size": p["size"]} for p in x] for x in X_NEW):
        for position, label in enumerate(model.predict_single(x).tolist()):
            result = counterfactual(model, x, position)
            if result is None or result.new_value is None:
                continue
            place, n_flips = position + result.offset, n_flips + 1
            assert result.value == x[place]["size"]
            after = with_number(x, place, "size", result.new_value)
            assert model.predict_single(after)[position] == result.new_label != label
            codes = [model.classes_.tolist().index(one) for one in (label, result.new_label)]
            before, now = (model.predict_proba([one])[0][position] for one in (x, after))
            assert (result.probability, result.new_probability) == (before[codes[0]], now[codes[1]])
            for share in (0.25, 0.5, 0.75, 0.999):
                nearer = result.value + share * (result.new_value - result.value)
                assert model.predict_single(with_number(x, place, "size", nearer))[position] == label
    assert n_flips > 3


def test_numbers_are_compared_by_their_standard_deviations():
    rng = np.random.default_rng(0)
    X = [[{"metres": float(m), "millimetres": float(n) * 1000} for m, n in rng.normal(0, 1, (10, 2))] for _ in range(9)]
    y = [["high" if p["metres"] + p["millimetres"] / 2000 > 0 else "low" for p in x] for x in X]
    model = hr.LinearCRF(order=0, max_iter=50, n_jobs=1).fit(X, y)
    found = [counterfactual(model, X[0], position) for position in range(5)]
    assert {one.column for one in found} == {"metres"}  # its weight is twice as large for one standard deviation


def test_numbers_without_a_deviation_are_compared_in_their_own_units():
    rng = np.random.default_rng(0)
    X = [rng.normal(0, [1, 1000], (8, 2)) for _ in range(20)]
    y = [["high" if a + b / 1000 > 0 else "low" for a, b in x] for x in X]
    spreads = {}
    for scale in (True, False):
        model = hr.LinearCRF(order=0, scale=scale, max_iter=50, n_jobs=1).fit(X, y)
        spreads[scale] = [whole_reading(model.model_).numbers[name].spread for name in ("x0", "x1")]
    np.testing.assert_allclose(spreads[True], np.concatenate(X).std(axis=0), rtol=1e-5)
    assert spreads[False] == [1, 1]
    two_values = hr.TreeCRF(order=0, n_rounds=2, n_jobs=1).fit([[{"v": 0}, {"v": 1000}]] * 9, [["a", "b"]] * 9)
    assert whole_reading(two_values.model_).numbers["v"].spread == 1


def test_the_bins_of_another_part_of_the_model_have_the_deviation():
    future = hr.FutureMEMM(n_rounds=2, max_future=1, early_stopping=None, n_jobs=1)
    sizes = [[{"size": p["size"]} for p in x] for x in X]
    model = hr.SearchTagger(scale=False, future=future, epochs=1, n_jobs=1, random_state=0).fit(sizes, Y)
    edges = model.model_.potential.future.trees.binnings["size"].edges
    assert whole_reading(model.model_).numbers["size"].spread == pytest.approx(edges.std(dtype=np.float64))


@pytest.mark.parametrize("unit", [1e-4, 1, 1e5, 1e9])
def test_numbers_of_every_size_are_tried_without_a_scale(unit):
    rng = np.random.default_rng(0)
    X = [np.stack([rng.normal(0, unit, 8), np.full(8, unit)], axis=1) for _ in range(40)]
    y = [["high" if v > 0.5 * unit else "low" for v in x[:, 0]] for x in X]
    model = hr.StructuredPerceptron(order=0, scale=False, epochs=5, n_jobs=1, random_state=0).fit(X, y)
    x = np.array([[-0.5 * unit, unit]])
    nearest = nearest_number(model, x, 0, 0, np.linspace(-4, 4, 2001) * unit, to="high")
    found = counterfactual(model, x, 0, to="high")
    assert (found.column, nearest > 0.1 * unit) == ("x0", True)
    assert found.new_value == pytest.approx(nearest, abs=0.005 * unit)


def test_numbers_beyond_the_bins_are_tried_where_others_are_derived():
    rng = np.random.default_rng(0)
    X = [rng.uniform(-2, 2, (8, 1)) for _ in range(60)]
    y = [["up" if t and x[t, 0] - x[t - 1, 0] > 1.5 else "no" for t in range(8)] for x in X]
    model = hr.TreeCRF(features=hr.templates.numbers(), order=0, n_rounds=20, n_jobs=1).fit(X, y)
    x = np.array([[1.9], [1.95], [1.9]])
    nearest = nearest_number(model, x, 1, 0, np.linspace(-4, 4, 4001))
    assert nearest > max(one.max() for one in X)
    found = counterfactual(model, x, 1)
    assert (found.offset, found.new_label) == (0, "up")
    assert found.new_value == pytest.approx(nearest, abs=0.003)


def test_thresholds_of_derived_numbers_are_found():
    rng = np.random.default_rng(0)
    n_flips = 0
    for seed in range(20):
        X = [rng.normal(size=(6, 1)) for _ in range(15)]
        y = [["up" if t and x[t, 0] > x[t - 1, 0] + 0.5 else "no" for t in range(6)] for x in X]
        estimator = (hr.TreeCRF if seed % 2 else hr.MEMM)(features=hr.templates.numbers(), n_rounds=5, n_jobs=1)
        model, x = estimator.set_params(order=seed // 2 % 2).fit(X, y), rng.normal(size=(4, 1)).astype(np.float32)
        nearest = nearest_number(model, x, 2, 0, np.linspace(-3.5, 3.5, 501))
        found = counterfactual(model, x, 2)
        if nearest is None or found.new_value is None:
            continue
        assert found.offset == 0
        assert abs(found.new_value - x[2, 0]) <= abs(nearest - x[2, 0]) + 1e-6
        n_flips += 1
    assert n_flips > 10


@pytest.mark.parametrize("seed", [11, 52, 105, 147])
def test_both_sides_of_a_threshold_are_tried_where_scores_change_between(seed):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(5, 1)) for _ in range(12)]
    y = [["ab"[int(v + rng.normal() > 0)] for v in x[:, 0]] for x in X]
    model = hr.TreeCRF(order=0, linear=True, n_rounds=4, max_leaves=6, n_jobs=1, random_state=0).fit(X, y)
    x = np.array([[1.5]])
    nearest = nearest_number(model, x, 0, 0, np.linspace(-3, 1.5, 2001))
    assert counterfactual(model, x, 0).new_value >= nearest - 1e-6


def test_values_beyond_all_thresholds_and_extreme_numbers():
    model = hr.TreeCRF(n_rounds=5, order=0, n_jobs=1).fit(X, Y)
    for value in (1e30, -1e30, 3.4e38, -3.4e38, 0.0):
        result = counterfactual(model, [{"word": "eel", "size": value, "tags": set()}], 0)
        after = {"word": "eel", "size": value, "tags": set()}
        assert result is not None
        after[result.column] = {result.new_value} if result.kind == "bag" else result.new_value
        assert model.predict_single([after])[0] == result.new_label
    linear = hr.LinearCRF(order=0, max_iter=20, n_jobs=1).fit([[{"v": 3e38}, {"v": -3e38}]], [["a", "b"]])
    result = counterfactual(linear, [{"v": 3e38}], 0)
    assert linear.predict_single([{"v": result.new_value}])[0] == result.new_label == "b"


def test_a_linear_part_of_trees_is_tried_beyond_their_thresholds():
    X = [[{"v": float(v)}] for v in (1, 2)] * 10
    y = [["low"], ["high"]] * 10
    trees, both = (hr.TreeCRF(n_rounds=1, linear=one, n_jobs=1, random_state=0).fit(X, y) for one in (False, True))
    assert whole_reading(trees.model_).numbers["v"].points.size == 0
    assert whole_reading(both.model_).numbers["v"].points.max() > 3


@pytest.mark.parametrize(
    "estimator",
    [
        hr.TreeCRF(n_rounds=3, window=1, n_jobs=1, random_state=0),
        hr.TreeCRF(n_rounds=3, window=1, missing="surrogate", n_jobs=1, random_state=0),
        hr.TreeCRF(n_rounds=3, window=1, missing="published-surrogate", n_jobs=1, random_state=0),
        hr.TreeCRF(n_rounds=3, missing="indicator", n_jobs=1, random_state=0),
        hr.TreeCRF(n_rounds=3, missing="published-indicator", n_jobs=1, random_state=0),
        hr.MEMM(n_rounds=3, window=1, n_jobs=1, random_state=0),
        hr.FutureMEMM(n_rounds=3, max_future=2, early_stopping=None, n_jobs=1, random_state=0),
        hr.OutputCode(base=hr.MEMM(n_rounds=3, random_state=0), code="one-vs-rest", cascade=1, n_jobs=1),
    ],
    ids=lambda one: f"{type(one).__name__} {getattr(one, 'missing', '')}",
)
def test_thresholds_that_no_tree_tests_change_nothing(estimator, monkeypatch, tmp_path):
    """The result is the same if the thresholds between all bins are tried."""
    rng = np.random.default_rng(1)
    x = [[{"v": float(a), "u": float(b)} for a, b in rng.normal(0, 3, (8, 2)).astype(np.float32)] for _ in range(25)]
    y = [["ABC"[int(p["v"] + (i and one[i - 1]["u"])) % 3] for i, p in enumerate(one)] for one in x]
    incomplete = copy.deepcopy(x)
    for one in incomplete:
        one[int(rng.integers(8))]["vu"[int(rng.integers(2))]] = None
    model = estimator.fit(incomplete if estimator.get_params().get("missing") else x, y)
    model.save(tmp_path / "m")
    found = [counterfactual(model, incomplete[i], t) for i in range(2) for t in range(0, 8, 2)]
    monkeypatch.setattr(readings, "_tested", lambda numbers, *_: numbers)
    loaded = hr.load(tmp_path / "m")
    assert found == [counterfactual(loaded, incomplete[i], t) for i in range(2) for t in range(0, 8, 2)]
    assert any(one is not None for one in found)
    n_tried, n_all = (len(whole_reading(one.model_).numbers["v"].steps) for one in (model, loaded))
    assert n_tried < n_all or not isinstance(estimator, hr.MEMM)


@pytest.mark.parametrize("missing", ["surrogate", "published-surrogate"])
def test_thresholds_of_surrogates_are_tried(missing):
    rng = np.random.default_rng(0)
    numbers = [[float(v) for v in row] for row in rng.normal(0, 3, (30, 6)).astype(np.float32)]
    x = [[{"a": v if rng.random() < 0.9 else None, "b": v} for v in row] for row in numbers]
    model = hr.TreeCRF(order=0, n_rounds=2, max_leaves=2, missing=missing, n_jobs=1, random_state=0)
    model.fit(x, [["low" if v < 0 else "high" for v in row] for row in numbers])
    for column, other in (("a", "b"), ("b", "a")):  # trees test one, the other is its surrogate
        found = counterfactual(model, [{column: None, other: -0.5}], 0)
        assert found is not None
        assert (found.column, found.new_label) == (other, "high")
        assert found.new_value > -0.5


def test_a_missing_number_is_filled_where_only_its_indicator_counts():
    rng = np.random.default_rng(0)
    x = [[{"a": None if rng.random() < 0.5 else 1.0 + 0.1 * i} for i in range(6)] for _ in range(20)]
    y = [["lost" if row["a"] is None else "there" for row in one] for one in x]
    model = hr.TreeCRF(order=0, n_rounds=3, max_leaves=2, missing="indicator", n_jobs=1, random_state=0).fit(x, y)
    found = counterfactual(model, [{"a": None}], 0)
    assert found is not None
    assert (found.value, found.new_label) == (None, "there")


def test_a_missing_number_becomes_one_near_the_middle():
    x = [[{"v": 9.0 + i / 10} for i in range(20)]] * 3
    y = [["low"] * 10 + ["high"] * 10] * 3
    for estimator in (
        hr.LinearCRF(order=0, n_jobs=1),
        hr.StructuredSVM(order=0, random_state=0, n_jobs=1),
        hr.TreeCRF(order=0, n_rounds=5, n_jobs=1),
    ):
        model = estimator.fit(x, y)
        (label,) = model.predict_single([{"v": None}])
        found = counterfactual(model, [{"v": None}], 0)
        assert abs(found.new_value - 9.95) < 0.5
        assert model.predict_single([{"v": found.new_value}])[0] == found.new_label != label


def test_bits_read_derived_numbers_as_other_trees_do():
    rng = np.random.default_rng(0)
    x = [[{"v": float(v)} for v in rng.normal(size=6)] for _ in range(40)]
    y = [["first" if not t else "up" if p["v"] > s[t - 1]["v"] else "down" for t, p in enumerate(s)] for s in x]
    base = hr.MEMM(n_rounds=5, random_state=0, n_jobs=1)
    features = hr.templates.numbers()
    trees = copy.deepcopy(base).set_params(features=features).fit(x, y)
    code = hr.OutputCode(base=base, features=features, random_state=0, n_jobs=1).fit(x, y)
    assert len(whole_reading(trees.model_).numbers["v"].points)
    np.testing.assert_array_equal(
        whole_reading(code.model_).numbers["v"].points, whole_reading(trees.model_).numbers["v"].points
    )
