"""Training data in partitions on the workers of a cluster: read there once, checked together, kept there.

`partitions(X, y, client)` returns the partitions in the order of the data, each a future of `PartitionData`. A fit maps
functions over them; only what these functions return travels to the client.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.distributed.cluster import checked_client, worker_addresses
from hedgerow.distributed.comparing import check_alike, check_readable, first_cut
from hedgerow.distributed.frames import cut_message
from hedgerow.distributed.reading import (
    Frame,
    PartitionSummary,
    data_of,
    read_partition,
    sequence_keys,
    summarise,
)
from hedgerow.distributed.sources import Source, source_of
from hedgerow.errors import InputError
from hedgerow.estimators.fitting import checked_weights
from hedgerow.estimators.groups import group_codes


@dataclass(frozen=True, eq=False, kw_only=True)
class Partition:
    """One partition that is not empty.

    `data` is a future of `PartitionData`: `data.sequences` and `data.labels` are read already.
    """

    number: int  # among all partitions of X, empty ones included, as messages count them
    data: Any
    n_sequences: int
    n_positions: int
    first_sequence: int  # number of its first sequence among all sequences


@dataclass(frozen=True, eq=False)
class Partitions(Sequence[Partition]):
    """The partitions in the order of the data.

    Attributes
    ----------
    client : distributed.Client
        The client whose workers hold the data.
    weights : 1-D array of float64, or None
        The weight of each sequence of all partitions, in order; None if none were passed.
    groups : 1-D array of int64, or None
        The group of each sequence of all partitions, numbered by first occurrence; None if none were passed.
    """

    client: Any
    items: tuple[Partition, ...]
    weights: NDArray[np.float64] | None
    groups: NDArray[np.int64] | None

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]

    def __iter__(self) -> Iterator[Partition]:
        return iter(self.items)

    @property
    def n_sequences(self) -> int:
        """Number of sequences of all partitions."""
        return sum(partition.n_sequences for partition in self.items)

    @property
    def n_positions(self) -> int:
        """Number of positions of all partitions."""
        return sum(partition.n_positions for partition in self.items)

    def cut(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Values of all sequences, such as `weights`, as one array for each partition."""
        bounds = [*(partition.first_sequence for partition in self.items), self.n_sequences]
        return [values[begin:end] for begin, end in pairwise(bounds)]

    def map(self, function: Callable[..., Any], *others: Sequence[Any], **same: Any) -> list[Any]:
        """Futures of `function(data, *other, **same)` for each partition, computed where the partition is.

        Parameters
        ----------
        function
            A function of a module, of `PartitionData` and more arguments.
        *others
            For each partition one argument.
        **same
            Arguments that are the same for all partitions.
        """
        client, data = self.client, [partition.data for partition in self.items]
        return list(client.map(function, data, *map(list, others), pure=False, **same))

    def results(self, function: Callable[..., Any], *others: Sequence[Any], **same: Any) -> list[Any]:
        """What the futures of `map` give, in order; Ctrl-C and errors cancel the others."""
        return gathered(self.client, self.map(function, *others, **same))

    def by_worker(self) -> dict[str, list[Partition]]:
        """The partitions that each worker holds, by its address; a partition counts for one worker.

        Addresses are sorted, and partitions are in order. Workers without a partition are left out.
        """
        addresses = worker_addresses(self.client)
        holders = self.client.who_has([partition.data for partition in self.items])
        found: dict[str, list[Partition]] = {address: [] for address in addresses}
        for partition in self.items:
            held = sorted(set(holders.get(partition.data.key, ())) & found.keys())
            if not held:
                raise InputError(
                    f"partition {partition.number} is on no worker any more; a worker was lost: call fit again"
                )
            found[held[0]].append(partition)
        return {address: held for address, held in found.items() if held}


