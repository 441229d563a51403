"""What a worker does with one partition: read it, and say what it holds. Nothing here imports Dask."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import FoldedBag
from hedgerow.data.frames import from_frame, grouped
from hedgerow.data.read_y import FlatLabels, LabelKind, read_labels
from hedgerow.data.sequences import Sequences, read_sequences
from hedgerow.data.value_reader import ValueReader
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError, type_name
from hedgerow.utilities import counted

KEY_BYTES = 16  # of a digest that identifies a sequence of a data frame


@dataclass(frozen=True, eq=False)
class PartitionData:
    """The sequences and gold labels of one partition, on the worker that holds them.

    `labels` is what `read_labels` returns; for encoded shards on disk their own labels, mapped.
    """

    sequences: Sequences | Encoded
    labels: FlatLabels


@dataclass(frozen=True, eq=False)
class Unreadable:
    """A partition that breaks a rule; a value and no exception, so that a worker does not log its traceback."""

    message: str


@dataclass(frozen=True, eq=False, kw_only=True)
class ReadPartition:
    """One partition as it was read: its data, None if it is empty, and what belongs to its sequences."""

    data: PartitionData | None
    weights: NDArray[np.float64] | None = None
    groups: list[Any] | None = None
    keys: NDArray[np.uint8] | None = None  # of a data frame: (sequences, KEY_BYTES) digests of the group columns


@dataclass(frozen=True, eq=False, kw_only=True)
class PartitionSummary:
    """What the client must know about a partition to compare it with the others."""

    n_sequences: int
    n_positions: int = 0
    form: str = ""  # "raw" or "encoded"
    optional_columns: bool = False
    kinds: tuple[tuple[str, str | None], ...] = ()  # (column, its kind; None if all its values are missing)
    label_kind: LabelKind | None = None
    weights: NDArray[np.float64] | None = None
    groups: list[Any] | None = None
    keys: NDArray[np.uint8] | None = None


@dataclass(frozen=True)
class Frame:
    """The columns of a data frame that are no attributes."""

    sequence: tuple[str, ...]
    label: str | None


def read_partition(
    X: Any, y: Any, weights: Any, groups: Any, frame: Frame | None, pairs: bool
) -> ReadPartition | Unreadable:
    """Read one partition; `pairs` says that X holds pairs (sequence, labels)."""
    try:
        return _read(X, y, weights, groups, frame, pairs)
    except InputError as error:
        return Unreadable(str(error))


def _read(X: Any, y: Any, weights: Any, groups: Any, frame: Frame | None, pairs: bool) -> ReadPartition:
    keys = None
    if frame is not None:
        X, y, keys = _from_frame(X, frame)
    elif pairs:
        X, y = _unzipped(X)
    elif not isinstance(X, (Sequences, Encoded)):
        X = _listed(X, "X")
    if not isinstance(y, FlatLabels) and y is not None and not isinstance(X, Encoded):
        y = _listed(y, "y")
    if len(X) == 0:
        n_lists = 0 if y is None else len(y.starts) - 1 if isinstance(y, FlatLabels) else len(y)
        if n_lists:
            raise InputError(f"X has no sequences, but y has {counted(n_lists, 'list')}; give both the same sequences")
        return ReadPartition(data=None)
    sequences = X if isinstance(X, Encoded) else read_sequences(X, ValueReader(n_threads=1))
    labels = read_labels(_own_labels(X) if y is None else y, sequences)
    n = len(sequences)
    return ReadPartition(
        data=PartitionData(sequences, labels),
        weights=None if weights is None else np.asarray(_one_each(weights, n, "sample_weight"), np.float64),
        groups=None if groups is None else _one_each(groups, n, "groups"),
        keys=keys,
    )


def _own_labels(X: Any) -> FlatLabels:
    """The labels of sequences that were encoded with them; raises InputError if there are none."""
    gold = X.y if isinstance(X, Encoded) and X.view is not None else None
    if gold is None:
        raise InputError("X must have labels, because y is None, but it has none; pass y, or encode X with its labels")
    return gold


def _listed(values: Any, name: str) -> list[Any]:
    """The items of a partition; raises InputError for anything but a list or another iterable."""
    if isinstance(values, (str, bytes, dict)) or not isinstance(values, Iterable):
        raise InputError(f"{name} must be a list with an item for each sequence, but it is {type_name(values)}")
    return list(values)


def _unzipped(pairs: Any) -> tuple[list[Any], list[Any]]:
    items = _listed(pairs, "X")
    for i, item in enumerate(items):
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise InputError(
                f"sequence {i} must be a pair (sequence, labels), because y is None, but it is {type_name(item)}; "
                "pass y, or pairs"
            )
    return [x for x, _ in items], [y for _, y in items]


def _one_each(values: Any, n: int, name: str) -> list[Any]:
    items = _listed(values, name)
    if len(items) != n:
        raise InputError(
            f"{name} must hold one value for each sequence, but X has {counted(n, 'sequence')} and {name} has "
            f"{counted(len(items), 'value')}"
        )
    return items


def _from_frame(df: Any, frame: Frame) -> tuple[Any, Any, NDArray[np.uint8]]:
    """(X, y, digests of the sequences) of the rows of a frame."""
    if len(df) == 0:
        return [], None, np.zeros((0, KEY_BYTES), np.uint8)
    X, y = from_frame(df, sequence=list(frame.sequence), label=frame.label)
    return X, y, key_digests(sequence_keys(df, frame.sequence))


def sequence_keys(df: Any, sequence: tuple[str, ...]) -> list[Any]:
    """The values of the group columns for each sequence, in the order of `from_frame`."""
    columns = [(df[name] if name in df.columns else df.index.get_level_values(name)).tolist() for name in sequence]
    rows, starts = grouped(columns)
    firsts = rows[starts[:-1]].tolist()
    return [columns[0][row] if len(columns) == 1 else tuple(column[row] for column in columns) for row in firsts]


def key_digests(keys: Iterable[Any]) -> NDArray[np.uint8]:
    """A digest of each key, equal on every worker for equal keys."""
    digests = [hashlib.blake2b(repr(key).encode(), digest_size=KEY_BYTES).digest() for key in keys]
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, KEY_BYTES)


def summarise(read: ReadPartition | Unreadable) -> PartitionSummary | Unreadable:
    """What the client must know about a partition."""
    if isinstance(read, Unreadable):
        return read
    if read.data is None:
        return PartitionSummary(n_sequences=0)
    sequences, labels = read.data.sequences, read.data.labels
    return PartitionSummary(
        n_sequences=len(sequences),
        n_positions=sequences.n_positions,
        form="encoded" if isinstance(sequences, Encoded) else "raw",
        optional_columns=isinstance(sequences, Sequences) and sequences.optional_columns,
        kinds=tuple(
            (column.name, None if column.n_missing == len(column) else column.kind)
            for column in sequences.columns
            if not isinstance(column, FoldedBag)  # which keys are folded depends on the other positions
        ),
        label_kind=labels.kind,
        weights=read.weights,
        groups=read.groups,
        keys=read.keys,
    )


def data_of(read: ReadPartition) -> PartitionData:
    """The data of a partition that is not empty."""
    assert read.data is not None
    return read.data
