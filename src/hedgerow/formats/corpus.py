"""Corpus: what reading a file returns; Layout: how the file was arranged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.sequences import Sequences
from hedgerow.errors import InputError
from hedgerow.utilities import Floats64, counted


@dataclass(frozen=True)
class Layout:
    """Arrangement of a file: its format and its columns.

    A model keeps the layout of its training file, so that files to label are read in the same way.

    Attributes
    ----------
    format
        The name of the format: "conll", "conllu", "crf++", "crfsuite", "jsonl", "csv", "tsv" or "parquet".
    columns
        The names of all columns in the order of the file, with the label and the sequence columns.
    label
        The name of the label column; None for a file without labels.
    attributes
        The names of the columns of X.
    sequence
        The names of the columns that say which sequence a row belongs to. Only tables (CSV, TSV, Parquet) have them.
    separator
        What stands between two columns of a line: "\\t" or " ". None for formats without such lines.
    """

    format: str
    columns: tuple[str, ...]
    label: str | None
    attributes: tuple[str, ...]
    sequence: tuple[str, ...] = ()
    separator: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the layout as values that JSON can hold.

        Returns
        -------
        dict
            The argument of `from_json`.

        Examples
        --------
        >>> import hedgerow as hr
        >>> hr.formats.Layout("conll", ("column0", "column1"), "column1", ("column0",)).to_json()["columns"]
        ['column0', 'column1']
        """
        return {
            "format": self.format,
            "columns": list(self.columns),
            "label": self.label,
            "attributes": list(self.attributes),
            "sequence": list(self.sequence),
            "separator": self.separator,
        }

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Build a layout from what `to_json` returned.

        Parameters
        ----------
        value : dict
            The fields of a layout.

        Returns
        -------
        Layout
            Equal to the layout that was written.

        Raises
        ------
        InputError
            If the value is no such dict.

        Examples
        --------
        >>> import hedgerow as hr
        >>> layout = hr.formats.Layout("conll", ("column0", "column1"), "column1", ("column0",))
        >>> hr.formats.Layout.from_json(layout.to_json()) == layout
        True
        """
        if not isinstance(value, Mapping) or set(value) != set(cls.__match_args__):
            raise InputError(f"a layout must be a dict with the keys {', '.join(cls.__match_args__)}, but it is not")
        names = {key: value[key] for key in ("columns", "attributes", "sequence")}
        texts = [value["format"], value["label"], value["separator"]]
        if not all(isinstance(listed, list) and all(isinstance(n, str) for n in listed) for listed in names.values()):
            raise InputError("the columns of a layout must be lists of names, but they are not")
        if not isinstance(texts[0], str) or not all(text is None or isinstance(text, str) for text in texts):
            raise InputError("the format, label and separator of a layout must be text, but they are not")
        return cls(**{**value, **{key: tuple(listed) for key, listed in names.items()}})


@dataclass(frozen=True, eq=False)
class Corpus:
    """Sequences and labels of a file; iterating gives X and y.

    Attributes
    ----------
    X
        The sequences.
    y
        The labels of each sequence as a 1-D array; None if the file has no labels.
    sample_weight
        The weight of each sequence, for `fit`; None if the file has no weights.
    layout
        How the file was arranged.
    lines
        The line of each position, counted from 1; for Parquet, its row.
    """

    X: Sequences
    y: list[NDArray[Any]] | None
    sample_weight: Floats64 | None
    layout: Layout
    lines: NDArray[np.int64]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        size = f"{counted(len(self.X), 'sequence')}, {counted(self.X.n_positions, 'position')}"
        label = "no labels" if self.y is None else f"label {self.layout.label!r}"
        return f"<Corpus of format {self.layout.format!r}: {size}, columns {list(self.layout.attributes)}, {label}>"
