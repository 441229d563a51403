"""The files of a corpus folder while they are written: every array grows shard by shard."""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.corpora.space import naming_file
from hedgerow.data.columns import BagColumn, CategoricalColumn, NumericColumn
from hedgerow.encoding.corpus_folder import GOLD, STARTS, WEIGHTS, array_names, crc_of_file, file_of
from hedgerow.encoding.corpus_index import Shard
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.encoder import Encoder
from hedgerow.errors import CorpusError


def dtypes_of(
    encoder: Encoder, gold: np.dtype[Any] | None, *, weighted: bool, without_weights: Collection[str] = ()
) -> dict[str, str]:
    """The type of each array of a corpus, by name.

    `weighted` says whether sequences have weights. The columns `without_weights` are bags whose weights are all 1;
    other bags have weights until all are written, and are known to be 1.
    """
    found = {STARTS: "<i8"}
    for i, spec in enumerate(encoder.columns):
        types = {"categorical": ["<i4"], "numeric": ["<f4"], "bag": ["<i8", "<i4", "<f4"]}[spec.kind]
        found |= zip(array_names(i, spec.kind), types, strict=True)
        if spec.name in without_weights:
            del found[array_names(i, "bag")[2]]
    if gold is not None:
        found[GOLD] = gold.str
    return {**found, WEIGHTS: "<f8"} if weighted else found


class ColumnFiles:
    """Appends shards to the files of a folder. `shards` are those that are complete and on the disk."""

    def __init__(self, folder: Path, dtypes: dict[str, str], shards: Sequence[Shard]) -> None:
        self._folder = folder
        self._dtypes = dict(dtypes)
        self.shards = list(shards)
        self._ends = dict(self.shards[-1].ends) if self.shards else dict.fromkeys(dtypes, 0)
        self._crcs = dict.fromkeys(dtypes, 0)
        self._sequences = 0
        self._positions = self.shards[-1].positions if self.shards else 0
        for name in dtypes:
            self._cut(name)

    def _cut(self, name: str) -> None:
        """Cut off what an interrupted call wrote behind the last complete shard."""
        file, size = file_of(self._folder, name), self._ends[name] * self._itemsize(name)
        with naming_file(file), file.open("ab") as opened:
            opened.truncate(size)

    def _itemsize(self, name: str) -> int:
        return np.dtype(self._dtypes[name]).itemsize

    def verify(self) -> None:
        """Raise CorpusError unless the shards of an interrupted call are what it wrote."""
        for name in self._dtypes:
            file, begin = file_of(self._folder, name), 0
            for number, shard in enumerate(self.shards):
                if crc_of_file(file, self._itemsize(name), begin, shard.ends[name]) != shard.checksums[name]:
                    raise CorpusError(f"{file} is damaged in shard {number}")
                begin = shard.ends[name]

    @property
    def n_sequences(self) -> int:
        return self.shards[-1].last if self.shards else 0

    def add(self, encoded: Encoded, gold: NDArray[Any] | None, weights: NDArray[np.float64] | None) -> None:
        """Append some sequences to the shard that is being written."""
        self._append_starts(STARTS, encoded.starts, self._positions)
        for i, column in enumerate(encoded.columns):
            names = array_names(i, column.kind)
            if isinstance(column, CategoricalColumn):
                self._append(names[0], column.codes)
            elif isinstance(column, NumericColumn):
                self._append(names[0], column.values)
            else:
                assert isinstance(column, BagColumn)
                self._append_starts(names[0], column.starts, self._ends[names[1]])
                self._append(names[1], column.ids)
                if names[2] in self._dtypes:
                    ones = column.weights is None
                    self._append(names[2], np.ones(len(column.ids), np.float32) if ones else column.weights)
        if gold is not None:
            self._append(GOLD, gold)
        if WEIGHTS in self._dtypes:
            self._append(WEIGHTS, np.ones(len(encoded)) if weights is None else weights)
        self._sequences += len(encoded)
        self._positions += encoded.n_positions

    def _append_starts(self, name: str, starts: NDArray[np.int64], first: int) -> None:
        """Append starts of ranges that follow those that are there."""
        is_first = self._ends[name] == 0
        self._append(name, (starts if is_first else starts[1:]) + first)

    def _append(self, name: str, values: NDArray[Any] | None) -> None:
        assert values is not None
        content = np.ascontiguousarray(values, self._dtypes[name]).view(np.uint8).data
        file = file_of(self._folder, name)
        with naming_file(file), file.open("ab") as opened:
            opened.write(content)
        self._crcs[name] = zlib.crc32(content, self._crcs[name])
        self._ends[name] += len(values)

    def end_shard(self) -> Shard:
        """Finish a shard: all its files are on the disk."""
        for name in self._dtypes:
            file = file_of(self._folder, name)
            with naming_file(file), file.open("ab") as opened:
                os.fsync(opened.fileno())
        first = self.n_sequences
        shard = Shard(first, first + self._sequences, self._positions, dict(self._ends), dict(self._crcs))
        self.shards.append(shard)
        self._crcs, self._sequences = dict.fromkeys(self._dtypes, 0), 0
        return shard

    def drop_ones(self) -> None:
        """Leave out the weights of bags if all are 1."""
        for name in [name for name in self._dtypes if name.endswith(".weights")]:
            if _are_ones(file_of(self._folder, name)):
                del self._dtypes[name]
        self.shards = [
            replace(
                shard,
                ends={name: shard.ends[name] for name in self._dtypes},
                checksums={name: shard.checksums[name] for name in self._dtypes},
            )
            for shard in self.shards
        ]

    @property
    def dtypes(self) -> dict[str, str]:
        return dict(self._dtypes)


def _are_ones(file: Path) -> bool:
    with file.open("rb") as opened:
        while len(part := np.fromfile(opened, "<f4", 1 << 20)):
            if (part != 1).any():
                return False
    return True
