"""Every loadable set by name."""

from __future__ import annotations

from hedgerow.datasets import (
    atis,
    conll2000,
    hyphen,
    letters,
    nettalk,
    ozone,
    perlfaq,
    pronounce,
    protein,
)
from hedgerow.datasets.dataset import Dataset
from hedgerow.errors import InputError

_FAMILIES = (nettalk, protein, hyphen, conll2000, letters, perlfaq, atis, ozone, pronounce)
_ENTRIES = {name: entry for family in _FAMILIES for name, entry in family.ENTRIES.items()}


def names() -> list[str]:
    """The names that `load` takes."""
    return list(_ENTRIES)


def load(name: str, split: str = "train") -> Dataset:
    """One split of a data set.

    InputError for a name or split that does not exist and for a file that is not the known one;
    DataNotFoundError, with the place to put it, for a file that is absent and cannot be downloaded.
    """
    if name not in _ENTRIES:
        raise InputError(f"there is no data set {name!r}; choose from {', '.join(_ENTRIES)}")
    entry = _ENTRIES[name]
    if split not in entry.splits:
        raise InputError(f"{name} has no split {split!r}; choose from {', '.join(entry.splits)}")
    parts = entry.read(split)
    return Dataset(name, split, parts.X, parts.y, entry.about, parts.raw)
