"""The fit of an estimator on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow import storage
from hedgerow.callbacks import Callback
from hedgerow.data.lazy import is_lazy
from hedgerow.distributed.bits import code_learner
from hedgerow.distributed.blueprint import Blueprint, DevShard
from hedgerow.distributed.cluster import checked_client
from hedgerow.distributed.crew import Crew
from hedgerow.distributed.divisible import check_divisible, choose_divisible
from hedgerow.distributed.encoding import encode_partitions
from hedgerow.distributed.partitions import gathered, partitions
from hedgerow.distributed.remote_learner import RemoteLearner
from hedgerow.distributed.shards import Shard, combined_digest, digest_of
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.estimators.allowed_labels import constraints_of
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.checkpoint import Checkpoint, fingerprint
from hedgerow.estimators.encoded_input import check_encoder, check_recipe
from hedgerow.estimators.fitting import (
    Frame,
    check_continued,
    check_dev_pair,
    check_edge_columns,
    prepare,
    read_dev,
    run_learner,
    warn_of_wide_beam,
)
from hedgerow.estimators.output_code import OutputCode
from hedgerow.learning.base import DevData, Record, TrainingData
from hedgerow.learning.seeds import fit_seeds
from hedgerow.model import Model
from hedgerow.topology import Topology

SHARDS_PER_WORKER = 4  # so that the shards of a lost worker can be divided among the others


class Provision(NamedTuple):
    """Training data as a crew gets them."""

    frame: Frame
    shards: list[Any]  # Shards, or futures of them, in the order of the sequences
    sizes: list[int]  # their numbers of positions
    dev: DevData | None
    report: Record
    origin: Callable[[], str]  # a digest of data and parameters


def fit_on_workers(
    settings: Estimator,
    X: object,
    y: object,
    X_dev: object,
    y_dev: object,
    sample_weight: object,
    groups: object,
    earlier: Model | None,
    client: Any,
    callbacks: list[Callback],
    began: float,
    keep: Callable[[Model], None],
) -> None:
    """Fit on the workers of the client's cluster; `keep` gets the model, as in a fit in this process."""
    client = checked_client(client)
    if isinstance(settings, OutputCode):  # workers train whole bits, each with all data
        if is_lazy(X):
            raise InputError(
                "OutputCode trains every bit on all sequences, so X must be in memory, but it is a Dask collection; "
                "compute X and y first"
            )
        training, report = prepare(settings, X, y, X_dev, y_dev, sample_weight, groups, earlier)
        bits = code_learner(settings, training, client)
        run_learner(bits, settings, Frame.of(training), None, callbacks, began, report, keep)
        return
    check_divisible(settings)
    seeded = type(settings)._from_plain(settings._plain_params())
    chosen = choose_divisible(seeded)
    path = getattr(settings, "checkpoint", None)
    if settings.random_state is None:  # all workers must draw the same numbers
        if path is not None:
            raise InputError("checkpoint needs a random_state in a fit on workers, but it is None; pass a seed")
        seeded.random_state = fit_seeds(None)[0]
    data = (X, y, X_dev, y_dev, sample_weight, groups)
    provision = (_partitioned if is_lazy(X) or (isinstance(X, list) and _holds_shards(X)) else _in_this_process)(
        seeded, *data, earlier, client
    )
    checkpoint = None
    if path is not None:
        storage.check_writable(path)
        checkpoint = Checkpoint(Path(path), provision.origin())
        earlier = checkpoint.load() or earlier
    frame = provision.frame
    blueprint = Blueprint.of(seeded, frame.encoder, frame.labels, earlier)

    def make_crew() -> Crew:
        return Crew(
            client,
            blueprint,
            provision.shards,
            provision.sizes,
            lambda rank, size: _dev_shard(provision.dev, rank, size),
        )

    log = [] if earlier is None else list(earlier.training_log)
    learner = RemoteLearner(make_crew, client, frame.encoder, len(frame.labels), frame.order, log)
    try:
        run_learner(learner, settings, frame, checkpoint, callbacks, began, chosen | provision.report, keep)
    finally:
        learner.close()


