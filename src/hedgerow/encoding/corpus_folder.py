"""A folder of encoded sequences: one file for each array, mapped into memory; docs/corpora.md describes it."""

from __future__ import annotations

import mmap
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import storage
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import (
    BagColumn,
    CategoricalColumn,
    Column,
    FoldedBag,
    LocalBag,
    LocalColumn,
    LocalNumericColumn,
    NumericColumn,
    trusted,
)
from hedgerow.encoding.column_spec import ColumnSpec
from hedgerow.encoding.corpus_index import ENCODER, INDEX, CorpusIndex
from hedgerow.encoding.corpus_view import CorpusView
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.encoder import Encoder
from hedgerow.encoding.gold_labels import GoldLabels
from hedgerow.errors import DAMAGE, CorpusError, InputError, ModelFileError

STARTS, GOLD, WEIGHTS = "starts", "gold", "sample_weight"
_CHUNK = 1 << 24  # bytes of a file that are read at a time to compute a checksum


def array_names(i: int, kind: str) -> tuple[str, ...]:
    """The names of the arrays of column i; a bag may lack the last."""
    parts = {"categorical": ("codes",), "numeric": ("values",), "bag": ("starts", "ids", "weights")}[kind]
    return tuple(f"column{i}.{part}" for part in parts)


def file_of(folder: Path, array: str) -> Path:
    return folder / f"{array}.bin"


@dataclass(frozen=True, eq=False)
class CorpusFolder:
    """An open folder: its index, its encoder, and its arrays as read-only views of the mapped files."""

    path: Path
    index: CorpusIndex
    checksum: str
    encoder: Encoder
    label_alphabet: Alphabet | None
    arrays: Mapping[str, NDArray[Any]]

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> CorpusFolder:
        """Open a complete folder; raises CorpusError with the name of a file that cannot be used."""
        folder = Path(path).absolute()
        if not folder.exists():
            partial = partial_folder(folder)
            cure = f"{partial} has what an interrupted encode wrote: call it again" if partial.exists() else "check it"
            raise FileNotFoundError(f"cannot open {folder}: there is no such folder; {cure}")
        file = folder / INDEX
        if not file.is_file():
            raise CorpusError(f"{folder} has no file {INDEX}: it is no corpus; name a folder that encode wrote")
        index = CorpusIndex.read(file)
        checksum = f"{zlib.crc32(file.read_bytes()):08x}"
        arrays = {name: _mapped(folder, name, dtype, index.lengths[name]) for name, dtype in index.dtypes.items()}
        encoder, alphabet = read_encoder(folder / ENCODER)
        opened = cls(folder, index, checksum, encoder, alphabet, arrays)
        opened._check()
        return opened

    def _check(self) -> None:
        """Raise CorpusError unless the arrays are those of the encoder and have one value for each position."""
        starts = self.arrays.get(STARTS)
        if starts is None or len(starts) != self.index.n_sequences + 1 or starts[0] != 0:
            raise self._damaged(STARTS, "it must have a start for each sequence, from 0, and the end")
        n = self.index.shards[-1].positions
        if (np.diff(starts) < 1).any() or starts[-1] != n:
            raise self._damaged(STARTS, f"starts must increase to {n}, the number of positions")
        for i, spec in enumerate(self.encoder.columns):
            names = array_names(i, spec.kind)
            sizes = [len(self.arrays[name]) if name in self.arrays else -1 for name in names]
            if spec.kind == "bag":
                sizes[0] -= 1
                ends = self.arrays[names[0]][[0, -1]].tolist() if sizes[0] == n else []
                valid = ends == [0, sizes[1]] and sizes[2] in (-1, sizes[1])
            else:
                valid = sizes == [n]
            if not valid:
                raise self._damaged(names[0], f"column {spec.name!r} must have a value for each of {n} positions")
        if self.index.label_kind is not None and len(self.arrays.get(GOLD, ())) != n:
            raise self._damaged(GOLD, f"there must be a label for each of {n} positions")

    def _damaged(self, array: str, rule: str) -> CorpusError:
        return CorpusError(f"{file_of(self.path, array)} is damaged: {rule}; encode the corpus again")

    def verify(self) -> None:
        """Read all files and compare the checksums of all shards; raises CorpusError with the file and the shard."""
        for name in self.index.dtypes:
            file, begin = file_of(self.path, name), 0
            for number, shard in enumerate(self.index.shards):
                end = shard.ends[name]
                if crc_of_file(file, self.arrays[name].itemsize, begin, end) != shard.checksums[name]:
                    raise CorpusError(
                        f"{file} is damaged: its checksum does not match in shard {number}, sequences {shard.first} to "
                        f"{shard.last - 1}; encode the corpus again, or fetch the file again"
                    )
                begin = end

    def encoded(self) -> Encoded:
        """All sequences."""
        columns = tuple(self._column(i, spec) for i, spec in enumerate(self.encoder.columns))
        starts, gold = self.arrays[STARTS], None
        kind = self.index.label_kind
        if kind is not None:
            gold = GoldLabels(kind, self.arrays[GOLD], starts, self.label_alphabet)  # type: ignore[arg-type]
        view = CorpusView(
            encoder=self.encoder,
            gold=gold,
            weights=self.arrays.get(WEIGHTS),
            recipe=self.index.recipe,
            missing=self.index.missing,
            folder=self,
            first=0,
            last=self.index.n_sequences,
        )
        return Encoded.trusted(starts, columns, self.index.unseen, view)

    def _column(self, i: int, spec: ColumnSpec) -> Column:
        names = array_names(i, spec.kind)
        column: Column
        if spec.kind == "categorical":
            categorical = LocalColumn if spec.local else CategoricalColumn
            column = trusted(categorical, spec.name, self.arrays[names[0]], spec.alphabet)
        elif spec.kind == "numeric":
            numeric = LocalNumericColumn if spec.local else NumericColumn
            column = trusted(numeric, spec.name, self.arrays[names[0]])
        else:
            bag = FoldedBag if spec.folded else LocalBag if spec.local else BagColumn
            starts, ids, weights = (self.arrays.get(name) for name in names)
            column = trusted(bag, spec.name, starts, ids, weights, spec.alphabet)
        object.__setattr__(column, "_n_missing", self.index.n_missing[spec.name])  # counted when it was written
        return column


