"""The data of a race: sequences and labels that are read once, and parts of them for each fit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.padded import warn_of_padding
from hedgerow.data.ragged import ranges, starts_of
from hedgerow.data.read_y import FlatLabels, read_labels
from hedgerow.data.sequences import Sequences
from hedgerow.encoding import Labels
from hedgerow.encoding.encoded import Encoded
from hedgerow.estimators.groups import group_codes
from hedgerow.tuning.cross_validation import Index


@dataclass(frozen=True)
class Part:
    """Some of the sequences, with labels as `fit` takes them and as codes of all labels."""

    X: Sequences | Encoded
    y: Any  # FlatLabels, which `fit` does not read again
    codes: NDArray[np.int32]
    groups: Index


@dataclass(frozen=True)
class RaceData:
    """All sequences with their labels and groups."""

    X: Sequences | Encoded
    y: FlatLabels
    labels: Labels
    codes: NDArray[np.int32]
    groups: Index

    @classmethod
    def read(cls, X: object, y: object, groups: object) -> RaceData:
        """Raises InputError if X, y or groups break a rule."""
        sequences = X if isinstance(X, Encoded) else Sequences(X)
        flat = read_labels(y, sequences)
        warn_of_padding(flat)
        labels = Labels.fit(flat, sequences)
        return cls(sequences, flat, labels, labels.codes(flat, sequences), group_codes(groups, len(sequences)))

    def part(self, index: Index) -> Part:
        """The sequences at these indices; nothing is read again."""
        lengths = self.X.lengths[index]
        codes = self.codes[ranges(self.X.starts[index], lengths)]
        return Part(self.X[index], self._flat_labels(codes, starts_of(lengths)), codes, self.groups[index])

    def _flat_labels(self, codes: NDArray[np.int32], starts: NDArray[np.int64]) -> FlatLabels:
        if self.y.kind != "strings":
            return FlatLabels(self.y.kind, self.labels.classes[codes], starts)
        used, ranks = np.unique(codes, return_inverse=True)
        names = Alphabet.of(self.labels.classes[used].tolist())
        return FlatLabels("strings", ranks.astype(np.int32), starts, names)

    def labels_of_sequences(self) -> list[set[int]]:
        """The codes of the labels that occur in each sequence."""
        bounds = self.X.starts.tolist()
        return [set(self.codes[a:b].tolist()) for a, b in pairwise(bounds)]

    def decoded(self, part: Part) -> list[NDArray[Any]]:
        """The gold labels of each sequence of a part, as `predict` returns labels."""
        return np.split(self.labels.decode(part.codes), part.X.starts[1:-1])
