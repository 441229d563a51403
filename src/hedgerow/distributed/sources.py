"""Where training data come from: Dask collections, encoded shards or memory, all as one list of partitions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from hedgerow.data.read_y import FlatLabels, read_labels
from hedgerow.data.sequences import Sequences
from hedgerow.distributed.cluster import kept, worker_addresses
from hedgerow.distributed.frames import FrameLabels, FrameSequences, is_dask_frame
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError, type_name
from hedgerow.utilities import counted


@dataclass(frozen=True, eq=False, kw_only=True)
class Source:
    """For each partition a delayed value or a future of X and of y, and what belongs to their sequences.

    `weights` and `groups` hold one value for each sequence of all partitions; `partitioned_...` are lists like X.
    """

    X: list[Any]
    y: list[Any]
    pairs: bool = False  # X holds pairs (sequence, labels)
    frame: FrameSequences | None = None
    weights: Any = None
    groups: Any = None
    partitioned_weights: list[Any] = field(default_factory=list)
    partitioned_groups: list[Any] = field(default_factory=list)


def source_of(X: Any, y: Any, sample_weight: Any, groups: Any, client: Any) -> Source:
    """The partitions of X and y; raises InputError if they are of an unknown kind, or differ in number."""
    source = _source_of_data(X, y, client)
    n = len(source.X)
    if n == 0:
        raise InputError("X must have at least one partition, but it has none")
    weights = _beside(sample_weight, "sample_weight", n)
    all_groups = _beside(groups, "groups", n)
    return replace(
        source,
        weights=None if weights else sample_weight,
        groups=None if all_groups else groups,
        partitioned_weights=weights or [None] * n,
        partitioned_groups=all_groups or [None] * n,
    )


def _source_of_data(X: Any, y: Any, client: Any) -> Source:
    if isinstance(X, FrameSequences):
        return _of_frame(X, y)
    if is_dask_frame(X):
        raise InputError(
            "X is a Dask data frame, whose rows must be grouped into sequences; write "
            'X, y = hedgerow.distributed.from_frame(df, sequence="...", label="...")'
        )
    shards = encoded_shards(X)
    if shards is not None:
        return _of_shards(shards, y, client)
    parts = delayed_parts(X)
    if parts is None:
        return _of_memory(X, y, client)
    if y is None:
        return Source(X=parts, y=[None] * len(parts), pairs=True)
    labels = delayed_parts(y)
    if labels is None:
        raise InputError(
            f"y must have the same partitions as X, but X has {counted(len(parts), 'partition')} and y is "
            f"{type_name(y)}; give y as a Dask bag or a list of delayed, like X"
        )
    check_number(labels, "y", len(parts))
    return Source(X=parts, y=labels)


def delayed_parts(values: Any) -> list[Any] | None:
    """The partitions of a Dask bag, a delayed value, or a list of delayed values or futures; None for anything else."""
    if is_bag(values):
        return list(values.to_delayed())
    if is_delayed(values):
        return [values]
    if isinstance(values, (list, tuple)) and values and any(map(is_delayed, values)):
        for number, value in enumerate(values):
            if not is_delayed(value):
                raise InputError(
                    f"a list of partitions must hold delayed values or futures alone, but item {number} is "
                    f"{type_name(value)}; wrap it in dask.delayed"
                )
        return list(values)
    return None


def is_bag(value: Any) -> bool:
    """Whether the value is a Dask bag; does not import Dask."""
    return any(kind.__module__.startswith("dask.bag.") for kind in type(value).__mro__)


def is_delayed(value: Any) -> bool:
    """Whether the value is a delayed value or a future of Dask; does not import Dask."""
    kind = type(value)
    if kind.__module__.startswith("distributed.") and kind.__name__ == "Future":
        return True
    return kind.__module__.startswith("dask.") and hasattr(value, "__dask_graph__") and not hasattr(kind, "npartitions")


def encoded_shards(X: Any) -> list[Encoded] | None:
    """The shards of an `Encoded` on disk, an `Encoded` in memory as one, or a list of `Encoded`; None for others."""
    if isinstance(X, Encoded):
        return [X] if X.view is None else X.shards()
    if isinstance(X, (list, tuple)) and X and all(isinstance(one, Encoded) for one in X):
        return list(X)
    return None


def _of_shards(shards: list[Encoded], y: Any, client: Any) -> Source:
    """Shards travel as they pickle: those on disk as path and range, which the worker maps, with their own labels."""
    futures = [kept(client, shard) for shard in shards]
    if y is None:
        return Source(X=futures, y=[None] * len(shards))
    if isinstance(y, FlatLabels):
        bounds = np.cumsum([0, *map(len, shards)]).tolist()
        if len(y.starts) != bounds[-1] + 1:
            raise InputError(
                f"y must hold a list of labels for each sequence, but X has {counted(bounds[-1], 'sequence')} and y "
                f"has {counted(len(y.starts) - 1, 'list')}; pass the y of the same corpus"
            )
        return Source(X=futures, y=[kept(client, _some_labels(y, *pair)) for pair in pairwise(bounds)])
    labels = delayed_parts(y)
    if labels is None:
        if not isinstance(y, (list, tuple)):
            raise InputError(f"y must be a list with the labels of each shard of X, or None, but it is {type_name(y)}")
        if len(y) != len(shards):
            raise InputError(
                f"y must be a list with the labels of each shard of X, but X has {counted(len(shards), 'shard')} and y "
                f"{counted(len(y), 'item')}; pass [shard.y for shard in shards]"
            )
        labels = [kept(client, one) for one in y]
    check_number(labels, "y", len(shards))
    return Source(X=futures, y=labels)


def _of_frame(X: FrameSequences, y: Any) -> Source:
    if y is not None and not (isinstance(y, FrameLabels) and y.X.df is X.df):
        raise InputError(
            f"y must be what from_frame returned beside X, or None, but it is {type_name(y)}; write "
            "X, y = hedgerow.distributed.from_frame(df, sequence=..., label=...)"
        )
    if isinstance(y, FrameLabels):
        X = y.X
    parts = list(X.df.to_delayed())
    return Source(X=parts, y=[None] * len(parts), frame=X)


def _of_memory(X: Any, y: Any, client: Any) -> Source:
    """Sequences in memory, cut into one partition for each worker."""
    if y is None:
        raise InputError("y must hold the labels of each sequence of X, but it is None; pass y")
    sequences = X if isinstance(X, Sequences) else Sequences(X)
    labels = read_labels(y, sequences)
    n = len(sequences)
    bounds = np.linspace(0, n, min(len(worker_addresses(client)), n) + 1).astype(np.int64).tolist()
    ranges = list(pairwise(bounds))
    return Source(
        X=client.scatter([sequences[begin:end] for begin, end in ranges], hash=False),
        y=client.scatter([_some_labels(labels, begin, end) for begin, end in ranges], hash=False),
    )


def _some_labels(labels: FlatLabels, begin: int, end: int) -> FlatLabels:
    starts = labels.starts[begin : end + 1]
    return FlatLabels(labels.kind, labels.values[starts[0] : starts[-1]], starts - starts[0], labels.alphabet)


def _beside(values: Any, name: str, n: int) -> list[Any] | None:
    """The partitions of weights or groups; None if these are in memory."""
    parts = delayed_parts(values)
    if parts is None:
        if values is not None and not isinstance(values, Iterable):
            raise InputError(f"{name} must hold one value for each sequence, but it is {type_name(values)}")
        return None
    check_number(parts, name, n)
    return parts


def check_number(parts: list[Any], name: str, n: int) -> None:
    """Raise InputError unless there are as many partitions as X has."""
    if len(parts) != n:
        raise InputError(
            f"{name} must have as many partitions as X, but X has {counted(n, 'partition')} and {name} has "
            f"{counted(len(parts), 'partition')}; make both from the same parts of the data"
        )
