"""Whether a potential from a file can be tried on one position when it is loaded.

The scores of a position are n_labels^(order + 1) numbers. A file of a few kilobytes can claim an order for which they
take minutes and gigabytes; then what was read is checked without computing them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hedgerow.errors import InputError

MAX_TRIAL_SCORES = 2**20


def is_cheap(n_labels: int, order: int) -> bool:
    """Whether the scores of one position take little time and memory."""
    return bool(n_labels ** (order + 1) <= MAX_TRIAL_SCORES)


def try_once(what: str, evaluate: Callable[[], object]) -> None:
    """Evaluate a potential of a model file; raises InputError if it does not fit the columns, or numbers overflow."""
    try:
        with np.errstate(over="raise"):
            evaluate()
    except (ValueError, FloatingPointError) as error:
        raise InputError(f"{what} do not fit the columns ({error})") from None
