"""Gold labels of encoded sequences, as codes; and the labels of parts of the data, merged in any order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.read_y import FlatLabels, LabelKind, refuse_nul
from hedgerow.encoding.labels import Labels
from hedgerow.errors import InputError

#: The type of the stored values, by kind of labels: codes of strings, or the labels themselves.
DTYPES: dict[LabelKind, np.dtype[Any]] = {
    "strings": np.dtype("<i4"),
    "integers": np.dtype("<i8"),
    "bools": np.dtype("?"),
}


class GoldLabels(FlatLabels):
    """The gold labels of encoded sequences: what `fit` and `score` take as y without decoding.

    It is also a sequence: `y[i]` is the array of labels of sequence i.
    """

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, i: int) -> NDArray[Any]:
        begin, end = self.starts[range(len(self))[i] :][:2].tolist()
        return self._decoded(self.values[begin:end])

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[i] for i in range(len(self)))

    def _decoded(self, values: NDArray[Any]) -> NDArray[Any]:
        if self.alphabet is None:
            return np.array(values)
        decoded: NDArray[Any] = np.array(list(self.alphabet), np.str_)[values]
        return decoded

    def __repr__(self) -> str:
        return f"GoldLabels({len(self)} sequences of {self.kind})"


@dataclass(frozen=True, eq=False)
class LabelSet:
    """The distinct labels of some sequences; plain data, which can be pickled."""

    kind: LabelKind
    alphabet: Alphabet | None  # of strings
    values: NDArray[Any] | None  # distinct integers or bools, rising

    @classmethod
    def of(cls, labels: FlatLabels) -> LabelSet:
        """The labels that occur."""
        if labels.alphabet is None:
            return cls(labels.kind, None, np.unique(labels.values))
        occurs = np.bincount(labels.values, minlength=len(labels.alphabet)) > 0
        alphabet = labels.alphabet if occurs.all() else labels.alphabet.subset(occurs)
        refuse_nul(alphabet)
        return cls(labels.kind, alphabet, None)

    def merge(self, other: LabelSet) -> LabelSet:
        """The labels of both; raises InputError if they are of different kinds."""
        if self.kind != other.kind:
            raise InputError(
                f"labels must be all strings, all integers or all bools, but got {self.kind} and {other.kind}; convert "
                "them"
            )
        if self.alphabet is not None and other.alphabet is not None:
            return LabelSet(self.kind, self.alphabet.merged(other.alphabet), None)
        assert self.values is not None
        assert other.values is not None
        return LabelSet(self.kind, None, np.union1d(self.values, other.values))

    def labels(self) -> Labels:
        """The labels of a model; raises InputError if there is only one."""
        if self.alphabet is not None:
            return Labels(np.array(list(self.alphabet), np.str_))
        assert self.values is not None
        return Labels(self.values)

    def stored(self, labels: FlatLabels) -> NDArray[Any]:
        """The labels of some sequences as they are stored: strings as codes of this set."""
        if labels.alphabet is None or self.alphabet is None:
            return labels.values
        codes: NDArray[Any] = labels.alphabet.into(self.alphabet)[labels.values]
        return codes
