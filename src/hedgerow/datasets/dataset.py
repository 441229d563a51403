"""What `load` and the generators return: sequences, labels, and where they come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.str_]

_LABELS_SHOWN = 12


@dataclass(frozen=True)
class About:
    """The part of a description that no file holds."""

    title: str
    columns: str
    labels: str
    source: str
    licence: str
    citation: str
    note: str = ""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Sequences `X` and their labels `y`, in the form every estimator takes.

    `raw` keeps the text lines the columns were computed from, and is None where `X` already is the text.
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
        """A few lines of text: sizes, labels with counts, columns, source, licence, citation."""
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
class Parts:
    """What one family's reader hands back: `Dataset` adds the name and the description."""

    X: list[Any]
    y: list[Labels]
    raw: list[list[str]] | None = None


@dataclass(frozen=True)
class Entry:
    """One loadable set: its description, its splits, and the reader that takes a split."""

    about: About
    splits: tuple[str, ...]
    read: Callable[[str], Parts]
