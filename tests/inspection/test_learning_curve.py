"""Learning curves against the records of the training log."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

import hedgerow as hr
from hedgerow.errors import InputError, NotFittedError
from hedgerow.inspection import LearningCurve, learning_curve
from hedgerow.inspection.learning_curve import curve_of_log
from oracles.markup import SVG, check_html, parsed_svg, texts

mpl.use("Agg")

X = ["abcd", "badc", "cdab", "dcba"] * 6
Y = [["B-V" if c in "ab" else "O" for c in w] for w in X]


@pytest.mark.parametrize(
    "estimator",
    [
        hr.TreeCRF(n_rounds=4, n_jobs=1),
        hr.LinearCRF(max_iter=4, tol=1.0),
        hr.LinearCRF(solver="sgd", max_iter=4, random_state=0),
        hr.StructuredPerceptron(epochs=3, random_state=0),
        hr.StructuredSVM(epochs=3, random_state=0),
        hr.SearchTagger(epochs=3, random_state=0),
        hr.HMM(),
        hr.MEMM(n_rounds=3),
        hr.FutureMEMM(bag=2, random_state=0),
        hr.OutputCode(base=hr.TreeCRF(n_rounds=2), random_state=0),
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize("dev", [False, True])
@pytest.mark.filterwarnings("ignore::hedgerow.errors.CodeWarning")
def test_series_are_the_columns_of_the_log(estimator, dev):
    model = estimator.fit(X, Y, X[:4], Y[:4]) if dev else estimator.fit(X, Y)
    curve, log = learning_curve(model), model.training_log_
    assert curve.unit == log[0]["unit"]
    for name in ("loss", "dev_loss", "dev_accuracy", "dev_span_f1"):
        expected = [(r["step"], r[name]) for r in log if name in r and np.isfinite(r[name])]
        assert list(curve.series.get(name, ())) == expected
    assert not dev or "dev_accuracy" in curve.series
    root = parsed_svg(curve.to_svg())
    assert set(curve.series) <= set(texts(root))
    check_html(curve._repr_html_())
    n_steps = len({step for points in curve.series.values() for step, _ in points})
    assert len(str(curve).splitlines()) == 1 + min(n_steps, 20)
    frame = curve.to_frame()
    assert frame["value"].tolist() == [value for points in curve.series.values() for _, value in points]
    axes = curve.plot()
    check_legend(axes.figure)
    assert axes.get_xlabel() == curve.unit
    mpl.pyplot.close("all")


def check_legend(figure):
    """Fail if the legend is cut at a side of the figure."""
    figure.canvas.draw()
    for legend in figure.legends:
        box = legend.get_window_extent()
        assert 0 <= box.x0 < box.x1 <= figure.bbox.width


def test_a_search_for_the_number_of_rounds_is_a_series_of_its_own():
    model = hr.TreeCRF(n_jobs=1, random_state=0).fit(X, Y)
    curve, log = learning_curve(model), model.training_log_
    searched = [r["step"] for r in log if r.get("fit") == "search"]
    assert [step for step, _ in curve.series.get("loss (search)", ())] == searched
    for points in curve.series.values():
        steps = [step for step, _ in points]
        assert steps == sorted(set(steps))


def test_the_legend_of_a_plot_fits():
    names = [
        f"{name}{phase}" for phase in ("", " (search)") for name in ("loss", "dev_loss", "dev_accuracy", "dev_span_f1")
    ]
    check_legend(LearningCurve("round", dict.fromkeys(names, ((1, 1.0), (2, 0.5)))).plot().figure)
    mpl.pyplot.close("all")


def test_values_that_are_no_numbers_are_left_out():
    log = [{"unit": "epoch", "step": i, "loss": v} for i, v in enumerate([1.0, float("nan"), None, 0.5], 1)]
    curve = curve_of_log(log)
    assert curve.series == {"loss": ((1, 1.0), (4, 0.5))}
    empty = curve_of_log([])
    parsed_svg(empty.to_svg())
    assert str(empty) == "step"


def test_a_long_table_has_the_first_and_the_last_step():
    log = [{"unit": "round", "step": i, "loss": 1.0 / i} for i in range(1, 501)]
    lines = str(curve_of_log(log)).splitlines()
    assert len(lines) == 21
    assert lines[1].split()[0] == "1"
    assert lines[-1].split()[0] == "500"
    assert len(list(parsed_svg(curve_of_log(log).to_svg()).iter(f"{SVG}circle"))) == 0


def test_bad_models_are_refused():
    with pytest.raises(NotFittedError):
        learning_curve(hr.HMM())
    with pytest.raises(InputError, match="must be a fitted estimator, but got dict"):
        learning_curve({})
