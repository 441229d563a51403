"""Bins of probabilities against plain loops, and a model whose probabilities are true."""

from __future__ import annotations

import copy
import math
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.errors import InputError, NotFittedError, UnseenLabelWarning
from hedgerow.inspection import reliability
from hedgerow.inspection.labelling import Labelling
from hedgerow.inspection.reliability import binned, reliability_of
from inspection.test_labelling import X_TEST, Y_TEST, X, Y
from oracles import trust
from oracles.markup import NASTY, check_html

mpl.use("Agg")


def numbers(found):
    """The bins as the oracle has them."""
    shares = zip(found.counts.tolist(), found.mean_probabilities.tolist(), found.shares_right.tolist(), strict=True)
    return [(n, *(None if math.isnan(value) else value for value in values)) for n, *values in shares]


def check(found, expected):
    bins, error = expected
    for one, other in zip(numbers(found), bins, strict=True):
        assert one == pytest.approx(other)
    assert found.expected_calibration_error == pytest.approx(error)


@given(
    st.lists(
        st.tuples(st.floats(0, 1) | st.sampled_from([0.0, 0.1, 0.3, 0.7, 1.0]), st.booleans()), min_size=1, max_size=30
    ),
    st.integers(1, 12),
)
def test_bins_are_those_of_plain_loops(cases, n_bins):
    chances, right = zip(*cases, strict=True)
    found = binned(np.array(chances), np.array(right), np.arange(n_bins + 1) / n_bins)
    check(found, trust.reliability(chances, right, n_bins))
    assert found.counts.sum() == len(cases)


@pytest.mark.parametrize("spans", [False, True])
def test_predictions_of_a_model(spans):
    model = hr.LinearCRF(n_jobs=1).fit(X, Y)
    chances, right = [], []
    if spans:
        for found, gold in zip(model.predict_spans(X_TEST), Y_TEST, strict=True):
            chances += [span.probability for span in found]
            right += [tuple(span)[:3] in hr.metrics.spans(gold) for span in found]
    else:
        for labels, table, gold in zip(model.predict(X_TEST), model.predict_proba(X_TEST), Y_TEST, strict=True):
            chances += [
                float(row[model.classes_.tolist().index(label)]) for label, row in zip(labels, table, strict=True)
            ]
            right += (labels == np.array(gold)).tolist()
    found = reliability(model, X_TEST, Y_TEST, spans=spans, n_bins=7)
    assert found.of == ("span" if spans else "label")
    assert found.edges.tolist() == [i / 7 for i in range(8)]
    check(found, trust.reliability(chances, right, 7))
    twin = reliability_of(Labelling.of(model, X_TEST, Y_TEST), spans=spans, n_bins=7)
    assert str(twin) == str(found)


@pytest.fixture(scope="module")
def drawn():
    """An HMM of order 0, and other sequences whose labels are drawn with the probabilities that it learned from."""
    rng = np.random.default_rng(0)
    chances = rng.random(26)
    letters = [rng.integers(26, size=10) for _ in range(4000)]
    X = ["".join(chr(97 + i) for i in x) for x in letters]
    y = [np.where(rng.random(10) < chances[x], "yes", "no") for x in letters]
    return hr.HMM(order=0, n_jobs=1).fit(X[:2000], y[:2000]), X[2000:], y[2000:]


def test_true_probabilities_have_no_error(drawn):
    model, X, y = drawn
    assert reliability(model, X, y).expected_calibration_error < 0.015
    wrong = [np.where(labels == "yes", "no", "yes") for labels in y]
    assert reliability(model, X, wrong).expected_calibration_error > 0.2


def test_calibration_mends_probabilities_that_are_too_certain(drawn):
    model, X, y = drawn
    certain = copy.copy(model)
    certain._set_model(replace(model.model_, temperature=0.3))
    assert reliability(certain, X, y).expected_calibration_error > 0.1
    mended = hr.calibrate(certain, X[:1000], y[:1000])
    assert mended.model_.temperature == pytest.approx(1, abs=0.05)
    assert reliability(mended, X[1000:], y[1000:]).expected_calibration_error < 0.02


