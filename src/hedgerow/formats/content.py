"""What a file is written from: columns of X and labels, as text or as plain values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import MISSING, BagColumn, CategoricalColumn, Column, NumericColumn
from hedgerow.data.ragged import place
from hedgerow.data.read_y import FlatLabels
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError
from hedgerow.formats.corpus import Layout
from hedgerow.utilities import Floats32, Floats64

T = TypeVar("T")
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class Content:
    """Sequences, labels and weights to be written, and how."""

    X: Sequences
    y: FlatLabels | None
    weights: Floats64 | None
    label: str | None  # the name of the label column; None: the usual name of the format
    layout: Layout | None

    def fail(self, at: int, rule: str) -> InputError:
        """An InputError with sequence and position."""
        sequence, position = place(self.X.starts, at)
        return InputError(f"sequence {sequence}, position {position}: {rule}")

    def labels(self) -> list[Any] | None:
        """The label of each position, as it was given."""
        return None if self.y is None else self.y.tolist()

    def label_name(self, usual: str, taken: Collection[str]) -> str:
        """The name of the label column; raises InputError if a column of X has it."""
        name = usual if self.label is None else self.label  # JSON lines are read with their usual name by default
        if name in taken:
            raise InputError(f"the label column must have a name of its own, but X has {name!r}; give another `label`")
        return name

    def text_columns(self, file_format: str, usual: str = "label") -> dict[str, list[str]]:
        """The columns of X as text, "" where a value is absent or missing; raises InputError for a bag."""
        columns = {}
        for column in self.X.columns:
            if isinstance(column, BagColumn):
                raise InputError(
                    f"column {column.name!r} is a bag, which {file_format} cannot hold; write crfsuite or jsonl"
                )
            columns[column.name] = _texts(column)
        if self.y is not None:
            kept = None if self.layout is None else self.layout.label
            columns[self.label_name(kept or usual, columns)] = [str(label) for label in self.y.tolist()]
        return columns

    def sequences(self, rows: list[T]) -> Iterator[list[T]]:
        """The rows of each sequence."""
        return (rows[begin:end] for begin, end in pairwise(self.X.starts.tolist()))

    def sequence_weights(self) -> list[float] | list[None]:
        """The weight of each sequence; None without weights."""
        return [None] * len(self.X) if self.weights is None else self.weights.tolist()

    def refuse_weights(self, file_format: str) -> None:
        """Raise InputError if there are weights, which the format cannot hold."""
        if self.weights is not None:
            raise InputError(f"{file_format} cannot hold weights of sequences; write crfsuite or jsonl, or drop them")


def _texts(column: CategoricalColumn | NumericColumn) -> list[str]:
    if isinstance(column, CategoricalColumn):
        names = np.array([*column.alphabet, "", ""], dtype=object)  # -1 and -2 are the last two
        texts: list[str] = names[column.codes].tolist()
        return texts
    return ["" if number is None else str(number) for number in numbers(column)]


def numbers(column: NumericColumn) -> list[int | float | None]:
    """The numbers as short as they can be written, None where they are missing."""
    return _short(column.values)


def _short(values: Floats32) -> list[Any]:
    """Each number with the digits that identify it as a 32-bit float; None for NaN."""
    found = []
    for text, exact in zip(values.astype(np.str_).tolist(), values.tolist(), strict=True):
        number = float(text)
        # The shortest digits of the largest floats are beyond all 32-bit floats.
        number = exact if abs(number) > _LARGEST else number
        whole = number.is_integer() and abs(number) < 2**24 and text != "-0.0"
        found.append(None if number != number else int(number) if whole else number)
    return found


def values(column: Column, absent: object) -> list[Any]:
    """The values as JSON has them: None where one is missing, `absent` where the key is absent."""
    if isinstance(column, NumericColumn):
        return list(numbers(column))
    if isinstance(column, CategoricalColumn):
        names = np.array([*column.alphabet, absent, None], dtype=object)
        found: list[Any] = names[column.codes].tolist()
        return found
    return list(_bags(column))


def _bags(column: BagColumn) -> Iterator[Any]:
    names: NDArray[Any] = np.array([*column.alphabet, None], dtype=object)
    weights = None if column.weights is None else _short(column.weights)
    ids = column.ids.tolist()
    for begin, end in pairwise(column.starts.tolist()):
        if end > begin and ids[begin] == MISSING:
            yield None
        elif weights is None:
            yield names[ids[begin:end]].tolist()
        else:
            yield dict(zip(names[ids[begin:end]].tolist(), weights[begin:end], strict=True))


def check_texts(texts: Iterable[str], subject: str, allowed: Callable[[str], bool], rule: str) -> None:
    """Raise InputError for a text that holds a lone surrogate or that is not allowed."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{subject} must hold text, but {text!r:.60} holds a lone surrogate") from None
        if not allowed(text):
            raise InputError(f"{subject} {rule}, but one is {text!r:.60}")
