"""Pairs of derived columns of one shard, in a file."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from hedgerow import storage
from hedgerow.encoding.encoder_draft import EncoderDraft
from hedgerow.encoding.pair_statistics import PairCounts, PairStatistics
from hedgerow.errors import ModelFileError


def write_pairs(file: Path, pairs: PairStatistics) -> None:
    """Write the pairs of a shard."""
    arrays = {}
    for i, (name, _) in enumerate(pairs.rules):
        counted = pairs.pairs[name]
        arrays[f"{i}.keys"] = counted.keys
        if counted.counts is not None:
            arrays[f"{i}.counts"] = counted.counts
    storage.write(file, arrays, {})


def is_intact(file: Path) -> bool:
    """Whether there is such a file, and it is not damaged."""
    try:
        storage.read(file)
    except (FileNotFoundError, ModelFileError):
        return False
    return True


def read_pairs(file: Path, draft: EncoderDraft, names: Collection[str]) -> PairStatistics:
    """The pairs of some columns of a shard; raises ModelFileError if the file is damaged."""
    arrays, _ = storage.read(file)
    found = {
        name: PairCounts(arrays[f"{i}.keys"], arrays.get(f"{i}.counts")) for i, (name, _) in enumerate(draft.pair_rules)
    }
    return PairStatistics(draft.pair_rules, found).only(names)
