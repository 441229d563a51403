"""Encoding of partitions on the workers that hold them, with the encoder and labels of all partitions.

What a fit in one process would learn from all sequences at once is merged from statistics of the partitions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.padded import IGNORED, n_ignored, warn_of_ignored
from hedgerow.data.sequences import Sequences
from hedgerow.distributed.cluster import kept
from hedgerow.distributed.partitions import Partitions, gathered
from hedgerow.distributed.reading import PartitionData, Unreadable
from hedgerow.distributed.shards import Shard
from hedgerow.encoding import Encoder, Labels
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.encoder_draft import EncoderDraft
from hedgerow.encoding.encoder_statistics import EncoderStatistics
from hedgerow.encoding.gold_labels import LabelSet
from hedgerow.encoding.imputation import Treatment
from hedgerow.encoding.pair_statistics import PairStatistics
from hedgerow.encoding.presence import Presence, present_positions
from hedgerow.errors import InputError
from hedgerow.estimators.allowed_labels import check_gold, constraints_of
from hedgerow.estimators.base import Estimator
from hedgerow.estimators.fitting import unknown_label
from hedgerow.estimators.missing_report import warn_of_columns
from hedgerow.estimators.registry import REGISTRY
from hedgerow.learning.base import Record
from hedgerow.model import Model


class EncodedPartitions(NamedTuple):
    """The encoder and labels of all partitions, a future of a `Shard` for each, and fields of the first record."""

    encoder: Encoder
    labels: Labels
    shards: list[Any]
    report: Record


def encode_partitions(settings: Estimator, parts: Partitions, earlier: Model | None) -> EncodedPartitions:
    """Encode all partitions where they are; raises InputError, which names the partition that breaks a rule."""
    digests = parts.results(encoder_digest)
    if digests[0] is not None:
        return _encoded_shards(settings, parts, digests)
    statistics = _merged(parts, parts.map(statistics_of, range(len(parts)), treatment=settings._treatment))
    if earlier is None:
        labels = _merged(parts, parts.map(labels_of)).labels()
        draft = statistics.draft(settings.features, settings._treatment)
        pairs = None
        if draft.needs_pairs:
            pairs = _merged(parts, parts.map(pairs_of, draft=kept(parts.client, draft)))
        encoder = draft.encoder(pairs)
        if draft.approximate:
            encoder = encoder.with_presence(_presence(parts, encoder, sorted(draft.approximate)))
    else:
        encoder, labels = earlier.encoder, earlier.labels
    warn_of_columns([one.name for one in statistics.placed() if one.n_missing == statistics.n_positions])
    if IGNORED in labels.classes.tolist():
        warn_of_ignored(sum(parts.results(ignored_of)))
    report = _missing_report(statistics, settings._missing)
    return EncodedPartitions(encoder, labels, _shards(settings, parts, encoder, labels), report)


def _encoded_shards(settings: Estimator, parts: Partitions, digests: list[str]) -> EncodedPartitions:
    """Shards of corpora, which must have one encoder."""
    other = next((i for i, digest in enumerate(digests) if digest != digests[0]), None)
    if other is not None:
        raise InputError(
            f"all shards must have one encoder, but those of shards {parts[0].number} and {parts[other].number} "
            "differ; encode one like the other: hedgerow.encode(source, path, like=...)"
        )
    (stored, rates), *_ = gathered(parts.client, [parts.client.submit(corpus_facts, parts[0].data, pure=False)])
    encoder, labels = Encoder.from_arrays(*stored), _merged(parts, parts.map(labels_of)).labels()
    report = {"missing": {"method": settings._missing, "rates": rates}} if rates else {}
    return EncodedPartitions(encoder, labels, _shards(settings, parts, encoder, labels), report)


def encoder_digest(data: PartitionData) -> str | None:
    """What identifies the encoder of a shard of a corpus; None for raw sequences."""
    return data.sequences.encoder.digest if isinstance(data.sequences, Encoded) else None


def corpus_facts(data: PartitionData) -> tuple[Any, dict[str, float]]:
    """The encoder of a corpus, as it is stored, and the shares of missing values."""
    assert isinstance(data.sequences, Encoded)
    return data.sequences.encoder.to_arrays(), dict(data.sequences._corpus().missing)


def _shards(settings: Estimator, parts: Partitions, encoder: Encoder, labels: Labels) -> list[Any]:
    numbers = [partition.number for partition in parts]
    own = [parts.cut(values) if values is not None else [None] * len(parts) for values in (parts.weights, parts.groups)]
    shared = (type(settings).__name__, settings._plain_params(), encoder.to_arrays(), labels.classes)
    shards = parts.map(encode_partition, *own, shared=kept(parts.client, shared))
    problems = gathered(parts.client, parts.client.map(problem_of, shards, pure=False))
    for number, problem in zip(numbers, problems, strict=True):
        if problem is not None:
            raise InputError(f"partition {number}: {problem}")
    return shards


def _merged(parts: Partitions, futures: list[Any]) -> Any:
    """What the futures hold, merged by pairs on the workers."""
    while len(futures) > 1:
        pairs = [futures[i : i + 2] for i in range(0, len(futures), 2)]
        futures = [pair[0] if len(pair) == 1 else parts.client.submit(merged, *pair, pure=False) for pair in pairs]
    (result,) = gathered(parts.client, futures)
    return result


def _presence(parts: Partitions, encoder: Encoder, names: list[str]) -> dict[str, Presence]:
    """How often all sequences together have some columns."""
    stored = kept(parts.client, encoder.to_arrays())
    positions, having = np.sum(parts.results(presence_of, stored=stored, names=names), axis=0).T.tolist()
    return {
        name: Presence(own / parts.n_positions, sequences / parts.n_sequences)
        for name, own, sequences in zip(names, positions, having, strict=True)
    }


def presence_of(data: PartitionData, *, stored: Any, names: list[str]) -> NDArray[np.int64]:
    """For each column, the number of positions and of sequences that have it."""
    assert isinstance(data.sequences, Sequences)
    aligned = Encoder.from_arrays(*stored).aligned_part(data.sequences, 1)
    counts = []
    for name in names:
        present = present_positions(aligned.column(name))
        having = np.logical_or.reduceat(present, data.sequences.starts[:-1])
        counts.append((np.count_nonzero(present), np.count_nonzero(having)))
    return np.array(counts, np.int64)


def merged(one: Any, other: Any) -> Any:
    return one.merge(other)


def statistics_of(data: PartitionData, number: int, *, treatment: Treatment | None) -> EncoderStatistics:
    assert isinstance(data.sequences, Sequences)
    return EncoderStatistics.of(data.sequences, treatment, place=(number, 0))


def ignored_of(data: PartitionData) -> int:
    return n_ignored(data.labels)


def labels_of(data: PartitionData) -> LabelSet:
    return LabelSet.of(data.labels)


def pairs_of(data: PartitionData, *, draft: EncoderDraft) -> PairStatistics:
    assert isinstance(data.sequences, Sequences)
    return draft.pairs(data.sequences)


def encode_partition(
    data: PartitionData,
    weights: NDArray[np.float64] | None,
    groups: NDArray[np.int64] | None,
    *,
    shared: tuple[str, dict[str, Any], Any, NDArray[Any]],
) -> Shard | Unreadable:
    """The encoded sequences of a partition, or why they cannot be used."""
    estimator, parameters, stored_encoder, classes = shared
    settings: Estimator = REGISTRY[estimator]._from_plain(parameters)
    encoder, labels = Encoder.from_arrays(*stored_encoder), Labels(classes)
    try:
        encoded = data.sequences
        if not isinstance(encoded, Encoded):
            encoded = settings._encode_checked(encoder, encoded, parameters)
        codes = labels.codes(data.labels, encoded)
        if (codes < 0).any():
            raise unknown_label(labels, data.labels)
        check_gold(constraints_of(settings.constraints, labels), codes, encoded.starts, labels, "y")
    except InputError as error:
        return Unreadable(str(error))
    return Shard.of(encoded, codes, np.ones(len(encoded)) if weights is None else weights, groups)


def problem_of(shard: Shard | Unreadable) -> str | None:
    return shard.message if isinstance(shard, Unreadable) else None


def _missing_report(statistics: EncoderStatistics, method: str) -> Record:
    rates = {column.name: column.n_missing / statistics.n_positions for column in statistics.placed()}
    rates = {name: rate for name, rate in rates.items() if rate}
    return {"missing": {"method": method, "rates": rates}} if rates else {}
