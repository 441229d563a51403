"""Seconds that a learner spends in some of its methods, for the training log."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="Timed")


class Timed:
    """Base of learners whose methods carry `timed`."""

    def __init__(self) -> None:
        self._times: dict[str, float] = {}

    def read_times(self) -> dict[str, float]:
        """Return the seconds of each field since the last call."""
        times, self._times = self._times, {}
        return times


def timed(field: str) -> Callable[[Callable[Concatenate[S, P], R]], Callable[Concatenate[S, P], R]]:
    """Decorate a method: its wall time is added to `field`."""

    def decorate(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
        @functools.wraps(method)
        def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
            began = time.perf_counter()
            try:
                return method(self, *args, **kwargs)
            finally:
                self._times[field] = self._times.get(field, 0.0) + time.perf_counter() - began

        return call

    return decorate
