"""Alphabets: the distinct strings of a column or of the labels, in a stable order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.errors import InputError
from hedgerow.utilities import read_only


class Alphabet:
    """Immutable sorted set of strings; the id of a string is its rank in code-point order.

    The strings are stored as one `blob` of UTF-8 (lone surrogates are allowed) and their `offsets` in it, so that a
    model file can be opened without creating Python strings. Raises InputError if blob and offsets are not valid.
    """

    __slots__ = ("_strings", "blob", "offsets")

    blob: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    def __init__(self, blob: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        for name, array, dtype in (("blob", blob, np.uint8), ("offsets", offsets, np.int64)):
            if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != dtype:
                raise InputError(f"the {name} of an alphabet must be a 1-D array of {dtype.__name__}")
        self._keep(blob, offsets)
        self._strings.check()

    def _keep(self, blob: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.blob = read_only(np.ascontiguousarray(blob))
        self.offsets = read_only(np.ascontiguousarray(offsets))
        self._strings = _core.SortedSet(self.blob, self.offsets)

    @classmethod
    def of(cls, values: Iterable[str]) -> Alphabet:
        """The alphabet of the distinct `values`; raises InputError if one is not a str."""
        return cls.trusted(*_core.sort_strings(list(values)))

    @classmethod
    def trusted(cls, blob: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Alphabet:
        """Build from arrays that are known to be sorted UTF-8; checks only what memory safety needs."""
        alphabet = cls.__new__(cls)
        alphabet._keep(blob, offsets)
        return alphabet

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        return self._strings.text(range(len(self))[index])

    def __iter__(self) -> Iterator[str]:
        return map(self._strings.text, range(len(self)))

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and bool(self._strings.ids([value])[0] >= 0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Alphabet):
            return NotImplemented
        return self is other or (np.array_equal(self.offsets, other.offsets) and np.array_equal(self.blob, other.blob))

    def __hash__(self) -> int:
        return hash((len(self), self.blob.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Alphabet.trusted, (self.blob, self.offsets)

    def __repr__(self) -> str:
        shown = ", ".join(repr(self[i]) for i in range(min(len(self), 5)))
        return f"Alphabet({len(self)}: {shown}{', ...' if len(self) > 5 else ''})"

    def ids(self, values: Sequence[str]) -> NDArray[np.int32]:
        """The id of each value; -1 for a value that the alphabet does not have."""
        return self._strings.ids(list(values))

    def into(self, other: Alphabet) -> NDArray[np.int32]:
        """The id in `other` of each string of this alphabet; -1 for a string that `other` does not have."""
        if other is self:
            return np.arange(len(self), dtype=np.int32)
        return self._strings.into(other._strings)

    def recode(self, codes: NDArray[np.int32], other: Alphabet) -> tuple[NDArray[np.int32], int]:
        """(codes in this alphabet converted to codes in `other`, number of codes without a string in `other`).

        Codes without a string in `other` become ABSENT.
        """
        return self._strings.recode(codes, other._strings)

    def subset(self, kept: NDArray[np.bool_]) -> Alphabet:
        """The alphabet of the strings whose `kept` is true."""
        lengths = np.diff(self.offsets)
        offsets = np.concatenate([[0], np.cumsum(lengths[kept])])
        return Alphabet.trusted(self.blob[np.repeat(kept, lengths)], offsets)
