"""Types of what users pass: sequences X, labels y, and single sequences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hedgerow.data.sequences import Sequences
    from hedgerow.encoding.encoded import Encoded
    from hedgerow.encoding.gold_labels import GoldLabels

__all__ = [
    "ConstraintsLike",
    "KnownLike",
    "Label",
    "LabelsLike",
    "LazySequences",
    "Position",
    "SequenceLike",
    "SequencesLike",
    "ShardLabels",
]


class Frame(Protocol):
    """A data frame: pandas, polars and the like."""

    @property
    def columns(self) -> Any: ...


class SparseMatrix(Protocol):
    """A sparse matrix of scipy."""

    def tocsr(self) -> Any: ...


class DaskCollection(Protocol):
    """A bag, a delayed value or another collection of Dask."""

    def __dask_graph__(self) -> Any: ...


class GroupedFrame(Protocol):
    """The sequences of `hedgerow.distributed.from_frame`."""

    @property
    def df(self) -> Any: ...

    @property
    def sequence(self) -> tuple[str, ...]: ...


#: One position: text, a dict of columns, a bag of attributes, or a tuple of columns.
Position: TypeAlias = str | Mapping[str, Any] | Collection[str] | tuple[Any, ...] | float
#: One sequence: a string of characters, a list of positions, a 2-D array, a data frame or a sparse matrix.
SequenceLike: TypeAlias = str | Sequence[Position] | Iterable[Position] | NDArray[Any] | Frame | SparseMatrix
#: X: a list of sequences, or sequences that `hedgerow.encode` wrote.
SequencesLike: TypeAlias = Union["Sequences", "Encoded", Iterable[SequenceLike], NDArray[Any]]
#: X in partitions that are not computed yet.
LazySequences: TypeAlias = DaskCollection | GroupedFrame
#: One label.
Label: TypeAlias = str | int | bool | np.generic
#: y: a list with the labels of each sequence.
LabelsLike: TypeAlias = Union["GoldLabels", Iterable[Iterable[Label] | NDArray[Any]], NDArray[Any]]
#: y of the shards of a corpus.
ShardLabels: TypeAlias = Sequence["GoldLabels | None"]
#: Known labels: for each sequence a list with labels, and None where the label is not known; or None for no list.
KnownLike: TypeAlias = Iterable[Iterable[Label | None] | NDArray[Any] | None]
#: Constraints: the name of a scheme, or the allowed pairs (previous label or None, label).
ConstraintsLike: TypeAlias = str | Collection[tuple[Label | None, Label]]
