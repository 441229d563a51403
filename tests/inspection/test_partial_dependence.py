"""Partial dependence against predict_proba of lists in which every position has the value."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import hedgerow as hr
from hedgerow.errors import InputError, NotFittedError
from hedgerow.inspection import PartialDependence, partial_dependence
from oracles.changed_columns import mean_probabilities
from oracles.markup import NASTY, SVG, check_html, parsed_svg

mpl.use("Agg")

RNG = np.random.default_rng(1)
X: list[list[dict[str, Any]]] = [
    [{"size": float(v), "word": "ab"[int(v) % 2]} for v in RNG.integers(0, 9, size=n)] for n in (3, 1, 5, 4)
]
Y = [["big" if p["size"] > 4 else "odd" if p["word"] == "b" else "even" for p in x] for x in X]

ESTIMATORS = [
    hr.TreeCRF(window=1, n_rounds=3, n_jobs=1),
    hr.LinearCRF(max_iter=10, tol=1.0, n_jobs=1),
    hr.LinearCRF(features=hr.templates.numbers(), max_iter=10, tol=1.0, n_jobs=1),
    hr.HMM(),
    hr.MEMM(n_rounds=2, n_jobs=1),
    hr.SearchTagger(epochs=2, random_state=0, n_jobs=1),
    hr.OutputCode(base=hr.TreeCRF(n_rounds=2), random_state=0, n_jobs=1),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_probabilities_are_means_of_predictions(estimator):
    model = estimator.fit(X, Y)
    found = partial_dependence(model, X, "size", grid=[6.0, 0.5, 20.0])
    assert found.grid.tolist() == [0.5, 6.0, 20.0]
    assert found.labels == ("big", "even", "odd")
    for value, row in zip(found.grid.tolist(), found.probabilities.tolist(), strict=True):
        assert row == pytest.approx(mean_probabilities(model, X, "size", value), abs=1e-6)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1, atol=1e-5)
    some = partial_dependence(model, X, "size", label=["odd", "big"], grid=[6.0, 0.5, 20.0])
    np.testing.assert_array_equal(some.probabilities, found.probabilities[:, [2, 0]])
    assert partial_dependence(model, hr.Sequences(X), "size", label="odd", grid=2).labels == ("odd",)


def test_the_grid_has_quantiles_of_the_column():
    x = [np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [np.nan]])]
    model = hr.HMM().fit(x, [list("ABABAB")])
    assert partial_dependence(model, x, "x0").grid.tolist() == [0, 1, 2, 3, 4]
    assert partial_dependence(model, x, "x0", grid=3).grid.tolist() == [0, 2, 4]
    assert partial_dependence(model, x, "x0", grid=np.int64(2)).grid.tolist() == [0, 4]
    with pytest.raises(InputError, match="every value of column 'x0' is missing"):
        partial_dependence(model, [np.full((2, 1), np.nan)], "x0")


def test_the_grid_reaches_values_that_are_rare():
    x = [np.concatenate([np.zeros(97), [1.0, 2.0, 3.0]])[:, None]]
    model = hr.HMM().fit(x, [["dark"] * 97 + ["light"] * 3])
    assert partial_dependence(model, x, "x0").grid.tolist() == [0, 1, 2, 3]
    assert partial_dependence(model, x, "x0", grid=3).grid.tolist() == [0, 2, 3]


def test_a_column_without_a_value_is_refused():
    model = hr.HMM().fit([[{"n": 1.0}, {"n": 2.0}]], [["A", "B"]])
    with pytest.raises(InputError, match="column 'n' has no value in X that is not missing; give it at least one"):
        partial_dependence(model, [[{"n": float("nan")}, {"n": None}]], "n")


def test_threads_do_not_change_results():
    model = hr.TreeCRF(n_rounds=3).fit(X, Y)
    one = partial_dependence(model.set_params(n_jobs=1), X, "size").probabilities
    np.testing.assert_array_equal(partial_dependence(model.set_params(n_jobs=2), X, "size").probabilities, one)


def test_bad_arguments_are_refused():
    model = hr.HMM().fit(X, Y)
    with pytest.raises(NotFittedError):
        partial_dependence(hr.HMM(), X, "size")
    with pytest.raises(InputError, match="must be a fitted estimator, but got Model"):
        partial_dependence(model.model_, X, "size")
    with pytest.raises(InputError, match="'word' is categorical; use permutation_importance"):
        partial_dependence(model, X, "word")
    with pytest.raises(InputError, match=r"column must be a column of X, .*; it is 'x'"):
        partial_dependence(model, X, "x")
    with pytest.raises(InputError, match="training did not have"):
        partial_dependence(model, [[{**p, "new": 1.0} for p in x] for x in X], "new")
    with pytest.raises(InputError, match=r"label must be a label of the model .* it is 'x'"):
        partial_dependence(model, X, "size", label="x")
    with pytest.raises(InputError, match="the list is empty"):
        partial_dependence(model, X, "size", label=[])
    for grid in (0, "ab", [], [np.inf], [1e300], -1):
        with pytest.raises(InputError, match="grid must be an integer of at least 1"):
            partial_dependence(model, X, "size", grid=grid)
    with pytest.raises(InputError, match="X must be raw sequences"):
        partial_dependence(model, model.model_.encode(X), "size")


def test_the_result_is_shown_as_text_html_svg_frame_and_plot():
    x = [[{NASTY: p["size"]} for p in x] for x in X]
    y = [[f"{NASTY}{label}" for label in labels] for labels in Y]
    found = partial_dependence(hr.HMM().fit(x, y), x, NASTY, grid=4)
    assert len(str(found).splitlines()) == 1 + len(found.grid)
    check_html(found._repr_html_())
    parsed_svg(found.to_svg())
    frame = found.to_frame()
    assert frame["probability"].tolist() == found.probabilities.ravel().tolist()
    axes = found.plot()
    axes.figure.canvas.draw()
    assert len(axes.lines) == 3
    mpl.pyplot.close("all")


@pytest.mark.parametrize("name", ["label", "probability", "value"])
def test_no_column_name_hides_another_column_of_the_frame(name):
    x = [[{name: p["size"]} for p in x] for x in X]
    found = partial_dependence(hr.HMM().fit(x, Y), x, name, label="big", grid=[1.0, 2.0])
    frame = found.to_frame()
    assert list(frame.columns) == ["value", "label", "probability"]
    assert frame["value"].tolist() == [1.0, 2.0]
    assert frame["label"].tolist() == ["big", "big"]


@pytest.mark.parametrize(
    ("low", "high", "lowest_tick"),
    [(0.02, 0.04, 0.0), (0.9, 0.95, 0.9), (0.5, 0.5, None), (0.0, 0.0, None), (1.0, 1.0, None)],
)
def test_the_axis_is_scaled_to_the_curve(low, high, lowest_tick):
    found = PartialDependence("x", np.array([1.0, 2.0]), ("rare",), np.array([[low], [high]]))
    root = parsed_svg(found.to_svg())
    heights = [float(one.get("cy")) for one in root.iter(f"{SVG}circle")]
    if lowest_tick is None:
        assert heights[0] == heights[1]
        return
    assert heights[0] - heights[1] > 80  # of 220
    ticks = [float(one.text) for one in root.iter(f"{SVG}text") if one.get("text-anchor") == "end"]
    assert min(ticks) == lowest_tick


def test_many_labels_are_shown_in_part():
    x = [np.arange(30.0)[:, None]]
    found = partial_dependence(hr.HMM(order=0).fit(x, [[f"L{i}" for i in range(30)]]), x, "x0", grid=3)
    assert found.probabilities.shape == (3, 30)
    assert len(str(found).splitlines()[0].split()) == 9
