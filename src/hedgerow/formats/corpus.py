"""Corpus: what reading a file returns; Layout: how the file was arranged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
        What stands between two columns of a line: "\\t", " ", "," or ";". None for formats without such lines.
    numeric
        The names of the columns of X that hold numbers, in formats that know numbers. A table that is read with this
        layout has the same columns of numbers.
    header
        Whether the first line of a table names its columns.
    encoding
        The encoding of the text.
    """

    format: str
    columns: tuple[str, ...]
    label: str | None
    attributes: tuple[str, ...]
    sequence: tuple[str, ...] = ()
    separator: str | None = None
    numeric: tuple[str, ...] = ()
    header: bool = True
    encoding: str = "utf-8"

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
            "numeric": list(self.numeric),
            "header": self.header,
            "encoding": self.encoding,
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
        names = {key: value[key] for key in ("columns", "attributes", "sequence", "numeric")}
        texts = [value[key] for key in ("format", "encoding", "label", "separator")]
        if not all(isinstance(listed, list) and all(isinstance(n, str) for n in listed) for listed in names.values()):
            raise InputError("the columns of a layout must be lists of names, but they are not")
        if None in texts[:2] or not all(text is None or isinstance(text, str) for text in texts):
            raise InputError("the format, encoding, label and separator of a layout must be text, but they are not")
        if not isinstance(value["header"], bool):
            raise InputError(f"the header of a layout must be true or false, but it is {value['header']!r:.40}")
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
    ids
        What the file says about each sequence as a whole, by name: the sequence columns of a table; in JSON lines all
        values that are no lists, such as an id. `hedgerow.write` writes them again.
    notes
        Sentences about decisions of the reader that may surprise, such as values of a table that are taken as missing.
    """

    X: Sequences
    y: list[NDArray[Any]] | None
    sample_weight: Floats64 | None
    layout: Layout
    lines: NDArray[np.int64]
    ids: Mapping[str, list[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        size = f"{counted(len(self.X), 'sequence')}, {counted(self.X.n_positions, 'position')}"
        label = "no labels" if self.y is None else f"label {self.layout.label!r}"
        return f"<Corpus of format {self.layout.format!r}: {size}, columns {list(self.layout.attributes)}, {label}>"
