"""What a file is written from: columns of X and labels, as text or as plain values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from hedgerow.data.columns import BagColumn, CategoricalColumn, Column, NumericColumn
from hedgerow.data.plain_values import numbers, values
from hedgerow.data.ragged import first_duplicate, place
from hedgerow.data.read_y import FlatLabels
from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError
from hedgerow.formats.corpus import Layout
from hedgerow.formats.exact_values import as_text, typed
from hedgerow.utilities import Floats64

T = TypeVar("T")
ROW_NAMES = "(row)"  # a first column without a name, as R and pandas write it: names of rows, no attribute
TABLES = ("csv", "tsv", "parquet")
ID = "id"  # the id of a sequence in JSON lines


@dataclass(frozen=True, eq=False)
class Content:
    """Sequences, labels and weights to be written, and how."""

    X: Sequences
    y: FlatLabels | None
    weights: Floats64 | None
    label: str | None  # the name of the label column; None: the usual name of the format
    layout: Layout | None
    ids: Mapping[str, list[Any]] = field(default_factory=dict)  # values of each sequence as a whole, by name
    exact: Mapping[str, list[Any]] = field(default_factory=dict)  # of numeric columns; see Parsed

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
            columns[column.name] = self._texts(column)
        if self.y is not None:
            kept = None if self.layout is None else self.layout.label
            columns[self.label_name(kept or usual, columns)] = [str(label) for label in self.y.tolist()]
        return columns

    def _texts(self, column: CategoricalColumn | NumericColumn) -> list[str]:
        if isinstance(column, CategoricalColumn):
            names = np.array([*column.alphabet, "", ""], dtype=object)  # -1 and -2 are the last two
            texts: list[str] = names[column.codes].tolist()
            return texts
        return [as_text(number) for number in self.exact.get(column.name) or numbers(column)]

    def values(self, column: Column, absent: object) -> list[Any]:
        """The values as JSON has them: None where one is missing, `absent` where the key is absent."""
        if column.name not in self.exact:
            return values(column, absent)
        return [absent if value is ... else value for value in typed(self.exact[column.name])]

    def in_order(self, columns: dict[str, T]) -> dict[str, T]:
        """The columns in the order of the layout, if it has the same ones; otherwise as they are."""
        order = [] if self.layout is None else [name for name in self.layout.columns if name != ROW_NAMES]
        return {name: columns[name] for name in order} if set(order) == set(columns) else columns

    def sequence_columns(self, usual: str) -> dict[str, list[Any]]:
        """The columns of a table that say to which sequence each position belongs; none for one sequence without id.

        A table keeps its own. Others have the column `usual`, with the ids of the sequences, otherwise numbers.
        """
        if self.layout is not None and self.layout.format in TABLES:
            ids = {name: self.ids[name] for name in self.layout.sequence if name in self.ids}
            if not ids and len(self.X) == 1:
                return {}
        else:
            ids = {usual: self.ids[ID]} if ID in self.ids else {}
        ids = ids or {usual: list(range(len(self.X)))}
        texts = {name: [as_text(value) for value in listed] for name, listed in ids.items()}
        twice = first_duplicate([repr(values) for values in zip(*texts.values(), strict=True)])
        if twice is not None or any("" in listed for listed in texts.values()):
            raise InputError(
                "a table must have an id of its own for each sequence, but "
                f"{'some sequences have none' if twice is None else f'{twice} names several'}; "
                "give each sequence another id, or none"
            )
        return {name: np.repeat(np.array(listed, object), self.X.lengths).tolist() for name, listed in ids.items()}

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


def check_texts(texts: Iterable[str], subject: str, allowed: Callable[[str], bool], rule: str) -> None:
    """Raise InputError for a text that holds a lone surrogate or that is not allowed."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{subject} must hold text, but {text!r:.60} holds a lone surrogate") from None
        if not allowed(text):
            raise InputError(f"{subject} {rule}, but one is {text!r:.60}")
