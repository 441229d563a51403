"""Encoded sequences as they travel to workers: the arrays of their columns, without the alphabets, which all share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import BagColumn, CategoricalColumn, Column, trusted
from hedgerow.data.ragged import starts_of
from hedgerow.encoding import Encoder, Labels
from hedgerow.encoding.corpus_folder import open_range
from hedgerow.encoding.encoded import Encoded
from hedgerow.estimators.checkpoint import FREE

Arrays = tuple[NDArray[Any] | None, ...]


@dataclass(frozen=True, eq=False)
class Shard:
    """Some encoded sequences: their lengths, the arrays of each column, gold label codes, weights and groups.

    Instead of arrays, `columns` may be a range of a corpus, which a worker maps from its files.
    """

    lengths: NDArray[np.int64]
    columns: tuple[Arrays, ...] | Encoded
    codes: NDArray[np.int32]
    weights: NDArray[np.float64]
    groups: NDArray[np.int64] | None

    @classmethod
    def of(
        cls,
        encoded: Encoded,
        codes: NDArray[np.int32],
        weights: NDArray[np.float64],
        groups: NDArray[np.int64] | None,
    ) -> Shard:
        is_mapped = encoded.view is not None and encoded.view.folder is not None
        return cls(encoded.lengths, encoded if is_mapped else _all_arrays(encoded), codes, weights, groups)


def joined_weights(shards: Sequence[Shard]) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """(weights, groups) of the sequences of all shards in order."""
    groups = [shard.groups for shard in shards if shard.groups is not None]
    return np.concatenate([shard.weights for shard in shards]), np.concatenate(groups) if groups else None


def joined(shards: Sequence[Shard], encoder: Encoder) -> tuple[Encoded, NDArray[np.int32]]:
    """(the sequences of all shards in order, their gold label codes). Neighbours of a corpus stay mapped."""
    codes = np.concatenate([shard.codes for shard in shards])
    mapped = _mapped(shards)
    if mapped is not None:
        return mapped, codes
    arrays = [_all_arrays(s.columns) if isinstance(s.columns, Encoded) else s.columns for s in shards]
    like = encoder.nothing().columns
    columns = tuple(_column(empty, [own[i] for own in arrays]) for i, empty in enumerate(like))
    starts = starts_of(np.concatenate([shard.lengths for shard in shards]))
    return Encoded.trusted(starts, columns), codes


def _mapped(shards: Sequence[Shard]) -> Encoded | None:
    """The shards as one range of a corpus, if they are."""
    places = [shard.columns.view.place for shard in shards if isinstance(shard.columns, Encoded) and shard.columns.view]
    if len(places) < len(shards) or any(one[:2] != places[0][:2] for one in places):
        return None
    if any(one[3] != other[2] for one, other in pairwise(places)):
        return None
    path, checksum, first, _ = places[0]
    return open_range(path, checksum, first, places[-1][3])


def digest_of(shard: Shard) -> bytes:
    """A digest of the content of each sequence, one after the other."""
    digest = hashlib.blake2b(digest_size=16)
    arrays = _all_arrays(shard.columns) if isinstance(shard.columns, Encoded) else shard.columns
    for array in (shard.lengths, shard.codes, shard.weights, shard.groups, *(a for own in arrays for a in own)):
        if array is not None:
            digest.update(np.ascontiguousarray(array).data)
    return digest.digest()


def combined_digest(parameters: dict[str, Any], encoder: Encoder, labels: Labels, digests: Sequence[bytes]) -> str:
    """What identifies a fit: every parameter that affects the model, the encoder, the labels and the shards."""
    digest = hashlib.blake2b(digest_size=16)
    decisive = {name: value for name, value in parameters.items() if name not in FREE}
    metadata, arrays = encoder.to_arrays()
    digest.update(json.dumps([decisive, metadata, labels.classes.tolist()], sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(np.ascontiguousarray(arrays[name]).data)
    for own in digests:
        digest.update(own)
    return digest.hexdigest()


def _all_arrays(encoded: Encoded) -> tuple[Arrays, ...]:
    return tuple(_arrays(column) for column in encoded.columns)


def _arrays(column: Column) -> Arrays:
    if isinstance(column, CategoricalColumn):
        return (column.codes,)
    if isinstance(column, BagColumn):
        return np.diff(column.starts), column.ids, column.weights
    return (column.values,)


def _column(like: Column, parts: Sequence[Arrays]) -> Column:
    if isinstance(like, BagColumn):
        sizes, ids = (np.concatenate([part[i] for part in parts if part[i] is not None]) for i in (0, 1))
        return trusted(type(like), like.name, starts_of(sizes), ids, _weights(parts), like.alphabet)
    values = np.concatenate([part[0] for part in parts if part[0] is not None])
    if isinstance(like, CategoricalColumn):
        return trusted(type(like), like.name, values, like.alphabet)
    return trusted(type(like), like.name, values)


def _weights(parts: Sequence[Arrays]) -> NDArray[Any] | None:
    """The weights of bags; None if all are 1."""
    if all(weights is None for _, _, weights in parts):
        return None
    ones = [np.ones(len(ids), np.float32) if ids is not None else None for _, ids, _ in parts]
    weights = [own if own is not None else one for (_, _, own), one in zip(parts, ones, strict=True)]
    return np.concatenate([own for own in weights if own is not None])
