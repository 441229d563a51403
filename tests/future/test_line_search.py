"""The line search of the published algorithm."""

from __future__ import annotations

import math

import pytest

from hedgerow.future.line_search import line_search
from oracles import future as oracles_future


@pytest.mark.parametrize("bound", [1.0, 40.0, 1e7])
@pytest.mark.parametrize("best", [0.05, 0.2, 0.9, 7.0, 1000.0])
def test_the_maximum_of_one_hill_is_found(best, bound):
    value = lambda step: -((math.log1p(step) - math.log1p(best)) ** 2)  # noqa: E731
    step, reached = line_search(value, bound)
    assert step == pytest.approx(min(best, bound), rel=2e-3)
    assert reached == value(step)
    assert (step, reached) == pytest.approx(oracles_future.golden_section(value, bound))


@pytest.mark.parametrize("value", [lambda _: 1.0, lambda step: -step], ids=["flat", "downhill"])
def test_where_no_step_is_better_the_step_is_0(value):
    assert line_search(value, 10.0) == (0.0, value(0.0))


def test_the_bound_may_be_the_best_step():
    assert line_search(lambda step: step, 10.0) == (10.0, 10.0)


def test_a_plateau_ends_at_its_shortest_step_tried():
    """Long steps of a pattern saturate: all positions show the pattern for certain, or do not."""
    step, reached = line_search(lambda step: min(step, 50.0), 1e5)
    assert reached == 50.0
    assert 50 <= step < 100
