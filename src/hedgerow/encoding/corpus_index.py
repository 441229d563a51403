"""The index of a corpus folder: which files it has, how long they are, and the checksums of each shard."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import hedgerow
from hedgerow.encoding.corpus_view import Recipe
from hedgerow.errors import DAMAGE, CorpusError

FORMAT = "hedgerow corpus"
FORMAT_VERSION = 1
INDEX = "index.json"
ENCODER = "encoder.hedgerow"
DTYPES = ("<i4", "<i8", "<f4", "<f8", "|b1")


@dataclass(frozen=True)
class Shard:
    """A range of sequences; `positions` is where it ends in all positions. `ends` says where its part of
    each array ends, `checksums` has the CRC-32 of the part.
    """

    first: int
    last: int
    positions: int
    ends: Mapping[str, int]
    checksums: Mapping[str, int]


@dataclass(frozen=True)
class CorpusIndex:
    """What the file index.json holds. Arrays are named as their files, without the ending."""

    dtypes: Mapping[str, str]
    shards: tuple[Shard, ...]
    recipe: Recipe
    label_kind: str | None
    n_missing: Mapping[str, int]  # by encoded column
    missing: Mapping[str, float]  # share by column of X
    unseen: Mapping[str, int]
    layout: Mapping[str, Any] | None = None
    source: Mapping[str, Any] = field(default_factory=dict)

    @property
    def lengths(self) -> dict[str, int]:
        """The number of values of each array."""
        return dict(self.shards[-1].ends)

    @property
    def n_sequences(self) -> int:
        return self.shards[-1].last

    def to_json(self) -> str:
        """The text of the file, with a checksum of all the rest."""
        content = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "library_version": hedgerow.__version__,
            **asdict(self),
        }
        return json.dumps({**content, "checksum": checksum(content)}, indent=1)

    @classmethod
    def read(cls, file: Path) -> CorpusIndex:
        """Read the file; raises CorpusError if it is damaged, foreign or newer."""
        try:
            content = json.loads(file.read_bytes())
            if not isinstance(content, dict) or content.get("format") != FORMAT:
                raise CorpusError(f"{file} is not the index of a hedgerow corpus; name a folder that encode wrote")
            version = content["format_version"]
            if isinstance(version, int) and version > FORMAT_VERSION:
                raise CorpusError(
                    f"{file} was written by a newer hedgerow ({content['library_version']}, format {version}); this is "
                    f"{hedgerow.__version__}, which reads format {FORMAT_VERSION}; upgrade hedgerow"
                )
            if content.pop("checksum") != checksum(content):
                raise ValueError("its checksum does not match its content")
            for name in ("format", "format_version", "library_version"):
                del content[name]
            shards = tuple(Shard(**shard) for shard in content.pop("shards"))
            index = cls(**{**content, "shards": shards, "recipe": Recipe(**content["recipe"])})
            index.check()
        except CorpusError:
            raise
        except DAMAGE as error:
            raise CorpusError(
                f"{file} is damaged ({error}); encode the corpus again, or fetch the file again"
            ) from None
        return index

    def check(self) -> None:
        """Raise ValueError unless the shards follow each other in every array."""
        if not self.shards or any(dtype not in DTYPES for dtype in self.dtypes.values()):
            raise ValueError("it has no shards, or arrays of unknown types")
        at, ends = 0, dict.fromkeys(self.dtypes, 0)
        for shard in self.shards:
            if shard.first != at or shard.last <= at:
                raise ValueError("its shards must follow each other")
            if not set(shard.ends) == set(self.dtypes) == set(shard.checksums):
                raise ValueError("its shards leave gaps")
            if any(shard.ends[name] < end for name, end in ends.items()):
                raise ValueError("its shards overlap")
            at, ends = shard.last, dict(shard.ends)


def checksum(content: Mapping[str, Any]) -> int:
    """CRC-32 of values of JSON."""
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())
