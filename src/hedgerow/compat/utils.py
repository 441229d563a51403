"""The helper of sklearn_crfsuite.utils."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

__all__ = ["flatten"]


def flatten(y: Iterable[Iterable[Any]]) -> list[Any]:
    """Join lists into one.

    Parameters
    ----------
    y : list of lists
        For example the labels of all sequences.

    Returns
    -------
    list
        The members of all lists, in their order.

    Examples
    --------
    >>> from hedgerow.compat.utils import flatten
    >>> flatten([["x", "y"], ["x"]])
    ['x', 'y', 'x']
    """
    return list(chain.from_iterable(y))
