"""Types of what users pass: sequences X, labels y, and single sequences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hedgerow.data.sequences import Sequences

__all__ = ["ConstraintsLike", "KnownLike", "Label", "LabelsLike", "Position", "SequenceLike", "SequencesLike"]


class Frame(Protocol):
    """A data frame: pandas, polars and the like."""

    @property
    def columns(self) -> Any: ...


class SparseMatrix(Protocol):
    """A sparse matrix of scipy."""

    def tocsr(self) -> Any: ...


#: One position: text, a dict of columns, a bag of attributes, or a tuple of columns.
Position: TypeAlias = str | Mapping[str, Any] | Collection[str] | tuple[Any, ...] | float
#: One sequence: a string of characters, a list of positions, a 2-D array, a data frame or a sparse matrix.
SequenceLike: TypeAlias = str | Sequence[Position] | Iterable[Position] | NDArray[Any] | Frame | SparseMatrix
#: X: a list of sequences.
SequencesLike: TypeAlias = Union["Sequences", Iterable[SequenceLike], NDArray[Any]]
#: One label.
Label: TypeAlias = str | int | bool | np.generic
#: y: a list with the labels of each sequence.
LabelsLike: TypeAlias = Iterable[Iterable[Label] | NDArray[Any]] | NDArray[Any]
#: Known labels: for each sequence a list with labels, and None where the label is not known; or None for no list.
KnownLike: TypeAlias = Iterable[Iterable[Label | None] | NDArray[Any] | None]
#: Constraints: the name of a scheme, or the allowed pairs (previous label or None, label).
ConstraintsLike: TypeAlias = str | Collection[tuple[Label | None, Label]]
