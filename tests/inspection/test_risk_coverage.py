"""Counts among the surest sequences against all orders of equally sure sequences."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.errors import InputError, NotFittedError
from hedgerow.inspection import risk_coverage
from hedgerow.inspection.labelling import Labelling
from hedgerow.inspection.risk_coverage import risk_coverage_of
from inspection.test_labelling import X_TEST, Y_TEST, X, Y
from oracles import trust
from oracles.markup import check_html

mpl.use("Agg")


def counts(found):
    return np.stack([found.positions, found.right, found.right_sequences], axis=1)


def labelling(cases):
    """What risk_coverage_of reads of a labelling, for sequences of (confidence, whether each position is right)."""
    right = np.array([r for _, rights in cases for r in rights])
    starts = np.cumsum([0, *(len(rights) for _, rights in cases)])
    return SimpleNamespace(starts=starts, right=right, path_log_probability=np.array([c for c, _ in cases]))


CASES = st.lists(
    st.tuples(st.sampled_from([-3.0, -1.0, -0.5, 0.0]), st.lists(st.booleans(), min_size=1, max_size=4)),
    min_size=1,
    max_size=6,
)


@given(CASES, st.randoms(use_true_random=False))
def test_counts_are_means_over_all_orders(cases, random):
    found = risk_coverage_of(labelling(cases))
    confidence, rights = zip(*cases, strict=True)
    expected = trust.risk_coverage(confidence, [sum(r) for r in rights], [len(r) for r in rights])
    np.testing.assert_allclose(counts(found), expected, atol=1e-12)
    shuffled = list(cases)
    random.shuffle(shuffled)
    assert (counts(risk_coverage_of(labelling(shuffled))) == counts(found)).all()
    for k, (positions, right, whole) in enumerate(expected[1:], start=1):
        at = found.at(k / len(cases))
        assert at == pytest.approx((k / len(cases), right / positions, whole / k))
        assert found.coverage[k - 1] == pytest.approx(k / len(cases))
    assert found.area == pytest.approx(np.mean([right / positions for positions, right, _ in expected[1:]]))
    assert found.sequence_area == pytest.approx(np.mean([row[2] / k for k, row in enumerate(expected) if k]))


def test_rounding_orders_nothing():
    cases = [(-0.5, [True]), (-0.5 + 1e-8, [False, True]), (-0.5 - 1e-8, [False]), (-0.6, [True])]
    equal = [(round(confidence, 6), rights) for confidence, rights in cases]
    assert (counts(risk_coverage_of(labelling(cases))) == counts(risk_coverage_of(labelling(equal)))).all()


@pytest.mark.parametrize("by", ["path", "least"])
def test_confidence_is_that_of_the_public_methods(by):
    model = hr.LinearCRF(n_jobs=1).fit(X, Y)
    some, gold = X_TEST[:6], Y_TEST[:6]
    predicted, classes = model.predict(some), model.classes_.tolist()
    if by == "path":
        confidence = model.log_likelihood(some, predicted).tolist()
    else:
        confidence = [
            min(float(row[classes.index(label)]) for label, row in zip(labels, table, strict=True))
            for labels, table in zip(predicted, model.predict_proba(some), strict=True)
        ]
    right = [int((labels == np.array(y)).sum()) for labels, y in zip(predicted, gold, strict=True)]
    expected = trust.risk_coverage(np.round(confidence, 6).tolist(), right, list(map(len, gold)))
    found = risk_coverage(model, some, gold, by=by)
    np.testing.assert_allclose(counts(found), expected, atol=1e-12)
    assert (counts(risk_coverage_of(Labelling.of(model, some, gold), by=by)) == counts(found)).all()
    assert found.at(1).accuracy == pytest.approx(model.score(some, gold))


@pytest.mark.parametrize("by", ["path", "least"])
def test_threads_and_the_order_of_sequences_change_nothing(by):
    model = hr.HMM(n_jobs=1).fit(X, Y)
    X_twice, y_twice = [*X_TEST, *X_TEST], [*Y_TEST, *reversed(Y_TEST)][: len(X_TEST)] + Y_TEST  # ties
    expected = counts(risk_coverage(model, X_twice, y_twice, by=by))
    order = np.random.default_rng(2).permutation(len(X_twice))
    permuted = risk_coverage(model, [X_twice[i] for i in order], [y_twice[i] for i in order], by=by)
    assert (counts(permuted) == expected).all()
    assert (counts(risk_coverage(model.set_params(n_jobs=2), X_twice, y_twice, by=by)) == expected).all()


def test_coverage_between_sequences_is_interpolated():
    found = risk_coverage_of(labelling([(-1.0, [True, False]), (0.0, [True, True, True, True])]))
    assert found.at(0.5) == (0.5, 1.0, 1.0)
    assert found.at(0.75) == pytest.approx((0.75, 4.5 / 5, 1 / 1.5))
    assert found.at(np.float32(1)) == pytest.approx((1.0, 5 / 6, 0.5))
    assert found.at(1e-9).accuracy == 1.0


def test_text_html_and_plot():
    model = hr.HMM().fit(X, Y)
    for by, words in [("path", "all labels together"), ("least", "least certain label")]:
        found = risk_coverage(model, X_TEST, Y_TEST, by=by)
        lines = str(found).splitlines()
        assert lines[0].split() == ["coverage", "accuracy", "sequence", "accuracy"]
        assert words in lines[-1]
        assert lines[-2].split() == ["area", f"{found.area:.4f}", f"{found.sequence_area:.4f}"]
        assert lines[-3].split()[:2] == ["100%", f"{model.score(X_TEST, Y_TEST):.2%}"]
        check_html(found._repr_html_())
        assert words in found._repr_html_()
    frame = found.to_frame()
    np.testing.assert_allclose(frame.to_numpy(), [found.at(share) for share in found.coverage])
    axes = found.plot()
    assert found.plot(axes) is axes
    assert axes.get_lines()[0].get_ydata().tolist() == found.accuracy.tolist()
    assert axes.get_lines()[1].get_ydata().tolist() == found.sequence_accuracy.tolist()


def test_bad_input_is_refused():
    model = hr.HMM().fit(X, Y)
    found = risk_coverage(model, X, Y)
    for coverage in (0, -0.1, 1.01, float("nan"), "1", True, None):
        with pytest.raises(InputError, match="coverage must be a number above 0 and at most 1"):
            found.at(coverage)
    with pytest.raises(InputError, match='by must be "path" or "least"'):
        risk_coverage(model, X, Y, by="margin")
    with pytest.raises(InputError, match="risk_coverage needs at least one sequence, but X is empty; pass sequences"):
        risk_coverage(model, [], [])
    with pytest.raises(InputError, match="pass y"):
        risk_coverage(model, X, None)
    with pytest.raises(NotFittedError):
        risk_coverage(hr.HMM(), X, Y)
