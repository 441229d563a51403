"""Empty sequences, which CRFsuite allows: left out of the data, and put back into the predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.compat.items import numbered_items
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError


def without_empty(X: Any, y: Any) -> tuple[Sequences, list[Any]]:
    """(items, labels) of the sequences that are not empty; raises InputError if X and y do not have one length."""
    if isinstance(X, Sequences):
        return X, y
    X, y = _as_lists(X), _as_lists(y)
    if len(X) != len(y):
        raise InputError(f"X and y must have one length, but there are {len(X)} sequences and {len(y)} label sequences")
    kept = [i for i in range(len(X)) if not (_is_empty(X[i]) and _is_empty(y[i]))]
    if not kept:
        raise InputError("X must hold at least one sequence that is not empty, but it holds none")
    return numbered_items((i, X[i]) for i in kept), [y[i] for i in kept]


def by_sequence(X: Any, answer: Callable[[Sequences], list[Any]]) -> NDArray[np.object_]:
    """The answers for all sequences, one element for each; an empty list for an empty sequence."""
    if isinstance(X, Sequences):
        return _object_array(answer(X))
    X = _as_lists(X)
    kept = [i for i in range(len(X)) if not _is_empty(X[i])]
    answers: list[Any] = [[] for _ in X]
    for i, one in zip(kept, answer(numbered_items((i, X[i]) for i in kept)) if kept else (), strict=True):
        answers[i] = one
    return _object_array(answers)


def _as_lists(sequences: Iterable[Any]) -> list[Any]:
    """The sequences; a generator or other iterator becomes a list."""
    return [list(one) if isinstance(one, Iterator) else one for one in sequences]


def _is_empty(sequence: Any) -> bool:
    return isinstance(sequence, Sized) and len(sequence) == 0


def _object_array(answers: list[Any]) -> NDArray[np.object_]:
    """One dimension, whatever the lengths: `np.array` would make two of lists of one length."""
    array = np.empty(len(answers), object)
    for i, one in enumerate(answers):
        array[i] = one
    return array