def partitions(X: Any, y: Any, client: Any, *, sample_weight: Any = None, groups: Any = None) -> Partitions:
    """Read X and y on the workers, partition by partition, and check that they fit together.

    Parameters
    ----------
    X : Dask bag, list of delayed, FrameSequences, list of Encoded, or list of sequences
        A bag of sequences, or of pairs (sequence, labels) if y is None. Delayed values and futures, each a list of
        sequences (or of pairs). `distributed.from_frame(df, ...)`. An `Encoded` with `shards()`, or a list of
        `Encoded`. Sequences in memory become one partition for each worker.
    y : like X, optional
        With as many partitions as X. None for pairs, for a frame with a column of labels, and for shards with labels.
    client : distributed.Client
        A client with workers that have this version of hedgerow.
    sample_weight, groups : optional
        A Dask bag or list of delayed with as many partitions as X, or a list with a value for each sequence of all
        partitions.

    Returns
    -------
    Partitions
        The partitions in order. Empty ones are left out; their numbers remain.

    Raises
    ------
    InputError
        If there is no client, it has no workers or they have another version of hedgerow; if X and y differ in
        partitions, sequences or positions; if partitions differ in columns or kinds of labels; if all are empty; or if
        a sequence of a frame has rows in several partitions. Messages name the partition.
    """
    client = checked_client(client)
    source = source_of(X, y, sample_weight, groups, client)
    read = _read_on_workers(source, client)
    try:
        summaries = check_readable(gathered(client, client.map(summarise, read, pure=False)))
        filled = [(number, summary) for number, summary in enumerate(summaries) if summary.n_sequences]
        check_alike(filled)
        _refuse_cut_sequences(filled, source, client)
        n = sum(summary.n_sequences for _, summary in filled)
        weights = source.weights if source.weights is not None else _joined([one.weights for _, one in filled])
        all_groups = source.groups if source.groups is not None else _joined([one.groups for _, one in filled])
        checked = (
            None if weights is None else checked_weights(weights, n, sum(summary.n_positions for _, summary in filled))
        )
        codes = None if all_groups is None else group_codes(all_groups, n)
    except BaseException:
        client.cancel(read)
        raise
    futures = client.map(data_of, [read[number] for number, _ in filled], pure=False)
    return Partitions(client, tuple(_with_places(filled, futures)), checked, codes)


def gathered(client: Any, futures: list[Any]) -> list[Any]:
    """The results of futures, in order; cancels them all on Ctrl-C and when one fails."""
    try:
        return list(client.gather(futures))
    except BaseException:
        client.cancel(futures)
        raise


def _read_on_workers(source: Source, client: Any) -> list[Any]:
    """Futures of the partitions as they are read. What they are read from is released as soon as it was read."""
    from dask.delayed import delayed

    frame = None if source.frame is None else Frame(source.frame.sequence, source.frame.label)
    read = delayed(read_partition, pure=False)
    parts = [
        read(X, y, weights, groups, frame, source.pairs)
        for X, y, weights, groups in zip(
            source.X, source.y, source.partitioned_weights, source.partitioned_groups, strict=True
        )
    ]
    return list(client.compute(parts))


def _with_places(filled: list[tuple[int, PartitionSummary]], futures: list[Any]) -> Iterator[Partition]:
    first = 0
    for (number, summary), future in zip(filled, futures, strict=True):
        yield Partition(
            number=number,
            data=future,
            n_sequences=summary.n_sequences,
            n_positions=summary.n_positions,
            first_sequence=first,
        )
        first += summary.n_sequences


def _joined(parts: list[Any]) -> list[Any] | None:
    return None if parts[0] is None else [value for part in parts for value in part]


def _refuse_cut_sequences(filled: list[tuple[int, PartitionSummary]], source: Source, client: Any) -> None:
    cut = first_cut(filled)
    if cut is None:
        return
    assert source.frame is not None
    here, there, number = cut
    (key,) = gathered(client, [client.submit(key_of, client.compute(source.X[there]), source.frame.sequence, number)])
    raise InputError(cut_message(source.frame.sequence, key, here, there))


def key_of(df: Any, sequence: tuple[str, ...], number: int) -> Any:
    """The values of the group columns of one sequence of a frame."""
    return sequence_keys(df, sequence)[number]
