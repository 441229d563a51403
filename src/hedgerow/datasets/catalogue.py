"""The data sets that `load` can load, by name."""

from __future__ import annotations

import difflib

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
from hedgerow.datasets.dataset import About, Dataset, Entry
from hedgerow.datasets.files import is_here
from hedgerow.errors import InputError

_FAMILIES = (nettalk, protein, hyphen, conll2000, letters, perlfaq, atis, ozone, pronounce)
_ENTRIES: dict[str, Entry] = {name: entry for family in _FAMILIES for name, entry in family.ENTRIES.items()}


def names() -> list[str]:
    """Names of the data sets that `load` can load.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import hedgerow as hr
    >>> "pronounce" in hr.datasets.names()
    True
    """
    return list(_ENTRIES)


def about(name: str) -> About:
    """The description of a data set, which needs no file."""
    return _ENTRIES[name].about


def availability(name: str) -> str:
    """Where a data set comes from: "offline" if all files are here, "download", or "by hand" if it has no address."""
    missing = [file for file in _ENTRIES[name].files if not is_here(file)]
    if not missing:
        return "offline"
    return "download" if all(file.url is not None for file in missing) else "by hand"


def load(name: str, split: str = "train") -> Dataset:
    """Load one split of a data set.

    Files are looked for in the folder that the environment variable HEDGEROW_DATA names, then in the cache of the user;
    a file with a public address is downloaded into the cache. The set "pronounce" needs no file.

    Parameters
    ----------
    name : str
        One of `names()`.
    split : str
        "train", "test", or another split of the set; `docs/datasets.md` lists them.

    Returns
    -------
    Dataset
        Sequences `X` and labels `y`; `describe()` says what they are and where they come from.

    Raises
    ------
    InputError
        If there is no such name or split, or if the content of a file is not the expected one.
    DataNotFoundError
        If a file is not there and cannot be downloaded. The message says where to put it.

    Examples
    --------
    >>> import hedgerow as hr
    >>> train = hr.datasets.load("pronounce", "train")
    >>> len(train), train.X[0], train.y[0].tolist()
    (3000, 'condon', ['K', 'AA1', 'N', 'D', 'AH0', 'N'])
    """
    if name not in _ENTRIES:
        nearest = difflib.get_close_matches(str(name), _ENTRIES, n=1)
        meant = f"did you mean {nearest[0]!r}?" if nearest else f"choose from {', '.join(_ENTRIES)}"
        raise InputError(f"there is no data set {name!r}; {meant}")
    entry = _ENTRIES[name]
    if split not in entry.splits:
        raise InputError(f"{name} has no split {split!r}; choose from {', '.join(entry.splits)}")
    parts = entry.read(split)
    return Dataset(name, split, parts.X, parts.y, entry.about, parts.raw)
