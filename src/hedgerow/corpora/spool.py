"""Raw sequences on disk: the source is read once, and the passes over it read these files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from hedgerow import storage
from hedgerow.corpora.source_blocks import RawBlock
from hedgerow.data.alphabet import Alphabet
from hedgerow.data.columns import (
    BagColumn,
    CategoricalColumn,
    CharacterColumn,
    Column,
    FoldedBag,
    NumericColumn,
    trusted,
)
from hedgerow.data.read_y import FlatLabels
from hedgerow.data.sequences import Sequences

_CLASSES = {c.__name__: c for c in (BagColumn, CategoricalColumn, CharacterColumn, FoldedBag, NumericColumn)}


def write_shard(file: Path, blocks: list[RawBlock]) -> None:
    """Write some blocks as one file."""
    arrays: dict[str, NDArray[Any]] = {}
    entries = []
    for b, block in enumerate(blocks):
        arrays |= {f"{b}.{name}": array for name, array in block.arrays().items()}
        entries.append(
            {
                "columns": [[type(column).__name__, column.name] for column in block.X.columns],
                "optional": block.X.optional_columns,
                "labels": None if block.y is None else block.y.kind,
                "checksum": block.checksum(),
            }
        )
    storage.write(file, arrays, {"blocks": entries})


def read_shard(file: Path) -> Iterator[RawBlock]:
    """The blocks of a file; raises ModelFileError if it is damaged."""
    arrays, metadata = storage.read(file)
    for b, entry in enumerate(metadata["blocks"]):
        own = {name.partition(".")[2]: a for name, a in arrays.items() if name.partition(".")[0] == str(b)}
        columns = tuple(_column(i, cls, name, own) for i, (cls, name) in enumerate(entry["columns"]))
        X = Sequences.trusted(own["starts"], columns, None, entry["optional"])
        y = None
        if entry["labels"] is not None:
            alphabet = Alphabet.trusted(own["y.blob"], own["y.offsets"]) if "y.blob" in own else None
            y = FlatLabels(entry["labels"], own["y"], X.starts, alphabet)
        yield RawBlock(X, y, own.get("sample_weight"))


def checksums_of(file: Path) -> list[int]:
    """The checksum of each block of a file."""
    return [int(entry["checksum"]) for entry in storage.read(file)[1]["blocks"]]


def _column(i: int, cls: str, name: str, arrays: Mapping[str, NDArray[Any]]) -> Column:
    kind = _CLASSES[cls]
    alphabet = None
    if f"{i}.blob" in arrays:
        alphabet = Alphabet.trusted(arrays[f"{i}.blob"], arrays[f"{i}.offsets"])
    fields = [alphabet if field == "alphabet" else arrays.get(f"{i}.{field}") for field in kind.__match_args__[1:]]
    column: Any = trusted(kind, name, *fields)
    found: Column = column
    return found
