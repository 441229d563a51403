"""Dataset: sequences, labels, and a description with source and licence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.datasets.files import DataFile

Labels = NDArray[np.str_]

_LABELS_SHOWN = 12


@dataclass(frozen=True)
class About:
    """Description of a data set in words; sizes and counts are computed from the data."""

    title: str
    columns: str
    labels: str
    source: str
    licence: str
    citation: str
    note: str = ""


@dataclass(frozen=True, eq=False)
class Dataset:
    """One split of a data set, ready for `fit`.

    Attributes
    ----------
    name, split
        The arguments of `load`; a generated set has its seed as split.
    X, y
        Sequences and their labels.
    about
        Title, columns, labels, source, licence and citation.
    raw
        For "perlfaq", the lines of text from which the columns of `X` were computed; otherwise None.

    Examples
    --------
    >>> import hedgerow as hr
    >>> hr.datasets.load("pronounce", "train")
    <Dataset 'pronounce', split 'train': 3000 sequences>
    """

    name: str
    split: str
    X: list[Any]
    y: list[Labels]
    about: About
    raw: list[list[str]] | None = None

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return f"<Dataset {self.name!r}, split {self.split!r}: {len(self)} sequences>"

    def describe(self) -> str:
        """Description as text: sizes, labels with counts, columns, source, licence, citation.

        Returns
        -------
        str
            One line for each fact.

        Examples
        --------
        >>> import hedgerow as hr
        >>> print(hr.datasets.cycle(3, 5, seed=1).describe().splitlines()[2])
          positions  15
        """
        counts = Counter(label for labels in self.y for label in labels.tolist())
        frequent = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        shown = ", ".join(f"{label} {count:,}" for label, count in frequent[:_LABELS_SHOWN])
        hidden = len(frequent) - _LABELS_SHOWN
        facts = {
            "sequences": f"{len(self):,}",
            "positions": f"{sum(map(len, self.y)):,}",
            "columns": self.about.columns,
            "labels": f"{len(frequent)}: {self.about.labels}",
            "counts": shown + (f", and {hidden} rarer" if hidden > 0 else ""),
            "source": self.about.source,
            "licence": self.about.licence,
            "cite": self.about.citation,
            "note": self.about.note,
        }
        lines = [f"{self.name}, split {self.split}: {self.about.title}"]
        lines += [f"  {fact:<9}  {text}" for fact, text in facts.items() if text]
        return "\n".join(lines)


@dataclass(frozen=True)
class SplitData:
    """What a reader returns for one split; `load` adds the name and the description to make a Dataset."""

    X: list[Any]
    y: list[Labels]
    raw: list[list[str]] | None = None


@dataclass(frozen=True)
class Entry:
    """A data set that can be loaded: its description, its splits, a function that reads a split, and its files."""

    about: About
    splits: tuple[str, ...]
    read: Callable[[str], SplitData]
    files: tuple[DataFile, ...] = ()  # none for a part of the package