def test_scores_that_are_no_probabilities_have_a_note():
    model = hr.StructuredPerceptron(n_jobs=1, random_state=0).fit(X, Y)
    raw, calibrated = (reliability(m, X_TEST, Y_TEST) for m in (model, hr.calibrate(model, X_TEST, Y_TEST)))
    assert "not calibrated probabilities" in str(raw)
    assert "not calibrated probabilities" in raw._repr_html_()
    assert calibrated.note is None
    assert "note" not in str(calibrated)


def test_threads_and_the_order_of_sequences_change_nothing():
    model = hr.HMM(n_jobs=1).fit(X, Y)
    order = np.random.default_rng(1).permutation(len(X_TEST))
    for spans in (False, True):
        expected = numbers(reliability(model, X_TEST, Y_TEST, spans=spans))
        permuted = reliability(model, [X_TEST[i] for i in order], [Y_TEST[i] for i in order], spans=spans)
        assert numbers(permuted) == expected
        assert numbers(reliability(model.set_params(n_jobs=2), X_TEST, Y_TEST, spans=spans)) == expected


def test_text_html_and_plot():
    model = hr.HMM().fit(["ab", "ba"], [[NASTY, "b"], ["b", NASTY]])
    found = reliability(model, ["ab"], [[NASTY, NASTY]], n_bins=2)
    lines = str(found).splitlines()
    assert lines[0].split() == ["probability", "positions", "mean", "right"]
    assert lines[-2].split()[:4] == ["0.50", "to", "1.00", "2"]
    assert lines[-1].startswith("expected calibration error 0.")
    check_html(found._repr_html_())
    frame = found.to_frame()
    assert frame[["low", "high", "count"]].to_numpy().tolist() == [[0.0, 0.5, 0.0], [0.5, 1.0, 2.0]]
    np.testing.assert_array_equal(frame["mean_probability"], found.mean_probabilities)
    np.testing.assert_array_equal(frame["share_right"], found.shares_right)
    axes = found.plot()
    assert found.plot(axes) is axes
    diagonal, drawn = axes.get_lines()[:2]
    assert diagonal.get_label() == "perfectly calibrated"
    assert diagonal.get_xdata().tolist() == diagonal.get_ydata().tolist() == [0, 1]
    assert drawn.get_xdata().tolist() == found.mean_probabilities[1:].tolist()
    assert drawn.get_ydata().tolist() == [0.5]


def test_no_sequence_and_unseen_labels():
    model = hr.HMM().fit(X, Y)
    with pytest.raises(InputError, match="reliability needs at least one sequence, but X is empty; pass sequences"):
        reliability(model, [], [])
    found = reliability_of(Labelling.of(model, [], []))  # as the report calls it
    assert found.counts.tolist() == [0] * 10
    assert math.isnan(found.expected_calibration_error)
    str(found)
    check_html(found._repr_html_())
    with pytest.warns(UnseenLabelWarning):
        assert reliability(model, [["Ann"]], [["new"]], n_bins=1).shares_right.tolist() == [0.0]


def test_bad_input_is_refused():
    model = hr.HMM().fit(X, Y)
    for n_bins in (0, -1, 2.5, True, "3", None):
        with pytest.raises(InputError, match="n_bins must be an integer of at least 1"):
            reliability(model, X, Y, n_bins=n_bins)
    with pytest.raises(InputError, match="pass y"):
        reliability(model, X, None)
    with pytest.raises(NotFittedError):
        reliability(hr.HMM(), X, Y)
    with pytest.raises(InputError, match="the labels of the model mark none"):
        reliability(hr.HMM().fit(["ab"], [["x", "y"]]), ["ab"], [["x", "y"]], spans=True)
    assert reliability(model, X, Y, n_bins=np.int64(3)).counts.shape == (3,)


@pytest.mark.parametrize("n_bins", [np.int8(127), np.uint8(255)])
def test_the_number_of_bins_may_be_a_small_integer_of_numpy(n_bins):
    model = hr.HMM().fit(X, Y)
    assert len(reliability(model, X_TEST, Y_TEST, n_bins=n_bins).counts) == n_bins
