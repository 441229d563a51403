"""Attributes of positions as CRFsuite reads them, in one weighted bag.

CRFsuite knows only attributes with values, such as ("word:the", 1.0). A dict is read key by key: text gives the
attribute "key:text" with the value 1, a number or bool the attribute "key" with that value, a nested list or dict the
attributes "key:..." of its members. So a key may hold text at one position and a number at another. An attribute with
the value 0, such as a bool that is False, still occurs. An attribute that occurs twice at a position has the sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import BagColumn
from hedgerow.data.ragged import place, starts_of
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.attribute_bag import merged_bag
from hedgerow.errors import InputError, type_name


def read_items(X: Iterable[Any]) -> Sequences:
    """Read sequences of attributes as CRFsuite does.

    Parameters
    ----------
    X : list of sequences
        A sequence is a list of positions; a position is a dict of text, numbers, bools, lists and dicts, or a list of
        strings. Objects of `pycrfsuite.ItemSequence` are sequences too. `Sequences` are returned as they are.

    Returns
    -------
    Sequences
        All attributes in one bag. Every estimator accepts it.

    Raises
    ------
    InputError
        If a position has another type, or a value is None, NaN or infinite, or a sequence is empty.

    Examples
    --------
    >>> from hedgerow.compat import read_items
    >>> X = read_items([[{"word": "Ann", "title": True}, ["word:left", "verb"]]])
    >>> list(X.columns[0].alphabet)
    ['title', 'verb', 'word:Ann', 'word:left']
    """
    if isinstance(X, Sequences):
        return X
    return numbered_items(enumerate(X))


def numbered_items(numbered: Iterable[tuple[int, Any]]) -> Sequences:
    """The items of (number, sequence) pairs; messages name a sequence by its number."""
    reader = _Reader()
    for i, sequence in numbered:
        reader.add_sequence(i, sequence)
    return reader.sequences()


class _Reader:
    """Collects the attributes of one position after the other."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}  # of attributes in the order of their first occurrence
        self._read: list[int] = []
        self._values: list[float] = []
        self._ends: list[int] = []
        self._lengths: list[int] = []
        self._numbers: list[int] = []  # of the sequences, for messages

    def add_sequence(self, i: int, sequence: object) -> None:
        """Read the positions of sequence i."""
        if type(sequence).__name__ == "ItemSequence":  # of python-crfsuite, which can only be read so
            sequence = sequence.items()  # type: ignore[attr-defined]
        if isinstance(sequence, Mapping):
            raise InputError(
                f"sequence {i} must be a list of positions, but it is a {type_name(sequence)}, which is one position; "
                "wrap X in a list if it is one sequence"
            )
        if not isinstance(sequence, Iterable):
            raise InputError(f"sequence {i} must be a list of positions, but it is a {type_name(sequence)}")
        before = len(self._ends)
        for position, item in enumerate(sequence):
            try:
                self._add(item, "")
            except (TypeError, ValueError) as error:
                raise InputError(f"sequence {i}, position {position}: {error}") from None
            self._ends.append(len(self._read))
        if len(self._ends) == before:
            raise InputError(f"sequence {i} must have at least one position, but it is empty; drop it")
        self._lengths.append(len(self._ends) - before)
        self._numbers.append(i)

    def _add(self, item: Any, prefix: str) -> None:
        """Add the attributes of a dict or a list of strings, their names after the prefix."""
        ids, read, values = self._ids, self._read, self._values
        if not isinstance(item, dict):
            for name in _members(item, prefix):
                if not prefix and isinstance(name, (Mapping, list, tuple)):
                    raise TypeError(
                        f"a position must be a dict or a list of strings, but it is a list of {type_name(name)}s, "
                        "which is a sequence; pass the sequence without the list around it"
                    )
                read.append(ids.setdefault(prefix + _text(name), len(ids)))
                values.append(1.0)
            return
        for key, value in item.items():
            name = prefix + (key if type(key) is str else _text(key))
            kind = type(value)
            if kind is str:
                read.append(ids.setdefault(f"{name}:{value}", len(ids)))
                values.append(1.0)
            elif kind is bool or kind is float or kind is int:
                read.append(ids.setdefault(name, len(ids)))
                values.append(value)
            elif isinstance(value, (dict, list, set, frozenset)):
                self._add(value, name + ":")
            elif isinstance(value, (str, bytes)):
                read.append(ids.setdefault(f"{name}:{_text(value)}", len(ids)))
                values.append(1.0)
            else:
                read.append(ids.setdefault(name, len(ids)))
                values.append(_number(name, value))

    def sequences(self) -> Sequences:
        """All attributes in one bag; raises InputError for a value that is not finite."""
        starts = starts_of(np.array(self._lengths, np.int64))
        return Sequences.trusted(starts, (self._column(starts),))

    def _column(self, starts: NDArray[np.int64]) -> BagColumn:
        names = list(self._ids)
        alphabet = Alphabet.of(names)
        ids = alphabet.ids(names)[np.array(self._read, np.int64)] if names else np.zeros(0, np.int32)
        with np.errstate(over="ignore"):
            values = np.array(self._values, np.float32)
        if not np.isfinite(values).all():
            wrong = int(np.flatnonzero(~np.isfinite(values))[0])
            sequence, position = place(starts, int(np.searchsorted(self._ends, wrong, side="right")))
            raise InputError(
                f"sequence {self._numbers[sequence]}, position {position}: the value of attribute "
                f"{alphabet[int(ids[wrong])]!r} must be finite as a 32-bit float, but it is "
                f"{self._values[wrong]}; leave the attribute out where it has no value"
            )
        ends = np.array(self._ends, np.int64)
        counts = np.diff(ends, prepend=0)
        return merged_bag(np.repeat(np.arange(len(counts)), counts), ids, values, alphabet, len(counts))


def _members(item: Any, prefix: str) -> Iterable[Any]:
    if isinstance(item, Iterable) and not isinstance(item, bytes):
        return item
    inside = f" of {prefix[:-1]!r}" if prefix else ""
    raise TypeError(f"the attributes{inside} must be a dict or a list of strings, but got {type_name(item)}")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8")
    raise TypeError(f"attributes must have names that are strings, but got {type_name(value)} {repr(value)[:60]}")


def _number(name: str, value: Any) -> float:
    if value is not None and not isinstance(value, Sized):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise TypeError(
        f"the value of {name!r} must be text, a number, a bool, a list of strings or a dict, but got "
        f"{type_name(value)}; leave the key out where it has no value"
    )