def _in_this_process(
    settings: Estimator,
    X: object,
    y: object,
    X_dev: object,
    y_dev: object,
    sample_weight: object,
    groups: object,
    earlier: Model | None,
    client: Any,
) -> Provision:
    """Sequences that this process reads and encodes, or maps from the files of a corpus."""
    training, report = prepare(settings, X, y, X_dev, y_dev, sample_weight, groups, earlier)
    n = SHARDS_PER_WORKER * len(client.nthreads())
    shards = [_shard(training, first, last) for first, last in _ranges(training.sequences.starts, n)]
    sizes = [int(shard.lengths.sum()) for shard in shards]
    plain = settings._plain_params()
    return Provision(Frame.of(training), shards, sizes, training.dev, report, lambda: fingerprint(training, plain))


def _partitioned(
    settings: Estimator,
    X: object,
    y: object,
    X_dev: object,
    y_dev: object,
    sample_weight: object,
    groups: object,
    earlier: Model | None,
    client: Any,
) -> Provision:
    """Partitions that workers read and encode."""
    check_dev_pair(X_dev, y_dev)
    check_edge_columns(settings)
    if is_lazy(X_dev):
        raise InputError(
            "X_dev must be sequences in memory, because every step evaluates them, but it is a Dask collection; "
            "compute X_dev and y_dev first"
        )
    for shard in X if isinstance(X, list) and _holds_shards(X) else ():
        check_recipe(settings, shard)
        if earlier is not None:
            check_encoder(earlier.encoder, shard)
    if earlier is not None:
        check_continued(settings, earlier)
    parts = partitions(X, y, client, sample_weight=sample_weight, groups=groups)
    encoder, labels, shards, report = encode_partitions(settings, parts, earlier)
    dev = None if X_dev is None else read_dev(settings, encoder, labels, X_dev, y_dev)
    constraints = constraints_of(settings.constraints, labels)
    frame = Frame(labels, encoder, settings._order, constraints)
    warn_of_wide_beam(settings._training_beam, Topology(len(labels), settings._order, constraints))
    decode = settings._decoding(labels.classes.tolist(), settings.decode)
    sizes = [partition.n_positions for partition in parts]

    def origin() -> str:
        digests = gathered(client, client.map(digest_of, shards, pure=False))
        return combined_digest(settings._plain_params(), encoder, labels, digests)

    return Provision(frame, shards, sizes, dev, {"decode": decode, **report}, origin)


def _holds_shards(X: list[Any]) -> bool:
    return bool(X) and all(isinstance(one, Encoded) for one in X)


def _ranges(starts: NDArray[np.int64], n: int) -> list[tuple[int, int]]:
    """At most n ranges of sequences of about as many positions."""
    cuts = np.searchsorted(starts, np.linspace(0, starts[-1], min(n, len(starts) - 1) + 1)[1:-1])
    return list(pairwise(np.unique([0, *cuts, len(starts) - 1]).tolist()))


def _shard(training: TrainingData, first: int, last: int) -> Shard:
    starts, groups = training.sequences.starts, training.groups
    codes = training.codes[starts[first] : starts[last]]
    own_groups = None if groups is None else groups[first:last]
    return Shard.of(training.sequences[first:last], codes, training.weights[first:last], own_groups)


def _dev_shard(dev: DevData | None, rank: int, size: int) -> DevShard | None:
    """The dev sequences that a member evaluates."""
    if dev is None:
        return None
    starts = dev.sequences.starts
    first, last = (len(dev.sequences) * r // size for r in (rank, rank + 1))
    assert dev.gold is not None
    return DevShard(dev.sequences[first:last], dev.codes[starts[first] : starts[last]], dev.gold, starts)
