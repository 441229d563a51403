"""The time that a race may take: parsing it, and the clock that ends the race."""

from __future__ import annotations

import math
import numbers
import re
import threading
import time
from typing import Any

from hedgerow.errors import InputError
from hedgerow.estimators.parameters import python_scalar

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_RULE = 'budget must be a number of seconds above 0, or a text such as "90s", "10m", "1h" or "1h30m"'


def seconds_of(budget: Any) -> float:
    """A budget in seconds; raises InputError unless it is a number above 0 or a text with units."""
    value = python_scalar(budget)
    if isinstance(value, str):
        parts = re.findall(r"(\d+(?:\.\d+)?) *([smh])", value)
        if not re.fullmatch(r" *(\d+(\.\d+)? *[smh] *)+", value):
            raise InputError(f"{_RULE}; it is {budget!r}")
        value = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not 0 < float(value) < math.inf:
        raise InputError(f"{_RULE}; it is {budget!r}")
    return float(value)


def about(seconds: float) -> str:
    """A rough time as text, with two significant digits."""
    digits = f"{seconds:.2g}"
    return f"{float(digits):.0f} s" if seconds >= 10 else f"{digits} s"  # 2e+07 is no text for people


class Stop:
    """Says when the race ends before its plan is done: out of time, interrupted, or stopped by a callback.

    Fits in other threads ask `is_due` at each of their steps.
    """

    def __init__(self, seconds: float) -> None:
        self._began = time.monotonic()
        self._deadline = self._began + seconds
        self._event = threading.Event()
        self.reason: str | None = None

    def because(self, reason: str) -> None:
        """End the race; the first reason is kept."""
        self.reason = self.reason or reason
        self._event.set()

    def is_due(self) -> bool:
        if not self._event.is_set() and time.monotonic() >= self._deadline:
            self.because("out of time")
        return self._event.is_set()

    @property
    def seconds(self) -> float:
        """Seconds since the race began."""
        return time.monotonic() - self._began
