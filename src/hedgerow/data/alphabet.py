"""Alphabets: the distinct values of a column or of the labels, in a stable order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.ragged import starts_of
from hedgerow.errors import InputError
from hedgerow.utilities import read_only


class Values(ABC):
    """Distinct values, numbered from 0; as text they are what inspection shows."""

    __slots__ = ()

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, index: int) -> str: ...

    @abstractmethod
    def __iter__(self) -> Iterator[str]: ...


class Alphabet(Values):
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

    def codes(self, values: Sequence[str | None]) -> NDArray[np.int32]:
        """The id of each value; ABSENT for None and for a value that the alphabet does not have."""
        return self._strings.codes(list(values))

    @property
    def strings(self) -> _core.SortedSet:
        """The strings as the compiled readers take them."""
        return self._strings

    def part_codes(
        self, texts: Alphabet, part: str, outside: str, n_threads: int = 1
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """(the id of a part of each text, ABSENT if there is none; the texts whose part the core cannot compute).

        The parts are those of `hedgerow.encoding.text_parts`, where no text has the value `outside`.
        """
        return self._strings.part_codes(texts._strings, part, outside, n_threads)

    def part_alphabets(
        self, parts: Sequence[str], more: Sequence[list[str]], outside: str, n_threads: int = 1
    ) -> list[Alphabet]:
        """The alphabet of each part of all strings, with the values `more` has for it.

        The parts are those of `part_codes`. What the core cannot compute is left out.
        """
        found = self._strings.part_alphabets(list(parts), list(more), outside, n_threads)
        return [Alphabet.trusted(blob, offsets) for blob, offsets in found]

    def beyond_ascii(self) -> list[str]:
        """The strings that have a character beyond ASCII."""
        before = starts_of(self.blob >= 0x80)[self.offsets]
        return [self[i] for i in np.flatnonzero(np.diff(before)).tolist()]

    def into(self, other: Alphabet) -> NDArray[np.int32]:
        """The id in `other` of each string of this alphabet; -1 for a string that `other` does not have."""
        if other is self:
            return np.arange(len(self), dtype=np.int32)
        return self._strings.into(other._strings)

    def merged(self, other: Alphabet) -> Alphabet:
        """The alphabet of the strings of both."""
        if not len(other) or other is self:
            return self
        return other if not len(self) else Alphabet.trusted(*self._strings.merged(other._strings))

    def recode(self, codes: NDArray[np.int32], other: Alphabet, n_threads: int = 1) -> tuple[NDArray[np.int32], int]:
        """(codes in this alphabet converted to codes in `other`, number of codes without a string in `other`).

        Codes without a string in `other` become ABSENT.
        """
        return self._strings.recode(codes, other._strings, n_threads)

    def subset(self, kept: NDArray[np.bool_]) -> Alphabet:
        """The alphabet of the strings whose `kept` is true."""
        lengths = np.diff(self.offsets)
        offsets = np.concatenate([[0], np.cumsum(lengths[kept])])
        return Alphabet.trusted(self.blob[np.repeat(kept, lengths)], offsets)


class PairAlphabet(Values):
    """Immutable sorted set of pairs of values of two other alphabets.

    A pair is stored as the codes of its values, as in the rows of a sparse matrix: the left code l occurs with the
    right codes `rights[starts[l]:starts[l + 1]]`, increasing, and the id of a pair is its index there. So a pair is
    found without joining strings. Raises InputError if starts and rights are not valid.
    """

    __slots__ = ("left", "right", "rights", "starts")

    left: Values
    right: Values
    starts: NDArray[np.int64]
    rights: NDArray[np.int32]

    def __init__(self, left: Values, right: Values, starts: NDArray[np.int64], rights: NDArray[np.int32]) -> None:
        for name, array, dtype in (("starts", starts, np.int64), ("rights", rights, np.int32)):
            if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != dtype:
                raise InputError(f"the {name} of an alphabet of pairs must be a 1-D array of {dtype.__name__}")
        if len(starts) != len(left) + 1:
            raise InputError("an alphabet of pairs must have a start for each left value, and the end")
        self.left, self.right = left, right
        self.starts = read_only(np.ascontiguousarray(starts))
        self.rights = read_only(np.ascontiguousarray(rights))
        _core.check_pairs(self.starts, self.rights, len(right))

    @classmethod
    def fit(
        cls,
        left: Values,
        right: Values,
        left_codes: NDArray[np.int32],
        right_codes: NDArray[np.int32],
        n_threads: int = 1,
    ) -> Self:
        """The alphabet of the pairs that two columns of codes have at the same position."""
        return cls(left, right, *_core.distinct_pairs(left_codes, right_codes, len(left), len(right), n_threads))

    def codes(
        self, left_codes: NDArray[np.int32], right_codes: NDArray[np.int32], n_threads: int = 1
    ) -> NDArray[np.int32]:
        """The id of each pair; MISSING if a value is missing, otherwise ABSENT if one is absent or the pair is new."""
        return _core.pair_codes(self.starts, self.rights, left_codes, right_codes, n_threads)

    def __len__(self) -> int:
        return len(self.rights)

    def __getitem__(self, index: int) -> str:
        index = range(len(self))[index]
        left = int(np.searchsorted(self.starts, index, side="right")) - 1
        return f"{self.left[left]}|{self.right[int(self.rights[index])]}"

    def __iter__(self) -> Iterator[str]:
        rights = list(self.right)
        for left, begin, end in zip(self.left, self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            for right in self.rights[begin:end].tolist():
                yield f"{left}|{rights[right]}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairAlphabet):
            return NotImplemented
        if self is other:
            return True
        same_pairs = np.array_equal(self.starts, other.starts) and np.array_equal(self.rights, other.rights)
        return same_pairs and self.left == other.left and self.right == other.right

    def __hash__(self) -> int:
        return hash((len(self), self.rights.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.left, self.right, self.starts, self.rights)

    def __repr__(self) -> str:
        return f"PairAlphabet({len(self)} pairs of {self.left!r} and {self.right!r})"
