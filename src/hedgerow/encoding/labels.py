"""Labels: the classes of training, and the conversion of labels to codes and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.alphabet import Alphabet
from hedgerow.data.column_store import ColumnStore
from hedgerow.data.read_y import FlatLabels, LabelKind, read_labels, refuse_nul
from hedgerow.errors import InputError
from hedgerow.utilities import read_only

_KINDS: dict[str, LabelKind] = {"U": "strings", "i": "integers", "b": "bools"}


class Labels:
    """The distinct labels of training: `classes`, an array of str, int64 or bool.

    The code of a label is its place in `classes`. `fit` sorts the labels; another order matters only where scores tie,
    because the lower code wins. Raises InputError unless `classes` is such an array, with at least two labels.
    """

    __slots__ = ("_alphabet", "_code_of_rank", "_kind", "_sorted", "classes")

    classes: NDArray[Any]

    def __init__(self, classes: NDArray[Any]) -> None:
        if not isinstance(classes, np.ndarray) or classes.ndim != 1 or classes.dtype.kind not in _KINDS:
            raise InputError("classes must be a 1-D array of str, int64 or bool")
        if len(classes) < 2:
            raise InputError(
                f"y must hold at least 2 distinct labels, but it holds only {classes.tolist()}; "
                "add sequences with other labels"
            )
        by_rank = np.argsort(classes, kind="stable")
        self._sorted = classes[by_rank]
        if not (self._sorted[:-1] < self._sorted[1:]).all():
            raise InputError("classes must be distinct")
        self._code_of_rank = np.append(by_rank, -1).astype(np.int32)  # the rank -1 is an unseen label
        self._kind = _KINDS[classes.dtype.kind]
        self.classes = read_only(classes.astype(np.int64) if self._kind == "integers" else classes.copy())
        self._alphabet = Alphabet.of(classes.tolist() if self._kind == "strings" else [])

    @classmethod
    def fit(cls, y: object, sequences: ColumnStore) -> Labels:
        """The labels of `y`; raises InputError if they do not match the sequences, or if only one is distinct."""
        labels = read_labels(y, sequences)
        if labels.alphabet is None:
            return cls(np.unique(labels.values))
        names = list(labels.alphabet)
        refuse_nul(names)
        return cls(np.array(names, dtype=np.str_))

    def __len__(self) -> int:
        return len(self.classes)

    def codes(self, y: object, sequences: ColumnStore) -> NDArray[np.int32]:
        """The code of the label of each position; -1 for a label that training never saw."""
        labels = self._read(y, sequences)
        if labels.alphabet is not None:
            places = self._code_of_rank[labels.alphabet.into(self._alphabet)]
            if labels.values.min(initial=0) < 0 or labels.values.max(initial=-1) >= len(places):
                raise InputError(
                    f"codes of labels must lie in 0..{len(places) - 1}, but some do not; the corpus is damaged: see "
                    "hedgerow.Encoded.open(path, verify=True)"
                )
            if (places == np.arange(len(places))).all():
                return labels.values  # of a mapped file, perhaps: nothing is copied
            codes: NDArray[np.int32] = places[labels.values]
            return codes
        ranks = np.searchsorted(self._sorted, labels.values)
        known = self._sorted[np.minimum(ranks, len(self) - 1)] == labels.values
        return self._code_of_rank[np.where(known, ranks, -1)]

    def decode(self, codes: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """The label of each code, of the type it had in training; raises InputError for a code out of range."""
        if codes.size and (codes.min() < 0 or codes.max() >= len(self)):
            raise InputError(f"codes of labels must lie in 0..{len(self) - 1}, but got {codes.min()}..{codes.max()}")
        labels: NDArray[Any] = self.classes[codes]
        return labels

    def unseen(self, y: object) -> list[Any]:
        """The labels of `y` that training never saw, sorted."""
        labels = self._read(y, None)
        if labels.alphabet is not None:
            names = labels.alphabet
            return [names[i] for i in np.flatnonzero(names.into(self._alphabet) < 0).tolist()]
        unseen: list[Any] = np.setdiff1d(labels.values, self.classes).tolist()
        return unseen

    def _read(self, y: object, sequences: ColumnStore | None) -> FlatLabels:
        labels = read_labels(y, sequences)
        if labels.kind != self._kind:
            raise InputError(f"labels must be {self._kind}, as in training, but got {labels.kind}; convert them")
        return labels
