"""The minimiser of one variable, against scipy's and on functions whose minimum is known."""

from __future__ import annotations

from math import cosh, exp, log

import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.learning.minimise import minimise

FUNCTIONS = {
    "quadratic": lambda x: (x - 1.7) ** 2,
    "quartic": lambda x: (x + 0.3) ** 4,
    "kink": lambda x: abs(x - 0.25),
    "cosh": lambda x: cosh(x - 2),
    "likelihood": lambda x: 3 * log(1 + exp(x)) - x,
    "falling": lambda x: -x,
    "rising": lambda x: x,
    "flat": lambda x: 0.0,
    "two minima": lambda x: x**4 - 3 * x**2 + x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("interval", [(-3.0, 3.0), (-0.5, 9.0), (2.0, 2.5)])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-8])
def test_the_minimum_is_that_of_scipy(name: str, interval: tuple[float, float], tolerance: float) -> None:
    function, calls = FUNCTIONS[name], []

    def counted(x: float) -> float:
        calls.append(x)
        return function(x)

    found = minimise(counted, *interval, tolerance)
    expected = scipy.optimize.minimize_scalar(function, bounds=interval, method="bounded", options={"xatol": tolerance})
    assert found == pytest.approx(expected.x, abs=1e-7)  # scipy rounds the machine epsilon
    assert len(calls) <= expected.nfev + 5


@given(st.floats(-5, 5), st.floats(-10, -6), st.floats(6, 10))
def test_the_minimum_of_a_convex_function_is_found(minimum: float, low: float, high: float) -> None:
    assert minimise(lambda x: exp(x - minimum) - x, low, high, 1e-6) == pytest.approx(minimum, abs=1e-5)
