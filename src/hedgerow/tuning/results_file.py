"""The file of finished fits, from which a race continues: JSON, written beside the old file and then renamed."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hedgerow
from hedgerow import storage
from hedgerow.errors import DAMAGE, InputError
from hedgerow.estimators.checkpoint import add_arrays, add_sequences
from hedgerow.tuning.cross_validation import Fold
from hedgerow.tuning.data import RaceData
from hedgerow.tuning.evidence import Evidence

_FORMAT = "hedgerow tuning 1"
_EVERY = 1.0  # seconds between two writes, at least


@dataclass(frozen=True)
class Outcome:
    """What one fit on one fold came to: a score, or the message of the error that it raised."""

    seconds: float
    evidence: Evidence | None = None
    failure: str | None = None


class Results:
    """Outcomes by the key of their fit; kept in a file too if there is a path.

    Raises InputError if the file belongs to other data, folds, scoring or seed, or is no such file, and OSError if it
    cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str] | None, origin: str) -> None:
        self._path = None if path is None else Path(path)
        self._origin = origin
        self._outcomes: dict[str, Outcome] = {}
        self._lock = threading.Lock()
        self._written = -np.inf
        if self._path is not None:
            storage.check_writable(self._path)
            if self._path.exists():
                self._outcomes = _read(self._path, origin)

    def get(self, key: str) -> Outcome | None:
        return self._outcomes.get(key)

    def add(self, key: str, outcome: Outcome) -> None:
        """Keep an outcome; any thread may call this."""
        with self._lock:
            self._outcomes[key] = outcome
            if self._path is not None and time.monotonic() - self._written >= _EVERY:
                self._write()

    def save(self) -> None:
        """Write everything that is not in the file yet."""
        with self._lock:
            if self._path is not None:
                self._write()

    def _write(self) -> None:
        assert self._path is not None
        fits = {key: _plain(outcome) for key, outcome in self._outcomes.items()}
        text = json.dumps({"format": _FORMAT, "origin": self._origin, "fits": fits}, allow_nan=False)
        storage.write_parts(self._path, [text.encode()])
        self._written = time.monotonic()


def origin_of(data: RaceData, folds: Sequence[Fold], scoring: str, seed: int) -> str:
    """A digest of everything, beside the setting itself, that the outcome of a fit depends on."""
    digest = hashlib.blake2b(json.dumps([hedgerow.__version__, scoring, seed]).encode(), digest_size=16)
    add_sequences(digest, data.X)
    add_arrays(digest, data.codes, data.groups)
    digest.update(json.dumps(data.labels.classes.tolist()).encode())
    for fold in folds:
        add_arrays(digest, fold.train, fold.test)
    return digest.hexdigest()


def _plain(outcome: Outcome) -> dict[str, Any]:
    if outcome.evidence is None:
        return {"seconds": outcome.seconds, "failure": outcome.failure}
    gains, sizes = (values.tolist() for values in outcome.evidence)
    return {"seconds": outcome.seconds, "gains": gains, "sizes": sizes}


def _read(path: Path, origin: str) -> dict[str, Outcome]:
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored["format"] != _FORMAT:
            raise ValueError("another format")
        outcomes = {key: _outcome(fit) for key, fit in stored["fits"].items()}
    except DAMAGE as error:
        raise InputError(
            f"checkpoint {path} is no file of a tuning race ({error}); choose another file, or remove this one"
        ) from None
    if stored["origin"] != origin:
        raise InputError(
            f"checkpoint {path} belongs to a race with other data, folds, scoring or random_state; repeat the call "
            "with those, or choose another file"
        )
    return outcomes


def _outcome(fit: dict[str, Any]) -> Outcome:
    if "failure" in fit:
        return Outcome(float(fit["seconds"]), failure=str(fit["failure"]))
    gains, sizes = (np.array(fit[name], np.float64) for name in ("gains", "sizes"))
    if gains.ndim != 1 or gains.shape != sizes.shape:
        raise ValueError("gains and sizes differ")
    return Outcome(float(fit["seconds"]), Evidence(gains, sizes))
