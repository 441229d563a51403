"""What a call of `encode` depends on, and how far an interrupted one came: the file progress.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hedgerow import storage
from hedgerow.encoding.corpus_view import Recipe
from hedgerow.encoding.encoder import Encoder
from hedgerow.templates import Template

PROGRESS = "progress.json"


@dataclass(frozen=True)
class Settings:
    """What the result depends on besides the source. With `like`, the encoder is given, and nothing is learned."""

    features: Template | None
    recipe: Recipe
    shard_positions: int
    like: Encoder | None
    reading: Mapping[str, Any]  # how files are read, in types that JSON has
    n_threads: int

    def to_json(self) -> dict[str, Any]:
        """What another call must have in common to continue this one."""
        like = None if self.like is None else self.like.digest
        return {
            "recipe": asdict(self.recipe),
            "shard_positions": self.shard_positions,
            "like": like,
            "reading": dict(self.reading),
        }


@dataclass
class State:
    """The file progress.json: how far an interrupted call came."""

    settings: dict[str, Any]
    files: list[Any] | None  # names, sizes and times of the files of the source
    n_raw: int | None = None  # the number of raw shards; None until the source is read
    layout: dict[str, Any] | None = None
    encoder: str | None = None  # digest of the encoder that wrote the codes
    shards: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, dict[str, Any]] = field(default_factory=dict)  # missing and unseen values, presence

    @classmethod
    def read(cls, folder: Path) -> State | None:
        """The state of a folder; None if there is none that can be used."""
        try:
            return cls(**json.loads((folder / PROGRESS).read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def write(self, folder: Path) -> None:
        storage.write_parts(folder / PROGRESS, [json.dumps(asdict(self)).encode()])
