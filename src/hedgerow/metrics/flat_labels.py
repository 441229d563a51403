"""Check label sequences and flatten them to one list, so that metrics compare position by position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from hedgerow.errors import InputError
from hedgerow.utilities import counted

Label: TypeAlias = str | int
LabelSequences: TypeAlias = Iterable[Any]
"""Label sequences: lists, tuples or 1-D arrays of strings or of integers."""


class Flat(NamedTuple):
    """The labels of all sequences, concatenated, and the length of each sequence."""

    labels: list[Any]
    lengths: list[int]

    def place(self, at: int) -> str:
        """The sequence and the position of the flat position `at`, for messages."""
        for sequence, end in enumerate(accumulate(self.lengths)):
            if at < end:
                return f"sequence {sequence}, position {at - end + self.lengths[sequence]}"
        raise IndexError(at)


def flatten_alike(**named: LabelSequences) -> list[Flat]:
    """Flatten each argument.

    Raises InputError if the arguments differ in the number of sequences, their lengths or the type of the labels.
    """
    flats = [flatten(y, name) for name, y in named.items()]
    first, name = flats[0], next(iter(named))
    for other, other_name in zip(flats[1:], list(named)[1:], strict=True):
        if len(first.lengths) != len(other.lengths):
            raise InputError(
                f"{name} has {counted(len(first.lengths), 'sequence')} but {other_name} has {len(other.lengths)}; "
                "give both the same sequences"
            )
        for index, (expected, got) in enumerate(zip(first.lengths, other.lengths, strict=True)):
            if expected != got:
                raise InputError(
                    f"sequence {index} has {counted(expected, 'label')} in {name} but {got} in {other_name}; "
                    "give one label for each position in both"
                )
        if first.labels and isinstance(first.labels[0], str) != isinstance(other.labels[0], str):
            kinds = ["strings" if isinstance(flat.labels[0], str) else "integers" for flat in (first, other)]
            raise InputError(f"labels are {kinds[0]} in {name} but {kinds[1]} in {other_name}; write both the same way")
    return flats


def flatten(y: LabelSequences, name: str) -> Flat:
    """Flatten the labels of all sequences; InputError unless the labels are all strings, or all integers or bools.

    `name` is the name of the argument in error messages.
    """
    if not isinstance(y, Iterable):
        raise InputError(f"{name} is of type {type(y).__name__}; give a list of label sequences")
    flat = Flat([], [])
    for index, sequence in enumerate(y):
        labels = _labels(sequence, name, index)
        flat.labels.extend(labels)
        flat.lengths.append(len(labels))
    _check_kinds(flat, name)
    return flat


def _labels(sequence: object, name: str, index: int) -> Sequence[Any]:
    if isinstance(sequence, list | tuple):
        return sequence
    if isinstance(sequence, np.ndarray) and sequence.ndim == 1:
        labels: list[Any] = sequence.tolist()
        return labels
    if isinstance(sequence, Iterable) and not isinstance(sequence, str | bytes | np.ndarray):
        return list(sequence)
    raise InputError(
        f"{name}: sequence {index} is {sequence!r:.60} of type {type(sequence).__name__}; "
        "give a list of label sequences, each a list or 1-D array of labels"
    )


def _check_kinds(flat: Flat, name: str) -> None:
    kinds = set(map(type, flat.labels))
    wanted: tuple[type, ...] = (
        (str,) if flat.labels and isinstance(flat.labels[0], str) else (int, np.integer, np.bool_)
    )
    if all(issubclass(kind, wanted) for kind in kinds):
        return
    at = next(i for i, label in enumerate(flat.labels) if not isinstance(label, wanted))
    raise InputError(
        f"{name}: {flat.place(at)}: the label is {flat.labels[at]!r:.60} of type "
        f"{type(flat.labels[at]).__name__}; labels are all strings, or all integers or bools"
    )