def partial_folder(path: Path) -> Path:
    """Where a corpus is written until it is complete."""
    return path.with_name(path.name + ".partial")


def _mapped(folder: Path, name: str, dtype: str, length: int) -> NDArray[Any]:
    """An array of a file, which must have exactly its size."""
    file, expected = file_of(folder, name), np.dtype(dtype).itemsize * length
    if not file.is_file():
        raise CorpusError(f"{file} is absent: the corpus is not complete; encode it again, or fetch the file again")
    size = file.stat().st_size
    if size != expected:
        raise CorpusError(
            f"{file} must have {expected} bytes, but it has {size}; encode the corpus again, or fetch the file again"
        )
    if size == 0:
        return np.empty(0, dtype)
    with file.open("rb") as opened:
        content = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(content, dtype)


def crc_of_file(file: Path, itemsize: int, begin: int, end: int) -> int:
    """CRC-32 of some values of a file, read without mapping it."""
    crc, left = 0, (end - begin) * itemsize
    with file.open("rb") as opened:
        opened.seek(begin * itemsize)
        while left > 0 and (chunk := opened.read(min(left, _CHUNK))):
            crc, left = zlib.crc32(chunk, crc), left - len(chunk)
    return crc


def write_encoder(file: Path, encoder: Encoder, labels: Alphabet | None) -> None:
    """Write the encoder, and the labels if they are strings."""
    metadata, arrays = encoder.to_arrays()
    stored = {f"encoder.{name}": array for name, array in arrays.items()}
    if labels is not None:
        stored |= {"labels.blob": labels.blob, "labels.offsets": labels.offsets}
    storage.write(file, stored, {"encoder": metadata})


def read_encoder(file: Path) -> tuple[Encoder, Alphabet | None]:
    """(encoder, labels) that `write_encoder` wrote; raises CorpusError if they cannot be used."""
    try:
        arrays, metadata = storage.read(file)
        own = {name.removeprefix("encoder."): array for name, array in arrays.items() if name.startswith("encoder.")}
        encoder = Encoder.from_arrays(metadata["encoder"], own)
        alphabet = None
        if "labels.blob" in arrays:
            alphabet = Alphabet(arrays["labels.blob"], arrays["labels.offsets"])
    except FileNotFoundError:
        raise CorpusError(f"{file} is absent: the corpus is not complete; encode it again") from None
    except ModelFileError as error:
        raise CorpusError(str(error)) from None
    except DAMAGE as error:
        raise CorpusError(f"{file} is damaged ({error}); encode the corpus again") from None
    return encoder, alphabet


def open_range(path: str, checksum: str, first: int, last: int) -> Encoded:
    """Sequences first..last of a folder: what unpickling calls. A process opens a folder once."""
    file = Path(path) / INDEX
    changed = file.stat().st_mtime_ns if file.exists() else 0
    folder = _opened(path, changed)
    if folder.checksum != checksum:
        raise InputError(
            f"{path} must be the corpus that was pickled, but it was written again since; pickle the new one"
        )
    encoded = folder.encoded()
    return encoded if (first, last) == (0, len(encoded)) else encoded[first:last]


@lru_cache(maxsize=4)
def _opened(path: str, changed: int) -> CorpusFolder:
    del changed  # a folder that was written again is another one
    return CorpusFolder.open(path)
