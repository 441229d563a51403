"""Checkpoints: model files written during a fit, from which the same fit continues to the same model."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import storage
from hedgerow.data.column_store import ColumnStore
from hedgerow.data.columns import BagColumn, CategoricalColumn, Column, NumericColumn
from hedgerow.errors import InputError, ModelFileError
from hedgerow.model import Model

if TYPE_CHECKING:
    from hedgerow.learning.base import TrainingData

EVERY = 10  # rounds
FREE = {"n_rounds", "n_jobs", "verbose", "checkpoint", "warm_start"}  # may differ in the fit that continues


@dataclass(frozen=True)
class Checkpoint:
    """The file, and what identifies the fit it belongs to."""

    path: Path
    origin: str

    @classmethod
    def of(cls, path: str | os.PathLike[str], training: TrainingData, parameters: Mapping[str, Any]) -> Checkpoint:
        """The checkpoint of a fit; raises OSError now if the file cannot be written later."""
        storage.check_writable(path)
        return cls(Path(path), fingerprint(training, parameters))

    def load(self) -> Model | None:
        """The model saved so far, or None.

        Raises InputError if the file belongs to other data or parameters, and ModelFileError if it is no model file.
        """
        if not self.path.exists():
            return None
        try:
            model = Model.load(self.path)
        except ModelFileError as error:
            raise ModelFileError(
                f"no fit can continue from this file: {error}; choose another checkpoint path"
            ) from None
        if model.origin is None:
            raise InputError(f"{self.path} is a model that was saved, not a checkpoint; choose another checkpoint path")
        if model.origin != self.origin:
            raise InputError(
                f"checkpoint {self.path} belongs to a fit with other data or parameters; repeat the fit with the data "
                "and parameters of that file, or choose another file"
            )
        return model

    def save(self, model: Model) -> None:
        model.save(self.path)


def check_unchanged(settings: Mapping[str, tuple[Any, Any]]) -> None:
    """Raise InputError unless all pairs (value of the fitted model, value now) are equal."""
    for name, (was, now) in settings.items():
        if was != now:
            raise InputError(
                f"{name} must not change when a fit continues from a fitted model; it was {was} and is {now} now; use "
                "the old value, or start a new fit"
            )


def check_rounds(n_done: int, n_rounds: int) -> None:
    """Raise InputError if the model to continue from has more rounds than are asked for."""
    if n_done > n_rounds:
        raise InputError(
            f"the model to continue from has {n_done} rounds already, but n_rounds is {n_rounds}; raise n_rounds, "
            "choose another checkpoint file, or set warm_start=False"
        )


def fingerprint(training: TrainingData, parameters: Mapping[str, Any]) -> str:
    """A digest of the data and of every parameter that affects the model."""
    digest = hashlib.blake2b(digest_size=16)
    decisive = {name: value for name, value in parameters.items() if name not in FREE}
    digest.update(json.dumps(decisive, sort_keys=True).encode())
    add_sequences(digest, training.sequences)
    add_arrays(digest, training.codes, training.weights)
    digest.update(json.dumps(training.labels.classes.tolist()).encode())
    if training.dev is not None:
        add_sequences(digest, training.dev.sequences)
        add_arrays(digest, training.dev.codes)
    return digest.hexdigest()


def add_arrays(digest: Any, *arrays: NDArray[Any] | None) -> None:
    """Add arrays to a digest."""
    for array in arrays:
        if array is not None:
            digest.update(str((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array).data)


def add_sequences(digest: Any, sequences: ColumnStore) -> None:
    """Add the columns of sequences, raw or encoded, to a digest."""
    add_arrays(digest, sequences.starts)
    for column in sequences.columns:
        digest.update(repr((column.kind, column.name)).encode())
        add_arrays(digest, *_arrays(column))
        if not isinstance(column, NumericColumn):
            for value in column.alphabet:
                digest.update(value.encode("utf-8", "surrogatepass") + b"\0")


def _arrays(column: Column) -> tuple[NDArray[Any] | None, ...]:
    if isinstance(column, CategoricalColumn):
        return (column.codes,)
    if isinstance(column, BagColumn):
        return column.starts, column.ids, column.weights
    return (column.values,)
